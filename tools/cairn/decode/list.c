/* SPDX-License-Identifier: MIT */
/* A list of numbers: an array of C, as source has it or as gdb prints one, or of another language. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/decode/reader.h"

struct number {
    uint64_t value;
    size_t times;
};

struct list {
    struct cairn_reader *r;
    const char *at;
    struct {
        struct number *items;
        size_t count, room;
    } numbers;
    uint64_t most;
};

/* A number, with a suffix of C's. False: there is none at `at`. */
static bool take_number(const char **at, const char *end, uint64_t *value)
{
    const char *p = *at;
    const bool hex = end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x';
    const unsigned base = hex ? 16 : 10;
    uint64_t v = 0;
    p += hex ? 2 : 0;
    const char *digits = p;
    for (; p < end && cairn_hex_digit(*p) >= 0 && cairn_hex_digit(*p) < (int)base; p++) {
        if (v > (UINT64_MAX - (unsigned)cairn_hex_digit(*p)) / base)
            return false;
        v = v * base + (unsigned)cairn_hex_digit(*p);
    }
    if (p == digits)
        return false;
    while (p < end && ((*p | 32) == 'u' || (*p | 32) == 'l'))
        p++;
    if (p < end && (isalnum((unsigned char)*p) || *p == '_'))
        return false;
    *at = p;
    *value = v;
    return true;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

/* A number and a comma behind it, somewhere. */
bool cairn_is_list(const struct cairn_reader *r)
{
    for (const char *p = r->at; p < r->end; p++) {
        uint64_t value;
        if ((p > r->at && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) || !take_number(&p, r->end, &value))
            continue;
        const char *next = skip_blanks(p, r->end);
        if (next < r->end && *next == ',')
            return true;
        p--;
    }
    return false;
}

/* Bytes of an element by the type in front of the brace; 0: none that is known. */
static unsigned declared(const char *from, const char *to)
{
    static const struct {
        const char *word;
        unsigned bytes;
    } types[] = {{"int8", 1},  {"int16", 2}, {"int32", 4},  {"int64", 8}, {"u8", 1},
                 {"u16", 2},   {"u32", 4},   {"u64", 8},    {"byte", 1},  {"char", 1},
                 {"short", 2}, {"long", 8},  {"size_t", 8}, {"int", 4},   {"unsigned", 4}};
    char text[256];
    size_t n = (size_t)(to - from) < sizeof(text) - 1 ? (size_t)(to - from) : sizeof(text) - 1;
    for (size_t i = 0; i < n; i++)
        text[i] = (char)tolower((unsigned char)*(to - n + i));
    text[n] = '\0';
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strstr(text, types[i].word))
            return types[i].bytes;
    return 0;
}

/* Goes over blanks and comments. */
static void skip(struct list *l)
{
    const struct cairn_reader *r = l->r;
    while (l->at < r->end) {
        if (isspace((unsigned char)*l->at)) {
            l->at++;
        } else if (r->end - l->at > 1 && l->at[0] == '/' && l->at[1] == '/') {
            while (l->at < r->end && *l->at != '\n')
                l->at++;
        } else if (r->end - l->at > 1 && l->at[0] == '/' && l->at[1] == '*') {
            for (l->at += 2; l->at < r->end && !(l->at[-1] == '*' && l->at[0] == '/' && l->at[-2] != '/'); l->at++)
                ;
            l->at += l->at < r->end;
        } else {
            return;
        }
    }
}

/* gdb's "<repeats 12 times>". */
static bool take_repeats(struct list *l, size_t *times)
{
    static const char before[] = "<repeats ", after[] = " times>";
    const size_t n = sizeof(before) - 1, m = sizeof(after) - 1;
    uint64_t value;
    *times = 1;
    if ((size_t)(l->r->end - l->at) < n || memcmp(l->at, before, n) != 0)
        return true;
    const char *p = l->at + n;
    if (!take_number(&p, l->r->end, &value) || !value || value > CAIRN_BYTES_MOST / 8 || (size_t)(l->r->end - p) < m ||
        memcmp(p, after, m) != 0)
        return cairn_reader_wrong(l->r, l->at, "gdb's '<repeats N times>'");
    l->at = p + m;
    *times = (size_t)value;
    return true;
}

/* gdb prints 200 elements unless it is told otherwise. */
static bool is_cut(struct list *l)
{
    if (l->r->end - l->at < 3 || memcmp(l->at, "...", 3) != 0)
        return false;
    cairn_reader_wrong(l->r, l->at, "all numbers (gdb: set print elements unlimited)");
    return true;
}

/* The name of a member in front of its value, "index = " or ".index = ", and a cast, "(u64)". */
static void skip_name(struct list *l)
{
    const char *end = l->r->end, *p = l->at + (*l->at == '.');
    if (p < end && !isdigit((unsigned char)*p)) {
        while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
            p++;
        const char *sign = skip_blanks(p, end);
        if (p > l->at && sign < end && *sign == '=') {
            l->at = sign + 1;
            skip(l);
        }
    }
    const char *cast = l->at < end && *l->at == '(' ? memchr(l->at, ')', (size_t)(end - l->at)) : NULL;
    if (cast) {
        l->at = cast + 1;
        skip(l);
    }
}

/* Elements up to the end of the list. */
static bool read_elements(struct list *l)
{
    uint64_t all = 0;
    for (unsigned inside = 0;;) { /* an array of arrays, or a struct */
        struct number n;
        skip(l);
        if (l->at < l->r->end)
            skip_name(l);
        if (l->at == l->r->end || *l->at == ';')
            return true;
        if (*l->at == '{' || *l->at == '[') {
            inside++;
            l->at++;
            continue;
        }
        if (*l->at == '}' || *l->at == ']') {
            if (!inside--)
                return true;
            l->at++;
            skip(l);
            l->at += l->at < l->r->end && *l->at == ',';
            continue;
        }
        if (is_cut(l))
            return false;
        if (!take_number(&l->at, l->r->end, &n.value))
            return cairn_reader_wrong(l->r, l->at, "a number of at most 64 bits");
        skip(l);
        if (!take_repeats(l, &n.times))
            return false;
        if ((all += n.times) > CAIRN_BYTES_MOST / 8)
            return cairn_reader_wrong(l->r, l->at, "fewer elements");
        *CAIRN_ADD(l->numbers) = n;
        l->most = n.value > l->most ? n.value : l->most;
        skip(l);
        if (is_cut(l))
            return false;
        if (l->at < l->r->end && *l->at == ',')
            l->at++;
        else if (l->at < l->r->end && *l->at != '}' && *l->at != ']' && *l->at != ';')
            return cairn_reader_wrong(l->r, l->at, "a comma, or the end of the list");
    }
}

/* Bytes of an element: as the type in front of the brace says (0: it does not), or enough for each. */
static unsigned width_of(const struct list *l, unsigned told)
{
    return told ? told : l->most > UINT8_MAX ? 8 : 1;
}

/* Of two numbers at least, somewhere from `from` on. *at: where it begins. Returns its bytes; 0: there is none. */
static uint64_t find_another(const struct cairn_reader *r, const char *from, const char **at)
{
    struct cairn_bytes nothing = {0};
    struct cairn_reader reader = {.bytes = &nothing, .end = r->end};
    uint64_t bytes = 0;
    for (const char *p = from; !bytes && p < r->end; p++) {
        struct list l = {.r = &reader, .at = p + 1};
        if (*p != '{' && *p != '[')
            continue;
        *at = p;
        reader.wrong = NULL;
        const bool whole = read_elements(&l) && l.numbers.count > 1;
        for (size_t i = 0; whole && i < l.numbers.count; i++)
            bytes += l.numbers.items[i].times * width_of(&l, declared(from, p));
        free(l.numbers.items);
        p = l.at > p + 1 ? l.at - 1 : p;
    }
    return bytes;
}

void cairn_read_list(struct cairn_reader *r)
{
    struct list l = {.r = r};
    const char *brace = memchr(r->at, '{', (size_t)(r->end - r->at));
    const char *begin = brace ? brace + 1 : r->at, *at;
    const unsigned told = brace ? declared(r->at, brace) : 0;
    char why[96];
    l.at = begin;
    if (!brace) { /* numbers begin where the first is, in this line */
        uint64_t value;
        const char *p = begin;
        while (p < r->end && !take_number(&p, r->end, &value))
            p++;
        for (l.at = p; l.at > begin && !isspace((unsigned char)l.at[-1]) && l.at[-1] != '['; l.at--)
            ;
    }
    const uint64_t more = read_elements(&l) ? find_another(r, l.at, &at) : 0;
    if (more) {
        snprintf(why, sizeof(why), "another list begins here, of %" PRIu64 " bytes: give one at a time", more);
        cairn_reader_refuse(r, at, why);
    }
    const unsigned width = width_of(&l, told);
    for (size_t i = 0; i < l.numbers.count; i++)
        for (size_t n = 0; n < l.numbers.items[i].times; n++)
            cairn_reader_add_word(r, l.numbers.items[i].value, width);
    snprintf(r->bytes->form, sizeof(r->bytes->form), "a list of numbers, %u byte%s each%s", width,
             width == 1 ? "" : "s", told || width == 1 ? "" : " (assumed)");
    free(l.numbers.items);
}
