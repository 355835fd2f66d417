/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/error.h"

#include <stdarg.h>

#include "tools/cairn/base/error.h"

void grab_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cairn_say("cairn-grab: ", format, args);
    va_end(args);
}

void grab_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cairn_say("cairn-grab: note: ", format, args);
    va_end(args);
}
