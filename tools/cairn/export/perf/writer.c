/* SPDX-License-Identifier: MIT */
/* perf.data, the file of Linux' perf: docs/how-to/perf.md. */
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/export/perf/perf.h"
#include "tools/cairn/log/bts.h"

static bool own(const char *start, size_t size)
{
    return size >= sizeof(struct perf_file_header) && memcmp(start, PERF_MAGIC, sizeof(PERF_MAGIC) - 1) == 0;
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

/* perf reads the traces of a thread in order, and orders those of different threads by `reference`, which it compares
 * with the time of other records: here its unit is that of the file's times. */
static void put_auxtrace_info(struct cairn_output *o)
{
    struct cairn_perf_file *f = &((struct cairn_perf *)o->state)->file;
    cairn_perf_begin(f, PERF_RECORD_AUXTRACE_INFO, 0);
    cairn_perf_32(f, PERF_AUXTRACE_INTEL_BTS);
    cairn_perf_32(f, 0);
    cairn_perf_64(f, PERF_TYPE_INTEL_BTS);
    cairn_perf_64(f, 0); /* time_shift */
    cairn_perf_64(f, 1); /* time_mult */
    cairn_perf_64(f, 0); /* time_zero */
    cairn_perf_64(f, 1); /* cap_user_time_zero */
    cairn_perf_64(f, 0); /* no snapshots */
    cairn_perf_end(f, NULL);
}

static uint32_t queue_of(struct cairn_perf *p, uint32_t tid)
{
    const uint32_t known = cairn_map_find(&p->queues, tid);
    if (known)
        return known - 1;
    cairn_map_add(&p->queues, tid, p->queue_count);
    return p->queue_count++;
}

/* Behind the records comes an empty one: perf's decoder leaves out the last of a trace. */
static void put_branches(struct cairn_output *o, uint32_t cpu)
{
    static const uint8_t empty[CAIRN_BTS_BYTES];
    struct cairn_perf *p = o->state;
    struct cairn_perf_file *f = &p->file;
    struct cairn_perf_pending *d = &p->pending[cpu];
    if (!d->any)
        return;
    const uint64_t size = d->used + sizeof(empty), time = cairn_perf_time(o, d->time);
    const struct cairn_perf_where where = {d->tid, cpu, time, 0};
    cairn_perf_begin(f, PERF_RECORD_AUX, 0);
    cairn_perf_64(f, p->aux_offset);
    cairn_perf_64(f, size);
    cairn_perf_64(f, d->lost ? PERF_AUX_FLAG_TRUNCATED : 0);
    cairn_perf_end(f, &where);
    cairn_perf_begin(f, PERF_RECORD_AUXTRACE, 0);
    cairn_perf_64(f, size);
    cairn_perf_64(f, p->aux_offset);
    cairn_perf_64(f, time);
    cairn_perf_32(f, queue_of(p, d->tid));
    cairn_perf_32(f, d->tid);
    cairn_perf_32(f, UINT32_MAX); /* a thread's, on any CPU */
    cairn_perf_32(f, 0);
    cairn_perf_end(f, NULL);
    if (d->used)
        fwrite(d->bytes, 1, d->used, f->to);
    fwrite(empty, 1, sizeof(empty), f->to);
    p->aux_offset += size;
    d->any = false;
}

static void begin_branches(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_perf *p = o->state;
    const struct cairn_bts_drain *drain = &item->branches->drain;
    struct cairn_perf_pending *d = &p->pending[item->cpu];
    put_branches(o, item->cpu);
    for (uint32_t c = 0; c < o->log->cpus; c++) /* those that the thread took elsewhere come first */
        if (p->pending[c].any && p->pending[c].tid == drain->tid)
            put_branches(o, c);
    d->used = 0;
    d->tid = drain->tid;
    d->time = item->time;
    d->lost = drain->lost;
    d->any = drain->reason != CAIRN_DS_START && (drain->record_bytes || drain->lost);
}

static void branches(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_perf_pending *d = &((struct cairn_perf *)o->state)->pending[item->cpu];
    const struct cairn_bts_step *step = item->branches;
    const size_t size = step->count * (size_t)CAIRN_BTS_BYTES;
    if (!step->count)
        begin_branches(o, item);
    if (!size || !d->any)
        return;
    while (d->used + size > d->room)
        d->bytes = cairn_grow(d->bytes, d->room, &d->room, 1);
    memcpy(d->bytes + d->used, step->at, size);
    d->used += size;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void begin(struct cairn_output *o)
{
    cairn_perf_counters(o);
    cairn_perf_survey(o);
    cairn_perf_events(o);
    cairn_perf_file_begin(o);
    if (cairn_log_has_branches(o->log))
        put_auxtrace_info(o);
    cairn_perf_names(o);
}

/* As Linux says it: of the thread that leaves, with the one that comes; and the other way round. */
static void put_switch(struct cairn_output *o, const struct cairn_item *item, uint32_t tid, uint32_t other, int misc)
{
    struct cairn_perf_file *f = &((struct cairn_perf *)o->state)->file;
    const int64_t time = item->sw.time;
    const struct cairn_perf_where where = {tid, item->cpu, cairn_perf_time(o, time), cairn_perf_pid(o, tid, time)};
    cairn_perf_begin(f, PERF_RECORD_SWITCH_CPU_WIDE, (uint16_t)misc);
    cairn_perf_32(f, other == UINT32_MAX ? other : cairn_perf_pid(o, other, time));
    cairn_perf_32(f, other);
    cairn_perf_end(f, &where);
}

static void on_switch(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_switch *sw = &item->sw;
    const bool preempted =
        sw->detailed && !sw->raw && sw->old_tid && cairn_linux_state(sw->state) == CAIRN_LINUX_RUNNING;
    put_switch(o, item, sw->old_tid, sw->new_known ? sw->new_tid : UINT32_MAX,
               PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
    if (sw->new_known)
        put_switch(o, item, sw->new_tid, sw->old_tid, 0);
}

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    (void)live;
    if (o->sample)
        cairn_perf_profile_sample(o, item);
}

static void put_lost(struct cairn_output *o, enum perf_record_type type, uint32_t cpu, int64_t time, uint64_t count)
{
    struct cairn_perf_file *f = &((struct cairn_perf *)o->state)->file;
    const struct cairn_perf_where where = {UINT32_MAX, cpu, cairn_perf_time(o, time), 0};
    cairn_perf_begin(f, type, 0);
    if (type == PERF_RECORD_LOST)
        cairn_perf_64(f, CAIRN_PERF_ID_DUMMY);
    cairn_perf_64(f, count);
    cairn_perf_end(f, &where);
}

static void epoch(struct cairn_output *o, const struct cairn_item *item)
{
    const uint64_t lost = item->epoch->lost;
    if (lost && lost != CAIRN_DS_LOST_UNKNOWN)
        put_lost(o, PERF_RECORD_LOST_SAMPLES, item->cpu, item->time, lost);
}

/* Nobody knows how much it was: 0. */
static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    if (item->hole->kind != CAIRN_HOLE_STOPPED && item->hole->kind != CAIRN_HOLE_MAYBE_LOST)
        put_lost(o, PERF_RECORD_LOST, item->cpu, item->time, 0);
}

static int end(struct cairn_output *o)
{
    for (uint32_t c = 0; c < o->log->cpus; c++)
        put_branches(o, c);
    return cairn_perf_file_end(o);
}

static void free_all(struct cairn_output *o)
{
    struct cairn_perf *p = o->state;
    for (uint32_t c = 0; c < CAIRN_CPUS_MOST; c++)
        free(p->pending[c].bytes);
    cairn_map_free(&p->queues);
    free(p->events.items);
}

const struct cairn_writer cairn_writer_perf = {
    .name = "perf.data",
    .summary =
        "the file of Linux's perf: PEBS records as samples with data address, data source, latencies, registers "
        "and branches, switches, BTS as the AUX data of intel_bts (docs/how-to/perf.md). Of Windows, a profile's "
        "samples with their call chains",
    .each = true,
    .samples = true,
    .state = sizeof(struct cairn_perf),
    .needs_path = true,
    .needs_file = true,
    .own = own,
    .begin = begin,
    .on_switch = on_switch,
    .record = cairn_perf_sample,
    .epoch = epoch,
    .branches = branches,
    .event = event,
    .lost = lost,
    .end = end,
    .free = free_all,
};
