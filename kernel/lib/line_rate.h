/* SPDX-License-Identifier: MIT */
/*
 * How the kernel and `cairn capture` go over to a faster serial line (option serial.fast=; docs/reference/format.md,
 * section 18). Each says one line at a time:
 *
 *     kernel   LINE_RATE_OFFER RATE RATE ... baud?      at the old rate
 *     capture  LINE_RATE_ANSWER RATE                    0: none of these
 *     kernel   LINE_RATE_GO RATE baud                   still at the old rate; then both change theirs
 *     kernel   LINE_RATE_TEST pattern                   at the new one, up to LINE_RATE_TESTS times
 *     capture  pattern                                  where it came right
 *     kernel   any line                                 where that came right: both stay
 *
 * Where a step fails, the kernel is silent until LINE_RATE_BACK_MS after LINE_RATE_GO, and both are back at the old
 * rate by then. Whoever does not answer is asked for nothing else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/line8_characters.h"

#define LINE_RATE_OFFER  "serial: faster: "
#define LINE_RATE_ANSWER "rate "
#define LINE_RATE_GO     "serial: tries "
#define LINE_RATE_TEST   "serial: test "

#define LINE_RATE_ANSWER_MS 2000u /* the kernel waits so long for an answer, */
#define LINE_RATE_SETTLE_MS 100u  /* so long until both have changed their rates, */
#define LINE_RATE_ECHO_MS   1000u /* and so long for a pattern: an emulator's other end may be slow */
#define LINE_RATE_TESTS     3u
#define LINE_RATE_BACK_MS   5000u
#define LINE_RATE_STAY_MS   4000u /* capture goes back so long after LINE_RATE_GO, where no line has come right */
_Static_assert(LINE_RATE_SETTLE_MS + LINE_RATE_TESTS * LINE_RATE_ECHO_MS < LINE_RATE_STAY_MS, "the kernel has tried");
_Static_assert(LINE_RATE_STAY_MS < LINE_RATE_BACK_MS, "capture listens again before the kernel speaks");

/* Rates that are tried, in baud: those that systems have names for. */
#define LINE_RATES(X)                                                                                                  \
    X(4000000)                                                                                                         \
    X(3000000) X(2500000) X(2000000) X(1500000) X(1152000) X(1000000) X(921600) X(576000) X(500000) X(460800) X(230400)
#define LINE_RATE_MOST 4000000u

/* Each character that may occur in an 8-bit line, in order. */
#define LINE_RATE_PATTERN (256u - KLINE8_NEVER_COUNT)
static inline void kline_rate_pattern(char pattern[LINE_RATE_PATTERN])
{
    size_t n = 0;
    for (unsigned c = 0; c < 256; c++)
        if (kline8_occurs((uint8_t)c))
            pattern[n++] = (char)c;
}
