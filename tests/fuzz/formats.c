/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
#include "tests/fuzz/formats.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.pb-c.h"

#define DEEPEST 16u

struct view {
    const char *at, *end;
};

static void expect(bool so)
{
    if (!so)
        abort();
}

static bool skip(struct view *v, const char *text)
{
    const size_t size = strlen(text);
    if ((size_t)(v->end - v->at) < size || memcmp(v->at, text, size) != 0)
        return false;
    v->at += size;
    return true;
}

/* One character of UTF-8, no overlong form and no surrogate. */
static void take_utf8(struct view *v)
{
    const uint8_t first = (uint8_t)*v->at++;
    const unsigned more = first < 0x80                    ? 0
                          : first >= 0xC2 && first < 0xE0 ? 1
                          : first >= 0xE0 && first < 0xF0 ? 2
                          : first >= 0xF0 && first < 0xF5 ? 3
                                                          : 4;
    uint32_t c = more ? first & (0x3Fu >> more) : first;
    expect(more < 4 && v->end - v->at >= (ptrdiff_t)more);
    for (unsigned i = 0; i < more; i++) {
        expect(((uint8_t)*v->at & 0xC0) == 0x80);
        c = c << 6 | ((uint8_t)*v->at++ & 0x3F);
    }
    expect((more < 2 || c >= 0x800) && (more < 3 || c >= 0x10000) && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF));
}

/* ---- JSON: RFC 8259, without blanks ------------------------------------------------------------------------------ */

static void take_string(struct view *v)
{
    expect(skip(v, "\""));
    while (!skip(v, "\"")) {
        expect(v->at < v->end && (uint8_t)*v->at >= ' ');
        if (!skip(v, "\\")) {
            take_utf8(v);
        } else if (skip(v, "u")) {
            for (unsigned i = 0; i < 4; i++, v->at++)
                expect(v->at < v->end && strchr("0123456789abcdefABCDEF", *v->at) && *v->at);
        } else {
            expect(v->at < v->end && *v->at && strchr("\"\\/bfnrt", *v->at));
            v->at++;
        }
    }
}

static void take_digits(struct view *v)
{
    const char *begin = v->at;
    while (v->at < v->end && *v->at >= '0' && *v->at <= '9')
        v->at++;
    expect(v->at > begin);
}

static void take_number(struct view *v)
{
    skip(v, "-");
    const bool zero = v->at < v->end && *v->at == '0';
    const char *begin = v->at;
    take_digits(v);
    expect(!zero || v->at == begin + 1);
    if (skip(v, "."))
        take_digits(v);
}

static void take_value(struct view *v, unsigned depth)
{
    expect(depth < DEEPEST && v->at < v->end);
    const bool object = *v->at == '{';
    if (object || *v->at == '[') {
        const char *const close = object ? "}" : "]";
        v->at++;
        if (skip(v, close))
            return;
        do {
            if (object) {
                take_string(v);
                expect(skip(v, ":"));
            }
            take_value(v, depth + 1);
        } while (skip(v, ","));
        expect(skip(v, close));
    } else if (*v->at == '"') {
        take_string(v);
    } else if (!skip(v, "true") && !skip(v, "false") && !skip(v, "null")) {
        take_number(v);
    }
}

static void read_json(struct view v, int whole)
{
    static const char end[] = "{\"type\":\"end\",";
    bool ended = false;
    while (v.at < v.end) {
        expect(!ended && *v.at == '{');
        ended = (size_t)(v.end - v.at) > sizeof(end) && memcmp(v.at, end, sizeof(end) - 1) == 0;
        take_value(&v, 0);
        expect(skip(&v, "\n"));
    }
    expect(ended == (whole != 0));
}

/* The page's own words lie between tags; they have no other '<'. */
static void read_html(struct view v)
{
    static const char begin[] = "<script type=\"application/json\" id=\"meta\">";
    const char *meta = memmem(v.at, (size_t)(v.end - v.at), begin, sizeof(begin) - 1);
    expect(meta);
    v.at = meta + sizeof(begin) - 1;
    take_value(&v, 0);
    skip(&v, "\n");
    expect(skip(&v, "</script>") && memmem(v.at, (size_t)(v.end - v.at), "</html>", 7));
}

/* ---- XML: elements, attributes, text, what a picture has --------------------------------------------------------- */

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
}

static void take_text(struct view *v, const char *until)
{
    while (v->at < v->end && *v->at != *until) {
        if (skip(v, "&#")) {
            take_digits(v);
            expect(skip(v, ";"));
        } else if (*v->at == '&') {
            expect(skip(v, "&amp;") || skip(v, "&lt;") || skip(v, "&gt;") || skip(v, "&quot;"));
        } else {
            expect(*v->at != '<' && ((uint8_t)*v->at >= ' ' || *v->at == '\n'));
            take_utf8(v);
        }
    }
}

static struct view take_name(struct view *v)
{
    struct view name = *v;
    while (v->at < v->end && in_name(*v->at))
        v->at++;
    name.end = v->at;
    expect(name.end > name.at);
    return name;
}

static void read_svg(struct view v)
{
    struct view open[DEEPEST];
    unsigned depth = 0;
    do {
        if (skip(&v, "</")) {
            const struct view name = take_name(&v);
            expect(depth && name.end - name.at == open[depth - 1].end - open[depth - 1].at &&
                   memcmp(name.at, open[depth - 1].at, (size_t)(name.end - name.at)) == 0 && skip(&v, ">"));
            depth--;
        } else {
            expect(skip(&v, "<") && depth < DEEPEST);
            open[depth++] = take_name(&v);
            while (skip(&v, " ") || skip(&v, "\n")) {
                take_name(&v);
                expect(skip(&v, "=\""));
                take_text(&v, "\"");
                expect(skip(&v, "\""));
            }
            if (skip(&v, "/>"))
                depth--;
            else
                expect(skip(&v, ">"));
        }
        take_text(&v, "<");
    } while (depth);
    expect(v.at == v.end);
}

/* ---- folded: frames with ';' between them, a blank, how many times ----------------------------------------------- */

static void read_folded(struct view v)
{
    while (v.at < v.end) {
        const char *end = memchr(v.at, '\n', (size_t)(v.end - v.at)), *blank = end;
        while (blank && blank > v.at && *blank != ' ')
            blank--;
        expect(blank && blank > v.at);
        for (struct view text = {v.at, blank}; text.at < text.end;)
            expect((uint8_t)*text.at++ > ' ');
        v.at = blank + 1;
        take_digits(&v);
        expect(v.at == end && *v.at++ == '\n');
    }
}

/* ---- Perfetto: a packet behind another --------------------------------------------------------------------------- */

static void read_perfetto(struct view v)
{
    while (v.at < v.end) {
        uint64_t size = 0;
        expect(skip(&v, "\n")); /* field 1, of a length */
        for (unsigned shift = 0, more = 1; more; shift += 7) {
            expect(v.at < v.end && shift < 63);
            more = (uint8_t)*v.at & 0x80;
            size |= (uint64_t)(*v.at++ & 0x7F) << shift;
        }
        expect(size <= (size_t)(v.end - v.at));
        Pf__TracePacket *p = pf__trace_packet__unpack(NULL, size, (const uint8_t *)v.at);
        expect(p && p->has_trusted_packet_sequence_id && (!p->has_timestamp || p->timestamp <= INT64_MAX));
        pf__trace_packet__free_unpacked(p, NULL);
        v.at += size;
    }
}

void fuzz_format(const char *name, const char *text, size_t size, int whole)
{
    const struct view v = {text, text + size};
    if (strcmp(name, "json") == 0)
        read_json(v, whole);
    else if (strcmp(name, "perfetto") == 0)
        read_perfetto(v);
    else if (strcmp(name, "folded") == 0)
        read_folded(v);
    else if (strcmp(name, "svg") == 0 && whole)
        read_svg(v);
    else if (strcmp(name, "html") == 0 && whole)
        read_html(v);
}
