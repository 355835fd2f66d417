/* SPDX-License-Identifier: MIT */
#include "tools/grab/programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tools/grab/base/functions.h"
#include "tools/grab/base/memory.h"
#include "tools/grab/threads.h"
#include "tools/pebs/pebs.h"

struct place { /* in a process */
    uint32_t process;
    uint64_t address;
};

struct places {
    struct place *items;
    size_t count, room;
    struct place met[1024]; /* so that those of a loop are there once, not each time */
};

struct range { /* where a process has a function; without one: the address alone */
    uint64_t from, to;
    const char *name; /* NULL: none is known */
};

/* ---- what records name ------------------------------------------------------------------------------------------- */

static void add(struct places *p, uint32_t process, uint64_t address)
{
    const struct place place = {process, address};
    struct place *met = &p->met[(address ^ address >> 10) % (sizeof p->met / sizeof p->met[0])];
    if (address >> 63 || (met->process == process && met->address == address))
        return;
    *met = *(struct place *)GRAB_ADD(p->items, p->count, p->room) = place;
}

/* The instruction, and its branches. */
static void add_record(struct places *p, uint32_t process, const uint8_t *record, uint32_t size, unsigned format)
{
    struct cairn_pebs_branch branch;
    uint64_t ip = 0;
    if (!cairn_pebs_get(format, record, size, CAIRN_PEBS_EVENTING_IP, &ip)) /* before format 2 */
        cairn_pebs_get(format, record, size, CAIRN_PEBS_RIP, &ip);
    add(p, process, ip);
    for (uint32_t i = 0; cairn_pebs_branch(format, record, size, i, &branch); i++) {
        add(p, process, branch.from);
        add(p, process, branch.to);
    }
}

/* Whether the record, which ends at `end`, was written before the switch: by PebsIndex; where that is unknown, by its
 * time. */
static bool is_before(const uint8_t *record, uint32_t size, unsigned format, uint64_t end,
                      const struct grab_switched *s)
{
    uint64_t tsc = 0;
    if (s->s.index)
        return end <= s->s.index;
    cairn_pebs_get(format, record, size, CAIRN_PEBS_TSC, &tsc);
    return tsc < s->tsc;
}

static void follow(struct places *p, const struct grab_store *store, const struct grab_one_cpu *c, unsigned format)
{
    uint32_t process = c->switch_count ? c->switches[0].s.old_tgid : 0, size;
    size_t next = 0;
    for (size_t i = 0; i < c->drain_count; i++) {
        const struct grab_drained *d = &c->drains[i];
        const uint64_t base = grab_buffer(d, format).base;
        uint64_t at = 0;
        if (d->head.kind == GRAB_START || d->head.kind == GRAB_BTS)
            continue;
        for (bool more = true; more;) {
            const struct grab_switched *s = next < c->switch_count ? &c->switches[next] : NULL;
            more = s && s->s.drains <= d->head.number;
            for (; (size = grab_record_bytes(store, d, format, at)); at += size) {
                const uint8_t *record = store->records + d->at + at;
                if (more && !is_before(record, size, format, base + at + size, s))
                    break;
                add_record(p, process, record, size, format);
            }
            if (more)
                process = c->switches[next++].s.new_tgid;
        }
    }
}

/* Of BTS: a drain is of the thread that runs there. */
static void follow_branches(struct places *p, const struct grab_store *store, const struct grab_one_cpu *c)
{
    uint32_t process = c->switch_count ? c->switches[0].s.old_tgid : 0;
    size_t next = 0;
    for (size_t i = 0; i < c->drain_count; i++) {
        const struct grab_drained *d = &c->drains[i];
        struct ds_bts_record branch;
        if (d->head.kind != GRAB_BTS)
            continue;
        for (; next < c->switch_count && grab_before(&c->switches[next], d); next++)
            process = c->switches[next].s.new_tgid;
        for (uint64_t at = 0; at + sizeof branch <= d->bytes; at += sizeof branch) {
            memcpy(&branch, store->records + d->at + at, sizeof branch);
            add(p, process, branch.from);
            add(p, process, branch.to);
        }
    }
}

static int by_process(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static void find_places(struct places *p, const struct grab_store *store, unsigned format)
{
    *p = (struct places){0};
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        follow(p, store, &store->cpu[c], format);
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        follow_branches(p, store, &store->cpu[c]);
    if (p->count)
        qsort(p->items, p->count, sizeof *p->items, by_process);
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

static bool has_process(const struct places *p, uint32_t process)
{
    size_t low = 0, high = p->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (p->items[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->count && p->items[low].process == process;
}

#define LINE(...) trace_dump_print(d, CAIRN_STREAM_MACHINE, __VA_ARGS__)

static void dump_maps(struct trace_dump *d, const struct places *p, const struct grab_maps *maps,
                      struct grab_store *store)
{
    struct grab_threads threads;
    grab_threads_find(&threads, store);
    for (size_t i = 0; i < threads.count; i++) {
        const struct grab_thread *t = &threads.items[i];
        if (t->tid != t->tgid && has_process(p, t->tgid))
            LINE("grab.process.%" PRIu32 "=%" PRIu32, t->tid, t->tgid);
    }
    free(threads.items);
    if (maps->lost)
        LINE("grab.maps_lost=%" PRIu64, maps->lost);
    for (size_t i = 0; i < maps->count; i++) {
        const struct grab_map *m = &maps->items[i];
        LINE("grab.map.%zu=%" PRIu32 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " %s", i, m->process, m->from, m->to,
             m->offset, *grab_maps_path(maps, m) ? grab_maps_path(maps, m) : "[no file]");
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static struct range range_of(struct grab_files *files, const struct grab_maps *maps, const struct place *p)
{
    const struct grab_map *m = grab_maps_find(maps, p->process, p->address);
    const struct grab_function *f = m ? grab_files_function(files, maps, m, p->address - m->from + m->offset) : NULL;
    if (!f)
        return (struct range){p->address, p->address + 1, NULL};
    const uint64_t from = f->from + m->from - m->offset; /* may begin before the mapping: modulo 2^64 */
    return (struct range){from, from + (f->to - f->from), f->name};
}

static int by_address(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static bool is_same(const struct range *a, const struct range *b)
{
    return a->from == b->from && a->to == b->to && a->name && b->name && strcmp(a->name, b->name) == 0;
}

/* Ranges that overlap and are not the same are of different processes. The log has one name for an address: those have
 * none. */
static void dump_ranges(struct trace_dump *d, const struct range *ranges, size_t count)
{
    for (size_t i = 0, next; i < count; i = next) {
        uint64_t end = ranges[i].to;
        bool one = ranges[i].name;
        for (next = i + 1; next < count && ranges[next].from < end; next++) {
            one &= is_same(&ranges[i], &ranges[next]);
            end = ranges[next].to > end ? ranges[next].to : end;
        }
        if (one)
            trace_dump_print(d, CAIRN_STREAM_SYMBOLS, "%" PRIx64 " %" PRIx64 " %s", ranges[i].from,
                             ranges[i].to - ranges[i].from, ranges[i].name);
    }
}

/* Of the files in which records are. */
static void dump_build_ids(struct trace_dump *d, const struct grab_files *files, const struct grab_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++) {
        const uint8_t *id;
        char hex[2 * GRAB_BUILD_ID_MAX + 1] = "";
        const uint32_t bytes = grab_files_build_id(files, maps, &maps->items[i], &id);
        for (uint32_t n = 0; n < bytes; n++)
            snprintf(hex + 2 * n, 3, "%02x", id[n]);
        if (bytes)
            LINE("grab.build_id.%zu=%s", i, hex);
    }
}

static void dump_functions(struct trace_dump *d, const struct places *p, const struct grab_maps *maps)
{
    struct grab_files files = {0};
    struct range *ranges = NULL;
    size_t count = 0, room = 0;
    for (size_t i = 0; i < p->count; i++)
        if (!i || by_process(&p->items[i - 1], &p->items[i])) {
            const struct range r = range_of(&files, maps, &p->items[i]);
            if (!count || !is_same(&ranges[count - 1], &r))
                *(struct range *)GRAB_ADD(ranges, count, room) = r;
        }
    if (count)
        qsort(ranges, count, sizeof *ranges, by_address);
    dump_ranges(d, ranges, count);
    dump_build_ids(d, &files, maps);
    grab_files_free(&files);
    free(ranges);
}

void grab_programs_dump(struct trace_dump *d, struct grab_maps *maps, struct grab_store *store, unsigned format)
{
    struct places places;
    find_places(&places, store, format);
    for (size_t i = 0; i < places.count; i++)
        if (!i || places.items[i - 1].process != places.items[i].process)
            grab_maps_need(maps, places.items[i].process);
    dump_maps(d, &places, maps, store);
    dump_functions(d, &places, maps);
    free(places.items);
}
