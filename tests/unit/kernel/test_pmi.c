/* SPDX-License-Identifier: MIT */
/*
 * The performance-monitoring interrupt from handler to DPC: the driver and the DPC queue are the real ones, the
 * processor's registers those of ds/model.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "ds/bts/bts.h"
#include "kernel/cpu.h"
#include "kernel/lock/spinlock.h"
#include "kernel/recording/ds.h"
#include "kernel/tracepoint/activity.h"
#include "tests/unit/support/cmocka.h"

#define HERE 1u /* of two CPUs, so that the wrong one shows */

static struct kcpu cpus_there[2];
static struct kcpu *const here = &cpus_there[HERE];

struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;

#include "tests/unit/fake/processor.h"

#include "kernel/activity/events.h"
#include "kernel/recording/pmi.h"
#include "kernel/sched/dpc.h"
#include "tests/unit/support/model_machine.h"
#include "trace/pmc_sources.h"

static struct kds store;
static struct ds_config atom;
const struct kds *const kds = &store;
static arch_irq_handler handler;

void arch_irq_set(uint8_t vector, arch_irq_handler function)
{
    assert_int_equal(vector, ARCH_VECTOR_PMI);
    handler = function;
}

void arch_ipi(uint32_t cpu, uint8_t vector)
{
    fail_msg("interrupt %u for CPU %u", vector, cpu);
}

void arch_ipi_self(uint8_t vector)
{
    fail_msg("interrupt %u for this CPU, which is at the end of one", vector);
}

_Noreturn void kpanic(const char *format, ...)
{
    fail_msg("%s", format);
    abort();
}

/* ---- what is told ------------------------------------------------------------------------------------------------ */

static unsigned dpcs, drains, branch_drains, samples;
static uint64_t drained_bytes, sampled_rip;
static uint16_t sampled_source;

void kactivity_dpc_ends(struct kcpu *cpu, const void *routine, bool timer)
{
    assert_ptr_equal(cpu, here);
    assert_false(timer);
    (void)routine;
    dpcs++;
}

void kactivity_overflow(struct kcpu *cpu, const struct arch_trap_frame *frame, uint32_t event)
{
    assert_ptr_equal(cpu, here);
    assert_false(processor.irq_on);
    sampled_source = kactivity_source(cpu->arch.index, event);
    sampled_rip = frame->rip;
    samples++;
}

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context;
    assert_int_equal(cpu, HERE);
    if (d->reason != CAIRN_DS_THRESHOLD)
        return;
    assert_true(here->in_dpc && !processor.irq_on);
    drains++;
    drained_bytes += d->bytes;
}

static void bts_drained(void *context, uint32_t cpu, const struct ds_bts_drain *d)
{
    (void)context;
    assert_int_equal(cpu, HERE);
    if (d->reason != CAIRN_DS_THRESHOLD)
        return;
    assert_true(here->in_dpc && !processor.irq_on);
    branch_drains++;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static struct ds_model *const model = &model_machine.model;
static uint64_t area[512] __attribute__((aligned(4096)));
static struct ds_bts branch_trace;
static uint8_t buffer[16384] __attribute__((aligned(4096))), branches[16384] __attribute__((aligned(4096)));

static const uint64_t INSTRUCTIONS = DS_BIT(DS_MODEL_INSTRUCTION), BRANCHES = DS_BIT(DS_MODEL_BRANCH);

static int begin(void **state)
{
    static const struct ds_hooks hooks = {
        .before_drain = before_drain, .drained = drained, .bts_drained = bts_drained, .overflowed = kpmi_overflowed};
    const struct ds_model_preset *preset = ds_model_preset("icelake");
    struct ds_caps caps;
    struct ds_refusal refusal;
    char error[160];
    (void)state;
    model_machine_reset(preset, NULL, model_machine_numbered);
    model_machine.now = 0x1000;
    for (uint32_t i = 0; i < 2; i++) {
        cpus_there[i] = (struct kcpu){.arch.index = i};
        kcpu_table[i] = &cpus_there[i];
    }
    kcpu_count = 2;
    processor.irq_on = true;
    processor.cpu = here;
    dpcs = drains = branch_drains = samples = 0;
    drained_bytes = sampled_rip = 0;
    handler = NULL;
    kpmi_init();
    assert_non_null(handler);
    store = (struct kds){.ds = {.records = 8, .threshold = 2, .groups = MSR_PEBS_DATA_CFG_GPR}};
    store.config[HERE] = &store.ds;
    here->active_ds = malloc(ds_cpu_bytes());
    return ds_detect(&model_machine_hw, &caps) ||
           ds_parse_events("INST_RETIRED.ANY:37,branches:50:plain", &store.ds, error, sizeof error) ||
           ds_cpu_init(here->active_ds, HERE, &model_machine_hw, &caps, &store.ds, &hooks, area, buffer, error,
                       sizeof error) ||
           ds_bts_init(&branch_trace, here->active_ds, DS_BTS_INTERRUPT, DS_BTS_ALL, 64, branches) ||
           ds_start(here->active_ds, &refusal) || ds_bts_start(here->active_ds, &refusal);
}

static int end(void **state)
{
    (void)state;
    ds_stop(here->active_ds);
    free(here->active_ds);
    return 0;
}

/* Instructions of the kind until the processor has raised the interrupt and `status` is set of GLOBAL_STATUS. */
static void run_until(uint64_t events, bool taken, uint64_t status)
{
    uint64_t now;
    model_machine.pmi = false;
    for (unsigned i = 0; i < 1000; i++) {
        const struct ds_model_branch branch = {.from = model_machine.now, .to = model_machine.now + 64};
        const struct ds_model_retired retired = {.events = events, .branch = taken ? &branch : NULL};
        model_machine.now++;
        assert_int_equal(ds_model_retire(model, &retired), 0);
        assert_int_equal(ds_model_rdmsr(model, IA32_PERF_GLOBAL_STATUS, &now), 0);
        if (model_machine.pmi && (now & status) == status)
            return;
    }
    fail_msg("no interrupt");
}

static bool masked(void)
{
    return model->lvtpc & LVTPC_MASKED;
}

/* Entry of the interrupt, `times` the handler, and what is left for its end: by then the frame on the stack is gone. */
static void interrupt(unsigned times)
{
    struct arch_trap_frame frame = {0};
    assert_true(masked());
    ds_pause(here->active_ds);
    const unsigned accesses = model_machine.accesses;
    here->irq_depth = 1;
    processor.irq_on = false;
    for (unsigned i = 0; i < times; i++) {
        frame.rip = model_machine.now + i;
        handler(&frame);
    }
    frame.rip = 0xBAD;
    assert_int_equal(model_machine.accesses, accesses); /* the handler does no more than to queue */
    assert_true(masked());
    assert_int_equal(dpcs + samples + drains + branch_drains, 0);
    kdpc_run(here);
    assert_false(processor.irq_on);
    here->irq_depth = 0;
    processor.irq_on = true;
    assert_int_equal(dpcs, 1);
    if (here->active_ds)
        ds_resume_frame(here->active_ds, &frame);
}

static uint64_t pmis(void)
{
    struct ds_counts counts;
    ds_cpu_counts(here->active_ds, &counts);
    return counts.pmis;
}

/* ---- what it is for ---------------------------------------------------------------------------------------------- */

static void start_counting(void)
{
    struct arch_trap_frame frame = {0};
    ds_resume_frame(here->active_ds, &frame);
}

static void pebs(void **state)
{
    (void)state;
    start_counting();
    run_until(INSTRUCTIONS, false, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    interrupt(1);
    assert_true(drains == 1 && drained_bytes > 0 && samples == 0 && branch_drains == 0);
    assert_int_equal(pmis(), 1);
    assert_false(masked());
    dpcs = drains = 0;
    run_until(INSTRUCTIONS, false, IA32_PERF_GLOBAL_STATUS_OVF_BUF); /* and it comes again */
    interrupt(1);
    assert_int_equal(drains, 1);
}

static void plain(void **state)
{
    (void)state;
    start_counting();
    run_until(BRANCHES, false, 0);
    interrupt(1);
    assert_true(samples == 1 && drains == 0 && branch_drains == 0);
    assert_int_equal(sampled_source, TRACE_PMC_BRANCH_INSTRUCTION_RETIRED);
    assert_int_equal(sampled_rip, model_machine.now);
    assert_int_equal(pmis(), 1);
    assert_false(masked());
    dpcs = samples = 0;
    run_until(BRANCHES, false, 0);
    interrupt(1);
    assert_int_equal(samples, 1);
}

/* One interrupt for both: the second came before the first was taken. */
static void both(void **state)
{
    (void)state;
    start_counting();
    run_until(INSTRUCTIONS, false, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    model_machine.pmi = false;
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(ds_model_retire(model, &(struct ds_model_retired){.events = BRANCHES}), 0);
    assert_false(model_machine.pmi); /* LVTPC is masked */
    interrupt(1);
    assert_true(drains == 1 && samples == 1 && branch_drains == 0);
    assert_int_equal(pmis(), 1);
    assert_false(masked());
}

static void bts(void **state)
{
    (void)state;
    start_counting();
    run_until(0, true, 0);
    interrupt(1);
    assert_true(branch_drains == 1 && drains == 0 && samples == 0);
    assert_int_equal(pmis(), 1);
    assert_false(masked());
}

/* Nothing of ours has overflowed: LVTPC is unmasked, or the next one would never come. */
static void spurious(void **state)
{
    (void)state;
    start_counting();
    ds_model_lvtpc_write(model, ARCH_VECTOR_PMI | LVTPC_MASKED);
    interrupt(1);
    assert_int_equal(drains + branch_drains + samples, 0);
    assert_int_equal(pmis(), 0);
    assert_false(masked());
    dpcs = 0;
    run_until(BRANCHES, false, 0);
    interrupt(1);
    assert_int_equal(samples, 1);
}

/* Two of them before the DPC has run: it runs once, for the last. */
static void twice(void **state)
{
    (void)state;
    start_counting();
    run_until(BRANCHES, false, 0);
    interrupt(2);
    assert_int_equal(samples, 1);
    assert_int_equal(sampled_rip, model_machine.now + 1);
}

/* ---- how --------------------------------------------------------------------------------------------------------- */

/* What works for itself has put its own driver here; or nobody counts. */
static void nobody_counts(void **state)
{
    (void)state;
    struct ds_cpu *kept = here->active_ds;
    here->ds = kept;
    start_counting();
    run_until(BRANCHES, false, 0);
    ds_pause(kept);
    here->active_ds = NULL;
    interrupt(1);
    here->active_ds = kept;
    assert_int_equal(drains + branch_drains + samples, 0);
    assert_true(masked());
    dpcs = 0;
    interrupt(1);
    assert_int_equal(samples, 1);
}

static void sources(void **state)
{
    (void)state;
    static const struct {
        const char *event;
        uint16_t source;
    } rows[] = {
        {"INST_RETIRED.ANY:9:plain", TRACE_PMC_INSTRUCTION_RETIRED},
        {"cycles:9:plain", TRACE_PMC_UNHALTED_CORE_CYCLES},
        {"branches:9:plain", TRACE_PMC_BRANCH_INSTRUCTION_RETIRED},
        {"BR_INST_RETIRED.NEAR_CALL:9:plain", TRACE_PMC_CAIRN + 3},
    };
    char events[160], error[160];
    snprintf(events, sizeof events, "%s,%s,%s,%s", rows[0].event, rows[1].event, rows[2].event, rows[3].event);
    assert_int_equal(ds_parse_events(events, &store.ds, error, sizeof error), 0);
    processor.irq_on = false;
    for (uint32_t i = 0; i < 4; i++) {
        kpmi_overflowed(NULL, HERE, i);
        assert_int_equal(sampled_source, rows[i].source);
    }
    assert_int_equal(samples, 4);

    /* An efficient core with events of its own: their places are those of pebs.atom=. */
    assert_int_equal(ds_parse_events("BR_INST_RETIRED.NEAR_CALL:9:plain,branches:9:plain", &atom, error, sizeof error),
                     0);
    store.config[HERE] = &atom;
    kpmi_overflowed(NULL, HERE, 0);
    assert_int_equal(sampled_source, TRACE_PMC_CAIRN_ATOM);
    kpmi_overflowed(NULL, HERE, 1);
    assert_int_equal(sampled_source, TRACE_PMC_BRANCH_INSTRUCTION_RETIRED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pebs, begin, end),
        cmocka_unit_test_setup_teardown(plain, begin, end),
        cmocka_unit_test_setup_teardown(both, begin, end),
        cmocka_unit_test_setup_teardown(bts, begin, end),
        cmocka_unit_test_setup_teardown(spurious, begin, end),
        cmocka_unit_test_setup_teardown(twice, begin, end),
        cmocka_unit_test_setup_teardown(nobody_counts, begin, end),
        cmocka_unit_test_setup_teardown(sources, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
