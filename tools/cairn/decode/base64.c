/* SPDX-License-Identifier: MIT */
/* Lines of base64, with or without other text around them. */
#include <stdio.h>

#include "tools/cairn/decode/reader.h"
#include "tools/cairn/decode/words.h"

#define BASE64_FEWEST 32u /* digits beside other text: 24 bytes, a BTS record */

static int base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Digits of base64 in a line; 0: something else is in it. */
static size_t base64_digits(const char *at, const char *eol)
{
    size_t n = 0;
    for (; at < eol && (base64_value(*at) >= 0 || *at == '='); at++)
        n++;
    return cairn_skip_blanks(at, eol) == eol ? n : 0;
}

/* A run of lines ends. One with fewer digits than a record is words of other text. */
static void end_base64(struct cairn_base64 *b, const char *end)
{
    if (b->digits >= BASE64_FEWEST)
        b->end = end;
    else
        *b = (struct cairn_base64){.around = b->around + b->lines};
}

bool cairn_find_base64(const struct cairn_reader *r, struct cairn_base64 *b)
{
    struct cairn_reader line = *r;
    *b = (struct cairn_base64){0};
    do {
        const char *eol = cairn_reader_eol(&line), *at = cairn_skip_blanks(line.at, eol);
        const bool number = !b->begin && eol - at > 2 && at[0] == '0' && at[1] == 'x';
        const size_t n = number ? 0 : base64_digits(at, eol);
        if (at == eol)
            continue;
        if (b->begin && !b->end && !n)
            end_base64(b, line.at);
        b->again = b->end && n >= BASE64_FEWEST;
        if (b->again)
            break;
        if (b->end || !n) {
            b->around++;
            continue;
        }
        b->begin = b->begin ? b->begin : line.at;
        b->digits += n;
        b->longest = n > b->longest ? n : b->longest;
        b->lines++;
    } while (cairn_reader_next(&line));
    if (b->begin && !b->end && (b->around || b->digits < 16))
        end_base64(b, r->end);
    if (!b->begin)
        return false;
    b->end = b->end ? b->end : r->end;
    for (const char *p = b->begin; p < b->end; p++)
        if (base64_value(*p) >= 0 && cairn_hex_digit(*p) < 0)
            return true;
    return false;
}

/* Digits of which less than four have come. */
struct group {
    uint32_t bits;
    unsigned have, padding;
};

static bool read_line(struct cairn_reader *r, struct group *g, const char *eol)
{
    for (; r->at < eol; r->at++) {
        const int value = base64_value(*r->at);
        if (cairn_is_blank(*r->at))
            continue;
        if (*r->at == '=' && g->have + g->padding >= 2 && g->have + g->padding < 4) {
            g->padding++;
            continue;
        }
        if (value < 0 || g->padding)
            return cairn_reader_wrong(r, r->at,
                                      g->padding ? "nothing after the padding of base64" : "a digit of base64");
        g->bits = g->bits << 6 | (uint32_t)value;
        if (++g->have == 4) {
            for (unsigned i = 3; i-- > 0;)
                cairn_reader_add(r, (uint8_t)(g->bits >> 8 * i));
            g->have = 0;
        }
    }
    return true;
}

/* Whether the line up to `eol` has lost digits: it is shorter than others, and not the last. */
static bool is_short(struct cairn_reader *r, const struct cairn_base64 *b, const char *eol)
{
    char why[128];
    const char *more = eol;
    const size_t n = base64_digits(cairn_skip_blanks(r->at, eol), eol);
    while (more < r->end && (*more == '\n' || cairn_is_blank(*more)))
        more++;
    if (!n || n >= b->longest || more == r->end)
        return false;
    snprintf(why, sizeof(why), "a line of %zu digits of base64, but other lines have %zu: some digits are missing", n,
             b->longest);
    cairn_reader_refuse(r, r->at, why);
    return true;
}

void cairn_read_base64(struct cairn_reader *r, const struct cairn_base64 *b)
{
    struct group g = {0};
    snprintf(r->bytes->form, sizeof(r->bytes->form), "base64");
    do {
        const char *eol = cairn_reader_eol(r);
        if (is_short(r, b, eol) || !read_line(r, &g, eol))
            return;
    } while (cairn_reader_next(r));
    for (unsigned i = 0; g.have && i + 1 < g.have; i++) /* 2 digits are a byte, 3 are two */
        cairn_reader_add(r, (uint8_t)(g.bits << 6 * (4 - g.have) >> (16 - 8 * i)));
    if (b->again)
        cairn_reader_refuse(r, r->end,
                            "other text, and more base64 after it: remove the text, or decode one part at a time");
    if (g.have == 1 || (g.padding && g.have + g.padding != 4))
        cairn_reader_wrong(r, r->end, "four digits of base64 at a time");
}
