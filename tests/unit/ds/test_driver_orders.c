/* SPDX-License-Identifier: MIT */
/*
 * The driver's PMI handler while events come at each of its accesses to a register, on the model of every processor:
 * records reach the threshold there, and plain counters overflow. Whatever state that leaves, both are seen again when
 * events come only outside of it, also where the processor loses a masked PMI. test_property_pmi.c does the same with
 * the orders of Linux' handlers.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/lib/rand.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/model_machine.h"
#include "tests/unit/support/presets.h"

#define RECORDS    12u
#define PAGE       4096u
#define ENOUGH     2000u /* instructions */
#define WITH_PLAIN "INST_RETIRED.ANY:32:k,branches:32:k:plain"

static struct ds_model *const model = &model_machine.model;
static uint64_t area[512] __attribute__((aligned(PAGE)));
static uint8_t buffer[8 * PAGE] __attribute__((aligned(8 * PAGE)));
static struct ds_cpu *ds;
static struct krand chance;
static bool calm;
static unsigned records, overflows; /* how often a PMI has handed over records; plain overflows */

static void retire(void)
{
    const unsigned instruction = 1u << DS_MODEL_INSTRUCTION, branch = 1u << DS_MODEL_BRANCH;
    const unsigned kinds[] = {instruction, branch, instruction | branch};
    assert_int_equal(ds_model_retire(model, &(struct ds_model_retired){.events = kinds[krand_below(&chance, 3)]}), 0);
}

static void between(void)
{
    for (unsigned n = calm ? 0 : krand_below(&chance, 40); n; n--)
        retire();
}

static int busy_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    const int e = model_machine_hw.rdmsr(context, msr, value);
    between();
    return e;
}

static int busy_wrmsr(void *context, uint32_t msr, uint64_t value)
{
    const int e = model_machine_hw.wrmsr(context, msr, value);
    between();
    return e;
}

static void busy_lvtpc_write(void *context, uint32_t value)
{
    model_machine_hw.lvtpc_write(context, value);
    between();
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    (void)context, (void)cpu;
    records += drain->reason == CAIRN_DS_THRESHOLD;
}

static void overflowed(void *context, uint32_t cpu, uint32_t event)
{
    (void)context, (void)cpu, (void)event;
    overflows++;
}

static void take(void)
{
    struct arch_trap_frame frame = {0};
    while (model_machine.pmi) {
        model_machine.pmi = false;
        between();
        ds_pause(ds);
        ds_pmi(ds);
        ds_resume_frame(ds, &frame);
    }
}

static void session(const struct ds_model_preset *preset, uint32_t threshold, bool lost, bool plain)
{
    const struct ds_model_policy policy = {.masked_pmi_lost = lost};
    const struct ds_hooks hooks = {
        .before_drain = model_machine_before_drain, .drained = drained, .overflowed = overflowed};
    struct ds_config config = {.records = RECORDS, .threshold = threshold};
    struct ds_machine machine = model_machine_hw;
    struct ds_refusal refusal;
    struct ds_caps caps;
    char error[160] = "";
    machine.rdmsr = busy_rdmsr;
    machine.wrmsr = busy_wrmsr;
    machine.lvtpc_write = busy_lvtpc_write;
    calm = true;
    model_machine_reset(preset, &policy, NULL);
    assert_int_equal(ds_parse_events(plain ? WITH_PLAIN : "INST_RETIRED.ANY:32:k", &config, error, sizeof error), 0);
    ds_detect(&machine, &caps);
    if (ds_cpu_init(ds, 0, &machine, &caps, &config, &hooks, area, buffer, error, sizeof error))
        fail_msg("%s: %s", preset->name, error);
    assert_int_equal(ds_start(ds, &refusal), 0);
    ds_resume(ds);
    calm = false;
    for (unsigned n = krand_below(&chance, 30); n; n--) {
        between();
        take();
    }
    calm = true;
    take();
    records = overflows = 0;
    for (unsigned n = 0; n < ENOUGH && !(records && (overflows || !plain)); n++) {
        retire();
        take();
    }
    ds_pause(ds);
    ds_stop(ds);
    if (!records || (plain && !overflows))
        fail_msg("%s, threshold %u, masked_pmi=%s: %u times records, %u times overflows", preset->name, threshold,
                 lost ? "lost" : "latched", records, overflows);
}

static void sampling_comes_back(void **state)
{
    for (unsigned seed = 0; seed < 64; seed++) {
        krand_init(&chance, seed);
        session(*state, seed & 1 ? 1 : RECORDS / 2, seed & 2, seed & 4);
    }
}

int main(void)
{
    struct CMUnitTest tests[PRESETS];
    ds = calloc(1, ds_cpu_bytes());
    for (size_t i = 0; i < PRESETS; i++)
        tests[i] =
            (struct CMUnitTest){preset_at(i)->name, sampling_comes_back, NULL, NULL, (void *)(uintptr_t)preset_at(i)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    return failed;
}
