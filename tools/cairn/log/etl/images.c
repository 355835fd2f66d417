/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/images.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/etl/etl.h"

struct told { /* one event about an image */
    struct cairn_image image;
    int64_t time;
    uint16_t hook;
};

struct telling {
    struct told *items;
    size_t count, room;
};

static int by_place(const struct cairn_image *a, const struct cairn_image *b)
{
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static int by_time(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    const int place = by_place(&x->image, &y->image);
    if (place)
        return place;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->hook - y->hook;
}

static void gather(struct telling *all, const struct cairn_etl *etl)
{
    struct cairn_rundown r;
    struct cairn_event e;
    for (size_t i = 0; i < etl->buffers.count; i++) {
        const struct cairn_etl_buffer *b = &etl->buffers.items[i];
        for (uint32_t at = 0; cairn_event_at(b->events, b->size, at, &e); at += e.space) {
            cairn_rundown_read(&r, &e);
            if (r.kind != CAIRN_RUNDOWN_IMAGE || !r.pid || !r.size || r.size > UINT64_MAX - r.address)
                continue; /* the kernel's are symbols */
            struct told *t = CAIRN_ADD(*all);
            t->image = (struct cairn_image){.pid = r.pid, .address = r.address, .size = r.size};
            memcpy(t->image.name, r.name, sizeof(t->image.name));
            t->time = e.time;
            t->hook = (uint16_t)e.hook;
        }
    }
}

/* What is told of one address of a process, in the order of time: of an image that is unloaded, or still there at the
 * end, the file may not tell when it came. */
static void fold(struct cairn_images *images, const struct telling *all, size_t from, size_t to)
{
    struct cairn_image *open = NULL;
    int64_t free_since = INT64_MIN;
    for (size_t i = from; i < to; i++) {
        const struct told *t = &all->items[i];
        if (open && t->hook == HOOK_IMAGE_LOAD) {
            open->until = t->time;
            open = NULL;
        }
        if (!open) {
            open = CAIRN_ADD(*images);
            *open = t->image;
            open->from = t->hook == HOOK_IMAGE_LOAD ? t->time : free_since;
            open->until = INT64_MAX;
        }
        if (t->hook == HOOK_IMAGE_UNLOAD) {
            open->until = free_since = t->time;
            open = NULL;
        }
    }
}

void cairn_images_read(struct cairn_images *images, const struct cairn_etl *etl)
{
    struct telling all = {.count = 0};
    gather(&all, etl);
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), by_time);
    for (size_t from = 0, to; from < all.count; from = to) {
        for (to = from + 1; to < all.count && !by_place(&all.items[from].image, &all.items[to].image);)
            to++;
        fold(images, &all, from, to);
    }
    free(all.items);
    for (size_t i = 0; i < images->count; i++) {
        struct cairn_image *at = &images->items[i];
        at->reach = at->address + at->size;
        if (i && at[-1].pid == at->pid && at[-1].reach > at->reach)
            at->reach = at[-1].reach;
    }
}

const struct cairn_image *cairn_image_find(const struct cairn_images *images, uint32_t pid, int64_t time,
                                           uint64_t address)
{
    const struct cairn_image wanted = {.pid = pid, .address = address};
    size_t low = 0, high = images->count; /* the first behind it */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_place(&images->items[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low--;) {
        const struct cairn_image *i = &images->items[low];
        if (i->pid != pid || i->reach <= address)
            return NULL;
        if (address - i->address < i->size && time >= i->from && time <= i->until)
            return i;
    }
    return NULL;
}
