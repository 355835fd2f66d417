/* SPDX-License-Identifier: MIT */
/* What the readers of each kind of text share: where they are, and how they add bytes or note what is wrong. */
#pragma once

#include "tools/cairn/decode/text.h"

#define CAIRN_BYTES_MOST (UINT64_C(1) << 28) /* at most, with repeated lines: no buffer of records is larger */

struct cairn_reader {
    struct cairn_bytes *bytes;
    const char *at, *end; /* of the text */
    const char *wrong;    /* the first thing in it that is wrong; NULL: none */
    bool other;
};

static inline int cairn_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The end of the line that `at` is in. */
const char *cairn_reader_eol(const struct cairn_reader *r);
/* Goes on to the next line. False: there is none. */
bool cairn_reader_next(struct cairn_reader *r);
void cairn_reader_add(struct cairn_reader *r, uint8_t byte);
/* A number as `width` bytes of memory. */
void cairn_reader_add_word(struct cairn_reader *r, uint64_t value, unsigned width);
/* Notes that `expected` should be at `at`. Only the first time counts. Returns false. */
bool cairn_reader_wrong(struct cairn_reader *r, const char *at, const char *expected);
/* The same, if `why` alone is to be said. */
bool cairn_reader_refuse(struct cairn_reader *r, const char *at, const char *why);

/* dump.c: lines of bytes or words. */
void cairn_read_dump(struct cairn_reader *r);
/* list.c: numbers with commas between them. Whether it is one. */
bool cairn_is_list(const struct cairn_reader *r);
void cairn_read_list(struct cairn_reader *r);

/* Lines of base64, and how many of other text are around them. */
struct cairn_base64 {
    const char *begin, *end;
    size_t digits, longest, lines, around; /* longest: digits of the longest line */
    bool again;                            /* other text is at `end`, and more base64 behind it */
};

/* base64.c: finds the first run of lines that are nothing but base64, and not of hexadecimal digits alone. False: there
 * is none. */
bool cairn_find_base64(const struct cairn_reader *r, struct cairn_base64 *b);
/* Reads these lines, of which `r` is. */
void cairn_read_base64(struct cairn_reader *r, const struct cairn_base64 *b);
