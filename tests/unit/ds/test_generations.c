/* SPDX-License-Identifier: MIT */
/*
 * The driver as on hardware (GLOBAL_CTRL holds the counters), on the model of every processor: what it finds, that no
 * write is refused, that every record arrives and every overflow is seen, and that registers are left as they were.
 */
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "ds/bts/bts.h"
#include "ds/later/later.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/model_machine.h"
#include "tests/unit/support/presets.h"
#define PERIOD       37u /* Nehalem wants 32 at least */
#define PLAIN_PERIOD 50u
#define INSTRUCTIONS 1000u
#define DRIVEN(p)    ((p)->pebs_counters & ~((uint64_t)(p)->fixed_more << DS_COUNTER_FIXED)) /* 0AH:EDX has these */

static struct ds_model *const model = &model_machine.model;
static struct ds_cpu *ds;
static uint64_t area[512] __attribute__((aligned(4096)));

static bool is_arch(const struct ds_model_preset *p)
{
    return p->format == DS_FORMAT_ARCH;
}

/* Whether fixed counters have PEBS: where it counts instructions, it is fixed counter 0 that does. */
static bool on_fixed(const struct ds_model_preset *p)
{
    return p->baseline || is_arch(p);
}

/* As the driver wants it of the kernel: a page's alignment, or its own size's. */
static void *buffer_for(const struct ds_caps *caps, const struct ds_config *config)
{
    const size_t bytes = ds_buffer_bytes(caps, config);
    return aligned_alloc(caps->instead ? bytes : 4096, bytes);
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Somebody was here before and has left what can be left. */
static void leave_behind(const struct ds_model_preset *p)
{
    for (unsigned i = 0; i < p->gp_counters; i++) {
        model_machine_set(IA32_PMC0 + i, 0x1000 + i);
        model_machine_set(IA32_PERFEVTSEL0 + i, 0x4300C0);
    }
    for (unsigned i = 0; i < p->fixed_counters; i++)
        model_machine_set(IA32_FIXED_CTR0 + i, 0x2000 + i);
    model_machine_set(IA32_FIXED_CTR_CTRL, 0x33);
    model_machine_set(IA32_DEBUGCTL, IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
    for (uint64_t set = p->acr_reloaded; set; set &= set - 1)
        model_machine_set(ds_arch_msr((unsigned)__builtin_ctzll(set), IA32_PMC_GP0_CFG_B, IA32_PMC_FX0_CFG_B),
                          p->acr_causes);
    for (uint64_t set = is_arch(p) ? DRIVEN(p) : 0; set; set &= set - 1)
        model_machine_set(ds_arch_msr((unsigned)__builtin_ctzll(set), IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C),
                          IA32_PMC_CFG_C_EN | IA32_PMC_CFG_C_CNTR_ALLOW | IA32_PMC_CFG_C_AUX | 0x1234);
    if (is_arch(p)) {
        model_machine_set(IA32_PEBS_BASE, 0x12340000 | 4);
        model_machine_set(IA32_PEBS_INDEX, ia32_pebs_index(0x40, 0x8000) | IA32_PEBS_INDEX_EN);
    }
    if (p->perfmon_version >= 4)
        model_machine_set(IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_CTR_FRZ |
                                                           IA32_PERF_GLOBAL_STATUS_OVF_BUF |
                                                           IA32_PERF_GLOBAL_STATUS_COND_CHG);
}

/* ---- what is drained --------------------------------------------------------------------------------------------- */

static unsigned drained_records;
static uint64_t drained_lost, spacing; /* events between records */

static void drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    uint32_t size;
    for (uint32_t at = 0; at < d->bytes; at += size) {
        const uint8_t *record = (const uint8_t *)d->records + at;
        size = ds_record_size_at(d->format, record, d->bytes - at);
        assert_true(size > 0);
        drained_records++;
        const uint64_t expected = drained_records * spacing; /* instructions are numbered from 1 */
        if (d->format == DS_FORMAT_ARCH) {
            const struct ds_arch_header *header = (const void *)record;
            const struct ds_arch_basic *basic = (const void *)(header + 1);
            const struct ds_arch_gpr *gpr = (const void *)(basic + 1);
            assert_true(header->format == (DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_GPR | DS_ARCH_HEADER_MODE64 | 224));
            assert_int_equal(size, 224);
            assert_int_equal(basic->eventing_ip, expected);
            assert_int_equal(gpr->registers.rip, expected + 1);
            assert_true(gpr->registers.rax == ~expected);
        } else if (d->format >= 4) {
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
    for (model_machine.now = 1; model_machine.now <= INSTRUCTIONS; model_machine.now++) {
        const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION) |
                                                           (model_machine.now % 2 ? 0 : DS_BIT(DS_MODEL_BRANCH))};
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

static void session(void **state)
{
    const struct ds_model_preset *p = *state;
    const struct ds_hooks hooks = {.before_drain = model_machine_before_drain, .drained = drained};
    struct ds_config config = {.records = 8, .threshold = 6, .groups = MSR_PEBS_DATA_CFG_GPR};
    struct ds_caps caps;
    struct ds_refusal refusal;
    struct ds_counts counts;
    char error[160] = "";
    model_machine_reset(p, NULL, model_machine_numbered);
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
    assert_true(caps.pebs_counters == DRIVEN(p));

    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:37:k,branches:50:k:plain", &config, error, sizeof error), 0);
    void *buffer = buffer_for(&caps, &config);
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
        model_machine_expect(&before);
        ds_cpu_counts(ds, &counts);
        assert_int_equal(counts.faults, 0); /* none on the way back */
    }
    assert_true(model_machine.accesses < model_machine.fault_at);
    model_machine.fault_at = 0;
    assert_int_equal(model->global_status, 0);

    unsigned counter = on_fixed(p) ? ds_counter_fixed(0) : 0;
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
    assert_int_equal(counts.plain[1].overflows, INSTRUCTIONS / 2 / PLAIN_PERIOD);
    assert_true(counts.plain_whole && counts.plain[1].events == INSTRUCTIONS / 2);
    assert_true(counts.pmis >= counts.plain[1].overflows && counts.drains > drained_records / 6);
    assert_int_equal(counts.faults, 0);

    model_machine_expect(&before);
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
    const bool arch = is_arch(p);
    then(IA32_PERF_GLOBAL_CTRL); /* 1 */
    then(arch ? IA32_PEBS_INDEX : IA32_PEBS_ENABLE);
    then(IA32_DEBUGCTL);
    then(arch ? IA32_PEBS_BASE : IA32_DS_AREA); /* 3 */
    then(MODEL_MACHINE_LVTPC);                  /* 4 */
    for (uint64_t set = p->acr_reloaded; set; set &= set - 1)
        then(ds_arch_msr((unsigned)__builtin_ctzll(set), IA32_PMC_GP0_CFG_B, IA32_PMC_FX0_CFG_B)); /* 5 */
    for (uint64_t set = arch ? DRIVEN(p) : 0; set; set &= set - 1)
        then(ds_arch_msr((unsigned)__builtin_ctzll(set), IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C));
    if (p->baseline)
        then(MSR_PEBS_DATA_CFG); /* 5 */
    for (unsigned i = 0; caps->errata.counters_stuck && i < 4; i++) {
        then(IA32_PERFEVTSEL0 + i); /* 6 */
        then(IA32_PMC0 + i);
    }
    for (unsigned i = 0; caps->errata.counters_stuck && i < 6; i++)
        then(i < 2 ? IA32_PERF_GLOBAL_CTRL : IA32_PERFEVTSEL0 + i - 2);
    for (unsigned i = 0; i < 2; i++) /* two events; the first may be fixed counter 0's */
        if (on_fixed(p) && i == 0) {
            then(IA32_FIXED_CTR0);
        } else {
            then(pmc + i - on_fixed(p));
            then(IA32_PERFEVTSEL0 + i - on_fixed(p));
        }
    then(IA32_FIXED_CTR_CTRL);
    then(IA32_PERF_GLOBAL_OVF_CTRL);                 /* 7 */
    then(arch ? IA32_PEBS_INDEX : IA32_PEBS_ENABLE); /* 8 */
    then(IA32_DEBUGCTL);                             /* BTS: 1, its area, 5 */
    if (arch)
        then(IA32_DS_AREA);
    then(IA32_DEBUGCTL);
    then(IA32_DEBUGCTL);         /* TR, and */
    then(IA32_PERF_GLOBAL_CTRL); /* 9: counting */
    expect_order(p->name, 0);
}

static void bts_drained(void *context, uint32_t cpu, const struct ds_bts_drain *d)
{
    (void)context, (void)cpu, (void)d;
}

/* A session with records, branches, plain overflows, PMIs, a drain that somebody wants. Without PEBS whoever was there
 * before has the counters: then there are branches only, so that theirs stand still. */
static void work(bool pebs)
{
    struct arch_trap_frame frame = {0};
    ds_resume(ds);
    for (model_machine.now = 1; model_machine.now <= 300; model_machine.now++) {
        const struct ds_model_branch branch = {.from = model_machine.now, .to = model_machine.now + 64};
        const uint64_t events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_BRANCH);
        const struct ds_model_retired retired = {.events = pebs ? events : 0,
                                                 .branch = model_machine.now % 8 ? NULL : &branch};
        assert_int_equal(ds_model_retire(model, &retired), 0);
        if (model_machine.now == 200) {
            const uint64_t later[] = {41, 60};
            char error[160] = "";
            assert_int_equal(ds_reconfigure(ds, later, error, sizeof error), 0);
            ds_resume(ds);
        }
        if (model_machine.now == 150) {
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
    const struct ds_hooks hooks = {
        .before_drain = model_machine_before_drain, .drained = model_machine_drained, .bts_drained = bts_drained};
    static struct ds_bts branch_trace;
    static struct ds_bts_record branches[512];
    for (size_t i = 0; i < PRESETS; i++) {
        const struct ds_model_preset *p = preset_at(i);
        bool met[4] = {false}; /* in set-up, PMI, between, tear-down */
        for (unsigned at = 0;; at++) {
            struct ds_config config = {.records = 4, .threshold = 1, .groups = MSR_PEBS_DATA_CFG_GPR};
            struct ds_caps caps;
            struct ds_refusal refusal = {0}, bts_refusal = {0};
            struct ds_counts counts;
            char error[160] = "";
            model_machine_reset(p, NULL, model_machine_numbered);
            leave_behind(p);
            struct ds_model before;
            memcpy(&before, model, sizeof before);
            assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
            assert_int_equal(ds_parse_events("INST_RETIRED.ANY:37:k,branches:50:k:plain", &config, error, sizeof error),
                             0);
            void *buffer = buffer_for(&caps, &config);
            ds = realloc(ds, ds_cpu_bytes());
            assert_int_equal(
                ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
            assert_int_equal(ds_bts_init(&branch_trace, ds, DS_BTS_INTERRUPT, DS_BTS_ALL, 16, branches), 0);
            model_machine.accesses = model_machine.written = 0;
            model_machine.fault_at = at;

            int pebs = ds_start(ds, &refusal);
            if (pebs)
                model_machine_expect(&before);
            int bts = ds_bts_start(ds, &bts_refusal);
            assert_true(!pebs || !bts); /* one fault, one refusal: the other comes up */
            if (!at) {
                ds_resume(ds);
                expect_set_up(p, &caps);
            }
            work(!pebs);
            ds_stop(ds);
            ds_cpu_counts(ds, &counts);
            model_machine_expect(&before);
            free(buffer);
            if (!at) {
                assert_true(counts.faults == 0 && !pebs && !bts && counts.records > 5 && counts.plain[1].overflows > 3);
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
            met[pebs || bts                                    ? 0
                : strcmp(said->during, "the PMI handler") == 0 ? 1
                : strcmp(said->during, "the tear-down") == 0   ? 3
                                                               : 2] = true;
        }
        assert_true(met[0] && met[1] && met[2] && met[3]);
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
        size = ds_record_size_at(d->format, record, d->bytes - at);
        const uint64_t event =
            d->format == DS_FORMAT_ARCH
                ? ((const struct ds_arch_basic *)(const void *)(record + sizeof(struct ds_arch_header)))->eventing_ip
            : d->format >= 4 ? ((const struct ds_pebs_basic *)(const void *)record)->eventing_ip
                             : ((const struct ds_pebs_fmt0 *)(const void *)record)->rip - 1;
        assert_int_equal(event - spaced_from, spaced_by);
        spaced_from = event;
    }
}

static void other_periods(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {.before_drain = model_machine_before_drain, .drained = spaced};
    for (size_t i = 0; i < PRESETS; i++) {
        const struct ds_model_preset *p = preset_at(i);
        struct ds_config config = {.records = 20, .threshold = 20};
        struct ds_caps caps;
        struct ds_refusal refusal;
        struct ds_counts counts;
        char error[160] = "";
        model_machine_reset(p, NULL, model_machine_numbered);
        assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
        assert_int_equal(ds_parse_events("INST_RETIRED.ANY:100", &config, error, sizeof error), 0);
        void *buffer = buffer_for(&caps, &config);
        ds = realloc(ds, ds_cpu_bytes());
        assert_int_equal(
            ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
        assert_int_equal(ds_start(ds, &refusal), 0);
        ds_resume(ds);
        const bool pdist = p->pdist & DS_BIT(on_fixed(p) ? ds_counter_fixed(0) : 0);
        spaced_from = 0;
        spaced_by = pdist ? 100 : 101;
        const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION)};
        for (model_machine.now = 1; model_machine.now <= 500; model_machine.now++) { /* last: on its way, or armed */
            assert_int_equal(ds_model_retire(model, &retired), 0);
            if (model_machine.now != 300)
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

/* One record fills it, and a full buffer's loss nobody knows. That of architectural PEBS is a page at least. */
static void drained_full(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    assert_true(d->lost == (d->bytes && d->format != DS_FORMAT_ARCH ? CAIRN_DS_LOST_UNKNOWN : 0));
    full_drains += d->bytes != 0;
}

/* A record as often as the processor can, a PMI for each: every one is drained, and the handler leaves nothing behind
 * that would bring it back. */
static void smallest_buffer(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {.before_drain = model_machine_before_drain, .drained = drained_full};
    for (size_t i = 0; i < PRESETS; i++) {
        const struct ds_model_preset *p = preset_at(i);
        struct ds_config config = {.records = 1, .threshold = 1};
        struct ds_caps caps;
        struct ds_refusal refusal;
        struct ds_counts counts;
        char error[160] = "";
        model_machine_reset(p, NULL, model_machine_numbered);
        assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
        const uint64_t period = caps.errata.period_32 ? 32 : 1; /* the shortest */
        assert_int_equal(ds_parse_events(period == 1 ? "INST_RETIRED.ANY:1:k" : "INST_RETIRED.ANY:32:k", &config, error,
                                         sizeof error),
                         0);
        void *buffer = buffer_for(&caps, &config);
        ds = realloc(ds, ds_cpu_bytes());
        if (ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error))
            fail_msg("%s: %s", p->name, error);
        assert_int_equal(ds_start(ds, &refusal), 0);
        full_drains = 0;
        ds_resume(ds);
        run();
        ds_stop(ds);
        ds_cpu_counts(ds, &counts);
        spacing = p->pdist & DS_BIT(on_fixed(p) ? ds_counter_fixed(0) : 0) ? period : period + 1;
        assert_int_equal(full_drains, INSTRUCTIONS / spacing);
        assert_int_equal(counts.records, full_drains);
        assert_int_equal(counts.pmis, full_drains);
        assert_true(counts.lost_unknown != is_arch(p) && counts.lost == 0 && counts.faults == 0);
        free(buffer);
    }
}

int main(void)
{
    struct CMUnitTest tests[PRESETS + 3];
    for (size_t i = 0; i < PRESETS; i++)
        tests[i] = (struct CMUnitTest){preset_at(i)->name, session, NULL, NULL, (void *)(uintptr_t)preset_at(i)};
    tests[PRESETS] = (struct CMUnitTest)cmocka_unit_test(smallest_buffer);
    tests[PRESETS + 1] = (struct CMUnitTest)cmocka_unit_test(every_fault);
    tests[PRESETS + 2] = (struct CMUnitTest)cmocka_unit_test(other_periods);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    return failed;
}
