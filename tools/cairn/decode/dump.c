/* SPDX-License-Identifier: MIT */
/* Lines of hexadecimal bytes or words, with or without an address in front and characters behind. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/decode/reader.h"

/* An address may be in one of these, until the second line tells; the first that fits counts. */
static const unsigned radices[] = {16, 8, 10};
#define RADICES (sizeof(radices) / sizeof(radices[0]))

struct dump {
    struct cairn_reader *r;
    unsigned digits; /* of a word; 0: not seen yet */
    bool prefixed;   /* words have 0x */
    bool known;      /* a line with bytes has come: the next two are of that one */
    bool addressed;  /* lines begin with an address, */
    bool colon;      /* with a colon behind it */
    bool large;      /* whose addresses have more than 8 digits */
    uint64_t start[RADICES];
    bool fits[RADICES];
    bool repeats;                         /* '*': the line before comes again, up to the next address */
    size_t last, size;                    /* the line before: where its bytes begin, how many */
    size_t wrong_printed, wrong_reversed; /* characters behind the bytes that are not theirs, by the order in a word */
};

struct word {
    const char *at, *end;
    uint64_t value;
    unsigned digits;
    bool prefixed;
};

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

/* A token of hexadecimal digits at `at`. False: it is something else. */
static bool take_word(const char *at, const char *eol, struct word *w)
{
    *w = (struct word){.at = at, .end = at};
    if (eol - at > 2 && at[0] == '0' && (at[1] | 32) == 'x') {
        w->prefixed = true;
        w->end += 2;
    }
    for (; w->end < eol && !blank(*w->end); w->end++) {
        if (*w->end == '`' && w->digits) /* WinDbg: 00000000`00000001 */
            continue;
        if (*w->end == '-' && w->digits == 2 && !w->prefixed) /* and in the middle of a line of bytes */
            break;
        const int digit = cairn_hex_digit(*w->end);
        if (digit < 0)
            return false;
        w->value = w->value << 4 | (unsigned)digit;
        w->digits++;
    }
    return w->digits;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

struct place {
    const char *at, *end; /* its digits */
    bool is, colon, prefixed;
};

static const char *skip(const char *at, const char *eol)
{
    while (at < eol && blank(*at))
        at++;
    return at;
}

static const char *token_end(const char *at, const char *eol)
{
    while (at < eol && !blank(*at))
        at++;
    return at;
}

static bool is_hex(const char *at, const char *end)
{
    for (const char *p = at; p < end; p++)
        if (cairn_hex_digit(*p) < 0 && *p != '`')
            return false;
    return at < end;
}

/* "0x7ffc0040:", "00000010:", "0x4010 <buffer+16>:" in front of words, behind whatever a log has there; or a number
 * without a colon, which the line begins with. *rest: what follows. */
static struct place find_place(const char *line, const char *eol, const char **rest)
{
    struct place place = {0};
    struct word w;
    for (const char *at = skip(line, eol), *end; at < eol; at = skip(end, eol)) {
        end = token_end(at, eol);
        const bool prefixed = end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x';
        const char *digits = prefixed ? at + 2 : at, *last = end, *symbol = skip(end, eol);
        bool colon = end > digits && end[-1] == ':';
        if (colon)
            last--;
        if (!colon && prefixed && symbol < eol && *symbol == '<') {
            while (symbol + 1 < eol && !(symbol[0] == '>' && symbol[1] == ':'))
                symbol++;
            if (symbol + 1 < eol) {
                colon = true;
                end = symbol + 2;
            }
        }
        if (!colon || !is_hex(digits, last) || (!prefixed && last - digits < 4))
            continue;
        const char *next = skip(end, eol);
        if (next < eol && !take_word(next, token_end(next, eol), &w))
            continue;
        *rest = end;
        return (struct place){digits, last, true, true, prefixed};
    }
    /* none: a column of them, as hexdump and od have it, or WinDbg */
    const char *at = skip(line, eol), *end = token_end(at, eol), *next = skip(end, eol);
    *rest = at;
    const bool wide = memchr(at, '`', (size_t)(end - at)) != NULL;
    if (!is_hex(at, end) || (!wide && (end - at < 6 || end - at > 8)))
        return place;
    if (next < eol && (!take_word(next, token_end(next, eol), &w) || w.prefixed ||
                       (next - end < 2 && w.digits == (unsigned)(end - at))))
        return place;
    *rest = end;
    return (struct place){at, end, true, wide, false};
}

static bool place_value(const struct place *place, unsigned radix, uint64_t *value)
{
    *value = 0;
    if (radix != 16 && (place->prefixed || place->end - place->at > 8))
        return false;
    for (const char *p = place->at; p < place->end; p++) {
        if (*p == '`')
            continue;
        if (cairn_hex_digit(*p) >= (int)radix)
            return false;
        *value = *value * radix + (unsigned)cairn_hex_digit(*p);
    }
    return true;
}

/* Bytes that the line at `to` says are repeated. False: that is where no line can be. */
static bool gap_to(const struct dump *d, unsigned i, uint64_t to, uint64_t *gap)
{
    *gap = to - (d->start[i] + d->r->bytes->count);
    return *gap == 0 || (d->repeats && d->size && *gap <= CAIRN_BYTES_MOST);
}

static bool repeat(struct dump *d, uint64_t gap)
{
    for (uint64_t i = 0; i < gap; i++)
        cairn_reader_add(d->r, d->r->bytes->items[d->last + i % d->size]);
    d->repeats = false;
    return true;
}

/* The line's bytes lie behind those before. */
static bool check_place(struct dump *d, const struct place *place)
{
    uint64_t value, gap, fill = 0;
    bool any = false, now[RADICES];
    char expected[64];
    if (!d->known) {
        for (unsigned i = 0; i < RADICES; i++)
            d->fits[i] = place_value(place, radices[i], &d->start[i]);
        d->addressed = true;
        d->colon = place->colon;
        d->large = place->end - place->at > 8;
        return true;
    }
    if (!d->addressed)
        return cairn_reader_wrong(d->r, place->at, "bytes: the lines before have no address");
    for (unsigned i = 0; i < RADICES; i++) {
        now[i] = d->fits[i] && place_value(place, radices[i], &value) && gap_to(d, i, value, &gap);
        if (now[i] && !any)
            fill = gap;
        any |= now[i];
    }
    if (any) {
        memcpy(d->fits, now, sizeof(now));
        return repeat(d, fill);
    }
    for (unsigned i = 0; i < RADICES; i++)
        if (d->fits[i]) {
            snprintf(expected, sizeof(expected),
                     radices[i] == 16  ? "address %" PRIx64
                     : radices[i] == 8 ? "address %" PRIo64
                                       : "address %" PRIu64,
                     d->start[i] + d->r->bytes->count);
            break;
        }
    return cairn_reader_wrong(d->r, place->at, expected);
}

/* ---- the bytes of a line ----------------------------------------------------------------------------------------- */

static bool is_prompt(const char *at, const char *eol)
{
    static const char *const prompts[] = {"(gdb)", "(lldb)", "crash>", "kd>", "--Type", "---Type"};
    for (unsigned i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++)
        if ((size_t)(eol - at) >= strlen(prompts[i]) && memcmp(at, prompts[i], strlen(prompts[i])) == 0)
            return true;
    return false;
}

/* The characters that a tool prints behind the bytes tell in which order it printed them. */
static void compare_characters(struct dump *d, const char *at, const char *eol)
{
    const uint8_t *bytes = d->r->bytes->items + d->last;
    const unsigned width = d->digits / 2;
    if (d->digits > 16 || (size_t)(eol - at) != d->size || d->size % width)
        return;
    for (size_t i = 0; i < d->size; i++) {
        const uint8_t printed = bytes[i], reversed = bytes[i - i % width + width - 1 - i % width];
        d->wrong_printed += at[i] != (isprint(printed) ? printed : '.');
        d->wrong_reversed += at[i] != (isprint(reversed) ? reversed : '.');
    }
}

static void add_printed(struct dump *d, const struct word *w)
{
    int high = -1;
    for (const char *p = w->prefixed ? w->at + 2 : w->at; p < w->end; p++) {
        if (*p == '`')
            continue;
        if (high >= 0)
            cairn_reader_add(d->r, (uint8_t)(high << 4 | cairn_hex_digit(*p)));
        high = high < 0 ? cairn_hex_digit(*p) : -1;
    }
}

/* Whether a word is like those before; `last`: nothing but blanks or characters follow. */
static bool fits(struct dump *d, const struct word *w)
{
    const bool usual = w->digits == 2 || w->digits == 4 || w->digits == 8 || w->digits == 16;
    if (w->digits % 2 || (w->prefixed && !usual))
        return false;
    if (!d->digits) {
        d->digits = usual ? w->digits : 64; /* a string of digits */
        d->prefixed = w->prefixed;
    }
    return w->prefixed == d->prefixed &&
           (w->digits == d->digits || (!w->prefixed && w->digits < d->digits) || d->digits > 16);
}

static bool no_word(struct dump *d, const char *at)
{
    char expected[64];
    if (!d->digits)
        snprintf(expected, sizeof(expected), "bytes as hexadecimal digits, two for each");
    else if (d->digits > 16)
        snprintf(expected, sizeof(expected), "an even number of hexadecimal digits");
    else
        snprintf(expected, sizeof(expected), "%s%u hexadecimal digits", d->prefixed ? "0x and " : "", d->digits);
    return cairn_reader_wrong(d->r, at, expected);
}

/* From `at` on. False: something is wrong, which is noted. */
static bool read_words(struct dump *d, const char *at, const char *eol, bool columns)
{
    struct word w;
    bool first = true, whole = true;
    d->last = d->r->bytes->count;
    d->size = 0;
    for (;; first = false) {
        const char *from = at;
        at = skip(at, eol);
        const bool wide = !first && at - from >= 2 && memchr(from, '\t', (size_t)(at - from)) == NULL;
        if (at == eol)
            return true;
        if (!first && (*at == '|' || *at == '>' || (wide && columns)))
            break;
        if (!first && *at == '-')
            at++;
        if (!take_word(at, eol, &w) || !fits(d, &w) || (!whole && !wide && d->digits <= 16)) {
            if (wide)
                break;
            return no_word(d, at);
        }
        whole = w.digits == d->digits;
        add_printed(d, &w);
        d->size = d->r->bytes->count - d->last;
        at = w.end;
    }
    compare_characters(d, *at == '|' || *at == '>' ? at + 1 : at,
                       eol > at && (eol[-1] == '|' || eol[-1] == '<') && (*at == '|' || *at == '>') ? eol - 1 : eol);
    return true;
}

/* Whether words begin at `at`. */
static bool words_begin(const char *at, const char *eol)
{
    struct word w;
    at = skip(at, eol);
    return at < eol && take_word(at, eol, &w) && w.digits % 2 == 0;
}

/* Whether nothing but bytes of two digits, or words with 0x, come from `at` on: four at least. */
static bool only_words(const char *at, const char *eol)
{
    struct word w;
    unsigned n = 0;
    for (at = skip(at, eol); at < eol; at = skip(w.end, eol), n++)
        if (!take_word(at, eol, &w) || w.digits % 2 || !(w.prefixed || w.digits == 2))
            return false;
    return n >= 4;
}

/* Where the words begin in a line without an address: at once, or behind "name: ", "name = " or any text. NULL:
 * nowhere. */
static const char *find_words(const char *line, const char *eol)
{
    const char *found = words_begin(line, eol) ? line : NULL;
    for (const char *p = line + 1; !found && p < eol; p++)
        if (blank(*p) && (((p[-1] == ':' || p[-1] == '=') && words_begin(p, eol)) || only_words(p, eol)))
            found = p;
    return found;
}

static bool read_line(struct dump *d, const char *line, const char *eol)
{
    const char *rest, *at = skip(line, eol);
    while (eol > at && blank(eol[-1]))
        eol--;
    const bool prompt = is_prompt(at, eol);
    if (at == eol)
        return true;
    if (eol - at == 1 && *at == '*') {
        d->repeats = d->known && d->addressed;
        return d->repeats || cairn_reader_wrong(d->r, at, "a line of bytes, which '*' repeats, with its address");
    }
    const struct place place = find_place(at, eol, &rest);
    const char *words = place.is ? skip(rest, eol) : find_words(at, eol);
    if (place.is && d->known && words == eol) /* the end, as hexdump has it */
        return check_place(d, &place);
    if (!words || words == eol) {
        if (d->known && !prompt)
            return cairn_reader_wrong(d->r, at, d->addressed ? "an address and bytes behind it" : "bytes");
        d->r->bytes->skipped++;
        return true;
    }
    if (place.is && !check_place(d, &place))
        return false;
    if (!place.is && d->known && d->addressed)
        return cairn_reader_wrong(d->r, at, "an address");
    d->known = true;
    return read_words(d, words, eol, place.is && place.colon);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Which order a word's bytes were printed in: the value of a word has its lowest byte last. */
static void decide_order(struct dump *d)
{
    struct cairn_bytes *b = d->r->bytes;
    const unsigned width = d->digits > 16 ? 1 : d->digits / 2;
    bool value = d->prefixed || (d->addressed && !d->colon) || (d->digits == 16 && (d->large || !d->addressed));
    if (d->wrong_printed != d->wrong_reversed)
        value = d->wrong_reversed < d->wrong_printed;
    else
        b->either = width > 1 && !d->prefixed && !(d->addressed && !d->colon);
    value ^= b->either && d->r->other;
    if (width <= 1)
        snprintf(b->form, sizeof(b->form), "hexadecimal bytes");
    else
        snprintf(b->form, sizeof(b->form), value ? "words of %u bytes" : "groups of %u bytes as they lie in memory",
                 width);
    for (size_t i = 0; value && width > 1 && i < b->count; i += width)
        for (size_t low = i, high = (i + width < b->count ? i + width : b->count) - 1; low < high; low++, high--) {
            const uint8_t byte = b->items[low];
            b->items[low] = b->items[high];
            b->items[high] = byte;
        }
}

void cairn_read_dump(struct cairn_reader *r)
{
    struct dump d = {.r = r};
    const char *const begin = r->at;
    do
        if (!read_line(&d, r->at, cairn_reader_eol(r)))
            break;
    while (cairn_reader_next(r));
    if (!d.known)
        r->bytes->skipped = 0;
    if (!d.known && !r->bytes->line) {
        r->number = 1;
        r->line = begin;
        cairn_reader_wrong(r, begin, "bytes as xxd, hexdump or gdb's x print them, \\x.., an array or base64");
    }
    if (!d.known)
        return;
    decide_order(&d);
    for (unsigned i = 0; d.addressed && i < RADICES; i++)
        if (d.fits[i]) {
            r->bytes->address = d.start[i];
            r->bytes->addressed = d.start[i] != 0;
            break;
        }
}
