/* SPDX-License-Identifier: MIT */
/* Branch history of the model: what is let in, how entries read on each generation, the call stack, its MSRs' #GP. */
#include <stdbool.h>

#include "ds/lbr_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

static struct ds_bench bench, *b = &bench;

#define LEGACY_FROM(i) ds_bench_read(b, MSR_LASTBRANCH_0_FROM_IP + (i))
#define TOS            ds_bench_read(b, MSR_LASTBRANCH_TOS)

/* All branches are let in. */
static void begin(const char *preset)
{
    ds_bench_init(b, ds_model_preset(preset), NULL, 4096, 4096);
    if (b->model.preset->arch_lbr)
        ds_bench_write(b, IA32_LBR_CTL, IA32_LBR_CTL_VALID & ~IA32_LBR_CTL_CALL_STACK);
    else
        ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
}

static void branch_at(uint64_t from, enum ds_model_branch_type type, unsigned cpl, unsigned to_cpl)
{
    const struct ds_model_branch branch = {.from = from, .to = from + 0x1000, .type = type, .cpl = to_cpl};
    const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_BRANCH), .cpl = cpl, .branch = &branch};
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
}

/* ---- what is let in ---------------------------------------------------------------------------------------------- */

static void types(void **state)
{
    (void)state;
    static const struct {
        enum ds_model_branch_type type;
        uint64_t select, ctl; /* leaves it out; lets it in */
    } rows[] = {
        {DS_MODEL_CONDITIONAL, 4, 0x10000},       {DS_MODEL_DIRECT_JUMP, 0x80, 0x20000},
        {DS_MODEL_INDIRECT_JUMP, 0x40, 0x40000},  {DS_MODEL_DIRECT_CALL, 8, 0x80000},
        {DS_MODEL_INDIRECT_CALL, 0x10, 0x100000}, {DS_MODEL_RETURN, 0x20, 0x200000},
        {DS_MODEL_OTHER_BRANCH, 0x100, 0x400000},
    };
    const size_t n = sizeof rows / sizeof rows[0];
    for (size_t out = 0; out < n; out++) {
        begin("nehalem");
        ds_bench_write(b, MSR_LBR_SELECT, rows[out].select);
        assert_int_equal(ds_bench_read(b, MSR_LBR_SELECT), rows[out].select);
        for (size_t i = 0; i < n; i++)
            branch_at(0x1000 + i, rows[i].type, 0, 0);
        assert_int_equal(TOS, n - 1);
        for (size_t i = 0, at = 1; i < n; i++)
            if (i != out)
                assert_int_equal(LEGACY_FROM(at++), 0x1000 + i);

        begin("sapphirerapids");
        ds_bench_write(b, IA32_LBR_CTL, 7 | rows[out].ctl);
        for (size_t i = 0; i < n; i++)
            branch_at(0x1000 + i, rows[i].type, 0, 0);
        assert_int_equal(ds_bench_read(b, IA32_LBR_0_FROM_IP), 0x1000 + out);
        assert_int_equal(ds_bench_read(b, IA32_LBR_0_FROM_IP + 1), 0);
    }
}

/* By the ring a branch ends in. */
static void rings(void **state)
{
    (void)state;
    static const uint8_t cpls[4][2] = {{0, 0}, {0, 3}, {3, 0}, {3, 3}}; /* from, to */
    static const struct {
        uint64_t select, ctl;
        uint64_t from[4], architectural[4]; /* newest first */
    } rows[] = {
        {0, 6, {4, 3, 2, 1}, {4, 3, 2, 1}},
        {2, 2, {3, 1}, {0xFFFFFFFF, 1}}, /* ring 0 alone; SYSCALL's own address is of the other */
        {1, 4, {4, 2}, {4, 0xFFFFFFFF}},
        {3, 0, {0}, {0}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        begin("haswell");
        ds_bench_write(b, MSR_LBR_SELECT, rows[r].select);
        for (unsigned i = 0; i < 4; i++)
            branch_at(i + 1, DS_MODEL_OTHER_BRANCH, cpls[i][0], cpls[i][1]);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(LEGACY_FROM((TOS - i) & 15), rows[r].from[i]);

        begin("lunarlake");
        ds_bench_write(b, IA32_LBR_CTL, IA32_LBR_CTL_LBREN | IA32_LBR_CTL_BRANCHES | rows[r].ctl);
        for (unsigned i = 0; i < 4; i++)
            branch_at(i + 1, DS_MODEL_OTHER_BRANCH, cpls[i][0], cpls[i][1]);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(ds_bench_read(b, IA32_LBR_0_FROM_IP + i), rows[r].architectural[i]);
    }
}

/* An interrupt is a branch like any other; and each kind has its own switch. */
static void switches(void **state)
{
    (void)state;
    const struct ds_model_branch interrupt = {.from = 7, .to = 8, .type = DS_MODEL_OTHER_BRANCH};
    begin("icelake");
    assert_int_equal(ds_model_interrupt(&b->model, &interrupt, 3), 0);
    assert_int_equal(LEGACY_FROM(1), 7);
    ds_bench_write(b, IA32_DEBUGCTL, 0);
    assert_int_equal(ds_model_interrupt(&b->model, &interrupt, 3), 0);
    assert_int_equal(TOS, 1);

    begin("sapphirerapids");
    ds_bench_write(b, IA32_LBR_CTL, IA32_LBR_CTL_VALID & ~(IA32_LBR_CTL_CALL_STACK | IA32_LBR_CTL_LBREN));
    ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR); /* means nothing, and reads 0 */
    assert_int_equal(ds_bench_read(b, IA32_DEBUGCTL), 0);
    branch_at(1, DS_MODEL_DIRECT_JUMP, 0, 0);
    assert_int_equal(ds_bench_read(b, IA32_LBR_0_FROM_IP), 0);
}

/* ---- how entries read -------------------------------------------------------------------------------------------- */

static void formats(void **state)
{
    (void)state;
    const uint64_t from = UINT64_C(0xFFFFFFFF81000010), to = UINT64_C(0xFFFFFFFF81000020);
    static const struct {
        const char *preset;
        unsigned format;
        uint32_t from, to, info; /* MSRs of the first branch after RESET; info 0: none */
        uint64_t predicted, mispredicted, flag;
    } rows[] = {
        {"penryn", 2, 0x41, 0x61, 0, UINT64_C(0xFFFFFFFF81000010), UINT64_C(0xFFFFFFFF81000010), 0},
        {"nehalem", 3, 0x681, 0x6C1, 0, UINT64_C(0x7FFFFFFF81000010), UINT64_C(0xFFFFFFFF81000010), 0},
        {"sandybridge", 3, 0x681, 0x6C1, 0, UINT64_C(0x7FFFFFFF81000010), UINT64_C(0xFFFFFFFF81000010), 0},
        {"haswell", 4, 0x681, 0x6C1, 0, UINT64_C(0x1FFFFFFF81000010), UINT64_C(0x9FFFFFFF81000010), 0},
        {"skylake", 5, 0x681, 0x6C1, 0xDC1, UINT64_C(0xFFFFFFFF81000010), UINT64_C(0xFFFFFFFF81000010), DS_BIT(63)},
        {"icelake", 5, 0x681, 0x6C1, 0xDC1, UINT64_C(0xFFFFFFFF81000010), UINT64_C(0xFFFFFFFF81000010), DS_BIT(63)},
        {"arrowlake", 0x3F, 0x1500, 0x1600, 0x1200, UINT64_C(0xFFFFFFFF81000010), UINT64_C(0xFFFFFFFF81000010),
         DS_BIT(63)},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (int miss = 0; miss < 2; miss++) {
            const struct ds_model_branch branch = {
                .from = from, .to = to, .prediction = miss ? DS_MODEL_MISPREDICTED : DS_MODEL_PREDICTED};
            const struct ds_model_retired retired = {.events = 1, .branch = &branch};
            begin(rows[r].preset);
            assert_int_equal(ds_bench_read(b, IA32_PERF_CAPABILITIES) & 0x3F, rows[r].format);
            assert_int_equal(ds_model_retire(&b->model, &retired), 0);
            assert_int_equal(ds_bench_read(b, rows[r].from), miss ? rows[r].mispredicted : rows[r].predicted);
            assert_int_equal(ds_bench_read(b, rows[r].to), to);
            if (rows[r].info)
                assert_int_equal(ds_bench_read(b, rows[r].info), miss ? rows[r].flag : 0);
        }
}

/* As many entries as the generation has, the oldest overwritten. */
static void depths(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        unsigned depth;
        uint32_t from;
    } rows[] = {{"penryn", 4, 0x40},
                {"nehalem", 16, 0x680},
                {"haswell", 16, 0x680},
                {"skylake", 32, 0x680},
                {"icelake", 32, 0x680}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const unsigned n = rows[r].depth;
        uint64_t value;
        begin(rows[r].preset);
        for (unsigned i = 1; i <= n + 2; i++)
            branch_at(i, DS_MODEL_CONDITIONAL, 0, 0);
        assert_int_equal(TOS, 2);
        for (unsigned age = 0; age < n; age++)
            assert_int_equal(ds_bench_read(b, rows[r].from + ((2 - age) & (n - 1))), n + 2 - age);
        assert_int_equal(ds_model_rdmsr(&b->model, rows[r].from + n, &value), n < 32 && n != 4 ? -EFAULT : -ENOENT);
    }
}

/* Entry 0 is the newest; a write of the depth clears all; there is nothing beyond it. */
static void architectural_depth(void **state)
{
    (void)state;
    uint64_t value;
    uint32_t leaf[4];
    begin("sapphirerapids");
    ds_model_cpuid(&b->model, 0x1C, 0, leaf);
    assert_int_equal(ds_bench_read(b, IA32_LBR_DEPTH), 32);
    for (unsigned depth = 8; depth <= 64; depth += 8) {
        const bool there = depth <= 64 && leaf[0] >> (depth / 8 - 1) & 1;
        assert_int_equal(ds_model_wrmsr(&b->model, IA32_LBR_DEPTH, depth), there ? 0 : -EFAULT);
        if (!there)
            continue;
        assert_int_equal(ds_bench_read(b, IA32_LBR_DEPTH), depth);
        for (unsigned i = 0; i < depth; i++)
            assert_int_equal(ds_bench_read(b, IA32_LBR_0_FROM_IP + i), 0);
        for (unsigned i = 1; i <= depth + 3; i++)
            branch_at(i, DS_MODEL_CONDITIONAL, 0, 0);
        for (unsigned i = 0; i < depth; i++) {
            assert_int_equal(ds_bench_read(b, IA32_LBR_0_FROM_IP + i), depth + 3 - i);
            assert_int_equal(ds_bench_read(b, IA32_LBR_0_TO_IP + i), depth + 3 - i + 0x1000);
        }
        assert_int_equal(ds_model_rdmsr(&b->model, IA32_LBR_0_TO_IP + depth, &value), depth < 32 ? -EFAULT : -ENOENT);
    }
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_LBR_DEPTH, 0), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_LBR_DEPTH, 9), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_LBR_DEPTH, DS_BIT(32) | 8), -EFAULT);
}

/* ---- the call stack ---------------------------------------------------------------------------------------------- */

static void call(uint64_t from, bool direct, bool to_next)
{
    const struct ds_model_branch branch = {.from = from,
                                           .to = from + 5,
                                           .type = direct ? DS_MODEL_DIRECT_CALL : DS_MODEL_INDIRECT_CALL,
                                           .to_next = to_next};
    const struct ds_model_retired retired = {.events = 1, .branch = &branch};
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
}

/* FROM of the entry `age` before the newest. */
static uint64_t from_at(unsigned age)
{
    return b->model.preset->arch_lbr ? ds_bench_read(b, IA32_LBR_0_FROM_IP + age)
                                     : LEGACY_FROM((TOS - age) & (b->model.preset->lbr_depth - 1));
}

static void expect_stack(uint64_t newest, uint64_t second, uint64_t third)
{
    assert_int_equal(from_at(0), newest);
    assert_int_equal(from_at(1), second);
    assert_int_equal(from_at(2), third);
}

static void call_stack(void **state)
{
    (void)state;
    static const char *const presets[] = {"haswell", "skylake", "icelake", "sapphirerapids"};
    for (unsigned p = 0; p < 4; p++) {
        begin(presets[p]);
        if (p < 3) /* as Linux does: all types but calls and returns are left out */
            ds_bench_write(b, MSR_LBR_SELECT, 0x3C4);
        else
            ds_bench_write(b, IA32_LBR_CTL, 0x38000F);
        call(0x100, true, false);
        branch_at(0x150, DS_MODEL_CONDITIONAL, 0, 0);
        call(0x200, false, false);
        expect_stack(0x200, 0x100, 0);
        branch_at(0x250, DS_MODEL_RETURN, 0, 0);
        expect_stack(0x100, 0, 0);
        call(0x300, true, true); /* no function's: reads RIP */
        expect_stack(0x100, 0, 0);
        call(0x400, true, false);
        call(0x500, true, false);
        expect_stack(0x500, 0x400, 0x100);
        for (unsigned i = 0; i < 3; i++)
            branch_at(0x600 + i, DS_MODEL_RETURN, 0, 0);
        for (unsigned i = 0; i < b->model.preset->lbr_depth; i++)
            assert_int_equal(from_at(i), 0);
        branch_at(0x700, DS_MODEL_RETURN, 0, 0); /* of who called before it was on */
        expect_stack(0, 0, 0);
        call(0x800, true, false);
        expect_stack(0x800, 0, 0);

        for (unsigned i = 0; i < 40; i++) /* deeper than the history */
            call(0x1000 + i, true, false);
        for (unsigned i = 0; i < 39; i++)
            branch_at(0x2000, DS_MODEL_RETURN, 0, 0);
        expect_stack(0, 0, 0); /* 1000H has been overwritten */
    }
    begin("icelake"); /* without the bit both are branches like others */
    call(0x100, true, true);
    branch_at(0x200, DS_MODEL_RETURN, 0, 0);
    expect_stack(0x200, 0x100, 0);
}

/* ---- events between branches ------------------------------------------------------------------------------------- */

static uint64_t info_at(unsigned age)
{
    return ds_bench_read(b, IA32_LBR_0_INFO + age);
}

static void logs(void **state)
{
    (void)state;
    static const char *const presets[] = {"arrowlake", "lunarlake", "pantherlake", "clearwaterforest"};
    const uint64_t all = IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN;
    for (unsigned p = 0; p < 4; p++) {
        uint32_t r[4];
        begin(presets[p]);
        ds_model_cpuid(&b->model, 0x1C, 0, r);
        assert_int_equal(r[2], 0xF0000);
        ds_bench_write(b, IA32_A_PMC0, 100);
        ds_bench_write(b, IA32_A_PMC0 + 2, MINUS(2));
        ds_bench_write(b, IA32_PERFEVTSEL0, INSTRUCTIONS | all | IA32_PERFEVTSEL_EN_LBR_LOG);
        ds_bench_write(b, IA32_PERFEVTSEL0 + 1, BRANCHES | all); /* not logged */
        ds_bench_write(b, IA32_PERFEVTSEL0 + 2, BRANCHES | all | IA32_PERFEVTSEL_EN_LBR_LOG);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 7);
        ds_bench_step(b, 1, 0);
        ds_bench_branch(b, 0, 0); /* is in its own entry */
        assert_int_equal(info_at(0), UINT64_C(0x12) << 32);
        ds_bench_step(b, 9, 0);
        ds_bench_step(b, 1, BRANCH);
        ds_bench_branch(b, 1, 0); /* past the overflow of PMC2; more than two bits hold */
        assert_int_equal(info_at(0), UINT64_C(0x23) << 32);
        ds_bench_branch(b, 2, 0);
        assert_int_equal(info_at(0), UINT64_C(0x11) << 32);
        ds_bench_step(b, 1, 0);
        ds_bench_write(b, IA32_A_PMC0, 7); /* does not change how often it has occurred */
        ds_bench_branch(b, 3, 0);
        assert_int_equal(info_at(0), UINT64_C(0x12) << 32);
        ds_bench_step(b, 1, 0);
        ds_bench_write(b, IA32_LBR_CTL, ds_bench_read(b, IA32_LBR_CTL));
        ds_bench_branch(b, 4, 0);
        assert_int_equal(info_at(0), UINT64_C(0x12) << 32);
        assert_int_equal(info_at(4), UINT64_C(0x12) << 32);
    }
    begin("sapphirerapids");
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PERFEVTSEL0, DS_BIT(35)), -EFAULT);
}

/* A record's history has what its own branch has been counted as; a reload after it adds nothing. */
static void logs_across_a_reload(void **state)
{
    (void)state;
    begin("clearwaterforest");
    ds_bench_arch(b, 0, 0x7FFFFF0);
    ds_bench_pebs_counter(b, 0, BRANCHES | IA32_PERFEVTSEL_EN_LBR_LOG, MINUS(2), MINUS(50));
    ds_bench_write(b, 0x1903, ds_bench_read(b, 0x1903) | ia32_pmc_cfg_c_with_lbr(DS_ARCH_LBR_8));
    ds_bench_branch(b, 0, 0);
    ds_bench_step(b, 1, BRANCH); /* not taken: with precise distribution the record is of this one */
    assert_int_equal(b->stored, 1);
    ds_bench_branch(b, 1, 0);
    assert_int_equal(info_at(0), UINT64_C(2) << 32);
    assert_int_equal(*ds_bench_physical(b, 0x40 + 0x30 + 0x10), UINT64_C(1) << 32);
}

/* ---- what Linux does --------------------------------------------------------------------------------------------- */

/* check_msr() of arch/x86/events/intel/core.c, beneath a hypervisor: changes some bits and reads them back. */
static void probe(uint32_t msr, uint64_t mask)
{
    const uint64_t before = ds_bench_read(b, msr);
    ds_bench_write(b, msr, before ^ mask);
    assert_int_equal(ds_bench_read(b, msr), before ^ mask);
    ds_bench_write(b, msr, before);
}

/* A context switch: the call stack is saved, another thread's comes, and it is restored with TOS; FROM of format 4 with
 * bits 62 and 61 made part of the address. */
static void linux_saves_and_restores(void **state)
{
    (void)state;
    for (unsigned p = 0; p < 2; p++) {
        const unsigned depth = p ? 32 : 16;
        begin(p ? "skylake" : "haswell");
        probe(MSR_LASTBRANCH_TOS, 3);
        for (unsigned i = 0; i < depth; i++) {
            probe(MSR_LASTBRANCH_0_FROM_IP + i, 0xFFFF);
            probe(MSR_LASTBRANCH_0_TO_IP + i, 0xFFFF);
        }
        ds_bench_write(b, MSR_LBR_SELECT, 0x3C4);
        for (unsigned i = 0; i < 5; i++)
            call(UINT64_C(0xFFFFFFFF81000000) + i, true, false);
        uint64_t saved[32][2], tos = TOS, kept = p ? UINT64_MAX : UINT64_C(0x1FFFFFFFFFFFFFFF);
        for (unsigned i = 0; i < depth; i++) {
            saved[i][0] = LEGACY_FROM((tos - i) & (depth - 1));
            saved[i][1] = ds_bench_read(b, MSR_LASTBRANCH_0_TO_IP + ((tos - i) & (depth - 1)));
        }
        for (unsigned i = 0; i < depth; i++) {
            ds_bench_write(b, MSR_LASTBRANCH_0_FROM_IP + i, 0);
            ds_bench_write(b, MSR_LASTBRANCH_0_TO_IP + i, 0);
        }
        for (unsigned i = 0; i < 9; i++)
            call(0x400000 + i, true, false);
        for (unsigned i = 0; i < depth; i++) {
            uint64_t from = saved[i][0];
            from |= p ? 0 : (from & UINT64_C(0x1800000000000000)) << 2;
            ds_bench_write(b, MSR_LASTBRANCH_0_FROM_IP + ((tos - i) & (depth - 1)), from);
            ds_bench_write(b, MSR_LASTBRANCH_0_TO_IP + ((tos - i) & (depth - 1)), saved[i][1]);
        }
        ds_bench_write(b, MSR_LASTBRANCH_TOS, tos);
        for (unsigned i = 0; i < depth; i++)
            assert_int_equal(from_at(i) & kept, i < 5 ? (UINT64_C(0xFFFFFFFF81000000) + 4 - i) & kept : 0);
        branch_at(1, DS_MODEL_RETURN, 0, 0);
        assert_int_equal(from_at(0) & kept, UINT64_C(0xFFFFFFFF81000003) & kept);
    }
}

/* ---- #GP --------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *preset;
    uint32_t msr;
    uint64_t value;
    int result;
} writes[] = {
    {"penryn", MSR_LBR_SELECT, 0, -EFAULT},
    {"nehalem", MSR_LBR_SELECT, 0x1FF, 0},
    {"nehalem", MSR_LBR_SELECT, 0x200, -EFAULT}, /* no call stack */
    {"sandybridge", MSR_LBR_SELECT, 0x200, -EFAULT},
    {"haswell", MSR_LBR_SELECT, 0x3FF, 0},
    {"icelake", MSR_LBR_SELECT, 0x400, -EFAULT},
    {"sapphirerapids", MSR_LBR_SELECT, 0, -EFAULT},
    {"penryn", MSR_LASTBRANCH_TOS, 3, 0},
    {"penryn", MSR_LASTBRANCH_TOS, 4, -EFAULT},
    {"haswell", MSR_LASTBRANCH_TOS, 15, 0},
    {"haswell", MSR_LASTBRANCH_TOS, 16, -EFAULT},
    {"icelake", MSR_LASTBRANCH_TOS, 31, 0},
    {"icelake", MSR_LASTBRANCH_TOS, 32, -EFAULT},
    {"sapphirerapids", MSR_LASTBRANCH_TOS, 0, -EFAULT},
    /* entries of another generation */
    {"penryn", 0x43, 1, 0}, {"penryn", 0x44, 1, -ENOENT}, {"penryn", 0x680, 1, -EFAULT},
    {"nehalem", 0x40, 1, -EFAULT}, {"nehalem", 0x63, 1, -EFAULT}, {"nehalem", 0x68F, 1, 0},
    {"nehalem", 0x690, 1, -EFAULT}, {"nehalem", 0xDC0, 0, -EFAULT}, {"haswell", 0xDC0, 0, -EFAULT},
    {"skylake", 0x69F, 1, 0}, {"skylake", 0x6A0, 1, -ENOENT}, {"skylake", 0x6DF, 1, 0}, {"skylake", 0xDDF, 1, 0},
    {"skylake", 0xDE0, 1, -ENOENT}, {"skylake", 0x1500, 1, -EFAULT}, {"skylake", 0x1200, 1, -EFAULT},
    {"sapphirerapids", 0x680, 1, -EFAULT}, {"sapphirerapids", 0xDC0, 1, -EFAULT}, {"sapphirerapids", 0x151F, 1, 0},
    {"sapphirerapids", 0x121F, 1, 0}, {"sapphirerapids", 0x1620, 1, -ENOENT},
    /* addresses */
    {"nehalem", 0x680, UINT64_C(0x7FFFFFFF81000000), 0}, {"nehalem", 0x680, UINT64_C(0xFFFFFFFF81000000), 0},
    {"nehalem", 0x680, UINT64_C(0x8000000000401000), 0}, {"nehalem", 0x680, UINT64_C(0x3FFFFFFF81000000), -EFAULT},
    {"nehalem", 0x6C0, UINT64_C(0x7FFFFFFF81000000), -EFAULT},
    {"haswell", 0x689, UINT64_C(0x1FFFFFFF8101349E), -EFAULT}, /* as Linux has seen */
    {"haswell", 0x689, UINT64_C(0x7FFFFFFF8101349E), 0}, {"haswell", 0x689, UINT64_C(0xFFFFFFFF8101349E), 0},
    {"skylake", 0x680, UINT64_C(0x7FFFFFFF81000000), -EFAULT}, {"skylake", 0x680, UINT64_C(0x800000000000), -EFAULT},
    {"sapphirerapids", 0x1600, UINT64_C(0xFF11000000000000), 0}, {"sapphirerapids", 0x1600, DS_BIT(56), -EFAULT},
    {"lunarlake", 0x1600, UINT64_C(0x800000000000), -EFAULT},
    {"sapphirerapids", 0x1500, 0xFFFFFFFF, 0},
    {"skylake", 0xDC0, UINT64_C(0xE00000000000FFFF), 0}, {"skylake", 0xDC0, DS_BIT(16), -EFAULT},
    {"skylake", 0xDC0, DS_BIT(60), -EFAULT}, {"sapphirerapids", 0x1200, UINT64_MAX, 0},
    /* architectural LBR */
    {"icelake", IA32_LBR_CTL, 0, -EFAULT}, {"icelake", IA32_LBR_DEPTH, 32, -EFAULT},
    {"sapphirerapids", IA32_LBR_CTL, 0x7F000F, 0}, {"sapphirerapids", IA32_LBR_CTL, 0x10, -EFAULT},
    {"sapphirerapids", IA32_LBR_CTL, 0x8000, -EFAULT}, {"sapphirerapids", IA32_LBR_CTL, DS_BIT(23), -EFAULT},
};
/* clang-format on */

static void general_protection(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        uint64_t value = 0;
        ds_bench_init(b, ds_model_preset(writes[i].preset), NULL, 4096, 4096);
        int e = ds_model_wrmsr(&b->model, writes[i].msr, writes[i].value);
        if (e != writes[i].result)
            fail_msg("%s: %x = %lx: %d", writes[i].preset, writes[i].msr, (unsigned long)writes[i].value, e);
        if (e == 0) {
            assert_int_equal(ds_model_rdmsr(&b->model, writes[i].msr, &value), 0);
            assert_int_equal(value, writes[i].value);
        }
    }
    const struct ds_model_policy ignores = {.reserved_ignored = true};
    ds_bench_init(b, ds_model_preset("sapphirerapids"), &ignores, 4096, 4096);
    ds_bench_write(b, IA32_LBR_DEPTH, 24);
    assert_int_equal(ds_bench_read(b, IA32_LBR_DEPTH), 32);
    ds_bench_write(b, IA32_LBR_CTL, 0x11);
    assert_int_equal(ds_bench_read(b, IA32_LBR_CTL), 1);
    ds_bench_init(b, ds_model_preset("haswell"), &ignores, 4096, 4096);
    ds_bench_write(b, MSR_LASTBRANCH_TOS, 0x13);
    assert_int_equal(TOS, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),
        cmocka_unit_test(rings),
        cmocka_unit_test(switches),
        cmocka_unit_test(formats),
        cmocka_unit_test(depths),
        cmocka_unit_test(architectural_depth),
        cmocka_unit_test(call_stack),
        cmocka_unit_test(linux_saves_and_restores),
        cmocka_unit_test(general_protection),
        cmocka_unit_test(logs),
        cmocka_unit_test(logs_across_a_reload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
