/* SPDX-License-Identifier: MIT */
/* Which kind of text it is; strings of escapes. */
#include "tools/cairn/decode/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/slice.h"
#include "tools/cairn/decode/clean.h"
#include "tools/cairn/decode/reader.h"

const char *cairn_reader_eol(const struct cairn_reader *r)
{
    const char *eol = memchr(r->at, '\n', (size_t)(r->end - r->at));
    return eol ? eol : r->end;
}

bool cairn_reader_next(struct cairn_reader *r)
{
    const char *eol = cairn_reader_eol(r);
    r->at = eol < r->end ? eol + 1 : eol;
    return eol < r->end;
}

void cairn_reader_add(struct cairn_reader *r, uint8_t byte)
{
    struct cairn_bytes *b = r->bytes;
    b->items = cairn_grow(b->items, b->count, &b->room, 1);
    b->items[b->count++] = byte;
}

void cairn_reader_add_word(struct cairn_reader *r, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        cairn_reader_add(r, (uint8_t)(value >> 8 * i));
}

bool cairn_reader_wrong(struct cairn_reader *r, const char *at, const char *expected)
{
    struct cairn_bytes *b = r->bytes;
    size_t n = 0;
    if (r->wrong)
        return false;
    r->wrong = at;
    for (; at + n < r->end && n < sizeof(b->found) - 1 && at[n] > ' ' && at[n] <= '~'; n++)
        b->found[n] = at[n];
    b->found[n] = '\0';
    snprintf(b->expected, sizeof(b->expected), "%s", expected);
    return false;
}

bool cairn_reader_refuse(struct cairn_reader *r, const char *at, const char *why)
{
    if (!r->wrong)
        snprintf(r->bytes->refused, sizeof(r->bytes->refused), "%s", why);
    return cairn_reader_wrong(r, at, "");
}

/* ---- escapes ----------------------------------------------------------------------------------------------------- */

static bool is_escape(const char *at, const char *end)
{
    return end - at >= 4 && at[0] == '\\' && at[1] == 'x' && cairn_hex_digit(at[2]) >= 0 && cairn_hex_digit(at[3]) >= 0;
}

static const char *find_escape(const char *at, const char *end)
{
    while (at < end && !is_escape(at, end))
        at++;
    return at < end ? at : NULL;
}

/* The character that a backslash and `c` are in a string of C or Python; -1: none. */
static int escaped(char c)
{
    static const char letters[] = "ntr\\\"'0abfv", values[] = "\n\t\r\\\"'\0\a\b\f\v";
    const char *found = c ? strchr(letters, c) : NULL;
    return found ? values[found - letters] : -1;
}

/* Where the bytes begin in a line whose first escape is at `first`. A printable character stands for itself, so text in
 * front of the first escape is bytes, too, except up to a ": ", "= " or quote. */
static const char *string_begins(const char *line, const char *first, char *quote)
{
    const char *begin = line;
    *quote = '\0';
    for (const char *p = line; p < first; p++) {
        if ((*p == '"' || *p == '\'') && !*quote) {
            *quote = *p;
            begin = p + 1;
        } else if (!*quote && p > line && *p == ' ' && (p[-1] == ':' || p[-1] == '=')) {
            begin = p + 1;
        }
    }
    return begin;
}

static bool read_string(struct cairn_reader *r, const char *at, const char *eol, char quote)
{
    while (at < eol && !(quote && *at == quote)) {
        if (is_escape(at, eol)) {
            cairn_reader_add(r, (uint8_t)(cairn_hex_digit(at[2]) << 4 | cairn_hex_digit(at[3])));
            at += 4;
        } else if (at + 1 < eol && at[0] == '\\' && at[1] == 'x') {
            return cairn_reader_wrong(r, at, "two hexadecimal digits after \\x");
        } else if (*at == CAIRN_BEYOND) {
            return cairn_reader_wrong(r, at, "\\x and two digits for each byte that is not ASCII");
        } else if (quote && at + 1 < eol && at[0] == '\\' && escaped(at[1]) >= 0) {
            cairn_reader_add(r, (uint8_t)escaped(at[1]));
            at += 2;
        } else {
            cairn_reader_add(r, (uint8_t)*at++);
        }
    }
    return true;
}

static void read_escapes(struct cairn_reader *r)
{
    snprintf(r->bytes->form, sizeof(r->bytes->form), "\\x escapes");
    do {
        const char *eol = cairn_reader_eol(r), *begin = r->at;
        if (eol > begin && eol[-1] == '\r')
            eol--;
        const char *first = find_escape(begin, eol);
        char quote;
        if (!first) { /* a line of characters only would be one of bytes, too: nobody can tell */
            r->bytes->skipped += eol > begin;
            continue;
        }
        begin = string_begins(begin, first, &quote);
        if (begin < first && !quote) { /* bytes that are characters, or text */
            r->bytes->either = true;
            begin = r->other ? first : begin;
        }
        if (!read_string(r, begin, eol, quote))
            return;
    } while (cairn_reader_next(r));
}

/* ---- which it is ------------------------------------------------------------------------------------------------- */

/* Colours that a debugger prints are text, and so are the lines and signs of prompts. */
static bool is_text(const char *text, size_t size)
{
    for (size_t i = 0, n; i < size; i += n) {
        const uint8_t c = (uint8_t)text[i];
        n = cairn_utf8((const uint8_t *)text + i, size - i);
        if (!n || c == 0x7F || (c < ' ' && !(c && strchr("\t\n\r\f\033", c))))
            return false;
    }
    return size > 0;
}

/* A byte order mark, and characters of which every second byte is 0. */
static bool is_utf16(const char *text, size_t size)
{
    const bool big = size > 1 && memcmp(text, "\xFE\xFF", 2) == 0;
    if (size < 4 || (!big && memcmp(text, "\xFF\xFE", 2) != 0))
        return false;
    for (size_t i = 2; i + 1 < size; i += 2)
        if (text[i + !big] != 0 || text[i + big] == 0)
            return false;
    return true;
}

static bool is_octal_escape(const char *at)
{
    return at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' && at[3] >= '0' &&
           at[3] <= '7';
}

/* Where octal escapes begin, with which gdb prints arrays of char: three in a row. */
static const char *find_octal(const char *at, const char *end)
{
    for (; end - at >= 12; at++)
        if (is_octal_escape(at) && is_octal_escape(at + 4) && is_octal_escape(at + 8))
            return at;
    return NULL;
}

/* Where a list of strings begins that are hexadecimal digits without 0x. */
static const char *find_quoted(const char *at, const char *end)
{
    for (; end - at >= 4; at++) {
        const char *p = at + 1;
        while (p < end && cairn_hex_digit(*p) >= 0)
            p++;
        if ((*at == '\'' || *at == '"') && p > at + 1 && end - p > 1 && *p == *at && p[1] == ',')
            return at;
    }
    return NULL;
}

/* Lines of a debugger's session may hold a number and a comma, too: the reading with more bytes counts. */
static void read_numbers(struct cairn_reader *r)
{
    struct cairn_bytes list = {.text = true};
    struct cairn_reader again = *r;
    const bool is_list = cairn_is_list(r);
    again.bytes = &list;
    if (is_list)
        cairn_read_list(&again);
    cairn_read_dump(r);
    if (is_list && list.count >= r->bytes->count && !r->bytes->refused[0]) {
        cairn_bytes_free(r->bytes);
        *r->bytes = list;
        r->wrong = again.wrong;
        return;
    }
    cairn_bytes_free(&list);
}

/* Words of other text may be numbers, too: with text around base64, the reading with more bytes counts. */
static void read_digits(struct cairn_reader *r)
{
    struct cairn_base64 lines;
    const bool found = cairn_find_base64(r, &lines);
    if (!found || lines.around)
        read_numbers(r);
    if (!found || (lines.around && lines.digits / 4 * 3 <= r->bytes->count))
        return;
    cairn_bytes_free(r->bytes);
    *r->bytes = (struct cairn_bytes){.text = true, .skipped = lines.around};
    *r = (struct cairn_reader){.bytes = r->bytes, .at = lines.begin, .end = lines.end};
    cairn_read_base64(r, &lines);
}

/* Says of text without bytes that these are in strings, if they are. */
static void name_strings(struct cairn_reader *r, const char *text)
{
    const char *octal = find_octal(text, r->end), *quoted = find_quoted(text, r->end);
    if (!octal && !quoted)
        return;
    r->wrong = NULL;
    cairn_reader_refuse(r, octal ? octal : quoted,
                        octal ? "octal escapes, as gdb prints strings: use print/x"
                              : "hexadecimal strings in a list need 0x in front of each");
}

/* In which line and column of the text something is wrong. */
static void tell_place(struct cairn_bytes *b, const char *text, const char *wrong)
{
    const char *line = text;
    b->line = 1;
    for (const char *p = text; p < wrong; p++)
        if (*p == '\n') {
            line = p + 1;
            b->line++;
        }
    b->column = (size_t)(wrong - line) + 1;
}

void cairn_bytes_read(struct cairn_bytes *b, const char *text, size_t size, bool other)
{
    const bool marked = size > 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 && is_text(text + 3, size - 3);
    text += marked ? 3 : 0;
    size -= marked ? 3 : 0;
    *b = (struct cairn_bytes){.text = is_text(text, size)};
    if (is_utf16(text, size)) {
        b->text = true;
        b->line = b->column = 1;
        snprintf(b->refused, sizeof(b->refused), "UTF-16 text, as PowerShell writes it: use Out-File -Encoding ascii");
        return;
    }
    if (!b->text) {
        b->items = cairn_alloc(size + 1);
        if (size)
            memcpy(b->items, text, size);
        b->count = size;
        snprintf(b->form, sizeof(b->form), "binary");
        return;
    }
    char *copy = cairn_alloc(size);
    struct cairn_reader r = {.bytes = b, .at = copy, .other = other};
    r.end = copy + cairn_in_ascii(copy, text, size);
    if (find_escape(r.at, r.end)) {
        read_escapes(&r);
    } else {
        cairn_clean(copy, r.end);
        read_digits(&r);
    }
    if (!b->count)
        name_strings(&r, copy);
    if (r.wrong)
        tell_place(b, copy, r.wrong);
    free(copy);
}

void cairn_bytes_free(struct cairn_bytes *b)
{
    free(b->items);
    *b = (struct cairn_bytes){0};
}
