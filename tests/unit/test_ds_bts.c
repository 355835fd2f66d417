/* SPDX-License-Identifier: MIT */
/*
 * Branch tracing: the driver on a machine whose registers are the model's, so that what it programs also records. The
 * numbered order, with PEBS and without; what a fault leaves behind; what is drained, oldest first, wraps included;
 * loss exact where the machine is stepped, unknown where it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/errno.h"
#include "tests/unit/model_machine.h"

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static struct ds_model *const model = &model_machine.model;
static struct ds_machine machine;

/* ---- what is drained --------------------------------------------------------------------------------------------- */

static uint64_t area[512] __attribute__((aligned(4096)));
static struct ds_bts_record *buffer;
static struct ds_cpu *ds;
static struct ds_caps caps;

static unsigned pebs_drains, bts_drains;
static struct ds_bts_drain last;
static uint64_t taken[4096]; /* branch numbers, in the order they were handed over */
static unsigned count;
static bool panic_in_drain;
static uint32_t throttle; /* PMIs within a tick, for prepare */

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu, (void)d;
    pebs_drains++;
}

static void bts_drained(void *context, uint32_t cpu, const struct ds_bts_drain *d)
{
    (void)context;
    assert_int_equal(cpu, 3);
    assert_ptr_equal(d->area, area);
    assert_true(model->bts_records == 0 || model_machine.held || !(model->debugctl & IA32_DEBUGCTL_TR));
    last = *d;
    bts_drains++;
    unsigned before = count;
    for (unsigned r = 0; r < 2; r++)
        for (uint32_t i = 0; i < d->run[r].count; i++) {
            const struct ds_bts_record *b = &d->run[r].at[i];
            assert_true(b >= buffer && b->to == b->from + 0x1000 && count < 4096);
            taken[count++] = b->from;
        }
    assert_int_equal(count - before, d->records);
    if (panic_in_drain) {
        panic_in_drain = false;
        ds_drain_panic(ds);
    }
}

static const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .bts_drained = bts_drained};

/* A machine of `preset` where everything is to be set up. `events`: of PEBS, NULL none. */
static void prepare(const char *preset, const struct ds_model_policy *policy, bool stepped, const char *events)
{
    struct ds_config config = {.records = 8, .threshold = 6, .throttle = throttle};
    char error[160] = "";
    model_machine_reset(ds_model_preset(preset), policy, NULL);
    machine = stepped ? model_machine_stepped : model_machine_hw;
    pebs_drains = bts_drains = count = 0;
    panic_in_drain = false;
    ds_detect(&machine, &caps);
    model_machine.accesses = 0;
    if (events && ds_parse_events(events, &config, error, sizeof error))
        fail_msg("%s", error);
    static uint64_t pebs[2048];
    ds = realloc(ds, ds_cpu_bytes());
    memset(area, events ? 0 : 0xA5, sizeof area);
    if (ds_cpu_init(ds, 3, &machine, &caps, &config, &hooks, area, pebs, error, sizeof error))
        fail_msg("%s", error);
}

/* Everything is up, and runs. */
static void begin(const struct ds_model_policy *policy, bool stepped, enum ds_bts_mode mode, uint32_t records)
{
    struct ds_refusal refusal;
    prepare("icelake", policy, stepped, "INST_RETIRED.ANY:100000");
    free(buffer);
    buffer = calloc(1, ds_bts_buffer_bytes(records));
    assert_int_equal(ds_bts_init(ds, mode, DS_BTS_ALL, records, buffer), 0);
    assert_int_equal(ds_start(ds, &refusal), 0);
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    assert_int_equal(last.reason, CAIRN_DS_START);
    ds_resume(ds);
}

static void unbuffered(enum ds_bts_mode mode, uint32_t records)
{
    free(buffer);
    buffer = calloc(1, ds_bts_buffer_bytes(records));
    assert_int_equal(ds_bts_init(ds, mode, DS_BTS_ALL, records, buffer), 0);
}

/* Branch number `i`. */
static void branch(uint64_t i)
{
    const struct ds_model_branch b = {.from = i, .to = i + 0x1000};
    const struct ds_model_retired retired = {
        .events = 1u << DS_MODEL_INSTRUCTION | 1u << DS_MODEL_BRANCH | 1u << DS_MODEL_BRANCH_TAKEN, .branch = &b};
    assert_int_equal(ds_model_retire(model, &retired), 0);
}

/* The interrupt that is due, if one is. */
static void interrupt(void)
{
    struct arch_trap_frame frame = {0};
    if (!model_machine.pmi)
        return;
    model_machine.pmi = false;
    assert_true(ds_pmi(ds));
    ds_resume_frame(ds, &frame);
}

static void expect_writes(const struct model_machine_write *expected, unsigned n, unsigned from)
{
    for (unsigned i = 0; i < n && from + i < model_machine.written; i++)
        if (model_machine.writes[from + i].msr != expected[i].msr ||
            model_machine.writes[from + i].value != expected[i].value)
            fail_msg("write %u: MSR %x = %llx, not %x = %llx", i, model_machine.writes[from + i].msr,
                     (unsigned long long)model_machine.writes[from + i].value, expected[i].msr,
                     (unsigned long long)expected[i].value);
    assert_int_equal(model_machine.written - from, n);
}
#define EXPECT(list, from) expect_writes(list, sizeof(list) / sizeof(list)[0], from)

#define TR    IA32_DEBUGCTL_TR
#define BTS   IA32_DEBUGCTL_BTS
#define BTINT IA32_DEBUGCTL_BTINT

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void order_beside_pebs(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    prepare("icelake", NULL, false, "INST_RETIRED.ANY:1000");
    unbuffered(DS_BTS_INTERRUPT, 64);
    assert_int_equal(model_machine.written, 0);
    assert_int_equal(ds_start(ds, &refusal), 0);
    unsigned n = model_machine.written;
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    const struct model_machine_write start[] = {{IA32_DEBUGCTL, 0}, {IA32_DEBUGCTL, BTS | BTINT}}; /* 1 and 5 */
    EXPECT(start, n);
    assert_int_equal(area[0], (uintptr_t)buffer);
    assert_int_equal(area[1], (uintptr_t)buffer);
    assert_int_equal(area[2], (uintptr_t)(buffer + 64) + 1);
    assert_int_equal(area[3], (uintptr_t)(buffer + 60)); /* a sixteenth is left */
    assert_int_not_equal(area[4], 0);                    /* PEBS' own is still there */
    assert_int_equal(last.mode, DS_BTS_INTERRUPT);
    n = model_machine.written;
    ds_resume(ds);
    const uint64_t counters = DS_BIT(32);
    const struct model_machine_write resume[] = {{IA32_DEBUGCTL, TR | BTS | BTINT}, {IA32_PERF_GLOBAL_CTRL, counters}};
    EXPECT(resume, n);
    n = model_machine.written;
    ds_pause(ds);
    const struct model_machine_write pause[] = {{IA32_DEBUGCTL, BTS | BTINT}, {IA32_PERF_GLOBAL_CTRL, 0}};
    EXPECT(pause, n);
    n = model_machine.written;
    ds_stop(ds);
    const struct model_machine_write stop[] = {{IA32_DEBUGCTL, 0}, {IA32_DEBUGCTL, 0}, {IA32_PERF_GLOBAL_OVF_CTRL, 0}};
    model_machine.written = n + 3; /* then PEBS goes down: test_ds_driver.c */
    EXPECT(stop, n);
    assert_int_equal(last.reason, CAIRN_DS_STOP);
}

static void order_without_pebs(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    const uint64_t left_on = IA32_DEBUGCTL_LBR | TR | BTS | BTINT;
    model_machine.unavailable = IA32_MISC_ENABLE_PEBS_UNAVAIL;
    prepare("haswell", NULL, false, NULL);
    model_machine.unavailable = 0;
    assert_false(caps.pebs);
    assert_true(caps.bts);
    assert_non_null(strstr(caps.reason, "PEBS_UNAVAIL"));
    assert_string_equal(caps.bts_reason, "the processor has BTS");
    unbuffered(DS_BTS_CIRCULAR, 64);
    ds_model_wrmsr(model, IA32_DEBUGCTL, left_on);
    assert_int_equal(ds_start(ds, &refusal), 0);
    assert_int_equal(model_machine.accesses, 0);
    unsigned n = model_machine.written;
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    const struct model_machine_write start[] = {
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR},        /* 1 */
        {IA32_DS_AREA, (uintptr_t)area},           /* 3 */
        {MODEL_MACHINE_LVTPC, ARCH_VECTOR_PMI},                  /* 4 */
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS},  /* 5 */
    };
    EXPECT(start, n);
    assert_int_equal(area[3], (uintptr_t)(buffer + 66)); /* out of reach */
    for (unsigned i = 4; i < 512; i++)
        assert_int_equal(area[i], 0);
    n = model_machine.written;
    ds_resume(ds);
    for (uint64_t i = 1; i <= 3; i++)
        branch(i);
    assert_false(ds_pmi(ds)); /* not ours: nothing was reached */
    struct arch_trap_frame frame = {0};
    ds_resume_frame(ds, &frame);
    ds_pause(ds);
    ds_resume_user(ds, &frame);
    ds_stop(ds);
    const struct model_machine_write run[] = {
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | TR | BTS}, {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS},
        {MODEL_MACHINE_LVTPC, ARCH_VECTOR_PMI},        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | TR | BTS},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS},      {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | TR | BTS},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS}, /* held, then 5 to 1 */
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR},            {MODEL_MACHINE_LVTPC, LVTPC_RESET},
        {IA32_DS_AREA, 0},                             {IA32_DEBUGCTL, left_on},
    };
    EXPECT(run, n);
    assert_int_equal(count, 3);
    assert_int_equal(pebs_drains, 0);
    n = model_machine.written;
    ds_pause(ds); /* nothing runs any more: */
    ds_resume(ds);
    ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 0);
    ds_stop(ds);
    ds_drain_panic(ds);
    assert_int_equal(model_machine.written, n);
    assert_int_equal(bts_drains, 2);
}

static void pebs_without_bts(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    model_machine.unavailable = IA32_MISC_ENABLE_BTS_UNAVAIL;
    prepare("haswell", NULL, false, "INST_RETIRED.ANY:1000");
    model_machine.unavailable = 0;
    assert_true(caps.pebs);
    assert_false(caps.bts);
    assert_non_null(strstr(caps.bts_reason, "BTS_UNAVAIL"));
    struct ds_bts_record two[2];
    assert_int_equal(ds_bts_init(ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 1, two), -EINVAL);
    assert_int_equal(ds_start(ds, &refusal), 0);
    ds_resume(ds);
    ds_stop(ds);
    assert_int_equal(pebs_drains, 2);
    assert_int_equal(bts_drains, 0);
    prepare("haswell", NULL, false, "INST_RETIRED.ANY:1000");
    assert_int_equal(ds_bts_init(ds, DS_BTS_OFF, DS_BTS_ALL, 1, two), -EINVAL);
    assert_int_equal(ds_bts_init(ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 0, two), -EINVAL);
    ds_bts_drain(NULL, CAIRN_DS_SWITCH, 0);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* All registers the driver may have touched. */
struct picture { /* without padding: compared as bytes */
    uint64_t debugctl, ds_area, global_ctrl, pebs_enable, fixed, lvtpc;
};

static struct picture picture(void)
{
    return (struct picture){model->debugctl,    model->ds_area,        model->global_ctrl,
                            model->pebs_enable, model->fixed_ctr_ctrl, model->lvtpc};
}

static void every_fault_undoes_all(void **state)
{
    (void)state;
    for (size_t p = 0; p < DS_MODEL_PRESETS; p++)
        for (int with_pebs = 0; with_pebs < 2; with_pebs++) {
            int previous = 0, steps = 0;
            for (unsigned at = 1;; at++) {
                struct ds_refusal refusal;
                prepare(ds_model_presets[p].name, NULL, false, with_pebs ? "INST_RETIRED.ANY:1000" : NULL);
                unbuffered(DS_BTS_INTERRUPT, 8);
                assert_int_equal(ds_model_wrmsr(model, IA32_DEBUGCTL, TR), 0);
                assert_int_equal(ds_start(ds, &refusal), 0);
                const struct picture before = picture();
                model_machine.accesses = 0;
                model_machine.fault_at = at;
                int e = ds_bts_start(ds, &refusal);
                if (!e) {
                    assert_true(model_machine.accesses < at);
                    break;
                }
                assert_int_equal(e, -EFAULT);
                assert_true(refusal.step >= previous);
                steps += refusal.step != previous;
                previous = refusal.step;
                const struct picture after = picture();
                assert_memory_equal(&after, &before, sizeof after);
                for (unsigned i = 0; i < 4; i++)
                    assert_int_equal(area[i], 0);
                assert_int_equal(bts_drains, 0);
                ds_resume(ds); /* PEBS runs on, if it was there */
                assert_int_equal(model->global_ctrl != before.global_ctrl, with_pebs);
                branch(1);
                ds_stop(ds);
                assert_int_equal(pebs_drains, with_pebs ? 2 : 0);
                assert_int_equal(model->debugctl, TR);
            }
            assert_int_equal(steps, with_pebs ? 2 : 3); /* 1, 3 without PEBS, 5 */
        }
}

static void bts_after_pebs_was_refused(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    prepare("skylake", NULL, false, "INST_RETIRED.ANY:1000");
    unbuffered(DS_BTS_INTERRUPT, 8);
    model_machine.accesses = 0;
    model_machine.fault_at = 9;
    assert_int_equal(ds_start(ds, &refusal), -EFAULT);
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    assert_int_equal(model->ds_area, (uintptr_t)area);
    assert_int_equal(area[4], 0);
    unsigned n = model_machine.written;
    ds_resume(ds);
    for (uint64_t i = 1; i <= 11; i++) {
        branch(i);
        interrupt();
    }
    ds_stop(ds);
    for (unsigned i = n; i < model_machine.written; i++)
        assert_true(model_machine.writes[i].msr == IA32_DEBUGCTL || model_machine.writes[i].msr == IA32_DS_AREA ||
                    model_machine.writes[i].msr == MODEL_MACHINE_LVTPC);
    assert_int_equal(count, 11);
    assert_int_equal(pebs_drains, 0);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.pmis, 1);
    assert_int_equal(counts.faults, 0);
}

static void a_fault_while_running_is_counted(void **state)
{
    (void)state;
    begin(NULL, false, DS_BTS_INTERRUPT, 8);
    model_machine.fault_at = model_machine.accesses + 2; /* GLOBAL_CTRL, then DEBUGCTL */
    ds_pause(ds);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.faults, 1);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Every mode, buffer, number of branches and reading of the manual: what is handed over is the newest (circular, or a
 * full buffer that wraps) or the oldest of what was taken, in order, and none is unaccounted for. */
static void every_wrap(void **state)
{
    (void)state;
    for (unsigned fit = DS_MODEL_END_LE; fit <= DS_MODEL_START_LT; fit++)
        for (unsigned wraps = 0; wraps < 2; wraps++)
            for (unsigned mode = DS_BTS_CIRCULAR; mode <= DS_BTS_INTERRUPT; mode++)
                for (uint32_t records = 1; records < 6; records++)
                    for (unsigned n = 0; n < 24; n++)
                        for (unsigned stepped = 0; stepped < 2; stepped++) {
                            const struct ds_model_policy policy = {.fit = (uint8_t)fit, .bts_full_wraps = wraps};
                            begin(&policy, stepped, mode, records);
                            const unsigned branches[] = {n, n, 1}; /* no epoch knows anything of those before */
                            uint64_t sum = 0, lost = 0;
                            for (uint64_t epoch = 0; epoch < 3; epoch++) {
                                const unsigned b = branches[epoch];
                                count = 0;
                                for (uint64_t i = 1; i <= b; i++)
                                    branch(i);
                                ds_pause(ds);
                                ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 7);
                                ds_resume(ds);
                                assert_int_equal(last.epoch, epoch);
                                assert_int_equal(last.tsc, 7);
                                uint32_t room = records + (fit == DS_MODEL_START_LT);
                                bool newest = mode == DS_BTS_CIRCULAR || wraps;
                                assert_int_equal(count, b < room ? b : room);
                                for (unsigned i = 0; i < count; i++)
                                    assert_int_equal(taken[i], (newest ? b - count : 0) + i + 1);
                                if (stepped)
                                    assert_true(last.lost == b - count);
                                else
                                    assert_true(last.lost == (b < records ? 0 : CAIRN_DS_LOST_UNKNOWN));
                                assert_int_equal(area[1], (uintptr_t)buffer);
                                sum += count;
                                lost += b - count;
                            }
                            struct ds_bts_counts c;
                            ds_bts_cpu_counts(ds, &c);
                            assert_int_equal(c.drains, 3);
                            assert_int_equal(c.records, sum);
                            assert_int_equal(c.lost, stepped ? lost : 0);
                            assert_int_equal(c.lost_unknown, !stepped && (n >= records || records == 1));
                        }
}

/* With the interrupt taken at once nothing is lost, down to a buffer of one record. */
static void interrupts_keep_up(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 15, 16, 17, 64, 170, 171}; /* 170 and the slack record: 4104 bytes */
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int stepped = 0; stepped < 2; stepped++) {
            begin(NULL, stepped, DS_BTS_INTERRUPT, sizes[s]);
            unsigned started = pebs_drains, interrupts = 0;
            for (uint64_t i = 1; i <= 500; i++) {
                branch(i);
                interrupts += model_machine.pmi;
                interrupt();
            }
            ds_stop(ds);
            assert_int_equal(count, 500);
            for (unsigned i = 0; i < count; i++)
                assert_int_equal(taken[i], i + 1);
            assert_int_equal(interrupts, 500 / (sizes[s] - sizes[s] / 16));
            assert_int_equal(pebs_drains, started + 1); /* its stop: no drain of BTS is one of PEBS */
            struct ds_bts_counts c;
            ds_bts_cpu_counts(ds, &c);
            assert_int_equal(c.lost, 0);
            /* A buffer that was full to the brim may have been fuller: only the steps know. */
            assert_int_equal(c.lost_unknown, !stepped && sizes[s] < 16);
        }
}

static void circular_never_interrupts(void **state)
{
    (void)state;
    begin(NULL, false, DS_BTS_CIRCULAR, 3);
    for (uint64_t i = 1; i <= 100; i++)
        branch(i);
    assert_false(model_machine.pmi);
}

/* The threshold of BTS in GLOBAL_STATUS, where a processor shows it there: acknowledged, and no drain of PEBS. */
static void status_bit_of_bts(void **state)
{
    (void)state;
    const struct ds_model_policy policy = {.bts_sets_ovf_buf = true};
    begin(&policy, false, DS_BTS_INTERRUPT, 2);
    branch(1);
    branch(2);
    assert_true(model->global_status & IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    interrupt();
    assert_int_equal(count, 2);
    assert_int_equal(last.reason, CAIRN_DS_THRESHOLD);
    assert_int_equal(model->global_status, 0);
    assert_int_equal(pebs_drains, 1);
    assert_true(model->debugctl & TR);
    assert_false(model->lvtpc & LVTPC_MASKED);
}

static void both_thresholds_in_one_interrupt(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    prepare("icelake", NULL, false, "BR_INST_RETIRED.ALL_BRANCHES:1");
    unbuffered(DS_BTS_INTERRUPT, 7);
    assert_int_equal(ds_start(ds, &refusal), 0);
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    ds_resume(ds);
    for (uint64_t i = 1; i <= 12; i++) /* a PEBS record with every second; its threshold is 6 of them */
        branch(i);
    interrupt();
    assert_int_equal(pebs_drains, 2);
    assert_int_equal(bts_drains, 2);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.pmis, 1);
    assert_int_equal(counts.records, 6);
}

/* Too many PMIs within a tick: neither branches nor records until the next, whatever holds the counters; then both. */
static void a_storm_holds_both(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    struct arch_trap_frame frame = {0};
    struct ds_counts counts;
    struct ds_bts_counts branches;
    for (int stepped = 0; stepped < 2; stepped++) {
        throttle = 2;
        prepare("icelake", NULL, stepped, "BR_INST_RETIRED.ALL_BRANCHES:1");
        throttle = 0;
        unbuffered(DS_BTS_INTERRUPT, 16);
        assert_int_equal(ds_start(ds, &refusal), 0);
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        ds_resume(ds);
        uint64_t i = 1;
        while (!model->records || bts_drains < 2) { /* BTS' at 15, PEBS' at 12 */
            branch(i++);
            interrupt();
        }
        assert_int_equal(last.reason, CAIRN_DS_THROTTLE);
        ds_pause(ds); /* other periods meanwhile: held all the same */
        const uint64_t same[] = {1};
        char error[160] = "";
        assert_int_equal(ds_reconfigure(ds, same, error, sizeof error), 0);
        ds_resume(ds);
        const uint64_t records = model->records, stored = model->bts_records, value = model->value[0];
        const unsigned drains = pebs_drains;
        for (unsigned n = 0; n < 100; n++)
            branch(i++);
        assert_false(model_machine.pmi);
        assert_true(model->records == records && model->bts_records == stored && model->value[0] == value);
        ds_pause(ds);
        ds_tick(ds);
        ds_resume_frame(ds, &frame);
        assert_int_equal(last.reason, CAIRN_DS_UNTHROTTLE);
        assert_int_equal(last.records, 0);
        assert_int_equal(pebs_drains, drains + 1);
        branch(i++);
        branch(i++);
        assert_true(model->records == records + 1 && model->bts_records == stored + 2);
        ds_stop(ds);
        ds_cpu_counts(ds, &counts);
        ds_bts_cpu_counts(ds, &branches);
        assert_true(counts.throttles == 1 && counts.pmis == 2);
        assert_true(counts.lost == 0 && !counts.lost_unknown && branches.lost == 0 && !branches.lost_unknown);
        assert_int_equal(counts.records, model->records);
        assert_int_equal(branches.records, model->bts_records);
        assert_int_equal(count, branches.records);
    }
}

static void a_switch_without_branches_ends_no_epoch(void **state)
{
    (void)state;
    begin(NULL, true, DS_BTS_INTERRUPT, 8);
    ds_pause(ds);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 1);
    assert_int_equal(bts_drains, 1);
    ds_resume(ds);
    branch(1);
    ds_pause(ds);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 2);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 3);
    assert_int_equal(bts_drains, 2);
    assert_int_equal(last.epoch, 0);
    assert_int_equal(last.tsc, 2);
    ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 4);
    assert_int_equal(bts_drains, 3);
    assert_int_equal(last.records, 0);
}

static void senseless_index(void **state)
{
    (void)state;
    static const int64_t offsets[] = {-24, 1, 25, 8 * 24 + 24 + 24, INT64_MIN};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        for (int stepped = 0; stepped < 2; stepped++) {
            begin(NULL, stepped, DS_BTS_INTERRUPT, 8);
            branch(1);
            ds_pause(ds);
            area[1] = (uintptr_t)buffer + (uint64_t)offsets[i];
            ds_bts_drain(ds, i % 2 ? CAIRN_DS_RECONFIGURE : CAIRN_DS_SWITCH, 0); /* which is not nothing */
            assert_int_equal(bts_drains, 2);
            assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
            assert_int_equal(count, 0);
            ds_resume(ds);
            branch(2);
            ds_stop(ds);
            assert_int_equal(last.lost, 0); /* the next epoch begins anew */
            assert_int_equal(count, 1);
        }
}

static void panic_hands_over(void **state)
{
    (void)state;
    begin(NULL, true, DS_BTS_CIRCULAR, 4);
    branch(100);
    ds_pause(ds);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 0); /* this one is over */
    ds_resume(ds);
    for (uint64_t i = 1; i <= 6; i++)
        branch(i);
    ds_pause(ds);
    unsigned before = model_machine.accesses;
    ds_drain_panic(ds);
    ds_drain_panic(ds);
    assert_int_equal(model_machine.accesses, before); /* no register */
    assert_int_equal(bts_drains, 3);
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_int_equal(last.lost, 2);
    assert_int_equal(count, 1 + 4);
    assert_int_equal(taken[1], 3);
    assert_int_equal(pebs_drains, 2);

    begin(NULL, true, DS_BTS_CIRCULAR, 4); /* stopped in the hook: that epoch again, and PEBS' own all the same */
    for (uint64_t i = 1; i <= 6; i++)
        branch(i);
    ds_pause(ds);
    panic_in_drain = true;
    ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 0);
    assert_int_equal(bts_drains, 3);
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_true(last.epoch == 0 && last.records == 4 && last.lost == 2);
    assert_int_equal(pebs_drains, 2);
}

/* A jump to the null pointer is a branch, and so would be one that leads away from there. */
static void address_zero(void **state)
{
    (void)state;
    static const uint64_t from[] = {-UINT64_C(0x1000), 0};
    for (size_t i = 0; i < 2; i++) {
        begin(NULL, true, DS_BTS_CIRCULAR, 1);
        branch(from[i]);
        ds_pause(ds);
        ds_bts_drain(ds, CAIRN_DS_SWITCH, 0);
        assert_int_equal(count, 1);
        assert_true(taken[0] == from[i]);
        assert_int_equal(last.lost, 0);
    }
}

/* Of branches at alternating levels, those of the rings that were asked for. */
static void rings(void **state)
{
    (void)state;
    static const struct {
        enum ds_bts_rings rings;
        uint64_t debugctl;
        uint32_t records;
    } cases[] = {{DS_BTS_ALL, 0, 6}, {DS_BTS_USER, IA32_DEBUGCTL_BTS_OFF_OS, 3},
                 {DS_BTS_KERNEL, IA32_DEBUGCTL_BTS_OFF_USR, 3}};
    for (unsigned n = 0; n < 3; n++) {
        struct ds_refusal refusal;
        prepare("skylake", NULL, false, NULL);
        free(buffer);
        buffer = calloc(1, ds_bts_buffer_bytes(16));
        assert_int_equal(ds_bts_init(ds, DS_BTS_CIRCULAR, cases[n].rings, 16, buffer), 0);
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        ds_resume(ds);
        assert_int_equal(model->debugctl, TR | BTS | cases[n].debugctl);
        for (unsigned i = 0; i < 6; i++) {
            const struct ds_model_branch b = {.from = i, .to = i + 0x1000};
            const struct ds_model_retired retired = {
                .events = 1u << DS_MODEL_INSTRUCTION | 1u << DS_MODEL_BRANCH, .cpl = i % 2 ? 3 : 0, .branch = &b};
            assert_int_equal(ds_model_retire(model, &retired), 0);
        }
        ds_pause(ds);
        ds_bts_drain(ds, CAIRN_DS_SWITCH, 0);
        assert_int_equal(count, cases[n].records);
        for (uint32_t i = 0; i < count && cases[n].rings != DS_BTS_ALL; i++)
            assert_true(taken[i] % 2 == (cases[n].rings == DS_BTS_USER));
        ds_stop(ds);
    }
    const struct ds_config none = {.records = 8, .threshold = 6};
    char error[160];
    caps.bts_cpl = false; /* DS_CPL is 0 */
    assert_int_equal(ds_cpu_init(ds, 3, &machine, &caps, &none, &hooks, area, area, error, sizeof error), 0);
    assert_int_equal(ds_bts_init(ds, DS_BTS_CIRCULAR, DS_BTS_USER, 16, buffer), -EINVAL);
    assert_int_equal(ds_bts_init(ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 16, buffer), 0);
}

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(ds_bts_buffer_bytes(511), 3 * 4096);
    assert_int_equal(ds_bts_buffer_bytes(1), 4096);
    assert_int_equal(ds_bts_buffer_bytes(169), 4096);
    assert_int_equal(ds_bts_buffer_bytes(170), 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_zero),
        cmocka_unit_test(order_beside_pebs),
        cmocka_unit_test(order_without_pebs),
        cmocka_unit_test(pebs_without_bts),
        cmocka_unit_test(every_fault_undoes_all),
        cmocka_unit_test(bts_after_pebs_was_refused),
        cmocka_unit_test(a_fault_while_running_is_counted),
        cmocka_unit_test(every_wrap),
        cmocka_unit_test(interrupts_keep_up),
        cmocka_unit_test(circular_never_interrupts),
        cmocka_unit_test(status_bit_of_bts),
        cmocka_unit_test(both_thresholds_in_one_interrupt),
        cmocka_unit_test(a_storm_holds_both),
        cmocka_unit_test(a_switch_without_branches_ends_no_epoch),
        cmocka_unit_test(senseless_index),
        cmocka_unit_test(panic_hands_over),
        cmocka_unit_test(rings),
        cmocka_unit_test(sizes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
