/* SPDX-License-Identifier: MIT */
/* Text of others as UTF-8 that a terminal may have. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/base/slice.h"

#define CAIRN_NOT_SHOWN "\xEF\xBF\xBD" /* U+FFFD */

/* Bytes of the UTF-8 character at `p`; 0 where it is none, or one that is not shown: a control, or what turns the
 * direction of the line. `left`: 1 and more. */
unsigned cairn_printable_at(const uint8_t *p, size_t left);
/* The character in UTF-8, CAIRN_NOT_SHOWN in the place of one that is not shown; its bytes. */
unsigned cairn_printable_put(char out[4], uint32_t character);

/* NUL-terminated text as UTF-8, at most `room` bytes (8 and more) with its own end; text that is longer ends in "...".
 * `character`: 2: UTF-16, 1: UTF-8. What is neither becomes CAIRN_NOT_SHOWN. Returns the bytes of `text` that it took,
 * its end included. */
uint32_t cairn_printable(char *out, uint32_t room, const uint8_t *text, uint32_t size, unsigned character);

/* Columns of the text, one for each character; and how many of its bytes the first `columns` have. */
uint32_t cairn_columns(struct cairn_slice text);
uint32_t cairn_columns_bytes(struct cairn_slice text, uint32_t columns);
