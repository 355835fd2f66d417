/* SPDX-License-Identifier: MIT */
/*
 * Samples of PEBS against steps. Each is as many events after the last as the period says, but for what Linux makes of
 * it when the program goes on after others had the CPU: a period that lacks one event becomes one of two, and where the
 * last has overflowed, but its record has not been written, that is lost and a new one begins. In a loop a sample may
 * then be of several steps: all are followed.
 */
#include "tests/linux/random/perf.h"

#include <stdio.h>
#include <string.h>

static char said[300];

/* ---- registers --------------------------------------------------------------------------------------------------- */

#define ARITHMETIC UINT64_C(0x8D5) /* of RFLAGS: CF PF AF ZF SF OF */
#define CF         UINT64_C(0x1)
#define DF         UINT64_C(0x400)
#define OTHERS     UINT64_C(0x247300) /* TF IF IOPL NT AC ID; RF is the processor's own */

/* What registers are right after the step, in the kernel where it goes there, and of which bits of RFLAGS that holds.
 * False: the tracer has not seen it. */
static bool expected(const struct random_trace *t, unsigned at, struct random_registers *is, uint64_t *flags)
{
    const struct random_step *s = &t->steps[at], *before = at ? s - 1 : NULL;
    *flags = (s->kind == RANDOM_UNDEFINED ? CF : ARITHMETIC) | DF | OTHERS;
    *is = s->after;
    if (!s->entry)
        return s->known;
    if (!before || !before->known || before->after.rip != s->rip) /* a signal's handler has begun */
        return false;
    *is = before->after;
    *flags = ARITHMETIC | DF;
    if (s->entry == RANDOM_ENTRY_SYSCALL) {
        is->r[1] = s->rip + s->length;
        is->r[11] = is->rflags;
        is->rflags = 0; /* Linux has all of these in IA32_FMASK */
    }
    return true;
}

static const char *sample_differs(const struct random_sample *sample, const struct random_trace *t, unsigned at)
{
    static const char *const names[16] = {"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
                                          "R8",  "R9",  "R10", "R11", "R12", "R13", "R14", "R15"};
    const struct random_step *s = &t->steps[at];
    const bool gate = s->entry && s->entry != RANDOM_ENTRY_SYSCALL; /* RSP is the kernel's */
    struct random_registers is;
    uint64_t flags;
    if (sample->ip != s->rip) {
        snprintf(said, sizeof said, "IP %llx, but %llx", (unsigned long long)sample->ip, (unsigned long long)s->rip);
        return said;
    }
    if (!expected(t, at, &is, &flags))
        return NULL;
    for (unsigned i = 0; i < 16; i++)
        if (sample->registers.r[i] != is.r[i] && !(gate && i == 4)) {
            snprintf(said, sizeof said, "%s %llx, but %llx", names[i], (unsigned long long)sample->registers.r[i],
                     (unsigned long long)is.r[i]);
            return said;
        }
    if ((sample->registers.rflags ^ is.rflags) & flags) {
        snprintf(said, sizeof said, "RFLAGS %llx, but %llx", (unsigned long long)(sample->registers.rflags & flags),
                 (unsigned long long)(is.rflags & flags));
        return said;
    }
    return NULL;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static struct {
    unsigned step[RANDOM_STEPS_MAX + 2]; /* of each event; the first is number 1 */
    unsigned count;
    bool begins[2][RANDOM_STEPS_MAX + 2]; /* whether a period may begin behind this event: the last, the one to come */
} events;

static void find_events(const struct random_trace *t, enum random_event event)
{
    memset(&events, 0, sizeof events);
    for (unsigned i = 0; i < t->count; i++)
        if (random_causes(&t->steps[i], event))
            events.step[++events.count] = i;
    events.begins[0][0] = true;
}

/* The sample may be of this event. Else *at: its step. */
static bool may_be(const struct random_trace *t, const struct random_sample *sample, uint64_t event, unsigned *at)
{
    if (event > events.count) {
        snprintf(said, sizeof said, "IP %llx, but there are only %u events", (unsigned long long)sample->ip,
                 events.count);
        return false;
    }
    const char *bad = sample_differs(sample, t, events.step[event]);
    if (bad)
        *at = events.step[event];
    return !bad;
}

/* From all events that the last period may have begun at to all that the next may begin at. False: there is none. */
static bool follow(const struct random_trace *t, const struct random_sampling *s, const struct random_sample *sample,
                   unsigned *at)
{
    bool *const last = events.begins[0], *const next = events.begins[1];
    bool any = false;
    memset(next, false, sizeof events.begins[1]);
    for (unsigned from = 0; from <= events.count; from++) {
        if (!last[from])
            continue;
        for (unsigned lost = 0; lost <= sample->switches; lost++)
            for (unsigned late = 0; late <= sample->switches - lost; late++) {
                const uint64_t event = from + s->distance + lost * s->period + late;
                if (may_be(t, sample, event, at)) /* single: Linux makes the next period shorter by what it was late */
                    any = next[event - (s->single ? late : 0)] = true;
            }
    }
    memcpy(last, next, sizeof events.begins[0]);
    return any;
}

/* Whether the program may have ended before the next record. */
static bool may_end(const struct random_sampling *s, unsigned switches)
{
    for (unsigned from = 0; from <= events.count; from++)
        if (events.begins[0][from] && from + s->distance + switches * s->period > events.count)
            return true;
    return false;
}

const char *random_compare_pebs(const struct random_trace *t, const struct random_sampling *sampling,
                                const struct random_told *told, unsigned *at)
{
    static char line[400];
    find_events(t, sampling->event);
    *at = t->count - 1;
    for (unsigned n = 0; n < told->samples; n++)
        if (!follow(t, sampling, &told->sample[n], at)) {
            snprintf(line, sizeof line, "PEBS sample %u: %s (%u context switches)", n, said, told->sample[n].switches);
            return line;
        }
    if (!may_end(sampling, told->switches)) {
        snprintf(line, sizeof line, "PEBS: only %u samples of %u events", told->samples, events.count);
        return line;
    }
    return NULL;
}
