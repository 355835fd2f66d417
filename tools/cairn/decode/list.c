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
    unsigned told; /* bytes of an element, as its type says; 0: it does not */
    bool prefixed; /* a number with 0x has come */
    uint64_t all;  /* numbers, each as often as it comes */
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

/* Where the declaration begins that ends with the brace at `to`: in its line, or the one before if that ends with "=".
 */
static const char *declaration(const char *from, const char *to)
{
    const char *begin = to, *line = to;
    unsigned inside = 0; /* brackets: Rust has "[u8; 16]" */
    while (begin > from && isspace((unsigned char)begin[-1]))
        begin--;
    while (line > from && line[-1] != '\n')
        line--;
    if (begin < line && (begin == from || begin[-1] != '='))
        return line;
    for (; begin > from && begin[-1] != '\n' && !strchr(inside ? "{}/" : ";{}/", begin[-1]); begin--) {
        inside += begin[-1] == ']';
        inside -= inside && begin[-1] == '[';
    }
    return begin;
}

/* Bytes of an element by a type in the declaration; 0: none that is known. */
static unsigned declared(const char *from, const char *to)
{
    static const struct {
        unsigned bytes;
        const char *names;
    } types[] = {
        /* "unsigned" may have "char", "short" or "long" beside it, and these may have "int" */
        {1, " char uchar byte u8 s8 i8 __u8 __s8 int8 uint8 int8_t uint8_t "},
        {2, " short ushort u16 s16 i16 __u16 __s16 int16 uint16 int16_t uint16_t "},
        {8, " long ulong size_t uintptr_t u64 s64 i64 __u64 __s64 int64 uint64 int64_t uint64_t "},
        {4, " int uint unsigned u32 s32 i32 __u32 __s32 int32 uint32 int32_t uint32_t "},
    };
    const char *const begin = declaration(from, to);
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (const char *p = begin, *end; p < to; p = end + 1) {
            char name[16] = " ";
            size_t n = 1;
            for (end = p; end < to && (isalnum((unsigned char)*end) || *end == '_'); end++)
                if (n < sizeof(name) - 2)
                    name[n++] = (char)tolower((unsigned char)*end);
            name[n] = ' ';
            if (end > p && strstr(types[i].names, name))
                return types[i].bytes;
        }
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

static bool is_dots(const struct list *l)
{
    return l->r->end - l->at >= 3 && memcmp(l->at, "...", 3) == 0;
}

/* gdb prints 200 elements unless it is told otherwise. */
static bool is_cut(struct list *l)
{
    if (!is_dots(l))
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

/* Whether a list begins behind the brace or bracket at `at`: the first number in it, or what should be one, is followed
 * by another one, or by its end. */
static bool begins_list(struct cairn_reader *r, const char *at)
{
    struct list l = {.r = r, .at = at};
    do {
        l.at++;
        skip(&l);
        if (l.at < r->end)
            skip_name(&l);
    } while (l.at < r->end && (*l.at == '{' || *l.at == '['));
    const char *const word = l.at;
    bool hex = true;
    for (; l.at < r->end && (isalnum((unsigned char)*l.at) || *l.at == '-'); l.at++)
        hex &= cairn_hex_digit(*l.at) >= 0;
    if (l.at == word || !(hex || isdigit((unsigned char)*word) || *word == '-'))
        return false;
    skip(&l);
    return l.at < r->end && (strchr(",}<", *l.at) || is_dots(&l));
}

/* "b0", where no number has 0x: those before it were no decimal numbers, either. */
static bool is_bare(const struct list *l)
{
    const char *p = l->at;
    while (p < l->r->end && cairn_hex_digit(*p) >= 0)
        p++;
    return !l->prefixed && p > l->at && (p == l->r->end || !isalnum((unsigned char)*p));
}

/* A number, with how often it comes. */
static bool read_number(struct list *l)
{
    struct number n;
    const char *const at = l->at;
    char expected[64];
    if (!take_number(&l->at, l->r->end, &n.value)) {
        if (!is_bare(l))
            return cairn_reader_wrong(l->r, at, "a number of at most 64 bits");
        l->numbers.count = 0;
        return cairn_reader_refuse(l->r, at, "hexadecimal numbers in a list need 0x in front of each");
    }
    if (l->told && l->told < 8 && n.value >> 8 * l->told) {
        snprintf(expected, sizeof(expected), "a number of at most %u byte%s, the size of its type", l->told,
                 l->told == 1 ? "" : "s");
        return cairn_reader_wrong(l->r, at, expected);
    }
    l->prefixed |= l->at - at > 2 && (at[1] | 32) == 'x';
    skip(l);
    if (!take_repeats(l, &n.times))
        return false;
    if ((l->all += n.times) > CAIRN_BYTES_MOST / 8)
        return cairn_reader_wrong(l->r, l->at, "fewer elements");
    *CAIRN_ADD(l->numbers) = n;
    l->most = n.value > l->most ? n.value : l->most;
    return true;
}

/* Elements up to the end of the list. */
static bool read_elements(struct list *l)
{
    for (unsigned inside = 0;;) { /* an array of arrays, or a struct */
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
        if (!read_number(l))
            return false;
        skip(l);
        if (is_cut(l))
            return false;
        if (l->at < l->r->end && *l->at == ',')
            l->at++;
        else if (l->at < l->r->end && *l->at != '}' && *l->at != ']' && *l->at != ';')
            return cairn_reader_wrong(l->r, l->at, "a comma, or the end of the list");
    }
}

/* Bytes of an element: as its type says, or enough for each. */
static unsigned width_of(const struct list *l)
{
    return l->told ? l->told : l->most > UINT8_MAX ? 8 : 1;
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
        l.told = declared(from, p);
        bytes = whole ? l.all * width_of(&l) : 0;
        free(l.numbers.items);
        p = l.at > p + 1 ? l.at - 1 : p;
    }
    return bytes;
}

/* Where the numbers' brace or bracket is: of the first list, or the first brace if no list is right. NULL: nowhere. */
static const char *find_brace(struct cairn_reader *r)
{
    const char *first = NULL;
    for (const char *p = r->at; p < r->end; p++) {
        if ((*p == '{' || *p == '[') && begins_list(r, p))
            return p;
        first = first || *p != '{' ? first : p;
    }
    return first;
}

/* Without a brace, numbers begin where the first is. */
static const char *find_number(const struct cairn_reader *r)
{
    uint64_t value;
    const char *p = r->at;
    while (p < r->end && !take_number(&p, r->end, &value))
        p++;
    while (p > r->at && !isspace((unsigned char)p[-1]) && p[-1] != '[')
        p--;
    return p;
}

/* Lines from `at` up to `end` that are not blank. */
static size_t lines_between(const char *at, const char *end)
{
    size_t n = 0;
    for (bool blank = true; at < end; at++) {
        blank |= *at == '\n';
        n += blank && !isspace((unsigned char)*at);
        blank &= isspace((unsigned char)*at) != 0;
    }
    return n;
}

void cairn_read_list(struct cairn_reader *r)
{
    const char *const brace = find_brace(r), *at;
    struct list l = {.r = r, .at = brace ? brace + 1 : find_number(r), .told = brace ? declared(r->at, brace) : 0};
    const size_t before = brace ? lines_between(r->at, declaration(r->at, brace)) : 0;
    char why[96];
    const uint64_t more = read_elements(&l) ? find_another(r, l.at, &at) : 0;
    if (more) {
        snprintf(why, sizeof(why), "another list begins here, of %" PRIu64 " bytes: decode one at a time", more);
        cairn_reader_refuse(r, at, why);
    }
    const unsigned width = width_of(&l);
    for (size_t i = 0; i < l.numbers.count; i++)
        for (size_t n = 0; n < l.numbers.items[i].times; n++)
            cairn_reader_add_word(r, l.numbers.items[i].value, width);
    r->bytes->skipped = l.numbers.count ? before : 0;
    snprintf(r->bytes->form, sizeof(r->bytes->form), "a list of numbers, %u byte%s each%s", width,
             width == 1 ? "" : "s", l.told || width == 1 ? "" : " (assumed)");
    free(l.numbers.items);
}
