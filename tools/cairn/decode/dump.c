/* SPDX-License-Identifier: MIT */
/* Lines of hexadecimal bytes or words, with or without an address in front and characters behind. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/decode/reader.h"
#include "tools/cairn/decode/words.h"

/* Radices that an address may have until the second line tells. The first that fits counts. */
static const unsigned radices[] = {16, 8, 10};
#define RADICES (sizeof(radices) / sizeof(radices[0]))
#define FAR     0x10000u /* more bytes than lost lines leave out */

struct dump {
    struct cairn_reader *r;
    unsigned digits;   /* of a word; 0: not seen yet */
    bool prefixed;     /* words have 0x */
    bool loose;        /* words have no leading zeros: each is 8 bytes */
    bool bare;         /* a word without leading zeros has come: it may be loose */
    bool long_word;    /* one of more than 8 digits has come */
    const char *first; /* line with bytes */
    const char *text;  /* a line of other text behind bytes without addresses: these must have ended there */
    size_t begun;      /* lines that fit, as far as the first word or the address tells */
    size_t lines;      /* those that are right up to their end */
    bool known;        /* a line with bytes has come: the next two are of that one */
    bool addressed;    /* lines begin with an address, */
    bool colon;        /* with a colon behind it */
    bool large;        /* whose addresses have more than 8 digits */
    uint64_t start[RADICES];
    bool fits[RADICES];
    bool repeats;                         /* after '*': the line before comes again, up to the next address */
    size_t last, size;                    /* the line before: where its bytes begin, how many */
    const char *unread;                   /* where a debugger has said, before any bytes, that it cannot read them */
    const char *decimal;                  /* the first line of decimal numbers, before any bytes */
    size_t wrong_printed, wrong_reversed; /* characters behind the bytes that are not theirs, by the order in a word */
};

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* Adds the bytes that '*' stands for, up to the line at `to`. False: no line can be at this address. */
static bool gap_to(const struct dump *d, unsigned i, uint64_t to, uint64_t *gap)
{
    *gap = to - (d->start[i] + d->r->bytes->count);
    const size_t there = d->r->bytes->count;
    return *gap == 0 || (d->repeats && d->size && there < CAIRN_BYTES_MOST && *gap <= CAIRN_BYTES_MOST - there);
}

static bool repeat(struct dump *d, uint64_t gap)
{
    struct cairn_bytes *b = d->r->bytes;
    while (gap) { /* all that is there, as far as there is room */
        b->items = cairn_grow(b->items, b->count, &b->room, 1);
        const size_t from = d->last + (b->count - d->last) % d->size, room = b->room - b->count;
        size_t n = b->count - from < room ? b->count - from : room;
        n = n < gap ? n : (size_t)gap;
        memcpy(b->items + b->count, b->items + from, n);
        b->count += n;
        gap -= n;
    }
    d->repeats = false;
    return true;
}

/* Whether the line's bytes follow those before it. */
static bool check_place(struct dump *d, const struct cairn_place *place)
{
    uint64_t value, gap, fill = 0;
    bool any = false, now[RADICES];
    char expected[64];
    if (!d->known) {
        for (unsigned i = 0; i < RADICES; i++)
            d->fits[i] = cairn_place_value(place, radices[i], &d->start[i]);
        d->addressed = true;
        d->colon = place->colon;
        d->large = place->end - place->at > 8;
        return true;
    }
    if (!d->addressed)
        return cairn_reader_wrong(d->r, place->at, "bytes: the lines before have no address");
    for (unsigned i = 0; i < RADICES; i++) {
        now[i] = d->fits[i] && cairn_place_value(place, radices[i], &value) && gap_to(d, i, value, &gap);
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
    if (cairn_place_value(place, 16, &value) &&
        (value <= d->start[0] || value > d->start[0] + FAR + d->r->bytes->count))
        return cairn_reader_refuse(d->r, place->at, "another dump begins here: decode one at a time");
    return cairn_reader_wrong(d->r, place->at, expected);
}

/* ---- the bytes of a line ----------------------------------------------------------------------------------------- */

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

static void add_printed(struct dump *d, const struct cairn_word *w)
{
    int high = -1;
    for (unsigned i = 8; d->loose && i-- > 0;) /* the highest byte is the first that is printed */
        cairn_reader_add(d->r, (uint8_t)(w->value >> 8 * i));
    if (d->loose)
        return;
    for (const char *p = w->prefixed ? w->at + 2 : w->at; p < w->end; p++) {
        if (*p == '`')
            continue;
        if (high >= 0)
            cairn_reader_add(d->r, (uint8_t)(high << 4 | cairn_hex_digit(*p)));
        high = high < 0 ? cairn_hex_digit(*p) : -1;
    }
}

/* Whether a word is like those before; `last`: nothing but blanks or characters follow. */
static bool fits(struct dump *d, const struct cairn_word *w)
{
    const bool usual = w->digits == 2 || w->digits == 4 || w->digits == 8 || w->digits == 16;
    const bool bare = w->prefixed && w->digits <= 16 && (w->digits == 1 || w->at[2] != '0');
    if (d->loose) {
        d->digits = 16;
        d->prefixed = true;
        d->long_word |= w->digits > 8;
        return bare;
    }
    d->bare |= bare && (w->digits != d->digits || !usual);
    if (w->digits % 2 || (w->prefixed && !usual))
        return false;
    if (!d->digits) {
        d->digits = usual ? w->digits : 64; /* a string of digits */
        d->prefixed = w->prefixed;
    }
    return w->prefixed == d->prefixed &&
           (w->digits == d->digits || (!w->prefixed && w->digits < d->digits) || d->digits > 16);
}

static bool no_word(struct dump *d, const char *at, const struct cairn_word *w)
{
    char expected[64];
    if (w->prefixed && w->digits > 16)
        return cairn_reader_refuse(d->r, at,
                                   "more than 16 digits after 0x: remove 0x if the digits are bytes in order");
    if (!d->digits)
        snprintf(expected, sizeof(expected), "hexadecimal digits, an even number for each byte or word");
    else if (d->digits > 16)
        snprintf(expected, sizeof(expected), "an even number of hexadecimal digits");
    else
        snprintf(expected, sizeof(expected), "%s%u hexadecimal digits", d->prefixed ? "0x and " : "", d->digits);
    return cairn_reader_wrong(d->r, at, expected);
}

/* gdb's x/ga has the symbol " <main+4>" behind a word that is an address. */
static const char *skip_symbol(const char *at, const char *eol)
{
    const char *symbol = cairn_skip_blanks(at, eol);
    if (symbol == eol || *symbol != '<')
        return at;
    while (symbol < eol && *symbol != '>' && *symbol != '\t')
        symbol++;
    return symbol < eol && *symbol == '>' ? symbol + 1 : at;
}

/* From `at` on. False: something is wrong, which is noted. */
static bool read_words(struct dump *d, const char *at, const char *eol, bool columns)
{
    struct cairn_word w;
    bool first = true, whole = true;
    d->last = d->r->bytes->count;
    d->size = 0;
    for (;; first = false) {
        const char *from = at;
        at = cairn_skip_blanks(at, eol);
        /* no tool prints characters behind words with 0x; a terminal may have made blanks of gdb's tabs */
        const bool wide = !first && !d->prefixed && at - from >= 2 && memchr(from, '\t', (size_t)(at - from)) == NULL;
        if (at == eol)
            return true;
        if (!first && (*at == '|' || *at == '>' || (wide && columns)))
            break;
        if (!first && *at == '-')
            at++;
        if (!cairn_take_word(at, eol, &w) || !fits(d, &w) || (!whole && !wide && d->digits <= 16)) {
            if (wide)
                break;
            return no_word(d, at, &w);
        }
        whole = d->loose || w.digits == d->digits;
        add_printed(d, &w);
        d->size = d->r->bytes->count - d->last;
        at = d->loose ? skip_symbol(w.end, eol) : w.end;
    }
    compare_characters(d, *at == '|' || *at == '>' ? at + 1 : at,
                       eol > at && (eol[-1] == '|' || eol[-1] == '<') && (*at == '|' || *at == '>') ? eol - 1 : eol);
    return true;
}

/* Whether words begin at `at`. */
static bool words_begin(const char *at, const char *eol)
{
    struct cairn_word w;
    at = cairn_skip_blanks(at, eol);
    return at < eol && cairn_take_word(at, eol, &w) && (w.prefixed || w.digits % 2 == 0);
}

/* Whether nothing but bytes of two digits, or words with 0x, come from `at` on: four at least. */
static bool only_words(const char *at, const char *eol)
{
    struct cairn_word w;
    unsigned n = 0;
    for (at = cairn_skip_blanks(at, eol); at < eol; at = cairn_skip_blanks(w.end, eol), n++)
        if (!cairn_take_word(at, eol, &w) || !(w.prefixed || w.digits == 2))
            return false;
    return n >= 4;
}

/* Where the words begin in a line without an address: at once, or behind "name: ", "name = " or any text. NULL:
 * nowhere. */
static const char *find_words(const char *line, const char *eol)
{
    const char *found = words_begin(line, eol) ? line : NULL;
    for (const char *p = line + 1; !found && p < eol; p++)
        if (cairn_is_blank(*p) && (((p[-1] == ':' || p[-1] == '=') && words_begin(p, eol)) || only_words(p, eol)))
            found = p;
    return found;
}

/* Whether the line is of decimal numbers, before any bytes: one that can be nothing else, or one with an address behind
 * such a line. */
static bool is_decimal(struct dump *d, const char *numbers, const char *eol, bool addressed)
{
    bool sure;
    if (d->known || !cairn_is_decimal(numbers, eol, &sure) || !(sure || (d->decimal && addressed)))
        return false;
    d->decimal = d->decimal ? d->decimal : numbers;
    return true;
}

static bool read_shown(struct dump *d, const char *line, const char *eol)
{
    const char *rest, *at = cairn_skip_stamps(line, eol);
    while (eol > at && cairn_is_blank(eol[-1]))
        eol--;
    const bool prompt = cairn_is_prompt(at, eol);
    if (at == eol) { /* "[Switching to Thread 1.2]" is no time, but no bytes either */
        d->r->bytes->skipped += !d->known && cairn_skip_blanks(line, eol) < eol;
        return true;
    }
    if (eol - at == 1 && *at == '*') {
        d->repeats = d->known && d->addressed;
        return d->repeats || cairn_reader_wrong(d->r, at, "a line of bytes with an address, which '*' can repeat");
    }
    if (!d->known && cairn_is_octal(at, eol))
        return cairn_reader_refuse(d->r, at,
                                   "these look like od's octal or decimal numbers: use od -Ax -tx8 -v (or xxd)");
    const struct cairn_place place = cairn_find_place(at, eol, &rest);
    if (!d->known && place.is && cairn_is_binary(rest, eol))
        return cairn_reader_refuse(d->r, at, "these look like binary digits (xxd -b): use xxd");
    const char *words = place.is ? cairn_skip_blanks(rest, eol) : find_words(at, eol);
    if (place.is && d->known && words == eol) /* the end, as hexdump has it */
        return check_place(d, &place);
    if (is_decimal(d, place.is ? rest : at, eol, place.is) || !words || words == eol) {
        if (d->known && !prompt && cairn_has_address(at, eol))
            return cairn_reader_wrong(d->r, at, d->addressed ? "an address and bytes after it" : "bytes");
        if (d->known && !d->addressed && !prompt && !d->text)
            d->text = at;
        d->r->bytes->skipped++;
        return true;
    }
    if (d->text)
        return cairn_reader_wrong(d->r, d->text, "bytes");
    if (place.is && !check_place(d, &place))
        return false;
    if (!place.is && d->known && d->addressed)
        return cairn_reader_wrong(d->r, at, "an address");
    d->first = d->known ? d->first : line;
    d->known = true;
    d->begun++;
    if (!read_words(d, words, eol, place.is && place.colon))
        return false;
    d->lines++;
    return true;
}

static bool read_line(struct dump *d, const char *line, const char *eol)
{
    const char *unread = cairn_find_unread(line, eol);
    const size_t lines = d->lines;
    if (!read_shown(d, line, unread ? unread : eol))
        return false;
    if (unread)
        d->lines = lines; /* it is not right up to its end */
    if (unread && d->known)
        return cairn_reader_refuse(d->r, unread, "the debugger could not read the bytes that follow");
    d->unread = d->unread ? d->unread : unread;
    return true;
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

/* Lines from `at` on that have one layout, up to the first that does not fit. `skipped`: those in front. */
static struct dump read_run(struct cairn_reader *r, const char *at, size_t skipped, bool loose)
{
    struct dump d = {.r = r, .loose = loose};
    r->at = at;
    r->wrong = NULL;
    r->bytes->count = 0;
    r->bytes->skipped = skipped;
    r->bytes->refused[0] = '\0';
    do
        if (!read_line(&d, r->at, cairn_reader_eol(r)))
            break;
    while (cairn_reader_next(r));
    return d;
}

/* The same, with words that have no leading zeros if more lines fit so. */
static struct dump read_either_run(struct cairn_reader *r, const char *at, size_t skipped)
{
    const struct dump padded = read_run(r, at, skipped, false);
    if (!r->wrong || !padded.bare)
        return padded;
    const struct dump loose = read_run(r, at, skipped, true);
    if (loose.lines <= padded.lines)
        return read_run(r, at, skipped, false);
    if (!loose.long_word) {
        r->bytes->count = 0;
        r->wrong = NULL;
        cairn_reader_refuse(r, loose.first, "words need leading zeros, which show their size: %016llx, x/gx in gdb");
    }
    return loose;
}

static bool same_layout(const struct dump *a, const struct dump *b)
{
    return a->begun > 1 && a->addressed == b->addressed && a->colon == b->colon && a->digits == b->digits &&
           a->prefixed == b->prefixed && a->loose == b->loose;
}

/* A line of a session, such as "$1 = 0x1000", may look like one of bytes: the longest run counts. One with the layout
 * of the best before is the rest of it, behind what is wrong. */
static struct dump longest_run(struct cairn_reader *r)
{
    const char *best_at = r->at;
    struct dump best = read_either_run(r, best_at, 0), d = best;
    size_t best_skipped = 0, most = r->bytes->count;
    bool last = true; /* the best is the last that was read */
    while (r->wrong && d.known) {
        size_t skipped = r->bytes->skipped + d.lines;
        if (!d.lines) {
            skipped++;
            if (!cairn_reader_next(r))
                break;
        }
        const char *at = r->at;
        d = read_either_run(r, at, skipped);
        last = r->bytes->count > most && !same_layout(&best, &d);
        if (last) {
            best = d;
            best_at = at;
            best_skipped = skipped;
            most = r->bytes->count;
        }
    }
    return last ? best : read_either_run(r, best_at, best_skipped);
}

void cairn_read_dump(struct cairn_reader *r)
{
    const char *begin = r->at;
    struct dump d = longest_run(r);
    if (!d.known) {
        r->bytes->skipped = 0;
        if (d.decimal)
            cairn_reader_refuse(r, d.decimal,
                                "decimal numbers do not show their size: use x/gx in gdb, od -Ax -tx8 -v or xxd");
        else if (d.unread)
            cairn_reader_refuse(r, d.unread, "the debugger could not read any bytes");
        cairn_reader_wrong(r, begin, "bytes as xxd, hexdump or gdb's x print them, \\x.., an array or base64");
        return;
    }
    decide_order(&d);
    for (unsigned i = 0; d.addressed && i < RADICES; i++)
        if (d.fits[i]) {
            r->bytes->address = d.start[i];
            r->bytes->addressed = d.start[i] != 0;
            break;
        }
}
