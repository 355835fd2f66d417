/* SPDX-License-Identifier: MIT */
/* Agrees on a faster line with the kernel at its other end: kernel/lib/line_rate.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/command/capture/line.h"

struct cairn_faster {
    struct cairn_serial *serial; /* NULL: no line whose rate could be changed */
    const char *name;            /* of it, for messages */
    uint32_t promised, old;      /* baud: answered; before */
    int64_t back_ms;             /* when the old rate comes back (cairn_now_ms); 0: it does not */
    bool tested;                 /* at the new rate the kernel's pattern has come right */
};

/* Takes a line into account, without its end. Says what comes of it on standard error. */
void cairn_faster_line(struct cairn_faster *faster, const char *text, size_t size);
/* Whether a line is a pattern, which is nothing to see. */
bool cairn_faster_is_test(const char *text, size_t size);
/* Milliseconds until cairn_faster_wait has something to do; INT32_MAX: never. */
int64_t cairn_faster_left(const struct cairn_faster *faster);
/* Goes back to the old rate where it is time. */
void cairn_faster_wait(struct cairn_faster *faster);
