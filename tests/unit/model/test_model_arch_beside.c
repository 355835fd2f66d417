/* SPDX-License-Identifier: MIT */
/*
 * What a processor with architectural PEBS has beside it: auto counter reload, unit masks of 16 bits, BTS in the Debug
 * Store, freezing; memory that is not there, records that come late, the log of all that is done. Worked out on paper.
 */
#include <stdbool.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define GP_CFG_B(i) (0x1902u + 4 * (i))
#define GP_CFG_C(i) (0x1903u + 4 * (i))
#define FX_CFG_B(i) (0x1982u + 4 * (i))
#define FX_CFG_C(i) (0x1983u + 4 * (i))
#define FIXED(i)    DS_BIT(32 + (i))
#define EN          DS_BIT(63)
#define ARCH_PEBS   DS_BIT(54)
#define ALL_RINGS   (IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN)

static struct ds_bench bench, *b = &bench;

static void init(const char *preset, const struct ds_model_policy *policy)
{
    ds_bench_init(b, ds_model_preset(preset), policy, 0, 0);
    ds_bench_arch(b, 0, 0x7FFFFF0);
    b->handler_unmasks = true;
}

/* GP counter i counts `select` without PEBS. */
static void count(unsigned i, uint64_t select, uint64_t value)
{
    ds_bench_write(b, IA32_A_PMC0 + i, value);
    ds_bench_write(b, IA32_PERFEVTSEL0 + i, select | ALL_RINGS);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, ds_bench_read(b, IA32_PERF_GLOBAL_CTRL) | DS_BIT(i));
}

/* ---- auto counter reload ----------------------------------------------------------------------------------------- */

/* Each overflow of PMC4 starts PMC2, PMC7 and fixed counter 0 anew, whether they count or not; PMC3 is not asked. */
static void others_are_reloaded(void **state)
{
    (void)state;
    init("pantherlake", NULL);
    count(4, INSTRUCTIONS, MINUS(3));
    count(2, INSTRUCTIONS, 0);
    count(3, INSTRUCTIONS, 0);
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, 3);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0x1C | FIXED(0));
    ds_bench_write(b, GP_CFG_B(2), DS_BIT(4));
    ds_bench_write(b, GP_CFG_B(7), DS_BIT(4) | DS_BIT(5));
    ds_bench_write(b, FX_CFG_B(0), DS_BIT(4));
    ds_bench_write(b, GP_CFG_C(2), 0xFFFFFF00);
    ds_bench_write(b, GP_CFG_C(3), 0xFFFFFE00);
    ds_bench_write(b, FX_CFG_C(0), 0); /* 0 is a value, too, here */
    ds_bench_step(b, 2, 0);
    assert_int_equal(PMC(b, 2), 2);
    ds_bench_step(b, 1, 0);
    assert_true(PMC(b, 4) == 0 && STATUS(b) == 0x10);
    assert_true(PMC(b, 2) == MINUS(256)); /* at one instruction all have counted first */
    assert_int_equal(PMC(b, 3), 3);
    assert_int_equal(PMC(b, 7), 0);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), 0);
    ds_bench_write(b, GP_CFG_C(7), 0x80000000);
    ds_bench_write(b, IA32_A_PMC0 + 4, MINUS(1));
    ds_bench_step(b, 1, 0);
    assert_true(PMC(b, 7) == UINT64_C(0xFFFF80000000));
    assert_true(PMC(b, 2) == MINUS(256));
    assert_int_equal(b->pmis, 0);
    assert_int_equal(b->stored, 0);
}

/* A lower counter is reloaded by a higher one's overflow as a higher one is by a lower one's. */
static void no_order_of_counters(void **state)
{
    (void)state;
    for (int higher = 0; higher < 2; higher++) {
        const unsigned reloaded = higher ? 6 : 2, by = higher ? 2 : 6;
        init("clearwaterforest", NULL);
        count(2, INSTRUCTIONS, MINUS(1));
        count(6, INSTRUCTIONS, MINUS(1)); /* both overflow, and both say so */
        ds_bench_write(b, GP_CFG_B(reloaded), DS_BIT(by));
        ds_bench_write(b, GP_CFG_C(reloaded), 0xFFFFFFF0);
        ds_bench_step(b, 1, 0);
        assert_true(PMC(b, reloaded) == MINUS(16));
        assert_int_equal(PMC(b, by), 0);
        assert_int_equal(STATUS(b), 0x44);
    }
}

/* A counter that reloads itself sets no bit; its INT still raises a PMI, for which GLOBAL_STATUS has no reason. */
static void itself(void **state)
{
    (void)state;
    for (int pebs = 0; pebs < 2; pebs++) {
        init("pantherlake", NULL);
        count(5, INSTRUCTIONS | (pebs ? 0 : IA32_PERFEVTSEL_INT), MINUS(2));
        ds_bench_write(b, GP_CFG_B(5), DS_BIT(5));
        ds_bench_write(b, GP_CFG_C(5), (pebs ? EN : 0) | 0xFFFFFFF0);
        ds_bench_step(b, 2, 0);
        assert_true(PMC(b, 5) == MINUS(16));
        assert_int_equal(STATUS(b), 0);
        assert_int_equal(b->pmis, !pebs);
        assert_int_equal(pebs ? 0 : b->pmi_status[0], 0);
        ds_bench_step(b, 1, 0); /* with PEBS armed all the same: the record, and the reload again */
        assert_int_equal(b->stored, pebs);
        assert_true(PMC(b, 5) == (pebs ? MINUS(16) : MINUS(15)));
        ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, DS_BIT(5)); /* nor does it clear what is set */
        ds_bench_step(b, 15, 0);
        assert_int_equal(STATUS(b), DS_BIT(5));
    }
}

/* With precise distribution the record comes with the overflow: it shows counters that are reloaded already. */
static void before_the_record(void **state)
{
    (void)state;
    init("pantherlake", NULL);
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, 3);
    ds_bench_write(b, IA32_FIXED_CTR0, MINUS(1));
    ds_bench_write(b, FX_CFG_C(0), EN | IA32_PMC_CFG_C_CNTR_GP);
    count(2, INSTRUCTIONS, 100);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 4 | FIXED(0));
    ds_bench_write(b, GP_CFG_B(2), FIXED(0));
    ds_bench_write(b, GP_CFG_C(2), IA32_PMC_CFG_C_CNTR_ALLOW | 0x55);
    ds_bench_step(b, 1, 0);
    assert_int_equal(*ds_bench_physical(b, 64), 4);
    assert_int_equal(*ds_bench_physical(b, 80), 0x55);
}

static void clears_metrics(void **state)
{
    (void)state;
    for (int clear = 0; clear < 2; clear++) {
        init("pantherlake", NULL);
        count(2, INSTRUCTIONS, MINUS(2));
        ds_bench_write(b, MSR_PERF_METRICS, 0xFF);
        ds_bench_write(b, IA32_FIXED_CTR0 + 3, 0x5107);
        ds_bench_write(b, FX_CFG_B(3), DS_BIT(2) | (clear ? DS_BIT(48) : 0));
        ds_bench_step(b, 1, 0);
        assert_int_equal(ds_bench_read(b, MSR_PERF_METRICS), 0xFF);
        ds_bench_step(b, 1, 0);
        assert_int_equal(ds_bench_read(b, MSR_PERF_METRICS), clear ? 0 : 0xFF);
        assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + 3), 0);
    }
}

/* ---- what is counted --------------------------------------------------------------------------------------------- */

static void selects(void **state)
{
    (void)state;
#define EQ       DS_BIT(36)
#define CMASK(n) ((uint64_t)(n) << 24)
#define INV      IA32_PERFEVTSEL_INV
#define CALLS    0x30C4
    static const struct {
        const char *preset;
        uint64_t select, counted; /* of 5 instructions: 2 near calls, 1 far branch */
    } rows[] = {
        {"pantherlake", 0x00C4, 3},
        {"pantherlake", UINT64_C(0x100000000C4), 1}, /* UMASK2: far branches */
        {"pantherlake", UINT64_C(0x200000000C4), 0},
        {"clearwaterforest", UINT64_C(0x100000000C4), 0}, /* not an event of this core */
        {"clearwaterforest", 0x00C4, 3},
        {"pantherlake", CALLS, 2},
        {"clearwaterforest", CALLS, 2},
        {"pantherlake", CALLS | EQ, 2}, /* without CMASK it means nothing */
        {"pantherlake", CALLS | EQ | CMASK(1), 2},
        {"pantherlake", CALLS | EQ | CMASK(1) | INV, 3},
        {"pantherlake", CALLS | EQ | CMASK(2), 0},
        {"pantherlake", CALLS | EQ | CMASK(2) | INV, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        init(rows[i].preset, NULL);
        count(3, rows[i].select, 0);
        ds_bench_step(b, 1, 0);
        ds_bench_step(b, 1, BRANCH | DS_BIT(DS_MODEL_NEAR_CALL));
        ds_bench_step(b, 1, BRANCH | DS_BIT(DS_MODEL_FAR_BRANCH));
        ds_bench_step(b, 1, BRANCH | DS_BIT(DS_MODEL_NEAR_CALL));
        ds_bench_step(b, 1, 0);
        if (PMC(b, 3) != rows[i].counted)
            fail_msg("row %zu: %llu", i, (unsigned long long)PMC(b, 3));
    }
}

/* ---- the Debug Store, which is BTS's ----------------------------------------------------------------------------- */

static void branch_trace_store(void **state)
{
    (void)state;
    for (int buffer_bit = 0; buffer_bit < 2; buffer_bit++) {
        init("clearwaterforest", &(struct ds_model_policy){.bts_sets_ovf_buf = buffer_bit});
        ds_bench_arch(b, 0, 128);
        ds_bench_pebs_counter(b, 2, BRANCHES, MINUS(1), MINUS(1));
        ds_bench_bts(b, 240, 72, IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT);
        const uint64_t *area = ds_bench_area(b, 0x20);
        uint64_t before[20];
        memcpy(before, area, sizeof before);
        for (unsigned i = 0; i < 2; i++)
            ds_bench_branch(b, i, 0);
        assert_int_equal(ds_bench_index(b), 64);
        assert_int_equal(ds_bench_bts_index(b), 48);
        assert_int_equal(b->pmis, 0);
        ds_bench_branch(b, 2, 0); /* the threshold of BTS, while PEBS arms */
        assert_int_equal(b->pmis, 1);
        const uint64_t bit = buffer_bit ? OVF_BUF : 0;
        assert_true(b->pmi_status[0] == (DS_BIT(2) | bit));
        ds_bench_branch(b, 3, 0); /* that of PEBS, then of BTS, which is still above it */
        assert_int_equal(b->pmis, 3);
        assert_true(b->pmi_status[1] == (ARCH_PEBS | bit) && b->pmi_status[2] == (ARCH_PEBS | bit));
        assert_int_equal(ds_bench_index(b), 128);
        assert_int_equal(ds_bench_bts_index(b), 96);
        assert_int_equal(*ds_bench_word(b, ds_bench_bts_buffer() + 72), 0x1003);
        assert_memory_equal(before, area, sizeof before); /* PEBS leaves the area alone */
    }
}

/* ---- freezing ---------------------------------------------------------------------------------------------------- */

static void freezes(void **state)
{
    (void)state;
    init("pantherlake", NULL);
    ds_bench_arch(b, 0, 128);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(2));
    ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI);
    ds_bench_step(b, 9, 0);
    assert_int_equal(b->pmis, 1);
    assert_int_equal(b->stored, 2);
    const uint64_t frozen = IA32_PERF_GLOBAL_STATUS_CTR_FRZ | IA32_PERF_GLOBAL_STATUS_LBR_FRZ;
    assert_int_equal(b->pmi_status[0], ARCH_PEBS | frozen);
    ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, ARCH_PEBS | frozen);
    ds_bench_step(b, 2, 0);
    assert_int_equal(b->stored, 3);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Physical memory that is not there: the record is lost and counted, whatever the policy for linear memory. */
static void missing(void **state)
{
    (void)state;
    for (int injected = 0; injected < 2; injected++) {
        init("pantherlake", &(struct ds_model_policy){.unmapped_page_fault = injected});
        ds_bench_write(b, IA32_PEBS_BASE, 0x1000);
        ds_bench_pebs_counter(b, 2, INSTRUCTIONS, MINUS(1), MINUS(5));
        ds_bench_step(b, 1, 0);
        assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0), -EFAULT);
        assert_int_equal(b->model.fault_address, 0x1000);
        assert_true(b->model.fault_write);
        assert_int_equal(b->model.lost, 1);
        assert_int_equal(b->stored + b->dropped + b->page_faults, 0);
        assert_int_equal(ds_bench_index(b), 0);
        assert_int_equal(b->model.armed, 0);
        assert_int_equal(PMC(b, 2), 1); /* as it wrapped */
        assert_int_equal(STATUS(b), 4);
        ds_bench_step(b, 20, 0);
        /* a branch record beside it faults as ever */
        ds_bench_write(b, IA32_A_PMC0 + 2, MINUS(1));
        ds_bench_step(b, 1, 0);
        ds_bench_write(b, IA32_DS_AREA, 0x7000);
        ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS);
        const struct ds_model_branch branch = {.from = 1, .to = 2};
        const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION), .branch = &branch};
        assert_int_equal(ds_model_retire(&b->model, &retired), -EFAULT);
        assert_int_equal(b->model.lost, 2);
        assert_int_equal(b->model.bts_lost, 1);
        assert_int_equal(b->page_faults, injected);
        assert_int_equal(injected ? b->faulted : 0x7000, 0x7000);
    }
    /* two records of which the second has no memory: each counts for itself */
    init("pantherlake", &(struct ds_model_policy){.arch_record_each = true});
    ds_bench_arch(b, 5, 16);
    ds_bench_write(b, IA32_PEBS_BASE, (DS_BENCH_PHYSICAL + 0x10000) | 5);
    ds_bench_write(b, IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN | ia32_pebs_index(0xFFC0, 0xFFFF0));
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(5));
    ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(1), MINUS(5));
    assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0), -EFAULT);
    assert_int_equal(b->stored, 1);
    assert_int_equal(b->model.lost, 1);
    assert_int_equal(b->model.fault_address, DS_BENCH_PHYSICAL + 0x20000);
    assert_true(PMC(b, 0) == MINUS(5) && PMC(b, 1) == 0);
}

/* Policy residual: a record that comes when the counters are off goes where the registers lead then, if PEBS is on. */
static void late(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        init("pantherlake", &(struct ds_model_policy){.residual = 1});
        ds_bench_pebs_counter(b, 2, INSTRUCTIONS, MINUS(100), MINUS(5));
        ds_bench_step(b, 3, 0);
        const uint64_t ip = b->registers.eventing_ip++;
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
        if (how == 1)
            ds_bench_write(b, IA32_PEBS_INDEX, 0);
        if (how == 2)
            ds_bench_write(b, IA32_PEBS_BASE, 0x1000);
        if (how == 3)
            ds_bench_write(b, IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN | IA32_PEBS_INDEX_FULL);
        assert_int_equal(ds_model_late(&b->model), how == 2 ? -EFAULT : 0);
        assert_int_equal(ds_model_late(&b->model), 0);
        assert_int_equal(b->stored, how == 0);
        assert_int_equal(b->dropped, how == 3);
        assert_int_equal(b->model.lost, how == 2);
        assert_true(how || *ds_bench_physical(b, 16) == ip);
        assert_int_equal(ds_bench_index(b), how ? 0 : 64);
        assert_true(PMC(b, 2) == MINUS(97) && !STATUS(b));
    }
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static struct ds_model_action said[32];
static unsigned said_count;

static void acted(void *context, const struct ds_model_action *action)
{
    assert_ptr_equal(context, b);
    assert_true(said_count < 32);
    said[said_count++] = *action;
}

static void expect(const struct ds_model_action *wanted, unsigned n)
{
    assert_int_equal(said_count, n);
    for (unsigned i = 0; i < n; i++)
        if (said[i].kind != wanted[i].kind || said[i].counter != wanted[i].counter ||
            said[i].counters != wanted[i].counters || said[i].before != wanted[i].before ||
            said[i].after != wanted[i].after)
            fail_msg("action %u: kind %u, counter %u, %llx to %llx", i, said[i].kind, said[i].counter,
                     (unsigned long long)said[i].before, (unsigned long long)said[i].after);
    said_count = 0;
}

static void what_it_says(void **state)
{
    (void)state;
    init("pantherlake", NULL);
    ds_bench_arch(b, 0, 128);
    ds_bench_write(b, IA32_PEBS_INDEX, ds_bench_read(b, IA32_PEBS_INDEX) | 64);
    b->handler_unmasks = false;
    ds_bench_pebs_counter(b, 2, INSTRUCTIONS, MINUS(1), MINUS(9));
    b->model.host.acted = acted;
    ds_bench_step(b, 2, 0);
    const struct ds_model_action record[] = {
        {DS_MODEL_OVERFLOWED, 2, 0, MINUS(1), 0}, {DS_MODEL_ARMED, 2, 0, 0, 0},
        {DS_MODEL_STORED, 0, 4, 64, 128},         {DS_MODEL_RELOADED, 2, 0, 1, MINUS(9)},
        {DS_MODEL_COMPARED, 0, 0, 128, 128},      {DS_MODEL_PMI_RAISED, 0, 0, 0xEE, 0xEE | LVTPC_MASKED},
    };
    expect(record, 6);
    ds_bench_write(b, IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN | 4096);
    ds_bench_write(b, GP_CFG_C(2), EN);
    ds_bench_write(b, IA32_A_PMC0 + 2, MINUS(1));
    ds_bench_step(b, 2, 0);
    const struct ds_model_action dropped[] = {
        {DS_MODEL_OVERFLOWED, 2, 0, MINUS(1), 0},
        {DS_MODEL_ARMED, 2, 0, 0, 0},
        {DS_MODEL_DROPPED, 0, 4, 4096, 4096},
    };
    expect(dropped, 3);
    ds_bench_write(b, GP_CFG_B(3), DS_BIT(2) | DS_BIT(3));
    ds_bench_write(b, GP_CFG_C(3), 0xFFFFFFF0);
    ds_bench_write(b, GP_CFG_C(2), 0);
    ds_bench_write(b, IA32_A_PMC0 + 2, MINUS(1));
    count(3, INSTRUCTIONS, MINUS(1));
    ds_bench_step(b, 1, 0);
    const struct ds_model_action reloads[] = {
        {DS_MODEL_OVERFLOWED, 2, 0, MINUS(1), 0},
        {DS_MODEL_OVERFLOWED, 3, 0, MINUS(1), 0},
        {DS_MODEL_RELOADED, 3, 0, 0, MINUS(16)},
    };
    expect(reloads, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_reloaded),
        cmocka_unit_test(no_order_of_counters),
        cmocka_unit_test(itself),
        cmocka_unit_test(before_the_record),
        cmocka_unit_test(clears_metrics),
        cmocka_unit_test(selects),
        cmocka_unit_test(branch_trace_store),
        cmocka_unit_test(freezes),
        cmocka_unit_test(missing),
        cmocka_unit_test(late),
        cmocka_unit_test(what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
