/* SPDX-License-Identifier: MIT */
#include "host_close.h"

#include <stdlib.h>
#include <string.h>

#include "labs/host/log.h"
#include "tools/cairn/base/bytes.h"
#include "trace/session.h"

struct pen { /* an encoder, and what it has written */
    struct trace_ccswap encoder;
    struct lane out;
    uint64_t index; /* PebsIndex now */
    uint32_t epoch;
    struct closing *sum;
};

static void write_batch(struct trace_ccswap *c, uint32_t size, uint32_t records, int64_t time, enum ccswap_close reason)
{
    struct pen *pen = (struct pen *)((char *)c - offsetof(struct pen, encoder));
    struct batch *b = CAIRN_ADD(pen->out.batches);
    (void)time, (void)reason;
    *b = (struct batch){.first = pen->out.batches.count > 1 ? b[-1].first + b[-1].count : 0,
                        .count = records,
                        .epoch = pen->epoch,
                        .index = pen->index};
    pen->sum->batches++;
    pen->sum->bytes += WMI_EVENT_ALIGN(sizeof(struct perfinfo_trace_header) + 8 + size); /* 8: the item PebsIndex */
}

/* Before the drain that ends the pen's epoch. */
static void end_epoch(struct pen *pen, const struct lane *lane, uint64_t *stamp)
{
    pen->index = lane->drains.items[pen->epoch].index;
    trace_ccswap_close(&pen->encoder, 0, CCSWAP_CLOSE_DRAIN);
    pen->epoch++;
    *stamp = lane->drains.items[pen->epoch < lane->drains.count ? pen->epoch : pen->epoch - 1].base;
}

static void add(struct pen *pen, const struct real *r)
{
    const struct trace_switch sw = {.old_tid = r->is.old_tid,
                                    .new_wait = r->is.new_wait,
                                    .old_state = r->is.old_state,
                                    .old_wait_reason = r->is.old_wait_reason,
                                    .old_state_wr = ccswap_state_wr(r->is.old_state, r->is.old_wait_reason),
                                    .old_priority = r->is.old_priority,
                                    .old_base = r->is.old_base};
    trace_ccswap_switch(&pen->encoder, &sw, r->time);
    *CAIRN_ADD(pen->out.switches) = (struct leaving){r->time, r->is.old_tid, r->old_sampled};
    pen->sum->switches++;
}

static void replay(struct pen *pen, const struct lane *lane, close_rule *rule)
{
    uint64_t *own = calloc(OWN_WORDS, sizeof *own); /* the heap has a fence: student's code is sanitized, this is not */
    uint64_t stamp = lane->drains.items[0].base;
    size_t batches = 0;
    uint32_t open = 0;
    if (!own)
        lab_broken("no memory");
    for (size_t i = 0; i < lane->real.count; i++) {
        const struct real *r = &lane->real.items[i];
        while (pen->epoch < r->epoch)
            end_epoch(pen, lane, &stamp);
        pen->index = r->is.pebs_index;
        const struct moment m = {.old_tid = r->is.old_tid,
                                 .new_tid = r->is.new_tid,
                                 .old_sampled = r->old_sampled,
                                 .new_sampled = r->new_sampled,
                                 .index = pen->index,
                                 .stamp = stamp,
                                 .switches = pen->encoder.used == TRACE_CCSWAP_CLOSED ? 0 : open};
        if (m.switches && rule(own, &m))
            trace_ccswap_close(&pen->encoder, r->time, CCSWAP_CLOSE_DRAIN);
        add(pen, r);
        open++;
        if (pen->out.batches.count != batches) { /* the switch begins a batch */
            const struct batch *b = &pen->out.batches.items[pen->out.batches.count - 1];
            batches = pen->out.batches.count;
            open = 1;
            if (b->epoch == pen->epoch)
                stamp = b->index;
        }
    }
    while (pen->epoch < lane->drains.count)
        end_epoch(pen, lane, &stamp);
    free(own);
}

void close_lane(struct closing *sum, const struct lane *lane, close_rule *rule)
{
    static struct pen pen;
    memset(&pen, 0, sizeof pen);
    pen.sum = sum;
    trace_ccswap_init(&pen.encoder, 10000, write_batch); /* a tick of 1 ms in units of 100 ns */
    replay(&pen, lane, rule);
    const struct trace trace = {pen.out.switches.items, pen.out.batches.items, (uint32_t)pen.out.switches.count,
                                (uint32_t)pen.out.batches.count};
    for (size_t i = 0; i < lane->samples.count; i++) {
        const uint32_t who = lane_by_index(&trace, &lane->samples.items[i]);
        sum->ambiguous += who >= UNKNOWN;
        if (who < UNKNOWN && who != lane->culprits.items[i])
            lab_broken("the rule of the index names a thread that did not cause the record");
    }
    lane_free(&pen.out);
}
