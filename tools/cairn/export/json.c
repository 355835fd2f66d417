/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/json.h"

#include <inttypes.h>

static void quoted(FILE *to, const char *text, size_t size, bool in_markup)
{
    const uint8_t *p = (const void *)text, *end = p + size;
    putc('"', to);
    while (p < end) {
        const unsigned n = cairn_utf8(p, (size_t)(end - p));
        if (!n)
            fputs("\\ufffd", to);
        else if (*p == '"' || *p == '\\')
            fprintf(to, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7F || (*p == '<' && in_markup))
            fprintf(to, "\\u%04x", *p);
        else
            fwrite(p, 1, n, to);
        p += n ? n : 1;
    }
    putc('"', to);
}

static void member(struct cairn_json *j, const char *name)
{
    if (j->more)
        putc(',', j->to);
    j->more = true;
    if (name)
        fprintf(j->to, "\"%s\":", name);
}

void cairn_json_slice(struct cairn_json *j, const char *name, struct cairn_slice text)
{
    member(j, name);
    quoted(j->to, text.at, text.size, j->in_markup);
}

void cairn_json_key(struct cairn_json *j, struct cairn_slice name, struct cairn_slice text)
{
    member(j, NULL);
    quoted(j->to, name.at, name.size, j->in_markup);
    putc(':', j->to);
    quoted(j->to, text.at, text.size, j->in_markup);
}

void cairn_json_text(struct cairn_json *j, const char *name, const char *text)
{
    cairn_json_slice(j, name, cairn_slice_of(text));
}

void cairn_json_number(struct cairn_json *j, const char *name, int64_t value)
{
    member(j, name);
    fprintf(j->to, "%" PRId64, value);
}

void cairn_json_count(struct cairn_json *j, const char *name, uint64_t value)
{
    member(j, name);
    fprintf(j->to, "%" PRIu64, value);
}

void cairn_json_hex(struct cairn_json *j, const char *name, uint64_t value)
{
    member(j, name);
    fprintf(j->to, "\"0x%" PRIx64 "\"", value);
}

void cairn_json_bool(struct cairn_json *j, const char *name, bool value)
{
    member(j, name);
    fputs(value ? "true" : "false", j->to);
}

void cairn_json_open(struct cairn_json *j, const char *name)
{
    if (name || j->more)
        member(j, name);
    putc('{', j->to);
    j->more = false;
}

void cairn_json_close(struct cairn_json *j)
{
    putc('}', j->to);
    j->more = true;
}

void cairn_json_open_list(struct cairn_json *j, const char *name)
{
    member(j, name);
    putc('[', j->to);
    j->more = false;
}

void cairn_json_close_list(struct cairn_json *j)
{
    putc(']', j->to);
    j->more = true;
}

void cairn_json_end(struct cairn_json *j)
{
    cairn_json_close(j);
    putc('\n', j->to);
    j->more = false;
}
