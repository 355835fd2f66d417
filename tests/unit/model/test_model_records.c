/* SPDX-License-Identifier: MIT */
/* The model's records against vectors worked out by hand: every format and group, byte by byte. */
#include <stdbool.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define WORD(offset) ds_bench_word_at(b, offset)

static struct ds_bench bench, *b = &bench;

static void groups(void **state) /* with the counter's ADAPTIVE bit, and without */
{
    (void)state;
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        ds_bench_init(b, ds_bench_icelake(), NULL, 4096, 4096);
        ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_GPR);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS | (adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0), MINUS(1), 0);
        ds_bench_step(b, 2, 0);
        assert_int_equal(WORD(0), adaptive ? UINT64_C(208) << 48 | 3 : UINT64_C(32) << 48);
        assert_int_equal(ds_bench_index(b), adaptive ? 208 : 32);
    }
}

static void mixed_adaptive(void **state) /* one ADAPTIVE counter in the set gives the groups to the record */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 4096, 4096);
    ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
    ds_bench_pebs_counter(b, 1, BRANCHES | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), 0);
    ds_bench_step(b, 1, BRANCH); /* both armed */
    ds_bench_step(b, 1, BRANCH); /* both record */
    ds_bench_step(b, 2, 0);      /* 0 alone */
    assert_int_equal(ds_pebs_head_size(WORD(0)), 176);
    assert_int_equal(WORD(16), 3);
    assert_int_equal(ds_pebs_head_size(WORD(176)), 32);
    assert_int_equal(WORD(176 + 16), 1);
}

static void layouts(void **state) /* byte for byte */
{
    (void)state;
    const struct ds_model_registers *r = &b->registers;
    ds_bench_init(b, ds_bench_skylake(), NULL, 1024, 1024);
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
    assert_int_equal(WORD(sizeof format3), 0);

    ds_bench_init(b, ds_bench_icelake(), NULL, 1024, 1024);
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
    for (unsigned format = 0; format < 4; format++) {
        ds_bench_init(b, ds_bench_of_format(format), NULL, 1024, 1024);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
        ds_bench_step(b, 2, 0);
        assert_int_equal(ds_bench_index(b), size[format]);
        assert_int_equal(WORD(size[format]), 0);
    }
}

/* Every group at once, with every word of it worked out here. */
static void all_groups(void **state)
{
    (void)state;
    const struct ds_model_registers *r = &b->registers;
    const uint64_t cfg = 0x3F | UINT64_C(2) << 24 | msr_pebs_data_cfg_counters(0x206, 0x9); /* 3 LBR entries */
    ds_bench_init(b, ds_bench_of_format(6), NULL, 4096, 4096);
    ds_bench_write(b, MSR_PEBS_DATA_CFG, cfg);
    ds_bench_write(b, MSR_PERF_METRICS, 0x40302010);
    ds_bench_write(b, IA32_FIXED_CTR0, 0x100);
    ds_bench_write(b, IA32_FIXED_CTR0 + 3, 0x103);
    ds_bench_write(b, IA32_A_PMC0 + 2, 0x200);
    ds_bench_write(b, IA32_A_PMC0 + 9, 0x209);
    ds_bench_write(b, IA32_LBR_CTL, IA32_LBR_CTL_VALID & ~IA32_LBR_CTL_CALL_STACK);
    ds_bench_pebs_counter(b, 1, 0x82D0 | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), MINUS(50)); /* stores */
    const struct ds_model_branch branch[2] = {{.from = 10, .to = 11, .prediction = DS_MODEL_MISPREDICTED},
                                              {.from = 12, .to = 13, .prediction = DS_MODEL_PREDICTED}};
    struct ds_model_retired call = {.events = DS_BIT(DS_MODEL_STORE), .store_address = 0x5000, .load_address = 0x6000};
    for (int i = 0; i < 2; i++) {
        call.branch = &branch[i];
        assert_int_equal(ds_model_retire(&b->model, &call), 0);
    }
    const uint64_t groups = cfg & 0xFFFFFFFF, size = 32 + 32 + 144 + 256 + 72 + 16 + 5 * 8 + 16;
    uint64_t expected[76] = {
        size << 48 | UINT64_C(1) << 32 | groups, /* retire latency: 1 */
        r->eventing_ip,
        2,
        r->tsc, /* basic */
        0x5000,
        0,
        0,
        0, /* memory */
        r->rflags,
        r->rip,
        r->rax,
        r->rcx,
        r->rdx,
        r->rbx,
        r->rsp,
        r->rbp,
        r->rsi,
        r->rdi, /* GPRs */
    };
    memcpy(expected + 18, r->r8_r15, 64);
    memcpy(expected + 26, b->xmm.xmm, 256);
    const uint64_t rest[] = {
        12,
        13,
        0,
        10,
        11,
        DS_BIT(63),
        0,
        0,
        0, /* LBR: newest first, then nothing */
        UINT64_C(9) << 32 | 0x206,
        3,
        1,
        0x200,
        0x209,
        0x100,
        0x103, /* counters: PMC1 as it fired */
        0x103,
        0x40302010, /* metrics */
    };
    memcpy(expected + 58, rest, sizeof rest);
    assert_int_equal(58 * 8 + sizeof rest, size);
    assert_int_equal(sizeof expected, size);
    assert_int_equal(ds_bench_index(b), size);
    assert_memory_equal(ds_bench_word(b, ds_bench_buffer()), expected, size);
    assert_int_equal(WORD(size), 0);
    assert_int_equal(PMC(b, 1), MINUS(50));
}

static void group_sizes(void **state) /* in the model, not only in the formula */
{
    (void)state;
    static const struct {
        uint64_t cfg;
        uint32_t size;
    } rows[] = {
        {0, 32},
        {1, 64},
        {2, 176},
        {3, 208},
        {4, 288},
        {7, 464},
        {0x7000008, 224},
        {0xF000003, 208},
        {0xF00000B, 592},
        {0x1F00000F, 1232},
        {UINT64_C(0xF00FF00000010), 144},
        {UINT64_C(0x8000100000030), 80},
        {0xFF000008, 32 + 256 * 24},
        {0x20, 64},
        {UINT64_C(0xF00FF00000020), 64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_bench_init(b, ds_bench_of_format(6), NULL, 16384, 16384);
        b->model.host.xmm = NULL; /* a host that cannot read them */
        ds_bench_write(b, MSR_PEBS_DATA_CFG, rows[i].cfg);
        ds_bench_pebs_counter(b, 1, INSTRUCTIONS | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), 0);
        ds_bench_step(b, 2, 0);
        assert_int_equal(ds_bench_index(b), rows[i].size);
        assert_int_equal(ds_pebs_head_size(WORD(0)), rows[i].size);
        assert_int_equal(ds_pebs_head_groups(WORD(0)), (uint32_t)rows[i].cfg);
    }
    assert_int_equal(WORD(32), 0); /* the last row: metrics alone, no masks */
    assert_int_equal(WORD(40), DS_PEBS_CNTR_METRICS);
}

static void branch_history(void **state)
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 8192, 8192);
    ds_bench_write(b, MSR_PEBS_DATA_CFG, UINT64_C(33) << 24 | MSR_PEBS_DATA_CFG_LBR); /* two more than there are */
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_ADAPTIVE, MINUS(45), 0);
    ds_bench_branch(b, 99, 0); /* LBR is off */
    ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
    for (unsigned i = 1; i < 44; i++)
        ds_bench_branch(b, i, 0);
    const struct ds_model_branch interrupt = {.from = 0x7000, .to = 0x8000, .prediction = DS_MODEL_PREDICTION_UNKNOWN};
    assert_int_equal(ds_model_interrupt(&b->model, &interrupt, 0), 0);
    ds_bench_step(b, 2, 0);
    assert_int_equal(b->stored, 1);
    assert_int_equal(WORD(32), 0x7000);
    for (unsigned i = 1; i < 32; i++) {
        assert_int_equal(WORD(32 + 24 * i), 0x1000 + 44 - i);
        assert_int_equal(WORD(40 + 24 * i), 0x2000 + 44 - i);
    }
    for (unsigned i = 32 * 3; i < 34 * 3; i++)
        assert_int_equal(WORD(32 + 8 * i), 0);
}

/* The data address of the load or the store that was counted, from Haswell on. */
static void data_addresses(void **state)
{
    (void)state;
    static const struct {
        unsigned format;
        uint32_t load, store, field;
    } rows[] = {
        {1, 0x010B, 0x020B, 0x98}, {2, 0x81D0, 0x82D0, 0x98}, {3, 0x81D0, 0x82D0, 0x98}, {4, 0x81D0, 0x82D0, 32}};
    const struct ds_model_retired both = {
        .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_LOAD) | DS_BIT(DS_MODEL_LOAD_OR_PREFETCH) |
                  DS_BIT(DS_MODEL_STORE),
        .load_address = 0x111000,
        .store_address = 0x222000,
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned counted = 0; counted < 3; counted++) {
            ds_bench_init(b, ds_bench_of_format(rows[i].format), NULL, 4096, 4096);
            if (rows[i].format >= 4)
                ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_MEMINFO);
            ds_bench_pebs_counter(b, 0,
                                  (counted == 0   ? INSTRUCTIONS
                                   : counted == 1 ? rows[i].load
                                                  : rows[i].store) |
                                      (rows[i].format >= 4 ? IA32_PERFEVTSEL_ADAPTIVE : 0),
                                  MINUS(1), 0);
            assert_int_equal(ds_model_retire(&b->model, &both), 0);
            assert_int_equal(ds_model_retire(&b->model, &both), 0);
            assert_int_equal(b->stored, 1);
            static const uint64_t expected[] = {0, 0x111000, 0x222000};
            assert_int_equal(WORD(rows[i].field), rows[i].format < 2 ? 0 : expected[counted]);
        }
}

static void no_baseline_format4(void **state)
{
    (void)state;
    static struct ds_model_preset guest; /* what KVM shows a guest */
    guest = *ds_bench_icelake();
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

static void unknown_xmm(void **state) /* a host that cannot see them */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 640, 640);
    b->model.host.xmm = NULL;
    memset(ds_bench_word(b, ds_bench_buffer()), 0xA5, 640);
    ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_XMM);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), 0);
    ds_bench_step(b, 2, 0);
    assert_int_equal(ds_bench_index(b), 32 + 256);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(WORD(32 + 8 * i), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),         cmocka_unit_test(mixed_adaptive),      cmocka_unit_test(layouts),
        cmocka_unit_test(all_groups),     cmocka_unit_test(group_sizes),         cmocka_unit_test(branch_history),
        cmocka_unit_test(data_addresses), cmocka_unit_test(no_baseline_format4), cmocka_unit_test(unknown_xmm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
