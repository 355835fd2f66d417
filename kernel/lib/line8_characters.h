/* SPDX-License-Identifier: MIT */
/* Which characters a line of 8-bit characters can have: those that nothing on their way changes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define KLINE8_RUN '='

/* NUL, HT, LF, CR, XON, XOFF, SUB (where a text file of Windows' ends), ESC; blank, ':', '=', '~', DEL; FFH (telnet's
 * escape). */
#define KLINE8_NEVER(X)                                                                                                \
    X(0x00)                                                                                                            \
    X(0x09) X(0x0A) X(0x0D) X(0x11) X(0x13) X(0x1A) X(0x1B) X(' ') X(':') X(KLINE8_RUN) X('~') X(0x7F) X(0xFF)
#define KLINE8_NEVER_COUNT 14u

/* Whether a character may be in an 8-bit line, but for the mark of a run. */
static inline bool kline8_occurs(uint8_t character)
{
#define NEVER(c) case c:
    switch (character) {
        KLINE8_NEVER(NEVER)
        return false;
    default:
        return true;
    }
#undef NEVER
}
