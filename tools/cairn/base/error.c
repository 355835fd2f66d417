/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/wrap.h"

void cairn_say(const char *head, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = cairn_alloc((size_t)size + 1);
    vsnprintf(text, (size_t)size + 1, format, args);
    fputs(head, stderr);
    if (cairn_wraps(stderr))
        cairn_wrap_words(stderr, (unsigned)strlen(head), 2, (struct cairn_slice){text, (uint32_t)size});
    else
        fprintf(stderr, "%s\n", text);
    free(text);
}

void cairn_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cairn_say("cairn: ", format, args);
    va_end(args);
}

void cairn_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cairn_say("note: ", format, args);
    va_end(args);
}

void cairn_file_error(const char *path, int error)
{
    if (!*path)
        cairn_error("the name of a file is empty");
    else if (error == -EISDIR)
        cairn_error("%s: is a folder; give a file (babeltrace2 reads a folder of CTF)", path);
    else
        cairn_error("%s: %s", path, strerror(-error));
}
