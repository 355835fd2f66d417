/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/file_names.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"

struct cairn_file_event {
    uint64_t key;
    int64_t time;
    size_t order; /* in the file */
    uint16_t hook;
    struct cairn_bytes name;
};

void cairn_file_names_note(struct cairn_file_names *names, const struct cairn_event *e)
{
    if ((e->hook != HOOK_FILE_NAME && e->hook != HOOK_FILE_CREATED && e->hook != HOOK_FILE_DELETED &&
         e->hook != HOOK_FILE_RUNDOWN) ||
        e->unknown_items || e->size < e->pointer)
        return;
    struct cairn_file_event *n = CAIRN_ADD(names->events);
    *n = (struct cairn_file_event){
        .key = e->pointer == 8 ? cairn_get64(e->payload) : cairn_get32(e->payload),
        .time = e->time,
        .order = names->events.count,
        .hook = (uint16_t)e->hook,
        .name = {e->payload + e->pointer, e->size - e->pointer},
    };
}

static int by_key(const void *a, const void *b)
{
    const struct cairn_file_event *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The next event about a key; `first`: there was none before. What is told of while it exists has begun before. */
static void add_event(struct cairn_file_names *names, const struct cairn_file_event *e, bool first)
{
    struct cairn_file_name *last = first ? NULL : &names->list.items[names->list.count - 1];
    const bool open = last && last->end == INT64_MAX, begins = e->hook == HOOK_FILE_CREATED;
    if (open && begins)
        last->end = e->time;
    if (!open || begins) {
        const int64_t before = last ? last->end : INT64_MIN;
        last = CAIRN_ADD(names->list);
        *last = (struct cairn_file_name){e->key, begins ? e->time : before, INT64_MAX, e->name};
    }
    if (e->hook == HOOK_FILE_DELETED)
        last->end = e->time;
}

void cairn_file_names_settle(struct cairn_file_names *names)
{
    struct cairn_file_event *items = names->events.items;
    if (names->events.count)
        qsort(items, names->events.count, sizeof(*items), by_key);
    for (size_t i = 0; i < names->events.count; i++)
        add_event(names, &items[i], !i || items[i - 1].key != items[i].key);
    free(items);
    memset(&names->events, 0, sizeof(names->events));
}

struct cairn_bytes cairn_file_names_find(const struct cairn_file_names *names, uint64_t key, int64_t time)
{
    size_t low = 0, high = names->list.count;
    while (low < high) { /* how many are of lower keys, or of this one and begin by then */
        const size_t middle = low + (high - low) / 2;
        const struct cairn_file_name *n = &names->list.items[middle];
        if (n->key < key || (n->key == key && n->begin <= time))
            low = middle + 1;
        else
            high = middle;
    }
    const struct cairn_file_name *n = low ? &names->list.items[low - 1] : NULL;
    return n && n->key == key && time <= n->end ? n->name : (struct cairn_bytes){0};
}

void cairn_file_names_free(struct cairn_file_names *names)
{
    free(names->events.items);
    free(names->list.items);
}
