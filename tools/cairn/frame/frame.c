/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/frame.h"

#include <string.h>

#include "kernel/lib/base64.h"
#include "tools/cairn/base/crc_base64.h"
#include "tools/cairn/base/line8.h"

bool cairn_is_stream(char c)
{
    return c != '\0' && strchr(CAIRN_STREAMS "tu", c) != NULL;
}

unsigned cairn_stream_index(uint8_t stream)
{
    return (unsigned)(strchr(CAIRN_STREAMS, stream) - CAIRN_STREAMS);
}

const char *cairn_flaw_text(enum cairn_flaw flaw)
{
    static const char *const text[] = {"cut short", "characters that a frame cannot have", "wrong checksum"};
    return text[flaw];
}

/* Exactly eight lower-case hex digits. */
static bool hex8(const char *p, const char *end, uint32_t *value)
{
    if (end - p < 8)
        return false;
    uint32_t v = 0;
    for (int i = 0; i < 8; i++) {
        char c = p[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                                                : 16;
        if (digit > 15)
            return false;
        v = v << 4 | digit;
    }
    *value = v;
    return true;
}

/* The flaw of a frame that goes wrong at `at`: where the line (or the log) has ended by then, that is what it is. */
static int flawed(const char *mark, const char *at, const char *end, enum cairn_flaw flaw)
{
    size_t size = (size_t)(at - mark);
    if (at >= end || memchr(mark, '\r', size) || memchr(mark, '\n', size))
        flaw = CAIRN_FLAW_CUT;
    return 1 + (int)flaw;
}

/* Bytes of the payload between mark and checksum, or -EINVAL. */
static long decode(uint8_t *to, const char *separator, const char *end)
{
    if (*separator == CAIRN_FRAME_8BIT)
        return cairn_line8_decode(to, CAIRN_FRAME_PAYLOAD_MAX, separator, (size_t)(end - separator));
    return cairn_base64_decode(to, separator + 1, (size_t)(end - separator) - 1);
}

int cairn_frame_read(struct cairn_line *l, const char *mark, const char *end, uint8_t *to)
{
    const size_t longest = KBASE64_SIZE(CAIRN_FRAME_PAYLOAD_MAX);
    *l = (struct cairn_line){0};
    if (end - mark >= 2 && cairn_is_stream(mark[1])) {
        l->frame.packed = mark[1] & CAIRN_PACKED;
        l->frame.stream = (uint8_t)mark[1] & (uint8_t)~CAIRN_PACKED;
    }
    l->numbered = end - mark >= 10 && hex8(mark + 2, end, &l->frame.number);
    if (end - mark < 11 || !l->frame.stream || !l->numbered ||
        (mark[10] != CAIRN_FRAME_SEPARATOR && mark[10] != CAIRN_FRAME_8BIT))
        return flawed(mark, end - mark < 11 ? end : mark + 11, end, CAIRN_FLAW_TEXT);
    const char *text = mark + 11;
    size_t left = (size_t)(end - text);
    const char *separator = memchr(text, CAIRN_FRAME_SEPARATOR, left < longest + 1 ? left : longest + 1);
    if (!separator)
        return flawed(mark, left > longest ? text + longest : end, end, CAIRN_FLAW_TEXT);
    uint32_t crc;
    if (!hex8(separator + 1, end, &crc))
        return flawed(mark, end - separator < 9 ? end : separator + 9, end, CAIRN_FLAW_TEXT);
    l->frame.crc = crc;
    if (crc != cairn_crc32c(mark + 1, (size_t)(separator - mark) - 1))
        return flawed(mark, separator, end, CAIRN_FLAW_CRC);
    long size = decode(to, mark + 10, separator);
    if (size < 0)
        return flawed(mark, separator, end, CAIRN_FLAW_TEXT);
    l->frame.size = (uint32_t)size;
    l->frame.payload = to;
    l->end = separator + 9;
    return 0;
}

bool cairn_frame_suspect(const struct cairn_line *l, const char *data, const char *mark, const char *end)
{
    if (l->frame.stream && l->numbered)
        return true;
    if (mark != data && mark[-1] != '\n')
        return false;
    size_t left = (size_t)(end - mark);
    const char *eol = memchr(mark, '\n', left);
    size_t length = eol ? (size_t)(eol - mark) : left;
    return length >= CAIRN_FRAME_OVERHEAD && memchr(mark, CAIRN_FRAME_SEPARATOR, length) && !memchr(mark, ' ', length);
}

bool cairn_payload_number(const uint8_t *payload, size_t size, const char *key, uint64_t *value)
{
    size_t length = strlen(key);
    const char *p = (const char *)payload, *end = p + size;
    while (p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol)
            eol = end;
        if ((size_t)(eol - p) > length + 1 && memcmp(p, key, length) == 0 && p[length] == '=') {
            uint64_t v = 0;
            for (p += length + 1; p < eol; p++) {
                if (*p < '0' || *p > '9' || v > (UINT64_MAX - 9) / 10)
                    return false;
                v = v * 10 + (uint64_t)(*p - '0');
            }
            *value = v;
            return true;
        }
        p = eol + 1;
    }
    return false;
}
