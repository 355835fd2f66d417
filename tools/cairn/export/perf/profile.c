/* SPDX-License-Identifier: MIT */
/* What is only in files of Windows: a profile's samples with their call chains, processes, and images. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/cairn/export/perf/perf.h"
#include "tools/cairn/log/etl/processes.h"

bool cairn_perf_foreign(const struct cairn_output *o)
{
    return o->log->etl && !o->log->own;
}

uint32_t cairn_perf_pid(const struct cairn_output *o, uint32_t tid, int64_t time)
{
    const uint32_t pid = tid && cairn_perf_foreign(o) ? cairn_process_at(o->log, tid, time) : tid;
    return pid == CAIRN_NO_TID ? tid : pid;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

void cairn_perf_profile_event(struct cairn_output *o)
{
    const bool timer = o->samples.kind == CAIRN_LIVE_PROFILE;
    if (!cairn_samples_any(&o->samples))
        return;
    struct cairn_perf_event *e =
        cairn_perf_add_event(o, CAIRN_PERF_ID_PROFILE, cairn_slice_of(timer ? "cpu-clock" : "counter"));
    e->attr.type = timer ? PERF_TYPE_SOFTWARE : PERF_TYPE_RAW;
    e->attr.config = PERF_COUNT_SW_CPU_CLOCK;
    e->attr.sample_period = 1;
    e->attr.sample_type = PERF_SAMPLE_COMMON | PERF_SAMPLE_CALLCHAIN;
}

static bool in_kernel(const struct cairn_output *o, uint64_t address)
{
    return address >> (8 * o->log->etl->pointer - 1) & 1;
}

/* Addresses, and in front of the first of the kernel and of the program whose they are. */
static void put_chain(const struct cairn_output *o, struct cairn_perf_file *f, const struct cairn_sample *sample)
{
    uint64_t frames[CAIRN_FRAMES], chain[2 * CAIRN_FRAMES];
    bool cut;
    const unsigned depth = cairn_sample_frames(sample, frames, &cut);
    unsigned n = 0;
    for (unsigned i = 0; i < depth; i++) {
        if (!i || in_kernel(o, frames[i]) != in_kernel(o, frames[i - 1]))
            chain[n++] = in_kernel(o, frames[i]) ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
        chain[n++] = frames[i];
    }
    cairn_perf_64(f, n);
    cairn_perf_bytes(f, chain, n * sizeof(chain[0]));
}

void cairn_perf_profile_sample(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_perf_file *f = &((struct cairn_perf *)o->state)->file;
    const struct cairn_sample *s = o->sample;
    cairn_perf_begin(f, PERF_RECORD_SAMPLE, in_kernel(o, s->ip) ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
    cairn_perf_64(f, CAIRN_PERF_ID_PROFILE);
    cairn_perf_64(f, s->ip);
    cairn_perf_32(f, s->pid == CAIRN_NO_TID ? s->tid : s->pid);
    cairn_perf_32(f, s->tid);
    cairn_perf_64(f, cairn_perf_time(o, item->time));
    cairn_perf_32(f, item->cpu);
    cairn_perf_32(f, 0);
    put_chain(o, f, s);
    cairn_perf_end(f, NULL);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void put_thread(struct cairn_perf_file *f, uint32_t pid, uint32_t tid, const char *name)
{
    const struct cairn_perf_where where = {.tid = tid, .pid = pid};
    cairn_perf_begin(f, PERF_RECORD_COMM, 0);
    cairn_perf_32(f, pid);
    cairn_perf_32(f, tid);
    cairn_perf_string(f, name);
    cairn_perf_end(f, &where);
}

/* perf takes those of the kernel for modules, whose names are in brackets. */
static void put_image(struct cairn_output *o, struct cairn_perf_file *f, const struct cairn_etl_life *l)
{
    const struct cairn_perf_where where = {.tid = l->pid,
                                           .time = l->begin == INT64_MIN ? 0 : cairn_perf_time(o, l->begin)};
    char name[CAIRN_SHOWN];
    const bool kernel = !l->pid;
    snprintf(name, sizeof(name), kernel ? "[%.100s]" : "%.100s", l->name);
    cairn_perf_begin(f, PERF_RECORD_MMAP2, kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
    cairn_perf_32(f, kernel ? UINT32_MAX : l->pid);
    cairn_perf_32(f, kernel ? UINT32_MAX : l->pid);
    cairn_perf_64(f, l->base);
    cairn_perf_64(f, l->size);
    for (unsigned i = 0; i < 4; i++) /* place in the file; device, inode, generation: perf goes by the name */
        cairn_perf_64(f, 0);
    cairn_perf_32(f, PROT_READ | PROT_EXEC);
    cairn_perf_32(f, MAP_PRIVATE);
    cairn_perf_string(f, name);
    cairn_perf_end(f, &where);
}

void cairn_perf_foreign_names(struct cairn_output *o)
{
    struct cairn_perf_file *f = &((struct cairn_perf *)o->state)->file;
    const struct cairn_text *t = &o->log->text;
    struct cairn_processes all = {0};
    char name[CAIRN_SHOWN];
    cairn_processes_read(&all, o->log);
    for (size_t i = 0; i < all.processes.list.count; i++) {
        const struct cairn_owner *p = &all.processes.list.items[i];
        if (p->name[0])
            put_thread(f, p->pid, p->pid, p->name);
    }
    for (size_t i = 0; i < t->names.count; i++) {
        const uint32_t tid = t->names.items[i].tid;
        const struct cairn_owner *owner = tid ? cairn_owner_of(&all.threads, tid) : NULL;
        if (tid)
            put_thread(f, owner ? owner->pid : tid, tid, cairn_slice_text(name, sizeof(name), t->names.items[i].name));
    }
    cairn_processes_free(&all);
    for (size_t i = 0; i < o->log->etl->lives.images.count; i++)
        if (o->log->etl->lives.images.items[i].size && o->log->etl->lives.images.items[i].name[0])
            put_image(o, f, &o->log->etl->lives.images.items[i]);
}
