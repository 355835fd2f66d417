/* SPDX-License-Identifier: MIT */
/*
 * Does PEBS make records here? Detection only knows what CPUID and MSRs announce: a hypervisor may announce PEBS and
 * write no record, and Intel's lists do not name INST_RETIRED.ANY_P (C0H/00H) as a precise event from Sandy Bridge to
 * Comet Lake, nor on Silvermont. Real Ivy Bridges and Haswells record it (docs/explain/hardware-review.md, V5); of the
 * others no result is published. So the driver tries it: some hundred instructions with a short period.
 */
#include "ds/driver/driver.h"

#include "arch/arch.h"
#include "ds/driver/detect.h"
#include "ds/trial/trial.h"

#define PERIOD  128u /* errata take no exception to it (ds/errata/errata.c) */
#define TURNS   320u /* of two instructions: five periods */
#define RECORDS 16u  /* more than there can be: no PMI */

_Static_assert((RECORDS + 1) * sizeof(struct ds_pebs_fmt3) <= DS_SELF_TEST_BUFFER, "records, and one of slack");

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
        [DS_TRIED_STILL] = "its counter has not reached 0: it counts nothing, or too little",
        [DS_TRIED_NOT] = "it could not be tried: the set-up of PEBS fails",
    };
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    struct ds_config config = {.events = 1, .event = {*event}, .records = RECORDS, .threshold = RECORDS};
    char error[8];
    uint64_t records = 0;
    config.event[0].period = PERIOD;
    config.event[0].kernel = true; /* it is the kernel that runs */
    enum ds_tried tried = DS_TRIED_NOT;
    if (ds_buffer_bytes(caps, &config) <= DS_SELF_TEST_BUFFER &&
        ds_cpu_init(ds, 0, machine, caps, &config, &hooks, area, buffer, error, sizeof error) == 0)
        tried = try(ds, &records);
    ds_caps_row(caps, "self-test: instructions", records, tried == DS_TRIED_RECORDS, verdict[tried]);
    return tried;
}

const struct ds_event *ds_sampled_instructions(const struct ds_config *config)
{
    for (uint32_t i = 0; i < config->events; i++)
        if (config->event[i].kind == DS_EVENT_INSTRUCTIONS && !config->event[i].plain)
            return &config->event[i];
    return NULL;
}
