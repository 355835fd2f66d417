/* SPDX-License-Identifier: MIT */
/*
 * Bytes as the characters of an 8-bit line (docs/reference/format.md, section 1), in place of base64: runs of
 *
 *     = K characters
 *
 * without the spaces. Each character of a run is one byte XOR K. Neither K nor the characters are those that serial
 * lines, terminals and tools change, or that give a frame its form (KLINE8_NEVER). The encoder takes the key that
 * can carry most bytes: about 100 of random data, all of a text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/line8_characters.h"

/* The encoder's runs have at least so many bytes, but for the last one: each byte rules out at most as many keys as
 * there are characters that never occur, and those are no keys either. */
#define KLINE8_RUN_LEAST   ((256u - KLINE8_NEVER_COUNT - 1u) / KLINE8_NEVER_COUNT)
#define KLINE8_MOST(bytes) ((bytes) + ((bytes) + KLINE8_RUN_LEAST - 1u) / KLINE8_RUN_LEAST * 2u) /* characters */

/* Writes at most KLINE8_MOST(size) characters, the same ones for the same bytes. Returns their number. Usable in
 * a panic. */
size_t kline8_encode(char *to, const void *from, size_t size);

/* Decodes `size` characters into at most `room` bytes. Returns the number of bytes, or -EINVAL: a run that is none, or
 * is empty, a character that never occurs, or more than `room` bytes. */
long kline8_decode(uint8_t *to, size_t room, const char *from, size_t size);
