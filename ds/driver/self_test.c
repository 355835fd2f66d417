/* SPDX-License-Identifier: MIT */
/*
 * Does PEBS make records here? Intel's lists of events do not name INST_RETIRED.ANY_P (C0H/00H) as a precise event from
 * Sandy Bridge to Comet Lake, nor on Silvermont, but Linux samples with it. So the driver tries it: some hundred
 * instructions with a short period. INST_RETIRED.PREC_DIST (C0H/01H, PMC1) is the precise event that counts the same.
 */
#include "ds/driver/driver.h"

#include "arch/arch.h"
#include "ds/driver/detect.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define PERIOD  128u /* errata take no exception to it, of no event of instructions (ds/driver/errata.c) */
#define TURNS   320u /* of two instructions: five periods */
#define RECORDS 16u  /* more than there can be: no PMI */

_Static_assert((RECORDS + 1) * sizeof(struct ds_pebs_fmt3) <= DS_SELF_TEST_BUFFER, "records, and one of slack");
_Static_assert((RECORDS + 1) * (sizeof(struct ds_arch_header) + sizeof(struct ds_arch_basic)) <= DS_SELF_TEST_BUFFER,
               "likewise of architectural PEBS");

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    (void)context, (void)cpu, (void)drain;
}

static void run_some(void)
{
    uint64_t turns = TURNS;
    __asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}

/* Runs what has been planned. *records: that were made. */
static enum ds_tried try(struct ds_cpu *ds, uint64_t *records)
{
    const struct ds_counter *c = &ds->counter[0];
    struct ds_refusal refusal;
    uint64_t value = 0;
    if (ds_start(ds, &refusal))
        return DS_TRIED_NOT;
    ds_resume(ds);
    run_some();
    ds_pause(ds);
    const bool read = ds_rdmsr(ds, ds_counter_msr(&ds->caps, c->number), &value) == 0;
    ds_stop(ds);
    *records = ds->counts.records;
    if (*records)
        return DS_TRIED_RECORDS;
    const uint64_t counted = (value - c->initial) & ds_initial(&ds->caps, c->number, 1);
    return read && counted >= PERIOD ? DS_TRIED_NO_RECORD : DS_TRIED_STILL;
}

enum ds_tried ds_self_test(struct ds_cpu *ds, const struct ds_machine *machine, struct ds_caps *caps,
                           const struct ds_event *event, void *area, void *buffer)
{
    static const char *const verdict[] = {
        [DS_TRIED_RECORDS] = "its counter has run past 0, and PEBS has made records",
        [DS_TRIED_NO_RECORD] = "its counter has run past 0, and PEBS has made no record",
        [DS_TRIED_STILL] = "its counter has not come to 0: it counts nothing, or too little",
        [DS_TRIED_NOT] = "it could not be tried: the set-up of PEBS fails",
    };
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    struct ds_config config = {.events = 1, .event = {*event}, .records = RECORDS, .threshold = RECORDS};
    char error[8];
    uint64_t records = 0;
    config.event[0].period = PERIOD;
    config.event[0].kernel = true; /* it is the kernel that runs */
    enum ds_tried tried = DS_TRIED_NOT;
    if (ds_cpu_init(ds, 0, machine, caps, &config, &hooks, area, buffer, error, sizeof error) == 0)
        tried = try(ds, &records);
    const char *row =
        event->kind == DS_EVENT_PREC_DIST ? "self-test: INST_RETIRED.PREC_DIST" : "self-test: instructions";
    ds_caps_row(caps, row, records, tried == DS_TRIED_RECORDS, verdict[tried]);
    return tried;
}

/* ---- in place of an event that has no records -------------------------------------------------------------------- */

const struct ds_event *ds_sampled_instructions(const struct ds_config *config)
{
    for (uint32_t i = 0; i < config->events; i++)
        if (config->event[i].kind == DS_EVENT_INSTRUCTIONS && !config->event[i].plain)
            return &config->event[i];
    return NULL;
}

/* What errata let INST_RETIRED.PREC_DIST have, the nearest. */
static uint64_t period_of_prec_dist(const struct ds_errata *errata, uint64_t period)
{
    if (errata->period_64)
        period = (period + 32) / 64 * 64;
    return (errata->period_64 || errata->period_128) && period < 128 ? 128 : period;
}

/* As ds_parse_events would have it. */
static struct ds_event prec_dist_as(const struct ds_event *event)
{
    struct ds_config parsed;
    char error[8];
    ds_parse_events("INST_RETIRED.PREC_DIST:128", &parsed, error, sizeof error);
    parsed.event[0].user = event->user;
    parsed.event[0].kernel = event->kernel;
    parsed.event[0].period = event->period;
    return parsed.event[0];
}

int ds_take_prec_dist(const struct ds_caps *caps, struct ds_config *config, uint64_t *later)
{
    const struct ds_event *sampled = ds_sampled_instructions(config);
    unsigned all = 0, with_pebs = 0;
    for (uint32_t i = 0; i < config->events; i++) {
        with_pebs += !config->event[i].plain;
        all += !config->event[i].plain &&
               (config->event[i].kind == DS_EVENT_INSTRUCTIONS || config->event[i].kind == DS_EVENT_PREC_DIST);
    }
    if (!sampled || caps->baseline || ds_caps_arch(caps))
        return -ENOENT;
    struct ds_event instead = prec_dist_as(sampled);
    uint64_t code;
    if (ds_event_code(caps, &instead, &code))
        return -ENOENT;
    if (all > 1 || (with_pebs > 1 && ds_event_alone(caps, &instead)))
        return -EBUSY;
    const size_t i = (size_t)(sampled - config->event);
    instead.period = period_of_prec_dist(&caps->errata, instead.period);
    config->event[i] = instead;
    if (later[0])
        later[i] = period_of_prec_dist(&caps->errata, later[i]);
    return 0;
}
