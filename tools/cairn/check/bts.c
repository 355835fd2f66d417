/* SPDX-License-Identifier: MIT */
/* What must hold for branch records, in the trace itself and compared with the truth. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/bts.h"
#include "tools/cairn/model/switches.h"

struct walk { /* along one CPU's drains */
    struct cairn_check *check;
    const struct cairn_cpu *cpu;
    int n;
    struct cairn_bts_group group;
    const struct cairn_bts_drain *drain;
    bool hole; /* between the drain before, or the beginning, and this one */
    bool has_last;
    struct cairn_bts_drain last; /* the one before */
};

#define FAIL(w, ...) cairn_fail((w)->check, CAIRN_RULE_BTS, (w)->n, &(w)->drain->time, __VA_ARGS__)

/* ---- in the trace ------------------------------------------------------------------------------------------------ */

/* Whether something may be missing from piece `from` on, its own beginning not counted, up to piece `to`. */
static bool hole_within(const struct walk *w, size_t from, size_t to)
{
    const struct cairn_cpu *cpu = w->cpu;
    for (size_t p = from + 1; p <= to && p < cpu->piece_count; p++)
        if (cpu->pieces[p].hole != CAIRN_NO_HOLE)
            return true;
    return to >= cpu->piece_count && cairn_check_end_unknown(w->check->log, cpu);
}

static void check_number(struct walk *w)
{
    const struct cairn_bts_drain *d = w->drain, *last = w->has_last ? &w->last : NULL;
    bool start = d->reason == CAIRN_DS_START;
    if (d->reason < CAIRN_DS_START || d->reason > CAIRN_DS_SOFTWARE)
        FAIL(w, "reason %u does not exist", d->reason);
    if (!last && !w->hole && !start)
        FAIL(w, "epoch %" PRIu32 " ends, but no event says that it began", d->number);
    if (!last || w->hole)
        return;
    uint32_t expected = last->number + (last->reason != CAIRN_DS_START);
    if (start != (last->reason == CAIRN_DS_STOP) || d->number != expected)
        FAIL(w, "epoch %" PRIu32 ", but %" PRIu32 " was expected", d->number, expected);
    if (d->tsc < last->tsc)
        FAIL(w, "a drain is earlier than the previous drain");
}

/* The area as the driver set it up, and the index within it. One slack record lies beyond the maximum. */
static void check_area(struct walk *w)
{
    const struct cairn_text *t = &w->check->log->text;
    const uint64_t *area = w->drain->area;
    uint64_t records, buffer;
    uint64_t base = area[0], index = area[1], maximum = area[2], threshold = area[3];
    bool interrupting = cairn_slice_is(cairn_key(t, "ds.bts"), "interrupt");
    if (cairn_has_key(t, "ds.bts") && w->drain->interrupting != interrupting)
        FAIL(w, "the mode is not that of the session");
    if (cairn_slice_u64(cairn_key(t, "ds.cpu.%d.bts.buffer", w->n), &buffer) && base != buffer)
        FAIL(w, "base 0x%" PRIx64 " is not this CPU's buffer at 0x%" PRIx64, base, buffer);
    if (cairn_slice_u64(cairn_key(t, "ds.bts.records"), &records) && maximum - base != records * CAIRN_BTS_BYTES + 1)
        FAIL(w, "the maximum is not %" PRIu64 " %s above the base", records,
             cairn_plural(records, "record", "records"));
    uint64_t lost = w->drain->lost;
    bool full = w->drain->record_bytes + UINT64_C(1) >= maximum - base;
    if (!cairn_log_modelled(w->check->log) && lost != CAIRN_DS_LOST_UNKNOWN && (lost || full))
        FAIL(w, "%" PRIu64 " %s lost, but a processor does not count what a full buffer loses", lost,
             cairn_plural(lost, "record", "records"));
    if (w->drain->interrupting ? threshold > maximum : threshold <= maximum)
        FAIL(w, "threshold 0x%" PRIx64 " does not fit maximum 0x%" PRIx64, threshold, maximum);
    bool senseless = index < base || index > maximum - 1 + CAIRN_BTS_BYTES || (index - base) % CAIRN_BTS_BYTES;
    if (senseless && (w->drain->lost != CAIRN_DS_LOST_UNKNOWN || w->drain->record_bytes))
        FAIL(w, "the index 0x%" PRIx64 " is not at a record, but the drain used it", index);
}

/* From the base up to the index; or, round the end of the buffer, from the index to the end and from the base on. */
static void check_places(struct walk *w)
{
    const struct cairn_bts_drain *d = w->drain;
    const uint64_t base = d->area[0], index = d->area[1];
    if (!d->events_seen)
        return;
    const struct cairn_bts_part *part = w->group.parts.items;
    bool round = part->address != base || d->record_bytes > index - base;
    uint64_t expected = round ? index : base, last = 0;
    for (uint32_t i = 0; i < d->events_seen; i++, part++) {
        if (round && last && part->address == base && expected != base) { /* once */
            expected = base;
            round = false;
        }
        if (part->address != expected)
            FAIL(w, "records are at 0x%" PRIx64 ", not at 0x%" PRIx64, part->address, expected);
        last = part->address;
        expected = part->address + (uint64_t)part->count * CAIRN_BTS_BYTES;
    }
    if (!round && cairn_bts_complete(d) && expected != index)
        FAIL(w, "the last record does not end at the index 0x%" PRIx64, index);
}

static void check_drain(struct walk *w)
{
    const struct cairn_bts_drain *d = w->drain;
    w->check->compared[CAIRN_RULE_BTS]++;
    check_number(w);
    check_area(w);
    check_places(w);
    if (w->check->log->session.known && trace_clock_units(&w->check->log->session.clock, d->tsc) > d->time)
        FAIL(w, "the drain's TSC is later than its event");
    if (d->reason == CAIRN_DS_START && (d->record_bytes || d->lost))
        FAIL(w, "records before the first epoch began");
    if (d->reason == CAIRN_DS_SWITCH && !d->record_bytes && !d->lost)
        FAIL(w, "an epoch ends at a switch, but nothing was recorded");
    if (!cairn_bts_complete(d) && !hole_within(w, w->group.piece, w->group.next_piece))
        FAIL(w, "%" PRIu32 " bytes of records in %" PRIu32 " %s, not %" PRIu32 " in %" PRIu32, d->bytes_seen,
             d->events_seen, cairn_plural(d->events_seen, "event follows", "events follow"), d->record_bytes,
             d->record_events);
}

/* A drain at a switch is of the thread that leaves there. */
static void check_threads(struct walk *w)
{
    struct cairn_cursor cursor;
    struct cairn_switch sw;
    const struct cairn_log *log = w->check->log;
    bool have, hole, end_unknown = w->cpu->piece_count && cairn_check_end_unknown(log, w->cpu);
    cairn_cursor_init(&cursor, log, (uint32_t)w->n, cairn_prefers_compact(log));
    have = cairn_cursor_next(&cursor, &sw);
    cairn_bts_group_seek(&w->group, 0);
    while (log->session.known && (w->drain = cairn_bts_group_next(&w->group)) != NULL) {
        if (w->drain->reason != CAIRN_DS_SWITCH)
            continue;
        int64_t time = trace_clock_units(&log->session.clock, w->drain->tsc);
        bool found = false, seen = false;
        for (; have && sw.time < time; have = cairn_cursor_next(&cursor, &sw))
            ;
        hole = have ? sw.hole != CAIRN_NO_HOLE : cursor.hole != CAIRN_NO_HOLE || end_unknown;
        for (; have && sw.time == time && !found; have = found || cairn_cursor_next(&cursor, &sw)) {
            seen = true;
            found = sw.old_tid == w->drain->tid;
        }
        if (!found && (seen || !hole))
            FAIL(w, "the branches of thread %" PRIu32 " end at a switch, but another thread leaves there",
                 w->drain->tid);
    }
}

void cairn_check_bts(struct cairn_check *check, uint32_t cpu)
{
    if (!check->log->cpu[cpu].bts.epochs)
        return;
    struct walk *w = cairn_alloc(sizeof(*w));
    *w = (struct walk){.check = check, .cpu = &check->log->cpu[cpu], .n = (int)cpu};
    uint32_t last = 0;
    cairn_bts_group_init(&w->group, check->log, cpu);
    while ((w->drain = cairn_bts_group_next(&w->group)) != NULL) {
        w->hole = hole_within(w, last, w->group.piece) || (!w->has_last && w->cpu->pieces[0].hole != CAIRN_NO_HOLE);
        last = w->group.piece;
        check_drain(w);
        w->last = *w->drain;
        w->has_last = true;
    }
    check_threads(w);
    cairn_bts_group_free(&w->group);
    free(w);
}

/* ---- against the truth ------------------------------------------------------------------------------------------- */

struct branches {
    struct walk walk;
    struct cairn_truth truth;
    const uint8_t *ahead; /* the next of the truth */
    uint64_t doubtful;    /* of epochs with lower numbers truth may be missing */
    struct {
        struct cairn_truth_branch *items;
        size_t count, room;
    } of; /* this epoch's */
};

static uint32_t epoch_of(const uint8_t *truth)
{
    return cairn_get32(truth + offsetof(struct cairn_truth_branch, epoch));
}

static void step(struct branches *s)
{
    s->ahead = cairn_truth_next(&s->truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_BRANCH));
    if (s->truth.gap)
        s->doubtful = s->ahead ? (uint64_t)epoch_of(s->ahead) + 1 : UINT64_MAX;
    s->truth.gap = false;
}

/* What there is of epoch `number` in the truth. */
static void collect(struct branches *s, uint32_t number)
{
    for (s->of.count = 0; s->ahead && epoch_of(s->ahead) <= number; step(s))
        if (epoch_of(s->ahead) == number)
            memcpy(CAIRN_ADD(s->of), s->ahead, sizeof(*s->of.items));
}

static void keep_stored(struct branches *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->of.count; i++)
        if (s->of.items[i].stored)
            s->of.items[kept++] = s->of.items[i];
    s->of.count = kept;
}

#define DIFFERS(s, ...)                                                                                                \
    cairn_fail((s)->walk.check, CAIRN_RULE_TRUTH_BRANCHES, (s)->walk.n, &(s)->walk.drain->time, __VA_ARGS__)

/* What is there are the newest of those that were stored; what is not is what was lost. */
static void compare(struct branches *s)
{
    const struct cairn_bts_drain *d = s->walk.drain;
    struct cairn_check *check = s->walk.check;
    uint32_t records = d->record_bytes / CAIRN_BTS_BYTES;
    uint64_t all = s->of.count;
    struct cairn_branch b;
    keep_stored(s);
    check->compared[CAIRN_RULE_TRUTH_BRANCHES]++;
    if (records > s->of.count) {
        DIFFERS(s, "epoch %" PRIu32 ": %" PRIu32 " %s, but only %zu in truth", d->number, records,
                cairn_plural(records, "record", "records"), s->of.count);
        return;
    }
    if (d->lost != CAIRN_DS_LOST_UNKNOWN && d->lost != all - records)
        DIFFERS(s, "epoch %" PRIu32 ": %" PRIu64 " %s lost, in truth %" PRIu64, d->number, d->lost,
                cairn_plural(d->lost, "record", "records"), all - records);
    for (uint32_t i = 0; i < records && cairn_bts_record(&s->walk.group, i, &b); i++) { /* more may have come */
        const struct cairn_truth_branch *t = &s->of.items[s->of.count - records + i];
        check->compared[CAIRN_RULE_TRUTH_BRANCHES]++;
        if (b.from != t->from || b.to != t->to)
            DIFFERS(s,
                    "epoch %" PRIu32 ", record %" PRIu32 ": 0x%" PRIx64 " to 0x%" PRIx64 ", in truth 0x%" PRIx64
                    " to 0x%" PRIx64,
                    d->number, i, b.from, b.to, t->from, t->to);
        if (t->tid != d->tid)
            DIFFERS(s, "epoch %" PRIu32 ", record %" PRIu32 ": thread %" PRIu32 ", in truth %" PRIu32, d->number, i,
                    d->tid, t->tid);
    }
}

void cairn_check_branches(struct cairn_check *check, uint32_t cpu)
{
    const struct cairn_cpu *c = &check->log->cpu[cpu];
    uint64_t missing = 0;
    if (!cairn_log_modelled(check->log))
        return;
    struct branches *s = cairn_alloc(sizeof(*s));
    *s = (struct branches){.walk = {.check = check, .cpu = c, .n = (int)cpu}};
    cairn_truth_init(&s->truth, check->log, cpu);
    step(s);
    cairn_bts_group_init(&s->walk.group, check->log, cpu);
    while (c->bts.epochs && (s->walk.drain = cairn_bts_group_next(&s->walk.group)) != NULL) {
        if (s->walk.drain->reason == CAIRN_DS_START)
            continue;
        for (; s->ahead && epoch_of(s->ahead) < s->walk.drain->number; missing++)
            collect(s, epoch_of(s->ahead));
        collect(s, s->walk.drain->number);
        if (s->walk.drain->number < s->doubtful)
            check->uncompared_branches += s->walk.drain->bytes_seen / CAIRN_BTS_BYTES;
        else
            compare(s);
    }
    for (; s->ahead; missing++)
        collect(s, epoch_of(s->ahead));
    cairn_bts_group_free(&s->walk.group);
    free(s->of.items);
    free(s);
    bool whole = !c->holes.count && c->piece_count && !cairn_check_end_unknown(check->log, c);
    if (missing && whole && !check->log->panic)
        cairn_fail(check, CAIRN_RULE_TRUTH_BRANCHES, (int)cpu, NULL,
                   "%" PRIu64 " %s of the truth missing from the trace, although nothing was lost", missing,
                   cairn_plural(missing, "epoch", "epochs"));
}
