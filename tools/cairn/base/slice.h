/* SPDX-License-Identifier: MIT */
/* A piece of text that somebody else keeps, and numbers in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_slice {
    const char *at;
    uint32_t size;
};
#define CAIRN_SLICE(s) (int)(s).size, (s).at /* for "%.*s" */

/* The slice as a string in `out` of `size` bytes, its end cut off where it is longer. */
const char *cairn_slice_text(char *out, size_t size, struct cairn_slice s);
struct cairn_slice cairn_slice_of(const char *text);
bool cairn_slice_is(struct cairn_slice s, const char *text);
bool cairn_slice_same(struct cairn_slice a, struct cairn_slice b);
/* Takes one number (decimal, or hex after 0x) and the blanks behind it off the slice. */
bool cairn_slice_number(struct cairn_slice *s, uint64_t *value);
/* The same in that base, without 0x. */
bool cairn_slice_digits(struct cairn_slice *s, unsigned base, uint64_t *value);
/* The whole slice as one number. */
bool cairn_slice_u64(struct cairn_slice s, uint64_t *value);
/* Exactly `count` numbers with blanks between them. */
bool cairn_slice_numbers(struct cairn_slice s, uint64_t *values, unsigned count);
/* Bytes of the UTF-8 character at `p`, 0 where it is none (RFC 3629). `left`: 1 and more. */
unsigned cairn_utf8(const uint8_t *p, size_t left);
/* Which character it is; `size`: as cairn_utf8 says, not 0. */
uint32_t cairn_utf8_value(const uint8_t *p, unsigned size);
/* `one` or `many` of `n` things. */
const char *cairn_plural(uint64_t n, const char *one, const char *many);
