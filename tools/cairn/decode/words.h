/* SPDX-License-Identifier: MIT */
/* The parts of a line in a dump: words, the address in front of them, and text that is neither. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cairn_word {
    const char *at, *end;
    uint64_t value;
    unsigned digits;
    bool prefixed;
};

struct cairn_place {
    const char *at, *end; /* its digits */
    bool is, colon, prefixed;
};

bool cairn_is_blank(char c);
const char *cairn_skip_blanks(const char *at, const char *eol);
/* Where the token that begins at `at` ends. */
const char *cairn_token_end(const char *at, const char *eol);
/* A token of hexadecimal digits at `at`. False: it is something else. */
bool cairn_take_word(const char *at, const char *eol, struct cairn_word *w);
/* The address that the line has, if any. *rest: what follows. */
struct cairn_place cairn_find_place(const char *line, const char *eol, const char **rest);
/* False: it is no number of that radix. */
bool cairn_place_value(const struct cairn_place *place, unsigned radix, uint64_t *value);
/* Whether the line begins with a debugger's prompt. */
bool cairn_is_prompt(const char *at, const char *eol);
/* Whether a number with 0x or an offset with a colon is in the line: then more than text is. */
bool cairn_has_address(const char *at, const char *eol);
/* Skips a log's times and levels at `at`. */
const char *cairn_skip_stamps(const char *at, const char *eol);
/* Whether the line is of octal or decimal numbers, as od and hexdump print them. */
bool cairn_is_octal(const char *line, const char *eol);
/* Whether words of 8 binary digits come from `at` on, and behind them a character for each, as xxd -b prints them: a
 * word of 8 hexadecimal digits has four. */
bool cairn_is_binary(const char *at, const char *eol);
/* Whether nothing but decimal numbers come from `at` on: one at least. *sure: one of them is no hexadecimal word. */
bool cairn_is_decimal(const char *at, const char *eol, bool *sure);
/* Where a debugger says that it cannot read the memory; NULL: nowhere. */
const char *cairn_find_unread(const char *at, const char *eol);
