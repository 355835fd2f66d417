/* SPDX-License-Identifier: MIT */
#include "tools/cairn/totals.h"

#include <stdlib.h>

#include "tools/cairn/bytes.h"

struct stamps { /* of one CPU, and the truth beside them */
    struct cairn_spans switches, batches;
    struct cairn_culprits culprits;
};

struct end {      /* of a CPU's stream, as far as it has been read */
    int64_t time; /* of the last switch, before it of the session's start */
    bool has_time;
    struct cairn_switch last;
    bool has_last;
    uint32_t hole; /* behind it */
};

static struct cairn_total_thread *thread_of(struct cairn_totals *t, uint32_t tid)
{
    uint32_t known = cairn_map_find(&t->by_tid, tid);
    if (known)
        return &t->threads.items[known - 1];
    cairn_map_add(&t->by_tid, tid, (uint32_t)t->threads.count);
    struct cairn_total_thread *added = CAIRN_ADD(t->threads);
    added->tid = tid;
    return added;
}

/* The thread that leaves has run since the switch before: its share. */
static void count_switch(struct cairn_totals *t, const struct cairn_item *item, const struct end *end)
{
    const struct cairn_switch *sw = &item->sw;
    uint32_t cpu = item->cpu;
    t->switches[cpu]++;
    uint64_t span = end->has_time ? (uint64_t)sw->time - (uint64_t)end->time : 0;
    if (sw->hole != CAIRN_NO_HOLE) {
        t->unknown[cpu] += span;
    } else if (sw->old_tid == 0) {
        t->idle[cpu] += span;
    } else {
        t->busy[cpu] += span;
        thread_of(t, sw->old_tid)->busy += span;
    }
    if (sw->old_tid)
        thread_of(t, sw->old_tid)->runs++;
}

/* From a CPU's last switch to the end of the session. Who came then is known only where the switch says so and nothing
 * is missing behind it. */
static void count_rest(struct cairn_totals *t, uint32_t cpu, const struct end *end, int64_t stop)
{
    const struct cairn_switch *last = end->has_last ? &end->last : NULL;
    int64_t from = last ? last->time : t->log->session.start;
    if ((!last && !t->log->session.start_known) || stop <= from)
        return;
    uint64_t span = (uint64_t)stop - (uint64_t)from;
    const struct cairn_cpu_end *e = &t->log->cpu[cpu].end; /* circular mode has no hole for what was lost last */
    bool whole = end->hole == CAIRN_NO_HOLE && e->events_known && e->events[CAIRN_LOST] == 0 && t->log->has_end &&
                 !t->log->frames.missing.count;
    if (!last || !last->new_known || !whole) {
        t->unknown[cpu] += span;
    } else if (last->new_tid == 0) {
        t->idle[cpu] += span;
    } else {
        t->busy[cpu] += span;
        thread_of(t, last->new_tid)->busy += span;
    }
}

static void count_verdict(struct cairn_total_rule *a, struct cairn_verdict v, bool told, uint32_t tid)
{
    bool known = v.blame == CAIRN_BLAME_KNOWN;
    a->blames[v.blame]++;
    a->told += known && told;
    a->wrong += known && told && v.tid != tid;
}

static void count_record(struct cairn_totals *t, const struct cairn_item *item, const struct stamps *stamps)
{
    const struct cairn_record *r = item->record;
    uint32_t tid = 0;
    bool told = cairn_culprits_find(&stamps->culprits, r->epoch, r->address, &tid);
    count_verdict(&t->rules[CAIRN_TOTAL_TIME], item->by[CAIRN_BY_TIME], told, tid);
    count_verdict(&t->rules[CAIRN_TOTAL_0524], cairn_spans_find(&stamps->switches, r->epoch, r->address), told, tid);
    count_verdict(&t->rules[CAIRN_TOTAL_0525], cairn_spans_find(&stamps->batches, r->epoch, r->address), told, tid);
    t->records++;
    t->attributed += item->blame == CAIRN_BLAME_KNOWN;
    if (item->blame == CAIRN_BLAME_KNOWN)
        thread_of(t, item->tid)->records++;
}

/* Switches and records of one CPU. Where it is none of those asked for, only its last switch is looked for. */
static void count_cpu(struct cairn_totals *t, uint32_t c, enum cairn_by by, struct end *end)
{
    struct cairn_lane lane;
    struct cairn_item item;
    struct stamps stamps;
    bool counted = cairn_totals_has(t, c);
    end->time = t->log->session.start;
    end->has_time = t->log->session.start_known;
    cairn_lane_init(&lane, t->log, c, t->compact, by);
    cairn_spans_read(&stamps.switches, t->log, c, false);
    cairn_spans_read(&stamps.batches, t->log, c, true);
    cairn_culprits_read(&stamps.culprits, t->log, c);
    while (cairn_lane_next(&lane, &item)) {
        if (item.kind == CAIRN_ITEM_SWITCH && counted)
            count_switch(t, &item, end);
        if (item.kind == CAIRN_ITEM_SWITCH) {
            end->time = item.sw.time;
            end->has_time = true;
        }
        if (item.kind == CAIRN_ITEM_RECORD && counted)
            count_record(t, &item, &stamps);
    }
    cairn_spans_free(&stamps.switches);
    cairn_spans_free(&stamps.batches);
    cairn_culprits_free(&stamps.culprits);
    end->has_last = lane.has_last;
    end->last = lane.last;
    end->hole = lane.cursor.hole;
    cairn_lane_free(&lane);
}

bool cairn_totals_has(const struct cairn_totals *t, uint32_t cpu)
{
    return t->cpu == CAIRN_MAX_CPUS || t->cpu == cpu;
}

void cairn_totals_read(struct cairn_totals *t, const struct cairn_log *log, uint32_t cpu, enum cairn_by by)
{
    struct end ends[CAIRN_MAX_CPUS];
    int64_t stop = log->session.stop; /* where that is missing: the last switch of all CPUs */
    bool stop_known = log->session.stop_known;
    *t = (struct cairn_totals){.log = log, .cpu = cpu, .compact = cairn_prefers_compact(log)};
    for (uint32_t c = 0; c < log->cpus; c++) {
        count_cpu(t, c, by, &ends[c]);
        if (ends[c].has_time && (!stop_known || ends[c].time > stop)) {
            stop = ends[c].time;
            stop_known = true;
        }
    }
    for (uint32_t c = 0; c < log->cpus && stop_known; c++)
        if (cairn_totals_has(t, c))
            count_rest(t, c, &ends[c], stop);
}

void cairn_totals_free(struct cairn_totals *t)
{
    free(t->threads.items);
    cairn_map_free(&t->by_tid);
}
