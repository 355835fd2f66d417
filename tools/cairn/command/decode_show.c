/* SPDX-License-Identifier: MIT */
/* `cairn decode` for people, and as JSON. */
#include "tools/cairn/command/decode_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/wrap.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/export/json.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/ds_words.h"
#include "tools/pebs/pebs.h"

/* Bytes in front of what was found, and after it. */
struct unknown {
    size_t before, behind;
    bool zero; /* all bytes after it are */
};

static struct unknown unknown_of(const struct cairn_decoded *d)
{
    return (struct unknown){d->what.begin, d->bytes->count - d->end, cairn_decoded_rest_is_zero(d)};
}

/* The DS area as a drain has one. */
static struct cairn_epoch area_of(struct cairn_decoded *d)
{
    d->end = d->what.end;
    return (struct cairn_epoch){.area = d->bytes->items + d->what.begin,
                                .area_bytes = (uint32_t)(d->what.end - d->what.begin),
                                .format = (uint8_t)d->what.area};
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static void print_line(const char *text)
{
    cairn_print_wrapped(0, "", 2, (struct cairn_slice){text, (uint32_t)strlen(text)});
}

static void print_head(const struct cairn_decoded *d)
{
    const struct cairn_bytes *b = d->bytes;
    char line[512], name[64];
    int n = snprintf(line, sizeof(line), "%zu %s, %s", b->count, cairn_plural(b->count, "byte", "bytes"), b->form);
    if (d->has_address)
        n += snprintf(line + n, sizeof(line) - (size_t)n, ", starting at 0x%" PRIx64, d->address);
    if (b->skipped)
        snprintf(line + n, sizeof(line) - (size_t)n, "; %zu other %s ignored", b->skipped,
                 cairn_plural(b->skipped, "line is", "lines are"));
    print_line(line);
    cairn_format_name(name, d->what.format);
    if (d->told)
        snprintf(line, sizeof(line), "%s, as given", name);
    else
        snprintf(line, sizeof(line), "%s: %s: %s", name, cairn_sure_name(d->what.sure), d->what.why);
    print_line(line);
}

static void print_records(struct cairn_decoded *d)
{
    struct cairn_record r, before = {0};
    char place[64];
    uint64_t records = 0;
    for (size_t at = d->what.begin; cairn_decoded_record(d, at, &r); at = d->end, records++) {
        if (records >= d->records_most)
            continue;
        snprintf(place, sizeof(place), d->has_address ? "0x%016" PRIx64 : "byte %" PRIu64, d->address + at);
        printf("\nrecord %" PRIu64 " at %s, %" PRIu32 " bytes%s\n", records, place, r.size,
               *d->wrong ? " present" : "");
        cairn_draw_record(d->log, 0, &r, before.at ? &before : NULL);
        cairn_draw_bytes(&r);
        before = r;
    }
    if (records > d->records_most)
        printf("\n%s%" PRIu64 " more %s (--records N)\n", d->records_most ? "and " : "", records - d->records_most,
               cairn_plural(records - d->records_most, "record", "records"));
}

static void print_unknown(const struct cairn_decoded *d)
{
    const struct unknown u = unknown_of(d);
    putchar('\n');
    if (u.before)
        printf("%zu %s before them fit%s no known format\n", u.before, cairn_plural(u.before, "byte", "bytes"),
               u.before == 1 ? "s" : "");
    if (u.behind && u.zero)
        printf("%zu %s after that: all 0, unused\n", u.behind, cairn_plural(u.behind, "byte", "bytes"));
    else if (u.behind)
        printf("%zu %s from byte %zu on fit%s no known format\n", u.behind, cairn_plural(u.behind, "byte", "bytes"),
               d->end, u.behind == 1 ? "s" : "");
    if (!u.before && !u.behind && !*d->wrong)
        puts(d->told ? "no byte is left" : "every byte fits");
}

void cairn_decoded_text(struct cairn_decoded *d)
{
    print_head(d);
    if (d->what.format == CAIRN_GUESS_AREA) {
        const struct cairn_epoch epoch = area_of(d);
        putchar('\n');
        cairn_draw_area(d->log, 0, &epoch);
    } else {
        print_records(d);
    }
    print_unknown(d);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_place(struct cairn_json *j, const struct cairn_decoded *d, size_t at)
{
    cairn_json_count(j, "at", at);
    if (d->has_address)
        cairn_json_hex(j, "address", d->address + at);
}

static void json_head(struct cairn_json *j, const struct cairn_decoded *d)
{
    char name[64];
    cairn_json_open(j, NULL);
    cairn_json_text(j, "type", "bytes");
    cairn_json_count(j, "size", d->bytes->count);
    cairn_json_text(j, "form", d->bytes->form);
    cairn_json_text(j, "is", cairn_format_name(name, d->what.format));
    if (d->what.format == CAIRN_GUESS_AREA)
        cairn_json_count(j, "format", d->what.area);
    else if (d->what.format != CAIRN_PEBS_BTS)
        cairn_json_count(j, "format", d->what.format);
    cairn_json_text(j, "sure", d->told ? "told" : cairn_sure_name(d->what.sure));
    if (!d->told)
        cairn_json_text(j, "why", d->what.why);
    json_place(j, d, d->what.begin);
    cairn_json_end(j);
}

static void json_field(struct cairn_json *j, const struct cairn_decoded *d, const struct cairn_record *r,
                       const struct cairn_pebs_field *f)
{
    char text[CAIRN_SHOWN_ALL];
    cairn_json_open(j, NULL);
    cairn_json_count(j, "offset", f->at);
    cairn_json_text(j, "name", f->name);
    if (r->format >= 4 && r->format != CAIRN_PEBS_BTS)
        cairn_json_text(j, "group", cairn_pebs_group_name(f->group));
    cairn_json_hex(j, "value", f->value);
    if (*cairn_show_field(text, d->log, 0, r, f))
        cairn_json_text(j, "means", text);
    cairn_json_close(j);
}

static void json_records(struct cairn_json *j, struct cairn_decoded *d)
{
    struct cairn_record r;
    uint64_t number = 0;
    for (size_t at = d->what.begin; cairn_decoded_record(d, at, &r); at = d->end, number++) {
        struct cairn_pebs_walk walk;
        struct cairn_pebs_field f;
        if (number >= d->records_most)
            continue;
        cairn_json_open(j, NULL);
        cairn_json_text(j, "type", "record");
        cairn_json_count(j, "number", number);
        json_place(j, d, at);
        cairn_json_count(j, "size", r.size);
        cairn_json_open_list(j, "fields");
        cairn_pebs_walk(&walk, r.format, r.at, r.size);
        while (cairn_pebs_next(&walk, &f))
            json_field(j, d, &r, &f);
        cairn_json_close_list(j);
        cairn_json_end(j);
    }
}

static void json_area(struct cairn_json *j, struct cairn_decoded *d)
{
    const struct cairn_epoch epoch = area_of(d);
    struct cairn_area_row row;
    cairn_json_open(j, NULL);
    cairn_json_text(j, "type", "area");
    cairn_json_open_list(j, "fields");
    for (unsigned n = 0; n < epoch.area_bytes / 8; n += row.words) {
        cairn_area_row(d->log, 0, &epoch, n, &row);
        cairn_json_open(j, NULL);
        cairn_json_count(j, "offset", 8 * n);
        cairn_json_text(j, "name", row.name);
        cairn_json_hex(j, "value", row.value);
        cairn_json_text(j, "means", row.what);
        cairn_json_close(j);
    }
    cairn_json_close_list(j);
    cairn_json_end(j);
}

void cairn_decoded_json(struct cairn_decoded *d)
{
    struct cairn_json j = {.to = stdout};
    json_head(&j, d);
    if (d->what.format == CAIRN_GUESS_AREA)
        json_area(&j, d);
    else
        json_records(&j, d);
    const struct unknown u = unknown_of(d);
    cairn_json_open(&j, NULL);
    cairn_json_text(&j, "type", "end");
    cairn_json_count(&j, "at", d->end);
    cairn_json_count(&j, "unknown_before", u.before);
    cairn_json_count(&j, "unknown_behind", u.behind);
    if (u.behind)
        cairn_json_bool(&j, "zero", u.zero);
    if (*d->wrong)
        cairn_json_text(&j, "wrong", d->wrong);
    if (*d->wrong)
        cairn_json_count(&j, "wrong_at", d->wrong_at);
    cairn_json_end(&j);
}
