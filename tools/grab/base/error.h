/* SPDX-License-Identifier: MIT */
/* Exit statuses, and error messages: "cairn-grab: what, what to do" on standard error, a line. */
#pragma once

enum {
    GRAB_GOOD = 0,
    GRAB_BAD = 1, /* nothing was recorded, or not all of it could be written */
    GRAB_USAGE = 2,
    GRAB_REFUSED = 3, /* this machine or its kernel cannot be read */
};

void grab_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Nothing is wrong. */
void grab_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
