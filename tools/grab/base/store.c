/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/base/store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ds/pebs23_layout.h"
#include "tools/grab/base/memory.h"

/* A file system without O_TMPFILE has a name for it, until it is unlinked. */
static int open_file(const char *folder)
{
    static const char name[] = "/cairn-grab.XXXXXX";
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
        return file;
    char *path = malloc(strlen(folder) + sizeof name);
    if (!path)
        return -1;
    strcpy(path, folder);
    strcat(path, name);
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    free(path);
    return file;
}

int grab_store_begin(struct grab_store *store, const char *path)
{
    char *copy = strdup(path);
    *store = (struct grab_store){0};
    store->file = copy ? open_file(dirname(copy)) : -1;
    free(copy);
    return store->file < 0 ? errno : 0;
}

static void write_records(struct grab_store *store, const void *data, size_t size)
{
    const char *at = data;
    while (size && !store->error) {
        const ssize_t n = write(store->file, at, size);
        if (n < 0 && errno != EINTR)
            store->error = errno;
        if (n <= 0)
            continue;
        at += n;
        size -= (size_t)n;
        store->size += (size_t)n;
    }
}

/* The records of a drain, which are all there, or of which nothing more comes. */
static void put(struct grab_store *store, struct grab_one_cpu *c, struct grab_partial *p)
{
    if (!p->count)
        return;
    c->drains[p->drain].at = store->size;
    write_records(store, p->bytes, p->count);
    p->count = 0;
}

void grab_store_drain(struct grab_store *store, unsigned cpu, const void *event, size_t size)
{
    struct grab_one_cpu *c = &store->cpu[cpu];
    const struct grab_records *r = event;
    if (r->kind == GRAB_ENABLED) {
        memcpy(GRAB_ADD(c->enabled, c->enabled_count, c->enabled_room), event, sizeof *c->enabled);
        return;
    }
    struct grab_partial *p = &c->partial[r->kind == GRAB_BTS || r->kind == GRAB_BTS_RECORDS];
    if (r->kind != GRAB_RECORDS && r->kind != GRAB_BTS_RECORDS && size >= sizeof(struct grab_drain)) {
        put(store, c, p);
        p->drain = c->drain_count;
        struct grab_drained *d = GRAB_ADD(c->drains, c->drain_count, c->drain_room);
        *d = (struct grab_drained){0};
        memcpy(&d->head, event, sizeof(d->head));
        return;
    }
    struct grab_drained *d = p->drain < c->drain_count ? &c->drains[p->drain] : NULL;
    if (!d || d->head.number != r->number || d->bytes != r->offset)
        return; /* what is before it is lost */
    while (p->room < p->count + r->bytes)
        p->bytes = grab_grow(p->bytes, p->room, &p->room, 1);
    memcpy(p->bytes + p->count, r->data, r->bytes);
    p->count += r->bytes;
    d->bytes += r->bytes;
    if (d->bytes == d->head.bytes)
        put(store, c, p);
}

void grab_store_switch(struct grab_store *store, unsigned cpu, const void *event, size_t size)
{
    struct grab_one_cpu *c = &store->cpu[cpu];
    struct grab_switched *s = GRAB_ADD(c->switches, c->switch_count, c->switch_room);
    *s = (struct grab_switched){0};
    memcpy(&s->s, event, size < sizeof(s->s) ? size : sizeof(s->s));
}

int grab_store_end(struct grab_store *store)
{
    for (unsigned i = 0; i < GRAB_CPUS; i++)
        for (unsigned n = 0; n < 2; n++)
            put(store, &store->cpu[i], &store->cpu[i].partial[n]);
    if (store->error || !store->size)
        return store->error;
    void *map = mmap(NULL, store->size, PROT_READ, MAP_PRIVATE, store->file, 0);
    store->records = map == MAP_FAILED ? NULL : map;
    return map == MAP_FAILED ? errno : 0;
}

unsigned grab_format(const struct grab_store *store)
{
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        if (store->cpu[c].drain_count)
            return ia32_perf_capabilities_pebs_fmt(store->cpu[c].drains->head.capabilities);
    return 0;
}

struct ds_area_60 grab_area(const struct grab_drained *d)
{
    struct ds_area_60 area;
    memcpy(&area, d->head.area, sizeof area);
    return area;
}

_Static_assert(sizeof(struct grab_registers) == sizeof(struct ds_arch_registers), "registers of a drain");

uint32_t grab_area_bytes(unsigned format)
{
    return format == DS_FORMAT_ARCH ? sizeof(struct ds_arch_registers) : ds_area_bytes(format, false);
}

struct grab_buffer grab_buffer(const struct grab_drained *d, unsigned format)
{
    const struct ds_area_60 area = grab_area(d);
    struct grab_registers registers;
    if (format != DS_FORMAT_ARCH)
        return (struct grab_buffer){area.pebs_buffer_base, area.pebs_index, area.pebs_absolute_maximum,
                                    area.pebs_interrupt_threshold, false};
    memcpy(&registers, d->head.area, sizeof registers);
    const uint64_t base = registers.base & IA32_PEBS_BASE_ADDRESS;
    return (struct grab_buffer){base, base + ia32_pebs_index_wr(registers.index),
                                base + ia32_pebs_base_bytes(registers.base),
                                base + ia32_pebs_index_thresh(registers.index), registers.index & IA32_PEBS_INDEX_FULL};
}

bool grab_before(const struct grab_switched *s, const struct grab_drained *d)
{
    return d->head.kind == GRAB_BTS ? s->s.number < d->head.switches : s->s.drains <= d->head.number;
}

uint32_t grab_record_bytes(const struct grab_store *store, const struct grab_drained *d, unsigned format, uint64_t at)
{
    if (d->head.kind == GRAB_BTS || at >= d->bytes)
        return 0;
    return ds_record_size_at(format, store->records + d->at + at, (uint32_t)(d->bytes - at));
}
