/* SPDX-License-Identifier: MIT */
#include "host_lane.h"

#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "labs/host/log.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/truth_stream.h"
#include "tools/cairn/model/attribution.h"
#include "tools/cairn/model/switches.h"
#include "trace/postmortem/freeze.h"

/* ---- the trace */

static void add_batch(struct lane *l, const struct cairn_event *e)
{
    struct batch *b = CAIRN_ADD(l->batches);
    b->epoch = (uint32_t)l->drains.count;
    b->index = e->pebs_index;
    b->count = trace_ccswap_records(e->payload, e->size);
    b->first = l->batches.count > 1 ? b[-1].first + b[-1].count : 0;
}

static void read_events(struct lane *l, const struct cairn_log *log, uint32_t cpu)
{
    static struct cairn_walk walk;
    struct cairn_event e;
    cairn_walk_init(&walk, log, cpu);
    while (cairn_walk_next(&walk, &e)) {
        if (e.hook == HOOK_CONTEXTSWAP_BATCH)
            add_batch(l, &e);
        if (!cairn_drains_begins(&e))
            continue;
        struct cairn_ds_epoch epoch;
        struct ds_area_60 area;
        memcpy(&epoch, e.payload, sizeof epoch);
        memcpy(&area, e.payload + sizeof epoch, sizeof area);
        if (epoch.reason != CAIRN_DS_START)
            *CAIRN_ADD(l->drains) = (struct drain){epoch.tsc, area.pebs_buffer_base, area.pebs_index};
    }
}

static void read_switches(struct lane *l, const struct cairn_log *log, uint32_t cpu)
{
    static struct cairn_cursor cursor;
    struct cairn_switch sw;
    cairn_cursor_init(&cursor, log, cpu, true);
    while (cairn_cursor_next(&cursor, &sw))
        *CAIRN_ADD(l->switches) = (struct leaving){sw.time, sw.old_tid, cairn_is_sampled(log, sw.old_tid)};
}

static void read_samples(struct lane *l, const struct cairn_log *log, uint32_t cpu)
{
    struct cairn_group group;
    cairn_group_init(&group, log, cpu);
    while (cairn_group_drain(&group))
        for (size_t i = 0; i < group.records.count; i++) {
            const struct cairn_record *r = &group.records.items[i];
            *CAIRN_ADD(l->samples) = (struct sample){r->epoch, r->address, r->timed, r->timed ? r->time : 0};
        }
    cairn_group_free(&group);
}

/* ---- what really happened */

static void read_real(struct lane *l, const struct cairn_log *log, uint32_t cpu)
{
    static struct cairn_truth truth;
    const uint8_t *record;
    uint32_t epoch = 0;
    cairn_truth_init(&truth, log, cpu);
    while ((record = cairn_truth_next(&truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_SWITCH))) != NULL) {
        struct real *r = CAIRN_ADD(l->real);
        memcpy(&r->is, record, sizeof r->is);
        while (epoch < l->drains.count && l->drains.items[epoch].tsc < r->is.tsc)
            epoch++;
        r->epoch = epoch;
        r->time = trace_clock_units(&log->session.clock, r->is.tsc);
        r->old_sampled = cairn_is_sampled(log, r->is.old_tid);
        r->new_sampled = cairn_is_sampled(log, r->is.new_tid);
    }
}

/* Every switch has PebsIndex in the truth, so that one thread ran between two of them. */
static uint32_t culprit(const struct lane *l, const struct sample *s)
{
    size_t low = 0, high = l->real.count; /* the first switch behind the record */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct real *r = &l->real.items[middle];
        if (r->epoch < s->epoch || (r->epoch == s->epoch && r->is.pebs_index <= s->address))
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->real.count ? l->real.items[low].is.old_tid : low ? l->real.items[low - 1].is.new_tid : 0;
}

/* The model also says at each record who was stepped. Both truths must agree. */
static void find_culprits(struct lane *l, const struct cairn_log *log, uint32_t cpu)
{
    struct cairn_culprits stepped;
    cairn_culprits_read(&stepped, log, cpu);
    for (size_t i = 0; i < l->samples.count; i++) {
        const struct sample *s = &l->samples.items[i];
        const uint32_t tid = culprit(l, s);
        uint32_t other = tid;
        if (cairn_log_modelled(log) && !cairn_culprits_find(&stepped, s->epoch, s->address, &other))
            lab_broken("a record is not in the truth");
        if (other != tid)
            lab_broken("two ways to the truth lead to different threads");
        *CAIRN_ADD(l->culprits) = tid;
    }
    cairn_culprits_free(&stepped);
}

void lane_read(struct lane *l, const struct cairn_log *log, uint32_t cpu)
{
    memset(l, 0, sizeof *l);
    if (!cairn_only_sampled(log))
        lab_broken("threads that are not sampled are counted");
    read_events(l, log, cpu);
    read_switches(l, log, cpu);
    read_samples(l, log, cpu);
    read_real(l, log, cpu);
    find_culprits(l, log, cpu);
    l->trace =
        (struct trace){l->switches.items, l->batches.items, (uint32_t)l->switches.count, (uint32_t)l->batches.count};
    if (!l->batches.count || !l->samples.count)
        lab_broken("a CPU without batches or records");
    const struct batch *last = &l->batches.items[l->batches.count - 1];
    if (last->first + last->count != l->switches.count)
        lab_broken("batches and switches do not go together");
}

void lane_free(struct lane *l)
{
    free(l->switches.items);
    free(l->batches.items);
    free(l->samples.items);
    free(l->culprits.items);
    free(l->real.items);
    free(l->drains.items);
}

/* ---- the rule of the index */

static void accuse(uint32_t *who, const struct leaving *l)
{
    if (l->sampled)
        *who = *who == UNKNOWN || *who == l->tid ? l->tid : AMBIGUOUS;
}

uint32_t lane_by_index(const struct trace *t, const struct sample *s)
{
    uint32_t low = 0, high = t->batch_count, who = UNKNOWN; /* the first batch that was closed behind the record */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct batch *b = &t->batches[middle];
        if (b->epoch < s->epoch || (b->epoch == s->epoch && b->index <= s->address))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->batch_count)
        return UNKNOWN;
    const struct batch *b = &t->batches[low];
    if (b->epoch != s->epoch) {
        accuse(&who, &t->switches[b->first]);
        return who;
    }
    for (uint32_t i = low && b[-1].epoch == b->epoch; i < b->count; i++)
        accuse(&who, &t->switches[b->first + i]);
    if (low + 1 == t->batch_count)
        return who == UNKNOWN ? UNKNOWN : AMBIGUOUS;
    accuse(&who, &t->switches[b[1].first]);
    return who;
}
