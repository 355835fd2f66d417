/* SPDX-License-Identifier: MIT */
#include "tools/cairn/decode/words.h"

#include <ctype.h>
#include <string.h>

#include "tools/cairn/decode/reader.h"

bool cairn_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

bool cairn_take_word(const char *at, const char *eol, struct cairn_word *w)
{
    *w = (struct cairn_word){.at = at, .end = at};
    if (eol - at > 2 && at[0] == '0' && (at[1] | 32) == 'x') {
        w->prefixed = true;
        w->end += 2;
    }
    for (; w->end < eol && !cairn_is_blank(*w->end); w->end++) {
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

const char *cairn_skip_blanks(const char *at, const char *eol)
{
    while (at < eol && cairn_is_blank(*at))
        at++;
    return at;
}

const char *cairn_token_end(const char *at, const char *eol)
{
    while (at < eol && !cairn_is_blank(*at))
        at++;
    return at;
}

static bool is_hex(const char *at, const char *end)
{
    bool any = false;
    for (const char *p = at; p < end; p++) {
        if (cairn_hex_digit(*p) < 0 && *p != '`')
            return false;
        any |= *p != '`';
    }
    return any;
}

/* "0x7ffc0040:", "00000010:" or "0x4010 <buffer+16>:" in front of words, after any text of a log; or a number without
 * a colon at the beginning of the line. */
struct cairn_place cairn_find_place(const char *line, const char *eol, const char **rest)
{
    struct cairn_place place = {0};
    struct cairn_word w;
    for (const char *at = cairn_skip_blanks(line, eol), *end; at < eol; at = cairn_skip_blanks(end, eol)) {
        end = cairn_token_end(at, eol);
        const bool prefixed = end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x';
        const char *digits = prefixed ? at + 2 : at, *last = end, *symbol = cairn_skip_blanks(end, eol);
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
        const char *next = cairn_skip_blanks(end, eol);
        const bool negative = eol - next > 1 && next[0] == '-' && isdigit((unsigned char)next[1]);
        if (next < eol && !negative && !cairn_take_word(next, cairn_token_end(next, eol), &w))
            continue;
        *rest = end;
        return (struct cairn_place){digits, last, true, true, prefixed};
    }
    /* none: a column of them, as hexdump and od have it, or WinDbg */
    const char *at = cairn_skip_blanks(line, eol), *end = cairn_token_end(at, eol), *next = cairn_skip_blanks(end, eol);
    *rest = at;
    const bool wide = memchr(at, '`', (size_t)(end - at)) != NULL;
    if (!is_hex(at, end) || (!wide && (end - at < 6 || end - at > 8)))
        return place;
    if (next < eol && (!cairn_take_word(next, cairn_token_end(next, eol), &w) || w.prefixed ||
                       (next - end < 2 && w.digits == (unsigned)(end - at))))
        return place;
    *rest = end;
    return (struct cairn_place){at, end, true, wide, false};
}

bool cairn_place_value(const struct cairn_place *place, unsigned radix, uint64_t *value)
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

bool cairn_is_prompt(const char *at, const char *eol)
{
    static const char *const prompts[] = {"(gdb)", "(lldb)", "crash>", "kd>"};
    for (unsigned i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++)
        if ((size_t)(eol - at) >= strlen(prompts[i]) && memcmp(at, prompts[i], strlen(prompts[i])) == 0)
            return true;
    return false;
}

bool cairn_has_address(const char *at, const char *eol)
{
    for (const char *end; (at = cairn_skip_blanks(at, eol)) < eol; at = end) {
        end = cairn_token_end(at, eol);
        const bool prefixed = end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x';
        if (prefixed || (end - at > 4 && end[-1] == ':' && is_hex(at, end - 1)))
            return true;
    }
    return false;
}

/* dmesg's "<6>", "[   12.000000]", "[  T123]" and "[Mon Nov 30 00:00:00 2026]", as many as there are. */
const char *cairn_skip_stamps(const char *at, const char *eol)
{
    for (at = cairn_skip_blanks(at, eol); at < eol && (*at == '[' || *at == '<'); at = cairn_skip_blanks(at, eol)) {
        const char *end = memchr(at, *at == '[' ? ']' : '>', (size_t)(eol - at));
        if (!end)
            break;
        at = end + 1;
    }
    return at;
}

/* od and hexdump print octal or decimal numbers, or characters, behind 7 digits of an address. */
bool cairn_is_octal(const char *line, const char *eol)
{
    const char *at = cairn_skip_blanks(line, eol), *end = cairn_token_end(at, eol), *next = cairn_skip_blanks(end, eol),
               *last = cairn_token_end(next, eol);
    if (end - at != 7 || !is_hex(at, end) || next == eol)
        return false;
    if (*next == '\\' || last - next == 1)
        return true;
    for (const char *p = next; p < last; p++)
        if (!isdigit((unsigned char)*p))
            return false;
    return last - next == 3 || last - next == 5 || last - next == 6;
}

/* No hexadecimal word has a sign or an odd number of digits, and several in a line have 2, 4, 8 or 16. Twenty digits
 * are a number beyond 2^63. */
bool cairn_is_decimal(const char *at, const char *eol, bool *sure)
{
    unsigned n = 0;
    bool unusual = false;
    *sure = false;
    for (const char *end; (at = cairn_skip_blanks(at, eol)) < eol; at = end, n++) {
        const char *p = at + (*at == '-');
        end = cairn_token_end(at, eol);
        const unsigned digits = (unsigned)(end - p);
        if (!digits || (*p == '0' && digits > 1))
            return false;
        *sure |= *at == '-' || digits % 2 || digits == 20;
        unusual |= digits & (digits - 1) || digits > 16;
        for (; p < end; p++)
            if (!isdigit((unsigned char)*p))
                return false;
    }
    *sure |= unusual && n > 1;
    return n;
}

const char *cairn_find_unread(const char *at, const char *eol)
{
    static const char *const said[] = {"Cannot access memory", "error: memory read failed"}; /* gdb, QEMU; lldb */
    for (; at < eol; at++)
        for (unsigned i = 0; i < sizeof(said) / sizeof(said[0]); i++)
            if ((size_t)(eol - at) >= strlen(said[i]) && memcmp(at, said[i], strlen(said[i])) == 0)
                return at;
    return NULL;
}

bool cairn_is_binary(const char *at, const char *eol)
{
    size_t n = 0;
    for (const char *end; (at = cairn_skip_blanks(at, eol)) < eol; at = end, n++) {
        end = cairn_token_end(at, eol);
        if (end - at != 8 || strspn(at, "01") < 8)
            break;
    }
    return n && at < eol && (size_t)(eol - at) <= n;
}
