/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/record_gaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/filter.h"

void cairn_record_gaps_begin(struct cairn_record_gaps *g, int64_t start)
{
    *g = (struct cairn_record_gaps){.since = start, .partial = cairn_filter_narrow()};
}

void cairn_record_gaps_hole(struct cairn_record_gaps *g, const struct cairn_hole *hole)
{
    g->hole = true;
    if (hole->kind != CAIRN_HOLE_OVERWRITTEN && hole->kind != CAIRN_HOLE_STOPPED)
        g->damage = 2;
}

void cairn_record_gaps_record(struct cairn_record_gaps *g, const struct cairn_record *r)
{
    g->any = true;
    if (g->seen.any && g->seen.epoch != r->epoch) { /* that one's drain is missing */
        g->since = g->seen.last_time;
        g->seen.any = false;
    }
    if (!g->seen.any) {
        memset(&g->seen, 0, sizeof(g->seen));
        g->seen.any = true;
        g->seen.epoch = r->epoch;
        g->seen.first = r->address;
        g->seen.first_time = r->time;
    } else if (r->address > g->seen.end) {
        if (!g->seen.bytes)
            g->seen.from = g->seen.last_time;
        g->seen.to = r->time;
        g->seen.bytes += r->address - g->seen.end;
    }
    g->seen.untimed |= !r->timed;
    g->seen.end = r->address + r->size;
    g->seen.last_time = r->time;
}

static void add(const struct cairn_record_gaps *g, struct cairn_record_gap *gap, int64_t from, int64_t to)
{
    gap->from = from;
    gap->to = to > from ? to : from;
    gap->quiet = !g->damage;
}

static void say_epochs(struct cairn_record_gap *gap, uint64_t first, uint64_t end)
{
    if (end - first == 1)
        snprintf(gap->text, sizeof(gap->text), "the drain of epoch %" PRIu64 ", and its PEBS records", first);
    else
        snprintf(gap->text, sizeof(gap->text),
                 "drains of %" PRIu64 " epochs, %" PRIu64 " to %" PRIu64 ", and their PEBS records", end - first, first,
                 end - 1);
}

static void say_bytes(struct cairn_record_gap *gap, uint32_t epoch, uint64_t bytes)
{
    snprintf(gap->text, sizeof(gap->text), "%" PRIu64 " bytes of PEBS records of epoch %" PRIu32, bytes, epoch);
}

/* At the beginning of the drain's own epoch, up to `to`; told with the epochs that are missing before it, if any. */
static unsigned first_records(const struct cairn_record_gaps *g, const struct cairn_epoch *e, uint64_t bytes,
                              int64_t to, struct cairn_record_gap *epochs, struct cairn_record_gap *out)
{
    if (epochs) {
        const size_t used = strlen(epochs->text);
        snprintf(epochs->text + used, sizeof(epochs->text) - used, "; %" PRIu64 " bytes of those of epoch %" PRIu32,
                 bytes, e->number);
        return 0;
    }
    say_bytes(out, e->number, bytes);
    add(g, out, g->since, to);
    return 1;
}

/* Of the drain's own epoch. `cut`: what is missing at its beginning may lie before what is looked at. */
static unsigned own_records(const struct cairn_record_gaps *g, const struct cairn_epoch *e, bool cut,
                            struct cairn_record_gap *epochs, struct cairn_record_gap *out)
{
    const uint64_t base = cairn_epoch_buffer(e).base;
    const uint64_t end = base + e->record_bytes;
    unsigned n = 0;
    if (!cairn_epoch_missing(e))
        return 0;
    if (!g->seen.any || g->seen.untimed)
        return first_records(g, e, cairn_epoch_missing(e), e->time, epochs, out);
    if (!cut && g->seen.first > base)
        n += first_records(g, e, g->seen.first - base, g->seen.first_time, epochs, out);
    if (g->seen.bytes) {
        say_bytes(&out[n], e->number, g->seen.bytes);
        add(g, &out[n++], g->seen.from, g->seen.to);
    }
    if (end > g->seen.end) {
        say_bytes(&out[n], e->number, end - g->seen.end);
        add(g, &out[n++], g->seen.last_time, e->time);
    }
    return n;
}

unsigned cairn_record_gaps_drain(struct cairn_record_gaps *g, const struct cairn_epoch *e,
                                 struct cairn_record_gap out[CAIRN_RECORD_GAPS])
{
    const bool cut = g->partial && !g->drained; /* its epoch began before what is looked at */
    unsigned n = 0;
    if (g->seen.any && g->seen.epoch != e->number)
        g->seen.any = false;
    /* A session that came later than the Debug Store does not begin with epoch 0, and misses nothing. */
    if (e->number > g->next && !cut && (g->drained || g->hole)) {
        say_epochs(&out[n], g->next, e->number);
        add(g, &out[n++], g->since, g->seen.any && !g->seen.untimed ? g->seen.first_time : e->time);
    }
    if (e->reason != CAIRN_DS_START)
        n += own_records(g, e, cut, n ? out : NULL, &out[n]);
    *g = (struct cairn_record_gaps){.partial = g->partial,
                                    .any = true,
                                    .drained = true,
                                    .since = e->time,
                                    .hole = g->hole,
                                    .damage = g->damage - (g->damage != 0)};
    g->next = (uint64_t)e->number + (e->reason != CAIRN_DS_START);
    g->stopped = e->reason == CAIRN_DS_STOP || e->reason == CAIRN_DS_PANIC;
    return n;
}

bool cairn_record_gaps_end(const struct cairn_record_gaps *g, const struct cairn_log *log, uint32_t cpu, bool hole,
                           int64_t stop, struct cairn_record_gap *out)
{
    const struct cairn_cpu_end *end = &log->cpu[cpu].end;
    if (g->partial || !(hole || !log->has_end))
        return false;
    add(g, out, g->seen.any && !g->seen.untimed ? g->seen.last_time : g->since, stop);
    if (end->ds_known && end->ds[1] > g->next) {
        say_epochs(out, g->next, end->ds[1]);
        if (g->seen.any && end->ds[1] - g->next == 1)
            snprintf(out->text, sizeof(out->text), "the drain of epoch %" PRIu64 ", and any PEBS records after these",
                     g->next);
        return true;
    }
    if (end->ds_known || g->stopped || !g->any)
        return false;
    snprintf(out->text, sizeof(out->text), "any PEBS records after the last drain");
    return true;
}
