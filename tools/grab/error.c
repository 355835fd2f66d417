/* SPDX-License-Identifier: MIT */
#include "tools/grab/error.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *head, const char *format, va_list args)
{
    fprintf(stderr, "cairn-grab: %s", head);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void grab_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}

void grab_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("note: ", format, args);
    va_end(args);
}
