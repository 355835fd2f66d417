/* SPDX-License-Identifier: MIT */
/* What a perf.data file says of the machine: the events that were counted, threads, functions, the kernel's image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/perf/perf.h"
#include "tools/cairn/log/mappings.h"

#define PROGRAMS UINT64_C(0x400000) /* where those of ring 3 are: KUSER_IMAGE of kernel/user_thread.h */

bool cairn_perf_emulated(const struct cairn_output *o)
{
    const struct cairn_text *t = &o->log->text;
    return cairn_slice_is(cairn_key(t, "ds.emulated"), "1") || cairn_slice_is(cairn_key(t, "machine.emulated"), "1");
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct cairn_perf_event *cairn_perf_add_event(struct cairn_output *o, uint64_t id, struct cairn_slice name)
{
    struct cairn_perf *p = o->state;
    struct cairn_perf_event *e = CAIRN_ADD(p->events);
    e->id = id;
    e->of = name;
    e->attr.size = sizeof(e->attr);
    e->attr.sample_type = PERF_SAMPLE_COMMON;
    e->attr.flags = PERF_ATTR_SAMPLE_ID_ALL;
    /* No blanks: what reads perf's text takes the name for one word. */
    snprintf(e->name, sizeof(e->name), "%.*s%s", name.size < 120 ? (int)name.size : 120, name.at,
             id != CAIRN_PERF_ID_DUMMY && cairn_perf_emulated(o) ? "/emulated/" : "");
    return e;
}

/* One that Linux changes is 0 in the log, and each record then counts as one event. */
static uint64_t period_of(uint64_t period)
{
    return period ? period : 1;
}

static void add_pebs_event(struct cairn_output *o, struct cairn_slice name, uint64_t period)
{
    struct cairn_perf *p = o->state;
    struct cairn_perf_event *e = cairn_perf_add_event(o, CAIRN_PERF_ID_FIRST + p->events.count, name);
    e->attr.type = PERF_TYPE_RAW;
    e->attr.sample_period = period_of(period);
    e->attr.sample_type = p->sample_type;
    e->attr.branch_sample_type = p->sample_type & PERF_SAMPLE_BRANCH_STACK ? PERF_SAMPLE_BRANCH_ANY_ALL : 0;
    e->attr.sample_regs_intr = p->regs;
    e->attr.flags |= PERF_ATTR_PRECISE(2);
}

size_t cairn_perf_event_of(const struct cairn_perf *p, const struct cairn_counter *c)
{
    for (size_t i = 0; i < p->events.count; i++) {
        const struct cairn_perf_event *e = &p->events.items[i];
        if (e->id >= CAIRN_PERF_ID_FIRST && e->attr.sample_period == period_of(c->period) &&
            cairn_slice_same(e->of, c->event))
            return i;
    }
    return p->events.count;
}

void cairn_perf_counters(struct cairn_output *o)
{
    for (uint32_t c = 0; c < o->log->cpus; c++)
        cairn_counters_read(&((struct cairn_perf *)o->state)->on[c], &o->log->text, c);
}

void cairn_perf_events(struct cairn_output *o)
{
    struct cairn_perf *p = o->state;
    struct cairn_perf_event *dummy = cairn_perf_add_event(o, CAIRN_PERF_ID_DUMMY, cairn_slice_of("dummy"));
    dummy->attr.type = PERF_TYPE_SOFTWARE;
    dummy->attr.config = PERF_COUNT_SW_DUMMY;
    dummy->attr.sample_period = 1;
    dummy->attr.flags |= PERF_ATTR_MMAP | PERF_ATTR_MMAP2 | PERF_ATTR_COMM | PERF_ATTR_CONTEXT_SWITCH |
                         PERF_ATTR_KSYMBOL | PERF_ATTR_BUILD_ID;
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        for (unsigned i = 0; i < p->on[c].count; i++) {
            const struct cairn_counter *counter = &p->on[c].items[i];
            if (!counter->plain && cairn_perf_event_of(p, counter) == p->events.count)
                add_pebs_event(o, counter->event, counter->period);
        }
    }
    p->other = p->events.count;
    if (p->events.count == 2) /* there is one event: all records are of it */
        p->other = 1;
    else if (p->unnamed)
        add_pebs_event(o, cairn_slice_of("PEBS"), 1);
    cairn_perf_profile_event(o);
    if (cairn_log_has_branches(o->log)) {
        struct cairn_perf_event *bts = cairn_perf_add_event(o, CAIRN_PERF_ID_BTS, cairn_slice_of("intel_bts//"));
        bts->attr.type = PERF_TYPE_INTEL_BTS;
        bts->attr.sample_period = 1;
    }
}

/* ---- threads, functions, images ---------------------------------------------------------------------------------- */

static void put_thread(struct cairn_perf_file *f, uint32_t tid, const char *name)
{
    const struct cairn_perf_where where = {.tid = tid};
    cairn_perf_begin(f, PERF_RECORD_COMM, 0);
    cairn_perf_32(f, tid);
    cairn_perf_32(f, tid);
    cairn_perf_string(f, name);
    cairn_perf_end(f, &where);
}

static void put_function(struct cairn_perf_file *f, const struct cairn_symbol *s, uint64_t size)
{
    const struct cairn_perf_where where = {.tid = 0};
    char name[CAIRN_SHOWN];
    cairn_perf_begin(f, PERF_RECORD_KSYMBOL, 0);
    cairn_perf_64(f, s->address);
    cairn_perf_32(f, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX);
    cairn_perf_32(f, 0); /* of no kind, registered */
    cairn_perf_string(f, cairn_slice_text(name, sizeof(name), s->name));
    cairn_perf_end(f, &where);
}

/* Bytes of a build ID, of 20 at most; 0: it is none. */
static uint32_t read_build_id(struct cairn_slice hex, uint8_t id[20])
{
    if (hex.size > 40 || hex.size % 2)
        return 0;
    memset(id, 0, 20);
    for (uint32_t i = 0; i < hex.size / 2; i++) {
        struct cairn_slice digits = {hex.at + 2 * (size_t)i, 2};
        uint64_t byte;
        if (!cairn_slice_digits(&digits, 16, &byte))
            return 0;
        id[i] = (uint8_t)byte;
    }
    return hex.size / 2;
}

bool cairn_perf_build_id(const struct cairn_output *o, uint8_t id[20])
{
    return read_build_id(cairn_key(&o->log->text, "kernel.build_id"), id) == 20 && o->elf;
}

static void put_image(struct cairn_perf_file *f, uint16_t mode, uint32_t pid, uint64_t address, uint64_t size,
                      uint64_t offset, const uint8_t id[20], const char *name)
{
    const struct cairn_perf_where where = {.tid = 0};
    cairn_perf_begin(f, PERF_RECORD_MMAP2, mode | PERF_RECORD_MISC_MMAP_BUILD_ID);
    cairn_perf_32(f, pid);
    cairn_perf_32(f, pid);
    cairn_perf_64(f, address);
    cairn_perf_64(f, size);
    cairn_perf_64(f, offset);
    cairn_perf_32(f, 20); /* bytes of the build ID */
    cairn_perf_bytes(f, id, 20);
    cairn_perf_32(f, PROT_READ | PROT_EXEC);
    cairn_perf_32(f, MAP_PRIVATE);
    cairn_perf_string(f, name);
    cairn_perf_end(f, &where);
}

/* False: the log does not say where it is. */
static bool put_kernel(struct cairn_output *o, struct cairn_perf_file *f)
{
    uint64_t base, size;
    uint8_t id[20];
    if (!cairn_slice_u64(cairn_key(&o->log->text, "kernel.base"), &base) ||
        !cairn_slice_u64(cairn_key(&o->log->text, "kernel.size"), &size) || !cairn_perf_build_id(o, id))
        return false;
    /* the offset: perf takes it for the address of the symbol that the name ends with */
    put_image(f, PERF_RECORD_MISC_KERNEL, UINT32_MAX, base, size, base, id, "[kernel.kallsyms]_text");
    return true;
}

/* What a thread in ring 3 executes: a section of the kernel's file, which it sees at another address. */
static void put_programs(struct cairn_output *o, struct cairn_perf_file *f)
{
    const struct cairn_text *t = &o->log->text;
    uint64_t offset, size;
    uint8_t id[20];
    char *path;
    if (cairn_log_grabbed(o->log) || !cairn_perf_build_id(o, id) ||
        !cairn_elf_section(o->elf, ".user", &offset, &size, &path))
        return;
    for (size_t i = 0; i < t->names.count; i++) {
        const uint32_t tid = t->names.items[i].tid;
        if (t->names.items[i].flag == 'u')
            put_image(f, PERF_RECORD_MISC_USER, tid, PROGRAMS, size, offset, id, path);
    }
    free(path);
}

/* In the file each thread is a process of its own. */
static void put_map(struct cairn_perf_file *f, uint32_t tid, const struct cairn_mapping *m)
{
    const struct cairn_perf_where where = {.tid = 0};
    char name[CAIRN_SHOWN];
    uint8_t id[20];
    const uint32_t bytes = read_build_id(m->build_id, id);
    cairn_perf_begin(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (bytes ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
    cairn_perf_32(f, tid);
    cairn_perf_32(f, tid);
    cairn_perf_64(f, m->from);
    cairn_perf_64(f, m->to - m->from);
    cairn_perf_64(f, m->offset);
    if (bytes) {
        cairn_perf_32(f, bytes);
        cairn_perf_bytes(f, id, 20);
    }
    for (unsigned i = 0; i < 3 && !bytes; i++) /* device, inode, generation: perf goes by the name */
        cairn_perf_64(f, 0);
    cairn_perf_32(f, PROT_READ | PROT_EXEC);
    cairn_perf_32(f, MAP_PRIVATE);
    cairn_perf_string(f, cairn_slice_text(name, sizeof(name), m->name));
    cairn_perf_end(f, &where);
}

static void put_maps(struct cairn_output *o, struct cairn_perf_file *f)
{
    const struct cairn_text *t = &o->log->text;
    const struct cairn_mappings *maps = &o->log->maps;
    for (size_t i = 0; i < t->names.count && maps->count; i++) {
        size_t count;
        const uint32_t tid = t->names.items[i].tid;
        const struct cairn_mapping *map = cairn_mappings_of(maps, cairn_mappings_process(t, tid), &count);
        for (; map && count; map++, count--)
            put_map(f, tid, map);
    }
}

void cairn_perf_names(struct cairn_output *o)
{
    struct cairn_perf_file *f = &((struct cairn_perf *)o->state)->file;
    const struct cairn_text *t = &o->log->text;
    char name[CAIRN_SHOWN];
    put_thread(f, 0, "idle");
    if (cairn_perf_foreign(o)) {
        cairn_perf_foreign_names(o);
        return;
    }
    for (size_t i = 0; i < t->names.count; i++)
        if (t->names.items[i].tid)
            put_thread(f, t->names.items[i].tid, cairn_slice_text(name, sizeof(name), t->names.items[i].name));
    for (uint8_t blame = CAIRN_BLAME_KNOWN + 1; blame < CAIRN_BLAMES; blame++) {
        snprintf(name, sizeof(name), "[%s]", cairn_blame_why(blame));
        put_thread(f, cairn_perf_tid(blame, 0), name);
    }
    put_maps(o, f);
    if (o->elf && put_kernel(o, f)) {
        put_programs(o, f);
        return;
    }
    for (size_t i = 0; i < t->symbols.count; i++) {
        const struct cairn_symbol *s = &t->symbols.items[i];
        const uint64_t next = i + 1 < t->symbols.count ? s[1].address : s->address + 1;
        if (s->address >> 63 && next > s->address)
            put_function(f, s, s->size ? s->size : next - s->address);
    }
}
