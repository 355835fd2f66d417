/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/session_lives.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/stream.h"

enum { COMPACT = 1, FULL = 2 };

/* Forms of switch events the session writes from here on. */
static unsigned forms(const struct cairn_ack *a)
{
    struct perfinfo_groupmask masks;
    memcpy(&masks, a->event.masks, sizeof(masks));
    return (trace_group_compact(&masks) ? COMPACT : 0) | (trace_group_full(&masks) ? FULL : 0);
}

/* Whether there is one that it did not write before. */
static bool turns_on(const struct cairn_ack *a, const struct cairn_ack *before)
{
    return a->event.what == CAIRN_SESSION_MASKS && before && forms(a) & ~forms(before);
}

/* A life, and a time with switches behind one without, begins with a buffer of its own. */
static void add_stop(struct cairn_cpu *cpu, const struct cairn_ack *start, const struct cairn_ack *before)
{
    struct cairn_piece *p = &cpu->pieces[start->piece];
    struct cairn_hole hole = {.kind = CAIRN_HOLE_STOPPED,
                              .buffer = p->buffer,
                              .after = p->frame,
                              .before = p->frame,
                              .until = start->time,
                              .since = before ? before->time : INT64_MIN};
    if (p->hole != CAIRN_NO_HOLE)
        return;
    p->hole = (uint32_t)cpu->holes.count;
    *CAIRN_ADD(cpu->holes) = hole;
}

/* It ran on without switches: who came at the last one is not who ran to the end. */
static void add_end(struct cairn_cpu *cpu, const struct cairn_ack *off)
{
    const struct cairn_piece *last = &cpu->pieces[cpu->piece_count - 1];
    const struct cairn_hole hole = {.kind = CAIRN_HOLE_STOPPED,
                                    .buffer = last->buffer,
                                    .after = cairn_piece_last(last),
                                    .before = cairn_piece_last(last),
                                    .until = INT64_MAX,
                                    .since = off->time};
    if (cpu->tail != CAIRN_NO_HOLE)
        return;
    cpu->tail = (uint32_t)cpu->holes.count;
    *CAIRN_ADD(cpu->holes) = hole;
}

/* Holes are numbered in the order of their places. */
static void number_holes(struct cairn_cpu *cpu)
{
    size_t count = cpu->holes.count, next = 0;
    struct cairn_hole *sorted = count ? cairn_alloc(count * sizeof(*sorted)) : NULL;
    for (size_t i = 0; i <= cpu->piece_count && count; i++) {
        uint32_t *hole = i < cpu->piece_count ? &cpu->pieces[i].hole : &cpu->tail;
        if (*hole == CAIRN_NO_HOLE)
            continue;
        sorted[next] = cpu->holes.items[*hole];
        *hole = (uint32_t)next++;
    }
    if (count)
        memcpy(cpu->holes.items, sorted, count * sizeof(*sorted));
    free(sorted);
}

/* The session's next acknowledgement. Whether a hole belongs right before it. */
static bool step(struct cairn_stops *s, const struct cairn_ack *a)
{
    const struct cairn_ack *last = s->any ? &s->last : NULL;
    const bool late = !last && a->event.in_epoch;
    const bool hole = a->first && (a->event.what == CAIRN_SESSION_START ? last || late : turns_on(a, last));
    if (a->event.what == CAIRN_SESSION_MASKS && last) {
        const unsigned had = forms(last), has = forms(a);
        if (had & ~has)
            s->off = *a;
        s->gone = (s->gone | had) & ~has;
    } else if (a->event.what == CAIRN_SESSION_START) {
        s->gone = 0;
    }
    s->last = *a;
    s->any = true;
    return hole;
}

bool cairn_stops_find(struct cairn_stops *s, struct cairn_cpu *cpu)
{
    bool begins = false;
    for (size_t i = 0; i < cpu->acks.count; i++) {
        const struct cairn_ack *a = &cpu->acks.items[i], before = s->last;
        const bool ran = !s->any || (a->event.what == CAIRN_SESSION_START && before.event.what != CAIRN_SESSION_STOP);
        if (!a->own || !step(s, a))
            continue;
        add_stop(cpu, a, ran ? NULL : &before);
        begins |= a->piece == 0;
    }
    if (s->gone && cpu->piece_count)
        add_end(cpu, &s->off);
    number_holes(cpu);
    return begins;
}

bool cairn_part_of_run(const struct cairn_log *log, uint32_t n)
{
    const struct cairn_cpu *cpu = &log->cpu[n];
    const struct cairn_ack *first = NULL, *last = NULL;
    uint64_t starts = 0;
    for (size_t i = 0; i < cpu->acks.count; i++)
        if (cpu->acks.items[i].own) {
            last = &cpu->acks.items[i];
            first = first ? first : last;
            starts += last->event.what == CAIRN_SESSION_START;
        }
    if (starts > 1 || (cpu->end.lives_known && cpu->end.lives > 1))
        return true;
    bool late = first && first->event.what == CAIRN_SESSION_START && first->event.in_epoch;
    bool early = last && last->event.what == CAIRN_SESSION_STOP && last->event.in_epoch;
    return late || early;
}
