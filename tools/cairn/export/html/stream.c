/* SPDX-License-Identifier: MIT */
/* Writes the page's stream: numbers and texts, in base64. */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/base64.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/html/html.h"

struct text {
    uint64_t number;
    const char *text;
    char own[]; /* that, of one that is kept */
};

static void flush(struct cairn_html_stream *s)
{
    char line[KBASE64_SIZE(3u << 10)];
    if (!s->used)
        return;
    fputs("<script type=\"application/octet-stream\" class=\"stream\">", s->to);
    for (size_t at = 0, size; at < s->used; at += size) {
        size = s->used - at < 3u << 10 ? s->used - at : 3u << 10;
        fwrite(line, 1, kbase64_encode(line, s->chunk + at, size), s->to);
    }
    fputs("</script>\n", s->to);
    s->bytes += s->used;
    s->used = 0;
}

void cairn_html_byte(struct cairn_html_stream *s, uint8_t byte)
{
    s->chunk[s->used++] = byte;
    if (s->used == sizeof(s->chunk))
        flush(s);
}

void cairn_html_bytes(struct cairn_html_stream *s, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        cairn_html_byte(s, ((const uint8_t *)bytes)[i]);
}

void cairn_html_number(struct cairn_html_stream *s, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        cairn_html_byte(s, (uint8_t)(number | 0x80));
    cairn_html_byte(s, (uint8_t)number);
}

void cairn_html_signed(struct cairn_html_stream *s, int64_t number)
{
    cairn_html_number(s, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct text *)a)->text, ((const struct text *)b)->text);
}

uint64_t cairn_html_text(struct cairn_html_stream *s, const char *text)
{
    const size_t size = strlen(text);
    if (!size)
        return 0;
    const struct text key = {.text = text};
    struct text **found = tfind(&key, &s->texts, by_text);
    if (found)
        return (*found)->number;
    struct text *t = cairn_alloc(sizeof(*t) + size + 1);
    memcpy(t->own, text, size + 1);
    t->text = t->own;
    if (!tsearch(t, &s->texts, by_text))
        cairn_out_of_memory();
    t->number = ++s->texts_count;
    cairn_html_byte(s, CAIRN_HTML_text);
    cairn_html_number(s, size);
    cairn_html_bytes(s, text, size);
    return t->number;
}

void cairn_html_stream_end(struct cairn_html_stream *s)
{
    flush(s);
}

void cairn_html_stream_free(struct cairn_html_stream *s)
{
    tdestroy(s->texts, free);
}
