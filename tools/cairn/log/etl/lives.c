/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/lives.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "trace/rundown/rundown.h"

struct cairn_life_event {
    struct cairn_etl_life of; /* begin: the time of the event */
    size_t order;             /* in the file */
    bool image, ends, rundown;
};

void cairn_lives_note(struct cairn_lives *lives, const struct cairn_rundown *r, const struct cairn_event *e)
{
    const bool image = r->kind == CAIRN_RUNDOWN_IMAGE;
    if ((!image && r->kind != CAIRN_RUNDOWN_THREAD) || e->hook == HOOK_THREAD_SET_NAME || (!image && !r->tid))
        return;
    struct cairn_life_event *n = CAIRN_ADD(lives->events);
    *n = (struct cairn_life_event){
        .of = {.id = image ? r->pid : r->tid, .pid = r->pid, .begin = e->time},
        .order = lives->events.count,
        .image = image,
        .ends = r->ends,
        .rundown = r->rundown,
    };
    if (!image)
        return;
    const size_t bytes = strlen(r->name) + 1;
    n->of.base = r->address;
    n->of.size = r->size;
    n->of.name = cairn_alloc(bytes);
    memcpy(n->of.name, r->name, bytes);
}

static int by_who(const void *a, const void *b)
{
    const struct cairn_life_event *x = a, *y = b;
    if (x->image != y->image)
        return x->image ? -1 : 1;
    if (x->of.id != y->of.id)
        return x->of.id < y->of.id ? -1 : 1;
    if (x->of.base != y->of.base)
        return x->of.base < y->of.base ? -1 : 1;
    if (x->of.begin != y->of.begin)
        return x->of.begin < y->of.begin ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* One that is told of again keeps the first of its names and the larger of its sizes. */
static void merge(struct cairn_etl_life *life, struct cairn_etl_life *told)
{
    life->size = life->size > told->size ? life->size : told->size;
    if (life->name && !life->name[0]) {
        char *other = told->name;
        told->name = life->name;
        life->name = other;
    }
    free(told->name);
}

/* The next event about who the last life of the list is of, or, if `first`, about another. */
static void add_event(struct cairn_life_list *list, struct cairn_life_event *e, bool first, bool *open)
{
    const int64_t time = e->of.begin;
    struct cairn_etl_life *last = first ? NULL : &list->items[list->count - 1];
    const bool again = last && *open && (e->ends || e->rundown);
    if (again)
        merge(last, &e->of);
    else if (last && *open)
        last->end = time;
    if (!again) {
        struct cairn_etl_life *life = CAIRN_ADD(*list);
        *life = e->of;
        life->begin = !e->ends && !e->rundown ? time : first ? INT64_MIN : life[-1].end;
        life->end = INT64_MAX;
    }
    *open = !e->ends || e->rundown;
    if (!*open)
        list->items[list->count - 1].end = time;
}

void cairn_lives_settle(struct cairn_lives *lives)
{
    struct cairn_life_event *items = lives->events.items;
    bool open = false;
    if (lives->events.count)
        qsort(items, lives->events.count, sizeof(*items), by_who);
    for (size_t i = 0; i < lives->events.count; i++) {
        const bool first = !i || items[i - 1].image != items[i].image || items[i - 1].of.id != items[i].of.id ||
                           items[i - 1].of.base != items[i].of.base;
        add_event(items[i].image ? &lives->images : &lives->threads, &items[i], first, &open);
    }
    for (size_t i = 0; i < lives->images.count; i++) {
        struct cairn_etl_life *l = &lives->images.items[i];
        const uint64_t before = i && l[-1].id == l->id ? l[-1].reach : 0;
        l->reach = l->size > UINT64_MAX - l->base ? UINT64_MAX : l->base + l->size;
        l->reach = l->reach > before ? l->reach : before;
    }
    free(items);
    memset(&lives->events, 0, sizeof(lives->events));
}

/* How many lives are of lower IDs, or of this one and begin at `base` or below, at `time` or before. */
static size_t up_to(const struct cairn_life_list *list, uint32_t id, uint64_t base, int64_t time)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct cairn_etl_life *l = &list->items[middle];
        if (l->id < id || (l->id == id && (l->base < base || (l->base == base && l->begin <= time))))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct cairn_etl_life *cairn_lives_image(const struct cairn_lives *lives, uint32_t pid, int64_t time,
                                               uint64_t address)
{
    for (size_t i = up_to(&lives->images, pid, address, time); i; i--) {
        const struct cairn_etl_life *l = &lives->images.items[i - 1];
        if (l->id != pid || l->reach <= address)
            return NULL;
        if (address - l->base < l->size && l->begin <= time && time < l->end)
            return l;
    }
    return NULL;
}

uint32_t cairn_lives_process(const struct cairn_lives *lives, uint32_t tid, int64_t time)
{
    const size_t i = up_to(&lives->threads, tid, 0, time);
    const struct cairn_etl_life *l = i ? &lives->threads.items[i - 1] : NULL;
    return l && l->id == tid && time < l->end ? l->pid : CAIRN_NO_TID;
}

void cairn_lives_free(struct cairn_lives *lives)
{
    for (size_t i = 0; i < lives->events.count; i++)
        free(lives->events.items[i].of.name);
    for (size_t i = 0; i < lives->images.count; i++)
        free(lives->images.items[i].name);
    free(lives->events.items);
    free(lives->images.items);
    free(lives->threads.items);
}
