/* SPDX-License-Identifier: MIT */
#include "host_cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_lane.h"
#include "labs/check.h"
#include "labs/host/log.h"

#define RULES "docs/explain/ds.md, \"Whose record is it?\""

/* One trace for all cases. Threads 12, 16 and 20 are sampled, 8 and the idle thread are not. A batch is closed by the
 * switch that begins the next one or, where the epoch ends, by the drain. */
/* clang-format off */
static const struct leaving switches[] = {
    {100, 12, true}, {110, 20, true}, {120, 12, true},                                   /*  0: epoch 0 */
    {130, 16, true}, {140, 8, false}, {150, 16, true},                                   /*  3 */
    {160, 12, true}, {170, 8, false}, {180, 16, true}, {190, 0, false}, {200, 16, true}, /*  6 */
    {210, 8, false}, {220, 20, true}, {230, 0, false}, {240, 20, true},                  /* 11 */
    {250, 8, false}, {260, 0, false},                                                    /* 15 */
    {270, 20, true}, {280, 8, false},                                                    /* 17: epoch 1 */
    {283, 0, false}, {286, 8, false},                                                    /* 19 */
    {290, 0, false}, {300, 8, false},                                                    /* 21: epoch 3; 2 has none */
    {310, 12, true}, {320, 8, false}, {330, 12, true},                                   /* 23: epoch 5; 4 has none */
    {340, 0, false}, {350, 16, true},                                                    /* 26: the last batch */
};
static const struct batch batches[] = {
    {0, 3, 0, 0x1200}, {3, 3, 0, 0x1400}, {6, 5, 0, 0x1500}, {11, 4, 0, 0x1580}, {15, 2, 0, 0x1600},
    {17, 2, 1, 0x1100}, {19, 2, 1, 0x1180}, {21, 2, 3, 0x1080}, {23, 3, 5, 0x1300}, {26, 2, 5, 0x1400},
};
/* clang-format on */
#define BATCHES (sizeof batches / sizeof batches[0])

/* The trace up to the first `count` batches, in memory of its own, so that a sanitizer sees what lies beyond. */
static struct trace trace_of(uint32_t count)
{
    const uint32_t leavings = batches[count - 1].first + batches[count - 1].count;
    struct leaving *own_switches = malloc(leavings * sizeof *own_switches);
    struct batch *own_batches = malloc(count * sizeof *own_batches);
    if (!own_switches || !own_batches)
        lab_broken("no memory");
    memcpy(own_switches, switches, leavings * sizeof *own_switches);
    memcpy(own_batches, batches, count * sizeof *own_batches);
    return (struct trace){own_switches, own_batches, leavings, count};
}

struct expected {
    const char *name;
    uint32_t answer;
    struct sample sample;
    const char *hint, *read;
};

const char *answer_text(char out[32], unsigned answer)
{
    if (answer >= UNKNOWN)
        snprintf(out, 32, "%s", answer == AMBIGUOUS ? "AMBIGUOUS" : "UNKNOWN");
    else
        snprintf(out, 32, "thread %u", answer);
    return out;
}

typedef uint32_t attribution(const struct trace *t, const struct sample *s);

/* `count`: batches of the trace that the rule gets. */
static void check_case(const struct expected *c, attribution *rule, uint32_t count)
{
    char is[32], right[32], what[64];
    const bool timely = rule == by_time;
    const struct trace trace = trace_of(count);
    const uint32_t answer = rule(&trace, &c->sample);
    if (timely)
        snprintf(what, sizeof what, "at time %" PRId64 "%s", c->sample.time, c->sample.timed ? "" : ", not timed");
    else
        snprintf(what, sizeof what, "0x%" PRIx64 " of epoch %" PRIu32, c->sample.address, c->sample.epoch);
    if (answer != c->answer)
        lab_fail(c->name, c->hint, c->read, "the check's small trace%s, record %s: %s says %s; expected %s",
                 count < BATCHES ? " up to that epoch" : "", what, timely ? "by_time" : "by_index",
                 answer_text(is, answer), answer_text(right, c->answer));
    free((void *)trace.switches);
    free((void *)trace.batches);
}

void check_index_cases(void)
{
    static const struct expected cases[] = {
        {"several",
         AMBIGUOUS,
         {.epoch = 0, .address = 0x1100},
         "A record below the stamp of a batch, and not below that of the batch before, was written while this batch "
         "was open. All sampled threads that ran in that time can have caused it. If these are two, nobody knows.",
         RULES},
        {"unsampled",
         20,
         {.epoch = 0, .address = 0x1540},
         "Only sampled threads are counted. The idle thread and others that are not sampled cause no record, so they "
         "are no suspects. A thread that leaves twice is one suspect.",
         RULES},
        {"stamp",
         20,
         {.epoch = 0, .address = 0x1500},
         "PebsIndex is where the next record will go. A record at that very address was written later.",
         RULES},
        {"epoch",
         12,
         {.epoch = 5, .address = 0x1000},
         "Each drain sets PebsIndex back to the base, so the same address occurs in every epoch. Look only at stamps "
         "of the record's epoch.",
         RULES},
        {"running",
         AMBIGUOUS,
         {.epoch = 0, .address = 0x1300},
         "One more thread ran in that time: from the last switch of the batch until it was closed. It leaves first in "
         "the next batch.",
         RULES},
        {"first",
         16,
         {.epoch = 0, .address = 0x1440},
         "Behind another batch of the same epoch, a batch begins with the switch that closed that one. Whoever leaves "
         "there did not run any more while this batch was open.",
         "docs/reference/format.md, section 6"},
        {"drained",
         20,
         {.epoch = 0, .address = 0x15c0},
         "A drain closes a batch while a thread runs. That thread, too, leaves first in the next batch, although that "
         "is of a later epoch.",
         RULES},
        {"goes-on",
         20,
         {.epoch = 1, .address = 0x1000},
         "The first batch of an epoch: the drain before it was no switch. The thread that leaves first has run on "
         "since the drain, so it is a suspect.",
         RULES},
        {"no-batch",
         12,
         {.epoch = 4, .address = 0x1000},
         "An epoch without a batch had no switch: one thread ran all the time. It leaves at the next switch.",
         RULES},
        {"end",
         AMBIGUOUS,
         {.epoch = 5, .address = 0x1380},
         "Who ran when the last batch was closed? No switch tells, so somebody unknown is a suspect, too.",
         RULES},
        {"end",
         UNKNOWN,
         {.epoch = 5, .address = 0x1400},
         "No batch was closed behind this record, so nothing tells who ran.",
         RULES},
    };
    static const struct expected cut = {"end",
                                        UNKNOWN,
                                        {.epoch = 3, .address = 0x1000},
                                        "No sampled thread leaves in the last batch. Only the one that ran when it was "
                                        "closed can have caused the record, and no switch tells who that was.",
                                        RULES};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(&cases[i], by_index, BATCHES);
    check_case(&cut, by_index, 8);
    lab_pass("index", "%zu cases", sizeof cases / sizeof cases[0] + 1);
}

void check_time_cases(void)
{
    static const struct expected cases[] = {
        {"next-switch",
         16,
         {.timed = true, .time = 145},
         "The thread that ran at a time is the one that leaves at the next switch after it.",
         RULES},
        {"next-switch",
         12,
         {.timed = true, .time = 1},
         "The thread that ran at a time is the one that leaves at the next switch after it.",
         RULES},
        {"same-unit",
         AMBIGUOUS,
         {.timed = true, .time = 110},
         "The session's clock has units. A record and a switch in the same unit have the same time, and nobody knows "
         "which came first. Both the thread that left and the one that came are suspects.",
         RULES},
        {"after-the-last",
         UNKNOWN,
         {.timed = true, .time = 351},
         "Nobody leaves after the last switch, so nothing tells who ran there.",
         RULES},
        {"not-counted",
         UNKNOWN,
         {.timed = true, .time = 135},
         "A thread that is not sampled cannot have caused the record.",
         RULES},
        {"no-time", UNKNOWN, {.timed = false, .time = 145}, "Records of formats 0 to 2 have no TSC.", RULES},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(&cases[i], by_time, BATCHES);
    lab_pass("time", "%zu cases", sizeof cases / sizeof cases[0]);
}
