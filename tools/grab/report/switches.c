/* SPDX-License-Identifier: MIT */
/* Rows about records and the context switches around them, in the setting where the program sleeps. */
#include "tools/grab/report/ask.h"

#include <inttypes.h>
#include <stdio.h>

#include "ds/pebs23_layout.h"

/* Whether PebsIndex, or the number of drains, at the switch says that the record was made before it. */
static bool is_before(const struct grab_judged *j, const struct grab_seen *s, const struct grab_switch *at)
{
    const uint64_t base = grab_buffer(s->drain, j->format).base;
    if (s->drain->head.number != at->drains)
        return s->drain->head.number < at->drains;
    return at->index >= base && s->next_at <= at->index - base;
}

/* How far the record's TSC is on the wrong side of the switch's time, in TSC cycles; 0: it is not, or nothing says
 * which side that is. */
static uint64_t contradiction(const struct grab_judged *j, const struct grab_seen *s, const struct grab_switch *at,
                              uint64_t tsc)
{
    if (!at->index && s->drain->head.number == at->drains)
        return 0;
    if (is_before(j, s, at))
        return s->tsc > tsc ? s->tsc - tsc : 0;
    return s->tsc < tsc ? tsc - s->tsc : 0;
}

/* A switch has CLOCK_MONOTONIC, which the pairs of both clocks map to the TSC, not without an error. */
void grab_ask_tsc_switches(const struct grab_judged *j, struct grab_answer *a)
{
    const struct grab_taken *t = &j->taken[GRAB_RESTS];
    const struct grab_switched *switches = j->store->cpu[j->cpu].switches;
    if (!ds_pebs_has_tsc(j->format)) {
        GRAB_NOT_ASKED(a, "records of format %u have no TSC", j->format);
        return;
    }
    if (!grab_was_run(j, GRAB_RESTS, a))
        return;
    const uint64_t error = grab_clock_error(j->clock), hz = grab_clock_hz(j->clock);
    uint64_t most = 0;
    size_t all = 0;
    for (struct grab_seen s = grab_seen_first(GRAB_RESTS); grab_seen_next(j, &s); all++)
        for (size_t i = t->first_switch; i < t->end_switch; i++) {
            const uint64_t off = contradiction(j, &s, &switches[i].s, grab_clock_tsc(j->clock, switches[i].s.time));
            most = off > most ? off : most;
        }
    const uint64_t ns = most * 1000000000u / hz;
    if (grab_enough(a, all))
        grab_say(a, ns <= error ? "between" : "other",
                 "%zu records, %zu switches: %" PRIu64 " ns off at most, %" PRIu64 " possible", all,
                 t->end_switch - t->first_switch, ns, error);
}

/* Bytes that Linux has drained from drain number `from` on, up to that of number `to`. */
static uint64_t drained(const struct grab_one_cpu *c, uint64_t from, uint64_t to)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->drain_count; i++)
        if (c->drains[i].head.kind == GRAB_DRAIN && c->drains[i].head.number >= from && c->drains[i].head.number < to)
            bytes += c->drains[i].head.bytes;
    return bytes;
}

/* Bytes in the buffer at switch `i`. Of architectural PEBS those that Linux read first behind it: when it drained, or
 * before it turned a counter on. False: unknown. */
static bool bytes_at(const struct grab_judged *j, size_t i, uint64_t *bytes)
{
    const struct grab_one_cpu *c = &j->store->cpu[j->cpu];
    const struct grab_switch *s = &c->switches[i].s, *next = i + 1 < c->switch_count ? &c->switches[i + 1].s : NULL;
    if (j->format != DS_FORMAT_ARCH) {
        *bytes = s->index - grab_buffer(c->drains, j->format).base;
        return true;
    }
    *bytes = next ? next->read.bytes : 0;
    return next && next->read.switches == s->number + 1 && next->read.drains == s->drains;
}

/* What has been written while the program was off the CPU, where nothing else has records: between its switch and the
 * next one to it Linux turns the counters off, drains the buffer, and looks at it no more. */
void grab_ask_residual(const struct grab_judged *j, struct grab_answer *a)
{
    const struct grab_taken *t = &j->taken[GRAB_RESTS];
    const struct grab_one_cpu *c = &j->store->cpu[j->cpu];
    const struct grab_switch *out = NULL;
    uint64_t bytes = 0, before = 0, after;
    size_t late = 0, all = 0;
    struct grab_seen s = grab_seen_first(GRAB_RESTS);
    if (!grab_was_run(j, GRAB_RESTS, a))
        return;
    for (size_t i = t->first_switch; i < t->end_switch; i++) {
        const struct grab_switch *at = &c->switches[i].s;
        const bool known = bytes_at(j, i, &after);
        if (out && known && at->new_tid == t->tid) {
            const uint64_t more = drained(c, out->drains, at->drains) + after - before;
            bytes = more > bytes ? more : bytes;
            late += more != 0;
            all++;
        }
        if (at->old_tid == t->tid || at->new_tid == t->tid) {
            out = at->old_tid == t->tid && known ? at : NULL;
            before = after;
        }
    }
    if (all < GRAB_LEAST || !grab_seen_next(j, &s)) {
        GRAB_NOT_ASKED(a, "only %zu switches away from the known program" GRAB_TOO_FEW, all);
        return;
    }
    const uint64_t records = (bytes + s.size - 1) / s.size;
    char answer[8] = "other";
    if (records <= 3)
        snprintf(answer, sizeof answer, "%" PRIu64, records);
    grab_say(a, answer, "%zu of %zu times records came after it was off the CPU", late, all);
}
