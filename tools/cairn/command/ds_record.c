/* SPDX-License-Identifier: MIT */
/* A PEBS record word by word, with the meaning of each word, and its bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/log/show.h"
#include "tools/pebs/pebs.h"

#define INDENT   "  %-7s %3x "
#define INDENTED 14

struct columns { /* words without a meaning of their own share lines */
    unsigned used;
    int width; /* of their names */
    uint8_t group;
};

static int name_width(const struct cairn_pebs_field *f)
{
    return f->what == CAIRN_PEBS_REGISTER || f->what == CAIRN_PEBS_SSP ? 3 : f->what == CAIRN_PEBS_RESERVED ? 12 : 10;
}

static bool shares_line(const struct cairn_pebs_field *f)
{
    return f->what == CAIRN_PEBS_REGISTER || f->what == CAIRN_PEBS_XMM_LOW || f->what == CAIRN_PEBS_XMM_HIGH ||
           f->what == CAIRN_PEBS_VECTOR || f->what == CAIRN_PEBS_RESERVED || f->what == CAIRN_PEBS_SSP;
}

static void end_line(struct columns *c)
{
    if (c->used)
        putchar('\n');
    c->used = 0;
}

static bool same_groups(const struct cairn_record *a, const struct cairn_record *b)
{
    return a->format == b->format && a->size == b->size && (a->format < 4 || cairn_get64(a->at) == cairn_get64(b->at));
}

void cairn_draw_record(const struct cairn_log *log, uint32_t cpu, const struct cairn_record *r,
                       const struct cairn_record *before)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    struct columns c = {0};
    char text[CAIRN_SHOWN_ALL];
    int group = -1;
    bool comparable = before && same_groups(r, before);
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &f)) {
        bool changed = comparable && cairn_get64(before->at + f.at) != f.value;
        comparable &= f.what != CAIRN_PEBS_FRAGMENT || !changed; /* else other groups follow */
        const char *title =
            r->format >= 4 && r->format != CAIRN_PEBS_BTS && group != f.group ? cairn_pebs_group_name(f.group) : "";
        if (!shares_line(&f) || c.group != f.group || c.width != name_width(&f))
            end_line(&c);
        if (!c.used)
            c.used = (unsigned)printf(INDENT, title, f.at);
        group = f.group;
        c.group = f.group;
        c.width = name_width(&f);
        if (shares_line(&f)) {
            const int width = c.width;
            c.used += (unsigned)printf("%s%c%-*s %016" PRIx64, c.used > INDENTED ? " " : "", changed ? '*' : ' ', width,
                                       f.name, f.value);
            if (c.used + 19 + (unsigned)width > 80)
                end_line(&c);
        } else {
            printf("%c%-12s %016" PRIx64, changed ? '*' : ' ', f.name, f.value);
            const char *means = cairn_show_field(text, log, cpu, r, &f);
            c.used = INDENTED + 1 + 12 + 1 + 16;
            if (*means)
                c.used += (unsigned)printf("  ");
            cairn_print_wrapped(c.used, "", c.used, (struct cairn_slice){means, (uint32_t)strlen(means)});
            c.used = 0;
        }
    }
    end_line(&c);
    if (walk.at != r->size)
        printf(INDENT "%" PRIu32 " bytes that belong to no group\n", "", walk.at, r->size - walk.at);
}

void cairn_draw_bytes(const struct cairn_record *r)
{
    for (uint32_t at = 0; at < r->size; at += 16) {
        printf(INDENT, at ? "" : "bytes", at);
        for (uint32_t i = at; i < at + 16 && i < r->size; i++)
            printf(" %02x%s", r->at[i], i % 8 == 7 && i + 1 < at + 16 && i + 1 < r->size ? " " : "");
        putchar('\n');
    }
}
