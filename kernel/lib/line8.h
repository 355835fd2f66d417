/* SPDX-License-Identifier: MIT */
/*
 * Bytes as the characters of an 8-bit line (docs/reference/format.md, section 1), in place of base64: runs of
 *
 *     = K characters
 *
 * without the spaces. Each character of a run is one byte XOR K. Neither K nor the characters are those that serial
 * lines, terminals and tools change, or that give a frame its form (TRACE_LINE8_NEVER). The encoder takes the key that
 * can carry most bytes: about 100 of random data, all of a text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_LINE8_RUN '='

/* NUL, HT, LF, CR, XON, XOFF, SUB (where a text file of Windows' ends), ESC; blank, ':', '=', '~', DEL; FFH (telnet's
 * escape). */
#define TRACE_LINE8_NEVER(X)                                                                                           \
    X(0x00)                                                                                                            \
    X(0x09) X(0x0A) X(0x0D) X(0x11) X(0x13) X(0x1A) X(0x1B) X(' ') X(':') X(TRACE_LINE8_RUN) X('~') X(0x7F) X(0xFF)
#define TRACE_LINE8_NEVER_COUNT 14u

/* The encoder's runs have at least so many bytes, but for the last one: each byte rules out at most as many keys as
 * there are characters that never occur, and those are no keys either. */
#define TRACE_LINE8_RUN_LEAST ((256u - TRACE_LINE8_NEVER_COUNT - 1u) / TRACE_LINE8_NEVER_COUNT)
#define TRACE_LINE8_MOST(bytes)                                                                                        \
    ((bytes) + ((bytes) + TRACE_LINE8_RUN_LEAST - 1u) / TRACE_LINE8_RUN_LEAST * 2u) /* characters */

/* Whether a character may be in such a text, but for the mark of a run. */
bool kline8_occurs(uint8_t character);

/* Writes at most TRACE_LINE8_MOST(size) characters, the same ones for the same bytes. Returns their number. Usable in
 * a panic. */
size_t kline8_encode(char *to, const void *from, size_t size);

/* Decodes `size` characters into at most `room` bytes. Returns the number of bytes, or -EINVAL: a run that is none, or
 * is empty, a character that never occurs, or more than `room` bytes. */
long kline8_decode(uint8_t *to, size_t room, const char *from, size_t size);
