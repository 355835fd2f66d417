/* SPDX-License-Identifier: MIT */
/* Exit statuses, and error messages on standard error: "cairn: what, where, what to do", in lines of a terminal's
 * width. */
#pragma once

#include <stdarg.h>

/* Exit statuses. */
enum {
    CAIRN_GOOD = 0,
    CAIRN_BAD = 1, /* the trace is damaged, or a check failed */
    CAIRN_USAGE = 2,
    CAIRN_UNREADABLE = 3, /* no such file, or not a trace */
};

/* "cairn: " and the text, which ends without a newline. */
void cairn_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, begun with "note: ": nothing is wrong. */
void cairn_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Any other beginning. */
void cairn_say(const char *head, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* That a file of that name, as it was given, could not be opened, read or written: `error`, a negative errno, in words,
 * and what to do where that can be told. */
void cairn_file_error(const char *path, int error);
