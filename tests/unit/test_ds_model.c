/* SPDX-License-Identifier: MIT */
/* The model against vectors worked out by hand: arming, records byte by byte, thresholds, drops, #GP, policies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/errno.h"
#include "tests/unit/ds_bench.h"

#define INSTRUCTIONS 0x00C0u
#define BRANCHES     0x00C4u
#define BRANCH       (1u << DS_MODEL_BRANCH)
#define OVF_BUF      IA32_PERF_GLOBAL_STATUS_OVF_BUF
#define STATUS(b)    ds_bench_read(b, IA32_PERF_GLOBAL_STATUS)
#define PMC(b, i)    ds_bench_read(b, IA32_PMC0 + (i))
#define MINUS(n)     (-(uint64_t)(n) & (DS_BIT(48) - 1))

static struct ds_bench bench, *b = &bench;

static const struct ds_model_preset *icelake(void)
{
    return ds_model_preset("icelake");
}

static const struct ds_model_preset *skylake(void)
{
    return ds_model_preset("skylake");
}

/* skylake with another record format: the older layouts are prefixes of format 3 */
static const struct ds_model_preset *of_format(uint8_t format)
{
    static struct ds_model_preset p;
    p = *skylake();
    p.format = format;
    return &p;
}

static uint64_t word(uint64_t offset)
{
    return *ds_bench_word(b, ds_bench_buffer() + offset);
}

static void arming_and_record(void **state) /* vector 1 */
{
    (void)state;
    ds_bench_init(b, icelake(), NULL, 320, 32);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(2), 0);
    ds_bench_step(b, 2, 0);
    assert_int_equal(STATUS(b), 1);
    assert_int_equal(ds_bench_index(b), 0);
    ds_bench_step(b, 1, 0);
    assert_int_equal(ds_bench_index(b), 32);
    assert_int_equal(STATUS(b), OVF_BUF);
    assert_int_equal(PMC(b, 0), 0);
    assert_int_equal(b->pmis, 1);
    assert_int_equal(b->pmi[0], 0xEE);
    assert_int_equal(word(0), UINT64_C(32) << 48);
    assert_int_equal(word(8), b->registers.eventing_ip);
    assert_int_equal(word(16), 1);
    assert_int_equal(word(24), b->registers.tsc);
}

static void no_overflow_no_record(void **state) /* 2 */
{
    (void)state;
    static const uint64_t start[] = {0, UINT64_C(0xFFFFFFFFFFF0)};
    for (int i = 0; i < 2; i++) {
        ds_bench_init(b, icelake(), NULL, 320, 32);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, start[i], 0);
        ds_bench_step(b, 10, 0);
        assert_int_equal(STATUS(b), 0);
        assert_int_equal(ds_bench_index(b), 0);
        assert_int_equal(PMC(b, 0), start[i] + 10);
    }
}

static void groups(void **state) /* 3, 4 */
{
    (void)state;
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        ds_bench_init(b, icelake(), NULL, 4096, 4096);
        ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_GPR);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS | (adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0), MINUS(1), 0);
        ds_bench_step(b, 2, 0);
        assert_int_equal(word(0), adaptive ? UINT64_C(208) << 48 | 3 : UINT64_C(32) << 48);
        assert_int_equal(ds_bench_index(b), adaptive ? 208 : 32);
    }
}

static void mixed_adaptive(void **state) /* one ADAPTIVE counter in the set gives the groups to the record */
{
    (void)state;
    ds_bench_init(b, icelake(), NULL, 4096, 4096);
    ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
    ds_bench_pebs_counter(b, 1, BRANCHES | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), 0);
    ds_bench_step(b, 1, BRANCH); /* both armed */
    ds_bench_step(b, 1, BRANCH); /* both record */
    ds_bench_step(b, 2, 0);      /* 0 alone */
    assert_int_equal(ds_pebs_head_size(word(0)), 176);
    assert_int_equal(word(16), 3);
    assert_int_equal(ds_pebs_head_size(word(176)), 32);
    assert_int_equal(word(176 + 16), 1);
}

static void fixed_counter(void **state) /* 5, 20 */
{
    (void)state;
    static struct ds_model_preset format5;
    format5 = *icelake();
    format5.format = 5;
    for (int fmt5 = 0; fmt5 < 2; fmt5++) {
        ds_bench_init(b, fmt5 ? &format5 : icelake(), NULL, 320, 320);
        *ds_bench_area(b, 0x80) = fmt5 ? 0x80 : MINUS(7);
        *ds_bench_area(b, 0x140) = fmt5 ? MINUS(9) : 0x140;
        ds_bench_write(b, IA32_FIXED_CTR0, MINUS(1));
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0));
        ds_bench_write(b, IA32_PEBS_ENABLE, DS_BIT(32));
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
        ds_bench_step(b, 2, 0);
        assert_int_equal(word(16), DS_BIT(32));
        assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), fmt5 ? MINUS(9) : MINUS(7));
        assert_int_equal(STATUS(b), 0);
    }
}

static void plain_overflow(void **state) /* 6 */
{
    (void)state;
    ds_bench_init(b, icelake(), NULL, 320, 32);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(2), 0);
    ds_bench_write(b, IA32_PEBS_ENABLE, 0);
    ds_bench_step(b, 5, 0);
    assert_int_equal(STATUS(b), 1);
    assert_int_equal(ds_bench_index(b), 0);
    assert_int_equal(b->pmis, 0); /* INT is clear */
    ds_bench_init(b, icelake(), NULL, 320, 32);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_INT, MINUS(2), 0);
    ds_bench_write(b, IA32_PEBS_ENABLE, 0);
    ds_bench_step(b, 5, 0);
    assert_int_equal(b->pmis, 1);
}

static void full_buffer(void **state) /* 7, 8 */
{
    (void)state;
    ds_bench_init(b, icelake(), NULL, 3 * 32, 3 * 32);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(4), MINUS(4));
    ds_bench_step(b, 40, 0);
    assert_int_equal(b->stored, 3);
    assert_int_equal(b->dropped, 5);
    assert_int_equal(b->model.dropped, 5);
    assert_int_equal(ds_bench_index(b), 3 * 32);
    assert_int_equal(b->pmis, 1);
    *ds_bench_area(b, 0x28) = ds_bench_buffer();
    ds_bench_step(b, 5, 0);
    assert_int_equal(ds_bench_index(b), 32);
    assert_int_equal(b->model.records, 4);
}

static void two_counters_one_record(void **state) /* 9, 10 */
{
    (void)state;
    static const struct {
        uint8_t format;
        uint64_t field, value;
    } forms[] = {{4, 0x10, 5}, {3, 0x90, 5}, {1, 0x90, 5}};
    for (size_t i = 0; i < 3; i++) {
        ds_bench_init(b, forms[i].format == 4 ? icelake() : of_format(forms[i].format), NULL, 1024, 1024);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(3));
        ds_bench_pebs_counter(b, 2, BRANCHES, MINUS(1), MINUS(8));
        ds_bench_step(b, 1, BRANCH);
        assert_int_equal(STATUS(b), 5);
        ds_bench_step(b, 1, BRANCH);
        assert_int_equal(b->stored, 1);
        assert_int_equal(word(forms[i].field), forms[i].value);
        assert_int_equal(STATUS(b), 0);
        assert_int_equal(PMC(b, 0), MINUS(3));
        assert_int_equal(PMC(b, 2), MINUS(8));
    }
}

static void threshold_then_overflow(void **state) /* 11, 18 */
{
    (void)state;
    for (int unmasks = 0; unmasks < 2; unmasks++) {
        ds_bench_init(b, icelake(), NULL, 320, 32);
        b->handler_unmasks = unmasks;
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_INT, MINUS(1), MINUS(1));
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, unmasks ? 2 : 1);
        assert_int_equal(b->model.lvtpc & LVTPC_MASKED, unmasks ? 0 : LVTPC_MASKED);
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, unmasks ? 4 : 1);
    }
}

static void latched_pmi(void **state)
{
    (void)state;
    for (int latched = 0; latched < 2; latched++) {
        ds_bench_init(b, icelake(), &(struct ds_model_policy){.masked_pmi_latched = latched}, 320, 32);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
        ds_bench_step(b, 4, 0);
        assert_int_equal(b->pmis, 1);
        ds_model_lvtpc_write(&b->model, 0xEE);
        assert_int_equal(b->pmis, latched ? 2 : 1);
        assert_int_equal(b->model.lvtpc & LVTPC_MASKED, latched ? LVTPC_MASKED : 0);
    }
}

static void layouts(void **state) /* 19: byte for byte */
{
    (void)state;
    const struct ds_model_registers *r = &b->registers;
    ds_bench_init(b, skylake(), NULL, 1024, 1024);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_step(b, 2, 0);
    const uint64_t format3[25] = {r->rflags,
                                  r->rip,
                                  r->rax,
                                  r->rbx,
                                  r->rcx,
                                  r->rdx,
                                  r->rsi,
                                  r->rdi,
                                  r->rbp,
                                  r->rsp,
                                  r->r8_r15[0],
                                  r->r8_r15[1],
                                  r->r8_r15[2],
                                  r->r8_r15[3],
                                  r->r8_r15[4],
                                  r->r8_r15[5],
                                  r->r8_r15[6],
                                  r->r8_r15[7],
                                  1,
                                  0,
                                  0,
                                  0,
                                  r->eventing_ip,
                                  0,
                                  r->tsc};
    assert_int_equal(ds_bench_index(b), sizeof format3);
    assert_memory_equal(ds_bench_word(b, ds_bench_buffer()), format3, sizeof format3);
    assert_int_equal(word(sizeof format3), 0);

    ds_bench_init(b, icelake(), NULL, 1024, 1024);
    ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), 0);
    ds_bench_step(b, 2, 0);
    const uint64_t adaptive[22] = {UINT64_C(176) << 48 | 2,
                                   r->eventing_ip,
                                   1,
                                   r->tsc,
                                   r->rflags,
                                   r->rip,
                                   r->rax,
                                   r->rcx,
                                   r->rdx,
                                   r->rbx,
                                   r->rsp,
                                   r->rbp,
                                   r->rsi,
                                   r->rdi,
                                   r->r8_r15[0],
                                   r->r8_r15[1],
                                   r->r8_r15[2],
                                   r->r8_r15[3],
                                   r->r8_r15[4],
                                   r->r8_r15[5],
                                   r->r8_r15[6],
                                   r->r8_r15[7]};
    assert_int_equal(ds_bench_index(b), sizeof adaptive);
    assert_memory_equal(ds_bench_word(b, ds_bench_buffer()), adaptive, sizeof adaptive);

    static const uint32_t size[] = {144, 176, 192, 200};
    for (uint8_t format = 0; format < 4; format++) {
        ds_bench_init(b, of_format(format), NULL, 1024, 1024);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
        ds_bench_step(b, 2, 0);
        assert_int_equal(ds_bench_index(b), size[format]);
    }
}

static void no_baseline_format4(void **state) /* 21 */
{
    (void)state;
    static struct ds_model_preset guest; /* what KVM shows a guest */
    guest = *icelake();
    guest.baseline = false;
    guest.pebs_counters = 0xFF;
    ds_bench_init(b, &guest, NULL, 320, 320);
    uint64_t v;
    assert_int_equal(ds_model_wrmsr(&b->model, MSR_PEBS_DATA_CFG, 0), -EFAULT);
    assert_int_equal(ds_model_rdmsr(&b->model, MSR_PEBS_DATA_CFG, &v), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ADAPTIVE), -EFAULT);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_step(b, 2, 0);
    assert_int_equal(ds_bench_index(b), 32);
}

static void precise_distribution(void **state) /* 22 */
{
    (void)state;
    static struct ds_model_preset pdist;
    pdist = *icelake();
    pdist.pdist = 1;
    for (int precise = 0; precise < 2; precise++) {
        ds_bench_init(b, precise ? &pdist : icelake(), NULL, 1024, 1024);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(4), MINUS(4));
        ds_bench_step(b, 40, 0);
        assert_int_equal(b->stored, precise ? 10 : 8);
    }
    ds_bench_init(b, &pdist, &(struct ds_model_policy){.pdist_minimum = true}, 1024, 1024);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(4), MINUS(4));
    ds_bench_step(b, 4 + 127, 0);
    assert_int_equal(b->stored, 1);
    ds_bench_step(b, 1, 0);
    assert_int_equal(b->stored, 2);
}

static void bystander(void **state) /* 23 */
{
    (void)state;
    static const struct {
        uint8_t format;
        bool swapped, reloaded;
    } cases[] = {
        {1, false, true}, {3, false, false}, {4, false, false}, {1, true, false}, {3, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t format = cases[i].format;
        ds_bench_init(b, format == 4 ? icelake() : of_format(format),
                      &(struct ds_model_policy){.bystander_swapped = cases[i].swapped}, 1024, 1024);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(100));
        ds_bench_pebs_counter(b, 2, BRANCHES, MINUS(1), MINUS(100));
        ds_bench_step(b, 1, BRANCH);
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->stored, 1);
        assert_int_equal(word(format == 4 ? 0x10 : 0x90), format == 1 ? 5 : 1);
        assert_int_equal(STATUS(b), cases[i].reloaded ? 0 : 4);
        assert_int_equal(PMC(b, 2), cases[i].reloaded ? MINUS(100) : 0);
        ds_bench_step(b, 1, BRANCH);
        assert_int_equal(b->stored, cases[i].reloaded ? 1 : 2);
    }
}

static void fit_policies(void **state) /* the three readings of 'absolute maximum', with three ways to set it */
{
    (void)state;
    enum { N_RECORDS = 4, SIZE = 32 };
    static const uint64_t maximum[] = {N_RECORDS * SIZE, N_RECORDS * SIZE + 1, (N_RECORDS - 1) * SIZE + 1};
    static const unsigned stored[3][3] = {
        [DS_MODEL_END_LE] = {N_RECORDS, N_RECORDS, N_RECORDS - 1},
        [DS_MODEL_END_LT] = {N_RECORDS - 1, N_RECORDS, N_RECORDS - 1},
        [DS_MODEL_START_LT] = {N_RECORDS, N_RECORDS + 1, N_RECORDS},
    };
    for (unsigned fit = 0; fit < 3; fit++)
        for (unsigned i = 0; i < 3; i++) {
            ds_bench_init(b, icelake(), &(struct ds_model_policy){.fit = fit}, maximum[i], 1000);
            ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
            ds_bench_step(b, 100, 0);
            assert_int_equal(b->stored, stored[fit][i]);
            assert_int_equal(b->stored + b->dropped, 50);
        }
}

static void drop_keeps_overflow(void **state)
{
    (void)state;
    ds_bench_init(b, icelake(), &(struct ds_model_policy){.drop_keeps_overflow = true}, 0, 0);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(4), MINUS(4));
    ds_bench_step(b, 10, 0);
    assert_int_equal(b->dropped, 6); /* armed by the 4th: each one after it tries again */
    assert_int_equal(STATUS(b), 1);
    assert_int_equal(b->pmis, 0);
}

static void rings_and_controls(void **state)
{
    (void)state;
    ds_bench_init(b, icelake(), NULL, 1024, 1024);
    ds_bench_write(b, IA32_PERFEVTSEL0, INSTRUCTIONS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 1, INSTRUCTIONS | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 2, INSTRUCTIONS | IA32_PERFEVTSEL_OS);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 3,
                   INSTRUCTIONS | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_INV);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 4, 0x003C | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 5, INSTRUCTIONS | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_usr(0) | ia32_fixed_ctr_ctrl_os(1));
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0x0F0000001F);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ds_model_retire(&b->model, 1u << DS_MODEL_INSTRUCTION, 0), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(ds_model_retire(&b->model, 1u << DS_MODEL_INSTRUCTION, 3), 0);
    static const uint64_t expected[6] = {4, 3, 0, 0, 0, 0}; /* not enabled, INV, cycles, GLOBAL_CTRL clear */
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(PMC(b, i), expected[i]);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), 4);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + 1), 0);
}

static void unmapped_area(void **state)
{
    (void)state;
    ds_bench_init(b, icelake(), NULL, 320, 320);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_write(b, IA32_DS_AREA, 0x1000);
    ds_bench_step(b, 1, 0);
    assert_int_equal(ds_model_retire(&b->model, 1u << DS_MODEL_INSTRUCTION, 0), -EFAULT);
    assert_int_equal(b->model.fault_address, 0x1028);
    ds_bench_init(b, icelake(), NULL, 320, 320);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    *ds_bench_area(b, 0x28) = 0x2000;
    *ds_bench_area(b, 0x30) = 0x3000;
    ds_bench_step(b, 1, 0);
    assert_int_equal(ds_model_retire(&b->model, 1u << DS_MODEL_INSTRUCTION, 0), -EFAULT);
    assert_int_equal(b->model.fault_address, 0x2000);
}

/* ---- MSRs -------------------------------------------------------------------------------------------------------- */

struct gp_row {
    const char *preset;
    uint32_t msr;
    uint64_t value;
    int result;
};

static const struct gp_row gp_rows[] = {
    /* 12, 13 among them */
    {"icelake", IA32_DS_AREA, UINT64_C(0x0000800000000000), -EFAULT},
    {"icelake", IA32_DS_AREA, UINT64_C(0xFFFF7FFFFFFFFFFF), -EFAULT},
    {"icelake", IA32_DS_AREA, UINT64_C(0x00007FFFFFFFFFFF), 0}, /* misaligned, canonical */
    {"icelake", IA32_DS_AREA, UINT64_C(0xFFFF800000000000), 0},
    {"skylake", IA32_PEBS_ENABLE, 0xF, 0},
    {"skylake", IA32_PEBS_ENABLE, 0x10, -EFAULT},
    {"skylake", IA32_PEBS_ENABLE, DS_BIT(32), -EFAULT},
    {"icelake", IA32_PEBS_ENABLE, 0xF000000FF, 0},
    {"icelake", IA32_PEBS_ENABLE, 0x100, -EFAULT},
    {"icelake", IA32_PEBS_ENABLE, DS_BIT(36), -EFAULT},
    {"icelake", IA32_PEBS_ENABLE, DS_BIT(63), -EFAULT},
    {"skylake", MSR_PEBS_DATA_CFG, 0, -EFAULT},
    {"icelake", MSR_PEBS_DATA_CFG, 3, 0},
    {"icelake", MSR_PEBS_DATA_CFG, 0x10, -EFAULT},
    {"icelake", IA32_PERFEVTSEL0, UINT64_C(0x4005300C0), 0},
    {"skylake", IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ADAPTIVE, -EFAULT},
    {"icelake", IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ANY, -EFAULT},
    {"icelake", IA32_PERFEVTSEL0, DS_BIT(35), -EFAULT},
    {"icelake", IA32_PERFEVTSEL0 + 8, 0, -ENOENT},
    {"skylake", IA32_PERFEVTSEL0 + 4, 0, -ENOENT},
    {"icelake", IA32_A_PMC0 + 7, DS_BIT(48) - 1, 0},
    {"icelake", IA32_A_PMC0, DS_BIT(48), -EFAULT},
    {"skylake", IA32_A_PMC0 + 4, 0, -EFAULT},
    {"icelake", IA32_PMC0, UINT64_C(0xFFFFFFFFFFFFFFFF), 0},
    {"icelake", IA32_FIXED_CTR0, DS_BIT(48), -EFAULT},
    {"icelake", IA32_FIXED_CTR_CTRL, UINT64_C(0x0000111100009999) | 0x2222, 0},
    {"skylake", IA32_FIXED_CTR_CTRL, 0xBBB, 0},
    {"skylake", IA32_FIXED_CTR_CTRL, 0x1000, -EFAULT},
    {"skylake", IA32_FIXED_CTR_CTRL, DS_BIT(32), -EFAULT},
    {"icelake", IA32_FIXED_CTR_CTRL, 4, -EFAULT},
    {"icelake", IA32_PERF_GLOBAL_CTRL, UINT64_C(0xF000000FF), 0},
    {"icelake", IA32_PERF_GLOBAL_CTRL, 0x100, -EFAULT},
    {"skylake", IA32_PERF_GLOBAL_CTRL, DS_BIT(35), -EFAULT},
    {"icelake", IA32_PERF_GLOBAL_STATUS, 0, -EFAULT},
    {"icelake", IA32_PERF_GLOBAL_OVF_CTRL, UINT64_C(0xFC0000000000000F), 0},
    {"icelake", IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(40), -EFAULT},
    {"icelake", IA32_PERF_GLOBAL_STATUS_SET, OVF_BUF, 0},
    {"icelake", IA32_PERF_CAPABILITIES, 0, -EFAULT},
    {"icelake", IA32_DEBUGCTL, 0x7C3, 0},
    {"icelake", IA32_DEBUGCTL, DS_BIT(2), -EFAULT},
    {"icelake", IA32_DEBUGCTL, DS_BIT(16), -EFAULT},
    {"icelake", IA32_MISC_ENABLE, UINT64_MAX, 0},
    {"icelake", 0x10, 0, -ENOENT},
};

static void general_protection(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gp_rows / sizeof gp_rows[0]; i++) {
        const struct gp_row *row = &gp_rows[i];
        ds_bench_init(b, ds_model_preset(row->preset), NULL, 320, 320);
        uint64_t before = 0, after = 0;
        int readable = ds_model_rdmsr(&b->model, row->msr, &before);
        int e = ds_model_wrmsr(&b->model, row->msr, row->value);
        if (e != row->result)
            fail_msg("%s: wrmsr %x %llx: %d", row->preset, row->msr, (unsigned long long)row->value, e);
        if (e && !readable) { /* a write that faults changes nothing */
            assert_int_equal(ds_model_rdmsr(&b->model, row->msr, &after), 0);
            assert_int_equal(before, after);
        }
    }
    /* the same writes where reserved bits are ignored */
    ds_bench_init(b, icelake(), &(struct ds_model_policy){.reserved_ignored = true}, 320, 320);
    ds_bench_write(b, IA32_PEBS_ENABLE, UINT64_MAX);
    assert_int_equal(ds_bench_read(b, IA32_PEBS_ENABLE), 0xF000000FF);
    ds_bench_write(b, IA32_PERF_GLOBAL_STATUS, UINT64_MAX);
    assert_int_equal(STATUS(b), 0);
}

static void counter_writes(void **state)
{
    (void)state;
    ds_bench_init(b, icelake(), NULL, 320, 320);
    ds_bench_write(b, IA32_PMC0, UINT64_C(0x12345678FFFFFFFE)); /* upper half ignored, lower half sign-extended */
    assert_int_equal(PMC(b, 0), MINUS(2));
    ds_bench_write(b, IA32_PMC0, UINT64_C(0xFFFFFFFF7FFFFFFF));
    assert_int_equal(PMC(b, 0), 0x7FFFFFFF);
    ds_bench_write(b, IA32_A_PMC0 + 1, UINT64_C(0x123456789ABC));
    assert_int_equal(PMC(b, 1), UINT64_C(0x123456789ABC));
    ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, OVF_BUF | 2);
    assert_int_equal(STATUS(b), OVF_BUF | 2);
    ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, 2);
    assert_int_equal(STATUS(b), OVF_BUF);
    ds_bench_write(b, IA32_MISC_ENABLE, 0); /* the UNAVAIL bits and bit 7 do not change */
    assert_int_equal(ds_bench_read(b, IA32_MISC_ENABLE), IA32_MISC_ENABLE_PERFMON | IA32_MISC_ENABLE_BTS_UNAVAIL);
}

static void presets_and_reset(void **state)
{
    (void)state;
    uint32_t r[4];
    assert_null(ds_model_preset("pentium"));
    ds_bench_init(b, skylake(), NULL, 320, 320);
    ds_model_cpuid(&b->model, 0x0A, r);
    assert_int_equal(r[0], 0x07300404);
    assert_int_equal(r[3], 0x603);
    assert_int_equal(ds_bench_read(b, IA32_PERF_CAPABILITIES), 0x23FF);
    ds_bench_init(b, icelake(), NULL, 320, 320);
    ds_model_cpuid(&b->model, 0x0A, r);
    assert_int_equal(r[0], 0x07300805);
    assert_int_equal(r[2], 0xF);
    assert_int_equal(r[3], 0x604);
    assert_int_equal(ds_bench_read(b, IA32_PERF_CAPABILITIES), 0x64FF);
    ds_model_cpuid(&b->model, 1, r);
    assert_int_equal(r[3], CPUID_01H_EDX_DS);
    ds_model_cpuid(&b->model, 0x80000000, r);
    assert_int_equal(r[0] | r[1] | r[2] | r[3], 0);
    struct ds_model fresh;
    ds_model_init(&fresh, icelake(), NULL, &b->model.host);
    assert_int_equal(fresh.lvtpc, 0x10000);
    assert_int_equal(fresh.global_ctrl, 0xFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arming_and_record),
        cmocka_unit_test(no_overflow_no_record),
        cmocka_unit_test(groups),
        cmocka_unit_test(mixed_adaptive),
        cmocka_unit_test(fixed_counter),
        cmocka_unit_test(plain_overflow),
        cmocka_unit_test(full_buffer),
        cmocka_unit_test(two_counters_one_record),
        cmocka_unit_test(threshold_then_overflow),
        cmocka_unit_test(latched_pmi),
        cmocka_unit_test(layouts),
        cmocka_unit_test(no_baseline_format4),
        cmocka_unit_test(precise_distribution),
        cmocka_unit_test(bystander),
        cmocka_unit_test(fit_policies),
        cmocka_unit_test(drop_keeps_overflow),
        cmocka_unit_test(rings_and_controls),
        cmocka_unit_test(unmapped_area),
        cmocka_unit_test(general_protection),
        cmocka_unit_test(counter_writes),
        cmocka_unit_test(presets_and_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
