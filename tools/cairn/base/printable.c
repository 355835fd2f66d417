/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/printable.h"

#include <string.h>

#include "tools/cairn/base/bytes.h"

#define NOT_SHOWN 0xFFFDu

static bool is_shown(uint32_t c)
{
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    const bool turns =
        c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    return !control && !turns && !surrogate && c <= 0x10FFFF;
}

unsigned cairn_printable_at(const uint8_t *p, size_t left)
{
    const unsigned size = cairn_utf8(p, left);
    return size && is_shown(cairn_utf8_value(p, size)) ? size : 0;
}

unsigned cairn_printable_put(char out[4], uint32_t c)
{
    c = is_shown(c) ? c : NOT_SHOWN;
    const unsigned size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (unsigned i = size - 1; i; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(size == 1 ? c : (0xF00u >> size & 0xF0u) | c);
    return size;
}

/* The UTF-16 character at `p`, and its bytes. */
static uint32_t utf16(const uint8_t *p, uint32_t left, uint32_t *bytes)
{
    const uint32_t first = cairn_get16(p), second = left >= 4 ? cairn_get16(p + 2) : 0;
    const bool pair = (first & 0xFC00) == 0xD800 && (second & 0xFC00) == 0xDC00;
    *bytes = pair ? 4 : 2;
    return pair ? 0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF) : first;
}

static uint32_t utf8(const uint8_t *p, uint32_t left, uint32_t *bytes)
{
    const unsigned size = cairn_utf8(p, left);
    *bytes = size ? size : 1;
    return size ? cairn_utf8_value(p, size) : NOT_SHOWN;
}

uint32_t cairn_printable(char *out, uint32_t room, const uint8_t *text, uint32_t size, unsigned character)
{
    static const char more[] = "...";
    uint32_t at = 0, n = 0, short_of = 0, bytes;
    bool cut = false;
    for (; size - at >= character; at += bytes) {
        char one[4];
        const uint32_t c = character == 2 ? utf16(text + at, size - at, &bytes) : utf8(text + at, size - at, &bytes);
        if (!c) {
            at += bytes;
            break;
        }
        const uint32_t needs = cairn_printable_put(one, c);
        cut |= n + needs >= room;
        if (cut)
            continue;
        memcpy(out + n, one, needs);
        n += needs;
        if (n + sizeof(more) <= room)
            short_of = n;
    }
    if (cut)
        memcpy(out + short_of, more, sizeof(more));
    else
        out[n] = '\0';
    return at;
}

uint32_t cairn_columns(struct cairn_slice text)
{
    uint32_t columns = 0;
    for (uint32_t i = 0; i < text.size; i++)
        columns += (text.at[i] & 0xC0) != 0x80;
    return columns;
}

uint32_t cairn_columns_bytes(struct cairn_slice text, uint32_t columns)
{
    uint32_t bytes = 0;
    for (; bytes < text.size; bytes++)
        if ((text.at[bytes] & 0xC0) != 0x80 && !columns--)
            break;
    return bytes;
}
