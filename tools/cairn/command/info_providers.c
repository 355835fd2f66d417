/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/info_providers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/base/wrap.h"
#include "tools/cairn/log/etl/provider.h"
#include "tools/cairn/log/event_walk.h"

#define GUID_BYTES 16u

struct row {
    uint8_t guid[GUID_BYTES];
    bool has_guid;
    char name[CAIRN_PROVIDER_NAME]; /* the first that it gave itself */
    uint64_t events, bytes;
    uint32_t same; /* index and 1 of another whose first word is the same, 0: there is none */
};

struct rows {
    struct row *items;
    size_t count, room;
    struct cairn_map by_word;
};

static struct row *row_of(struct rows *rows, const uint8_t *guid)
{
    const uint32_t word = guid ? cairn_get32(guid) : 0, first = cairn_map_find(&rows->by_word, word);
    for (uint32_t at = first; at; at = rows->items[at - 1].same) {
        struct row *r = &rows->items[at - 1];
        if (r->has_guid == (guid != NULL) && (!guid || memcmp(r->guid, guid, GUID_BYTES) == 0))
            return r;
    }
    struct row *r = CAIRN_ADD(*rows);
    r->has_guid = guid;
    if (guid)
        memcpy(r->guid, guid, GUID_BYTES);
    if (first) {
        r->same = rows->items[first - 1].same;
        rows->items[first - 1].same = (uint32_t)rows->count;
    } else {
        cairn_map_add(&rows->by_word, word, (uint32_t)rows->count - 1);
    }
    return r;
}

static int by_events(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return memcmp(x->guid, y->guid, GUID_BYTES);
}

static void print_row(const struct row *r)
{
    char text[CAIRN_GUID_TEXT + CAIRN_PROVIDER_NAME + 2], guid[CAIRN_GUID_TEXT] = "no GUID";
    if (r->has_guid)
        cairn_guid_text(guid, r->guid);
    const int size = snprintf(text, sizeof(text), "%s%s%s", guid, r->name[0] ? " " : "", r->name);
    const int used = printf("  %10" PRIu64 " %12" PRIu64 "   ", r->events, r->bytes);
    cairn_print_wrapped((unsigned)used, "", (unsigned)used, (struct cairn_slice){text, (uint32_t)size});
}

void cairn_info_providers(const struct cairn_log *log)
{
    struct rows rows = {.count = 0};
    struct cairn_walk walk;
    struct cairn_event e;
    struct cairn_provider p;
    for (uint32_t c = 0; c < log->cpus; c++)
        for (cairn_walk_init(&walk, log, c); cairn_walk_next(&walk, &e);) {
            if (!cairn_provider_read(&p, log, &e))
                continue;
            struct row *r = row_of(&rows, p.guid);
            r->events++;
            r->bytes += e.space;
            if (!r->name[0])
                memcpy(r->name, p.name, sizeof(r->name));
        }
    if (rows.count) {
        qsort(rows.items, rows.count, sizeof(*rows.items), by_events);
        printf("\n  %10s %12s   %s\n", "events", "bytes", "provider");
    }
    for (size_t i = 0; i < rows.count; i++)
        print_row(&rows.items[i]);
    free(rows.items);
    cairn_map_free(&rows.by_word);
}
