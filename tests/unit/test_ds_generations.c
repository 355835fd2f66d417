/* SPDX-License-Identifier: MIT */
/*
 * The driver as it runs on hardware (GLOBAL_CTRL holds the counters) on the model of every processor there is: what it
 * finds, that no write of its sequence is refused, that every record arrives and every overflow is seen, and that a
 * stop, and #GP at any access of the set-up, leave each register as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/errno.h"
#include "tests/unit/model_machine.h"

#define PERIOD       37u /* Nehalem wants 32 at least */
#define PLAIN_PERIOD 50u
#define INSTRUCTIONS 1000u

static struct ds_model *const model = &model_machine.model;
static struct ds_cpu *ds;
static uint64_t area[512] __attribute__((aligned(4096)));
static uint64_t now; /* the number of the instruction, which is its address, too */

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void registers(void *context, struct ds_model_registers *out)
{
    (void)context;
    *out = (struct ds_model_registers){.rip = now + 1, .eventing_ip = now, .rax = ~now};
}

static void set(uint32_t msr, uint64_t value)
{
    if (ds_model_wrmsr(model, msr, value))
        fail_msg("%s: WRMSR(%x) of %llx", model->preset->name, msr, (unsigned long long)value);
}

/* Somebody was here before and has left what can be left. */
static void leave_behind(const struct ds_model_preset *p)
{
    for (unsigned i = 0; i < p->gp_counters; i++) {
        set(IA32_PMC0 + i, 0x1000 + i);
        set(IA32_PERFEVTSEL0 + i, 0x4300C0);
    }
    for (unsigned i = 0; i < p->fixed_counters; i++)
        set(IA32_FIXED_CTR0 + i, 0x2000 + i);
    set(IA32_FIXED_CTR_CTRL, 0x33);
    set(IA32_DEBUGCTL, IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
    if (p->perfmon_version >= 4)
        set(IA32_PERF_GLOBAL_STATUS_SET,
            IA32_PERF_GLOBAL_STATUS_CTR_FRZ | IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_COND_CHG);
}

/* ---- what is drained --------------------------------------------------------------------------------------------- */

static unsigned drained_records;
static uint64_t drained_lost, spacing; /* events between records */

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    uint32_t size;
    for (uint32_t at = 0; at < d->bytes; at += size) {
        const uint8_t *record = (const uint8_t *)d->records + at;
        size = ds_pebs_record_size(d->format, record, d->bytes - at);
        assert_true(size > 0);
        drained_records++;
        const uint64_t expected = drained_records * spacing; /* instructions are numbered from 1 */
        if (d->format >= 4) {
            const struct ds_pebs_basic *basic = (const void *)record;
            const struct ds_pebs_gpr *gpr = (const void *)(basic + 1);
            assert_int_equal(ds_pebs_head_groups(basic->head), MSR_PEBS_DATA_CFG_GPR);
            assert_int_equal(basic->eventing_ip, expected);
            assert_int_equal(gpr->rip, expected + 1);
            assert_true(gpr->rax == ~expected);
        } else {
            const struct ds_pebs_fmt3 *fixed = (const void *)record;
            assert_int_equal(fixed->fmt2.fmt1.registers.rip, expected + 1);
            assert_true(fixed->fmt2.fmt1.registers.rax == ~expected);
            if (d->format >= 2)
                assert_int_equal(fixed->fmt2.eventing_ip, expected);
        }
    }
    drained_lost += d->lost;
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

static void run(void)
{
    struct arch_trap_frame frame = {0};
    for (now = 1; now <= INSTRUCTIONS; now++) {
        const struct ds_model_retired retired = {.events = 1u << DS_MODEL_INSTRUCTION |
                                                           (now % 2 ? 0 : 1u << DS_MODEL_BRANCH)};
        model_machine.pmi = false;
        assert_int_equal(ds_model_retire(model, &retired), 0);
        if (!model_machine.pmi)
            continue;
        ds_pause(ds); /* interrupt entry, the handler, the way back */
        assert_int_equal(ds_model_retire(model, &retired), 0);
        assert_true(ds_pmi(ds));
        assert_int_equal(ds_model_retire(model, &retired), 0);
        ds_resume_frame(ds, &frame);
        assert_int_equal(model->lvtpc & LVTPC_MASKED, 0);
    }
}

/* Every register; but what was stale in GLOBAL_STATUS may be gone. */
static void expect_as_before(const struct ds_model *before)
{
    struct ds_model expected;
    memcpy(&expected, before, sizeof expected);
    assert_int_equal(model->global_status & ~before->global_status, 0);
    expected.global_status = model->global_status;
    expected.records = model->records;
    expected.bts_records = model->bts_records;
    expected.dropped = model->dropped; /* where a fault kept counting on */
    expected.bts_dropped = model->bts_dropped;
    assert_memory_equal(expected.value, model->value, sizeof expected.value);
    assert_memory_equal(expected.perfevtsel, model->perfevtsel, sizeof expected.perfevtsel);
    assert_memory_equal(&expected, model, sizeof expected);
}

static void session(void **state)
{
    const struct ds_model_preset *p = *state;
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    struct ds_config config = {.records = 8, .threshold = 6, .groups = MSR_PEBS_DATA_CFG_GPR};
    struct ds_caps caps;
    struct ds_refusal refusal;
    struct ds_counts counts;
    char error[160] = "";
    model_machine_reset(p, NULL, registers);
    leave_behind(p);
    struct ds_model before;
    memcpy(&before, model, sizeof before);

    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    assert_true(caps.bts && caps.bts_cpl);
    assert_int_equal(caps.format, p->format);
    assert_int_equal(caps.baseline, p->baseline);
    assert_int_equal(caps.full_width_writes, p->full_width_writes);
    assert_int_equal(caps.perfmon_version, p->perfmon_version);
    assert_int_equal(caps.gp_counters, p->gp_counters);
    assert_int_equal(caps.fixed_counters, p->fixed_counters);
    assert_int_equal(caps.gp_width, p->width);
    assert_int_equal(caps.fixed_width, p->width);
    assert_true(caps.pebs_counters == p->pebs_counters);

    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:37:k,branches:50:k:plain", &config, error, sizeof error), 0);
    void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    ds = realloc(ds, ds_cpu_bytes());
    if (ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error))
        fail_msg("%s: %s", p->name, error);
    for (model_machine.fault_at = 1;; model_machine.fault_at++) {
        model_machine.accesses = 0;
        if (ds_start(ds, &refusal) == 0)
            break;
        if (model_machine.accesses < model_machine.fault_at)
            fail_msg("%s: step %d, MSR %x, %llx", p->name, refusal.step, refusal.msr,
                     (unsigned long long)refusal.value);
        expect_as_before(&before);
        ds_cpu_counts(ds, &counts);
        assert_int_equal(counts.faults, 0); /* none on the way back */
    }
    assert_true(model_machine.accesses < model_machine.fault_at);
    model_machine.fault_at = 0;
    assert_int_equal(model->global_status, 0);

    unsigned counter = p->baseline ? ds_counter_fixed(0) : 0;
    spacing = p->pdist & DS_BIT(counter) ? PERIOD : PERIOD + 1;
    drained_records = 0;
    drained_lost = 0;
    ds_resume(ds);
    run();
    ds_stop(ds);
    assert_int_equal(drained_records, INSTRUCTIONS / spacing);
    assert_int_equal(drained_lost, 0);
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.records, drained_records);
    assert_int_equal(counts.overflows, INSTRUCTIONS / 2 / PLAIN_PERIOD);
    assert_true(counts.pmis >= counts.overflows && counts.drains > drained_records / 6);
    assert_int_equal(counts.faults, 0);

    expect_as_before(&before);
    free(buffer);
}

/* ---- the order of writes, and a fault at each access ------------------------------------------------------------- */

static uint32_t order[MODEL_MACHINE_WRITES]; /* of the MSRs expected */
static unsigned ordered;

static void then(uint32_t msr)
{
    assert_true(ordered < MODEL_MACHINE_WRITES);
    order[ordered++] = msr;
}

static void expect_order(const char *preset, unsigned from)
{
    for (unsigned i = 0; i < ordered; i++)
        if (from + i >= model_machine.written || model_machine.writes[from + i].msr != order[i])
            fail_msg("%s: write %u is of MSR %x, not %x", preset, i, model_machine.writes[from + i].msr, order[i]);
    assert_int_equal(model_machine.written - from, ordered);
    ordered = 0;
}

/* Set-up as it has to be on this processor: off, area, LVTPC, what a record holds, counters, status, PEBS, counting. */
static void expect_set_up(const struct ds_model_preset *p, const struct ds_caps *caps)
{
    const uint32_t pmc = p->full_width_writes ? IA32_A_PMC0 : IA32_PMC0;
    then(IA32_PERF_GLOBAL_CTRL); /* 1 */
    then(IA32_PEBS_ENABLE);
    then(IA32_DEBUGCTL);
    then(IA32_DS_AREA);        /* 3 */
    then(MODEL_MACHINE_LVTPC); /* 4 */
    if (p->baseline)
        then(MSR_PEBS_DATA_CFG); /* 5 */
    for (unsigned i = 0; caps->errata.counters_stuck && i < 4; i++) {
        then(IA32_PERFEVTSEL0 + i); /* 6 */
        then(IA32_PMC0 + i);
    }
    for (unsigned i = 0; caps->errata.counters_stuck && i < 6; i++)
        then(i < 2 ? IA32_PERF_GLOBAL_CTRL : IA32_PERFEVTSEL0 + i - 2);
    for (unsigned i = 0; i < 2; i++) /* two events; with the baseline the first is fixed counter 0's */
        if (p->baseline && i == 0) {
            then(IA32_FIXED_CTR0);
        } else {
            then(pmc + i - p->baseline);
            then(IA32_PERFEVTSEL0 + i - p->baseline);
        }
    then(IA32_FIXED_CTR_CTRL);
    then(IA32_PERF_GLOBAL_OVF_CTRL); /* 7 */
    then(IA32_PEBS_ENABLE);          /* 8 */
    then(IA32_DEBUGCTL);             /* BTS: 1, its area, 5 */
    then(IA32_DEBUGCTL);
    then(IA32_DEBUGCTL);         /* TR, and */
    then(IA32_PERF_GLOBAL_CTRL); /* 9: counting */
    expect_order(p->name, 0);
}

static void bts_drained(void *context, uint32_t cpu, const struct ds_bts_drain *d)
{
    (void)context, (void)cpu, (void)d;
}

static void keep(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu, (void)d;
}

/* A session with records, branches, plain overflows, PMIs, a drain that somebody wants. Without PEBS whoever was there
 * before has the counters: then there are branches only, so that theirs stand still. */
static void work(bool pebs)
{
    struct arch_trap_frame frame = {0};
    ds_resume(ds);
    for (now = 1; now <= 300; now++) {
        const struct ds_model_branch branch = {.from = now, .to = now + 64};
        const unsigned events = 1u << DS_MODEL_INSTRUCTION | 1u << DS_MODEL_BRANCH;
        const struct ds_model_retired retired = {.events = pebs ? events : 0,
                                                 .branch = now % 8 ? NULL : &branch};
        assert_int_equal(ds_model_retire(model, &retired), 0);
        if (now == 200) {
            const uint64_t later[] = {41, 60};
            char error[160] = "";
            assert_int_equal(ds_reconfigure(ds, later, error, sizeof error), 0);
            ds_resume(ds);
        }
        if (now == 150) {
            ds_drain(ds, CAIRN_DS_RECONFIGURE);
            ds_pause(ds); /* a switch */
            ds_bts_drain(ds, CAIRN_DS_SWITCH, 0);
            ds_resume(ds);
        }
        if (!model_machine.pmi)
            continue;
        model_machine.pmi = false;
        ds_pause(ds);
        ds_pmi(ds);
        ds_resume_frame(ds, &frame);
    }
}

/* #GP at any single access, of set-up, PMI, drain, pause, resume or tear-down: the machine ends as it was, and what the
 * driver names is that access. */
static void every_fault(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = keep, .bts_drained = bts_drained};
    static struct ds_bts_record branches[512];
    for (size_t i = 0; i < DS_MODEL_PRESETS; i++) {
        const struct ds_model_preset *p = &ds_model_presets[i];
        bool met[4] = {false}; /* in set-up, PMI, between, tear-down */
        for (unsigned at = 0;; at++) {
            struct ds_config config = {.records = 4, .threshold = 1, .groups = MSR_PEBS_DATA_CFG_GPR};
            struct ds_caps caps;
            struct ds_refusal refusal = {0}, bts_refusal = {0};
            struct ds_counts counts;
            char error[160] = "";
            model_machine_reset(p, NULL, registers);
            leave_behind(p);
            struct ds_model before;
            memcpy(&before, model, sizeof before);
            assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
            assert_int_equal(
                ds_parse_events("INST_RETIRED.ANY:37:k,branches:50:k:plain", &config, error, sizeof error), 0);
            void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
            ds = realloc(ds, ds_cpu_bytes());
            assert_int_equal(ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error,
                                         sizeof error), 0);
            assert_int_equal(ds_bts_init(ds, DS_BTS_INTERRUPT, DS_BTS_ALL, 16, branches), 0);
            model_machine.accesses = model_machine.written = 0;
            model_machine.fault_at = at;

            int pebs = ds_start(ds, &refusal);
            if (pebs)
                expect_as_before(&before);
            int bts = ds_bts_start(ds, &bts_refusal);
            assert_true(!pebs || !bts); /* one fault, one refusal: the other comes up */
            if (!at) {
                ds_resume(ds);
                expect_set_up(p, &caps);
            }
            work(!pebs);
            ds_stop(ds);
            ds_cpu_counts(ds, &counts);
            expect_as_before(&before);
            free(buffer);
            if (!at) {
                assert_true(counts.faults == 0 && !pebs && !bts && counts.records > 5 && counts.overflows > 3);
                continue;
            }
            if (model_machine.accesses < at) {
                assert_true(!pebs && !bts && counts.faults == 0);
                break; /* there are no more */
            }
            const struct ds_refusal *said = pebs ? &refusal : bts ? &bts_refusal : &counts.fault;
            if (said->msr != model_machine.injected.msr || said->value != model_machine.injected.value || !said->during)
                fail_msg("%s: fault %u at MSR %x, but MSR %x is named", p->name, at, model_machine.injected.msr,
                         said->msr);
            assert_int_equal(counts.faults, !pebs && !bts);
            assert_int_equal(said->step != 0, pebs || bts);
            met[pebs || bts                           ? 0
                : strcmp(said->during, "the PMI handler") == 0 ? 1
                : strcmp(said->during, "the tear-down") == 0   ? 3
                                                               : 2] = true;
        }
        assert_true(met[0] && met[1] && met[2] && met[3]);
    }
}

/* ---- load latency, precise distribution, the frontend ------------------------------------------------------------ */

/* Where the processor has them the registers take what is programmed; elsewhere they are refused by name. */
static void special_events(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint16_t latency, distribution, frontend; /* the code; 0: refused */
        uint8_t latency_counter, distribution_counter;
    } rows[] = {
        {"penryn", 0, 0, 0, 0, 0},
        {"nehalem", 0x100B, 0, 0, 0, 0},
        {"sandybridge", 0x01CD, 0x01C0, 0, 3, 1},
        {"haswell", 0x01CD, 0x01C0, 0, 0, 1},
        {"skylake", 0x01CD, 0x01C0, 0x01C6, 0, 1},
        {"icelake", 0x01CD, 0x0100, 0x01C6, 0, 32},
        {"sapphirerapids", 0x01CD, 0x0100, 0x01C6, 1, 32},
        {"arrowlake", 0, 0x0100, 0, 0, 32},
        {"lunarlake", 0, 0x0100, 0, 0, 32},
    };
    _Static_assert(sizeof rows / sizeof rows[0] == DS_MODEL_PRESETS, "every preset");
    static const char *const specs[] = {"MEM_TRANS_RETIRED.LOAD_LATENCY:1009:ldlat=30:k",
                                        "INST_RETIRED.PREC_DIST:1009:k", "FRONTEND_RETIRED:1009:frontend=0x11:k"};
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = keep};
    for (size_t i = 0; i < DS_MODEL_PRESETS; i++)
        for (unsigned kind = 0; kind < 3; kind++) {
            const struct ds_model_preset *p = ds_model_preset(rows[i].preset);
            const uint16_t code = kind == 0 ? rows[i].latency : kind == 1 ? rows[i].distribution : rows[i].frontend;
            const unsigned counter = kind == 0 ? rows[i].latency_counter : kind == 1 ? rows[i].distribution_counter : 0;
            struct ds_config config = {.records = 4, .threshold = 4};
            struct ds_caps caps;
            struct ds_refusal refusal;
            char error[200] = "";
            model_machine_reset(p, NULL, registers);
            set(IA32_FIXED_CTR_CTRL, 0); /* as it is: what the model derives from its registers is up to date */
            struct ds_model before;
            memcpy(&before, model, sizeof before);
            assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
            assert_int_equal(ds_parse_events(specs[kind], &config, error, sizeof error), 0);
            void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
            ds = realloc(ds, ds_cpu_bytes());
            int e = ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error);
            assert_int_equal(e, code ? 0 : -EINVAL);
            if (!code) {
                assert_non_null(strstr(error, "not an event of this processor"));
                assert_non_null(strstr(error, config.event[0].name));
                free(buffer);
                continue;
            }
            if (ds_start(ds, &refusal))
                fail_msg("%s: %s: MSR %x", p->name, specs[kind], refusal.msr);
            assert_int_equal(ds_event_counter(ds, 0), counter);
            if (counter < DS_COUNTER_FIXED)
                assert_int_equal(model->perfevtsel[counter] & 0xFFFF, code);
            else
                assert_int_equal(model->fixed_ctr_ctrl & 0xF, 1);
            assert_int_equal(model->ld_lat, kind == 0 ? 30 : 0);
            assert_int_equal(model->frontend, kind == 2 ? 0x11 : 0);
            const uint64_t latency = kind == 0 && !p->baseline ? DS_BIT(32 + counter) : 0;
            assert_true(model->pebs_enable == (DS_BIT(counter) | latency));
            const bool helped = kind == 0 && strcmp(p->name, "sapphirerapids") == 0; /* by another counter's event */
            ds_resume(ds);
            assert_true(model->global_ctrl == (DS_BIT(counter) | helped));
            if (helped)
                assert_int_equal(model->perfevtsel[0], 0x428203);
            ds_stop(ds);
            expect_as_before(&before);
            free(buffer);
        }
}

/* One register, one event; those that are bound to a counter get it whatever the order. */
static void special_events_beside_others(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *events, *error;
    } rows[] = {
        {"skylake", "branches:9,branches:9,INST_RETIRED.PREC_DIST:9", NULL},
        {"skylake", "INST_RETIRED.PREC_DIST:9,INST_RETIRED.PREC_DIST:9",
         "no PEBS counter left for INST_RETIRED.PREC_DIST"},
        {"sandybridge", "branches:9,branches:9,branches:9,MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9", NULL},
        {"icelake", "instructions:9,INST_RETIRED.PREC_DIST:9", NULL},
        {"skylake", "MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9,MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9",
         "MEM_TRANS_RETIRED.LOAD_LATENCY: once only: there is one MSR_PEBS_LD_LAT"},
        {"icelake", "FRONTEND_RETIRED:9:frontend=1,FRONTEND_RETIRED:9:frontend=2", "there is one MSR_PEBS_FRONTEND"},
        {"sapphirerapids",
         "branches:9,branches:9,branches:9,branches:9,branches:9,branches:9,branches:9,"
         "MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9",
         "no counter left for what MEM_TRANS_RETIRED.LOAD_LATENCY needs beside it"},
    };
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = keep};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_config config = {.records = 1, .threshold = 1};
        struct ds_caps caps;
        char error[200] = "";
        model_machine_reset(ds_model_preset(rows[i].preset), NULL, registers);
        assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
        assert_int_equal(ds_parse_events(rows[i].events, &config, error, sizeof error), 0);
        ds = realloc(ds, ds_cpu_bytes());
        int e = ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, area, error, sizeof error);
        if (e != (rows[i].error ? -EINVAL : 0) || !strstr(error, rows[i].error ? rows[i].error : ""))
            fail_msg("%s, %s: '%s'", rows[i].preset, rows[i].events, error);
    }
    struct ds_config config = {.records = 1, .threshold = 1}; /* a Broadwell's periods */
    struct ds_caps caps;
    char error[200] = "";
    model_machine_reset(ds_model_preset("haswell"), NULL, registers);
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    caps.errata.period_64 = true;
    for (uint64_t period = 1; period < 300; period++) {
        assert_int_equal(ds_parse_events("INST_RETIRED.PREC_DIST:9", &config, error, sizeof error), 0);
        config.event[0].period = period;
        assert_int_equal(ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, area, error, sizeof error),
                         period == 128 || period == 192 || period == 256 ? 0 : -EINVAL);
    }
}

/* ---- other periods on the way ------------------------------------------------------------------------------------ */

static uint64_t spaced_from, spaced_by; /* the event of the last record, and those between two */

static void spaced(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    uint32_t size;
    for (uint32_t at = 0; at < d->bytes; at += size) {
        const uint8_t *record = (const uint8_t *)d->records + at;
        size = ds_pebs_record_size(d->format, record, d->bytes - at);
        const uint64_t event = d->format >= 4 ? ((const struct ds_pebs_basic *)(const void *)record)->eventing_ip
                                              : ((const struct ds_pebs_fmt0 *)(const void *)record)->rip - 1;
        assert_int_equal(event - spaced_from, spaced_by);
        spaced_from = event;
    }
}

static void other_periods(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = spaced};
    for (size_t i = 0; i < DS_MODEL_PRESETS; i++) {
        const struct ds_model_preset *p = &ds_model_presets[i];
        struct ds_config config = {.records = 20, .threshold = 20};
        struct ds_caps caps;
        struct ds_refusal refusal;
        struct ds_counts counts;
        char error[160] = "";
        model_machine_reset(p, NULL, registers);
        assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
        assert_int_equal(ds_parse_events("INST_RETIRED.ANY:100", &config, error, sizeof error), 0);
        void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
        ds = realloc(ds, ds_cpu_bytes());
        assert_int_equal(ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error,
                                     sizeof error), 0);
        assert_int_equal(ds_start(ds, &refusal), 0);
        ds_resume(ds);
        const bool pdist = p->pdist & DS_BIT(p->baseline ? ds_counter_fixed(0) : 0);
        spaced_from = 0;
        spaced_by = pdist ? 100 : 101;
        const struct ds_model_retired retired = {.events = 1u << DS_MODEL_INSTRUCTION};
        for (now = 1; now <= 500; now++) { /* in the end the counter is on its way, or armed */
            assert_int_equal(ds_model_retire(model, &retired), 0);
            if (now != 300)
                continue;
            const uint64_t later[] = {33};
            assert_int_equal(ds_reconfigure(ds, later, error, sizeof error), 0);
            assert_int_equal(spaced_from, pdist ? 300 : 202);
            spaced_from = 300; /* from here on anew */
            spaced_by = pdist ? 33 : 34;
            ds_resume(ds);
        }
        ds_stop(ds);
        ds_cpu_counts(ds, &counts);
        assert_int_equal(counts.records, (pdist ? 3 : 2) + 200 / spaced_by);
        assert_int_equal(counts.faults, 0);
        free(buffer);
    }
}

/* ---- the smallest buffer ----------------------------------------------------------------------------------------- */

static unsigned full_drains;

/* One record fills it, and a full buffer's loss nobody knows. */
static void drained_full(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    assert_true(d->lost == (d->bytes ? CAIRN_DS_LOST_UNKNOWN : 0));
    full_drains += d->bytes != 0;
}

/* A record as often as the processor can, a PMI for each: every one is drained, and the handler leaves nothing behind
 * that would bring it back. */
static void smallest_buffer(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained_full};
    for (size_t i = 0; i < DS_MODEL_PRESETS; i++) {
        const struct ds_model_preset *p = &ds_model_presets[i];
        struct ds_config config = {.records = 1, .threshold = 1};
        struct ds_caps caps;
        struct ds_refusal refusal;
        struct ds_counts counts;
        char error[160] = "";
        model_machine_reset(p, NULL, registers);
        assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
        const uint64_t period = caps.errata.period_32 ? 32 : 1; /* the shortest */
        assert_int_equal(ds_parse_events(period == 1 ? "INST_RETIRED.ANY:1:k" : "INST_RETIRED.ANY:32:k", &config, error,
                                         sizeof error), 0);
        void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
        ds = realloc(ds, ds_cpu_bytes());
        if (ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error))
            fail_msg("%s: %s", p->name, error);
        assert_int_equal(ds_start(ds, &refusal), 0);
        full_drains = 0;
        ds_resume(ds);
        run();
        ds_stop(ds);
        ds_cpu_counts(ds, &counts);
        spacing = p->pdist & DS_BIT(p->baseline ? ds_counter_fixed(0) : 0) ? period : period + 1;
        assert_int_equal(full_drains, INSTRUCTIONS / spacing);
        assert_int_equal(counts.records, full_drains);
        assert_int_equal(counts.pmis, full_drains);
        assert_true(counts.lost_unknown && counts.lost == 0 && counts.faults == 0);
        free(buffer);
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    unsigned event; /* of the model: what it counts */
} events[] = {
    {"INST_RETIRED.ANY", DS_MODEL_INSTRUCTION},
    {"INST_RETIRED.ANY_P", DS_MODEL_INSTRUCTION},
    {"CPU_CLK_UNHALTED.THREAD", DS_MODEL_INSTRUCTION},
    {"CPU_CLK_UNHALTED.THREAD_P", DS_MODEL_INSTRUCTION},
    {"BR_INST_RETIRED.ALL_BRANCHES", DS_MODEL_BRANCH},
    {"BR_INST_RETIRED.CONDITIONAL", DS_MODEL_BRANCH_CONDITIONAL},
    {"BR_INST_RETIRED.NEAR_TAKEN", DS_MODEL_BRANCH_TAKEN},
    {"BR_INST_RETIRED.NEAR_CALL", DS_MODEL_NEAR_CALL},
    {"BR_INST_RETIRED.NEAR_RETURN", DS_MODEL_NEAR_RETURN},
    {"BR_INST_RETIRED.FAR_BRANCH", DS_MODEL_FAR_BRANCH},
};
#define EVENTS (sizeof events / sizeof events[0])

/* What the driver programs for each event counts that one and no other, or the driver refuses it by name. */
static unsigned count_each(const struct ds_model_preset *p, const char *plain)
{
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    struct ds_config config = {.records = 8, .threshold = 8};
    struct ds_caps caps;
    struct ds_refusal refusal;
    char spec[64], error[160] = "";
    unsigned taken = 0;
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    void *buffer = aligned_alloc(4096, 4096);
    ds = realloc(ds, ds_cpu_bytes());
    for (size_t i = 0; i < EVENTS; i++) {
        snprintf(spec, sizeof spec, "%s:%u%s", events[i].name, 1000000, plain);
        assert_int_equal(ds_parse_events(spec, &config, error, sizeof error), 0);
        if (ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error)) {
            assert_non_null(strstr(error, events[i].name));
            continue;
        }
        taken |= 1u << i;
        assert_int_equal(ds_start(ds, &refusal), 0);
        ds_resume(ds);
        unsigned counter = ds_event_counter(ds, 0);
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++) {
            const struct ds_model_retired retired = {.events = 1u << e};
            uint64_t before = model->value[counter];
            assert_int_equal(ds_model_retire(model, &retired), 0);
            if (model->value[counter] - before != (e == events[i].event))
                fail_msg("%s: %s: event %u", p->name, spec, e);
        }
        ds_stop(ds);
    }
    free(buffer);
    return taken;
}

static void each_event(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        unsigned plain, precise; /* bits of `events` */
    } rows[] = {
        {"penryn", 0x05F, 0x003},         {"nehalem", 0x0BF, 0x0B3},   {"sandybridge", 0x3FF, 0x3F3},
        {"haswell", 0x3FF, 0x3F3},        {"skylake", 0x3FF, 0x3F3},   {"icelake", 0x3FF, 0x3FF},
        {"sapphirerapids", 0x3FF, 0x3FF}, {"arrowlake", 0x3FF, 0x3FF}, {"lunarlake", 0x3FF, 0x3FF},
    };
    _Static_assert(sizeof rows / sizeof rows[0] == DS_MODEL_PRESETS, "every preset");
    for (size_t i = 0; i < DS_MODEL_PRESETS; i++) {
        const struct ds_model_preset *p = ds_model_preset(rows[i].preset);
        assert_non_null(p);
        model_machine_reset(p, NULL, registers);
        assert_int_equal(count_each(p, ":plain"), rows[i].plain);
        assert_int_equal(count_each(p, ""), rows[i].precise);
    }
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static uint8_t taken[1024]; /* the records of the last drain */
static uint32_t taken_bytes;

static void take(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    assert_true(d->bytes <= sizeof taken);
    memcpy(taken, d->bytes ? d->records : "", d->bytes);
    taken_bytes = d->bytes;
}

/* Format 6: every counter there is, as it stands when the record is written, behind the memory and register groups. */
static void counters_in_the_record(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = take};
    struct ds_config config = {.records = 2, .threshold = 2};
    struct ds_caps caps;
    struct ds_refusal refusal;
    char error[160] = "";
    model_machine_reset(ds_model_preset("lunarlake"), NULL, registers);
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:4,branches:100:plain", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr,mem,counters", &config, error, sizeof error), 0);
    const uint32_t size = 32 + 32 + 144 + 16 + 14 * 8;
    assert_int_equal(ds_record_size(&caps, &config), size);
    void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    ds = realloc(ds, ds_cpu_bytes());
    if (ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(ds_start(ds, &refusal), 0);
    ds_resume(ds);
    for (now = 1; now <= 5; now++) { /* the fifth writes: the fourth has armed */
        const struct ds_model_retired retired = {.events = 1u << DS_MODEL_INSTRUCTION |
                                                           (now & 1 ? 1u << DS_MODEL_BRANCH : 0)};
        assert_int_equal(ds_model_retire(model, &retired), 0);
    }
    ds_pause(ds);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(taken_bytes, size);
    const struct ds_pebs_basic *basic = (const void *)taken;
    assert_int_equal(ds_pebs_head_size(basic->head), size);
    assert_int_equal(basic->eventing_ip, 5);
    const struct ds_pebs_gpr *gpr = (const void *)(taken + 32 + 32);
    assert_int_equal(gpr->rip, 6);
    const struct ds_pebs_cntr *head = (const void *)(gpr + 1);
    assert_int_equal(head->gp_mask, 0x3FF);
    assert_int_equal(head->fixed_mask, 0xF);
    const uint64_t *values = (const void *)(head + 1);
    assert_true(values[0] == DS_BIT(48) - 100 + 3); /* branches so far */
    assert_int_equal(values[10], 1);                /* instructions since the overflow, not reloaded yet */
    ds_stop(ds);

    model_machine_reset(ds_model_preset("arrowlake"), NULL, registers);
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error,
                                 sizeof error), -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': counters: records of this processor (CPU 3, format 5) have none");
    model_machine_reset(ds_model_preset("skylake"), NULL, registers);
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    config.groups = MSR_PEBS_DATA_CFG_MEMINFO;
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error,
                                 sizeof error), -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': mem: records of this processor (CPU 3, format 3) have none");
    config.groups = MSR_PEBS_DATA_CFG_XMM | MSR_PEBS_DATA_CFG_LBR;
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error,
                                 sizeof error), -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': xmm: records of this processor (CPU 3, format 3) have none");
    config.groups = MSR_PEBS_DATA_CFG_LBR;
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error,
                                 sizeof error), -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': lbr: records of this processor (CPU 3, format 3) have none");
    free(buffer);
}

int main(void)
{
    struct CMUnitTest tests[DS_MODEL_PRESETS + 7];
    for (size_t i = 0; i < DS_MODEL_PRESETS; i++)
        tests[i] =
            (struct CMUnitTest){ds_model_presets[i].name, session, NULL, NULL, (void *)(uintptr_t)&ds_model_presets[i]};
    tests[DS_MODEL_PRESETS] = (struct CMUnitTest)cmocka_unit_test(each_event);
    tests[DS_MODEL_PRESETS + 1] = (struct CMUnitTest)cmocka_unit_test(counters_in_the_record);
    tests[DS_MODEL_PRESETS + 2] = (struct CMUnitTest)cmocka_unit_test(smallest_buffer);
    tests[DS_MODEL_PRESETS + 3] = (struct CMUnitTest)cmocka_unit_test(every_fault);
    tests[DS_MODEL_PRESETS + 4] = (struct CMUnitTest)cmocka_unit_test(other_periods);
    tests[DS_MODEL_PRESETS + 5] = (struct CMUnitTest)cmocka_unit_test(special_events);
    tests[DS_MODEL_PRESETS + 6] = (struct CMUnitTest)cmocka_unit_test(special_events_beside_others);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    return failed;
}
