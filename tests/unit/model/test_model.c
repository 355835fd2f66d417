/* SPDX-License-Identifier: MIT */
/* The model's PEBS against vectors worked out by hand: arming, thresholds, drops, interrupts, what counts. */
/* Longer than 500 lines: all vectors are of one model, by the same few helpers. */
#include <stdbool.h>

#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define WORD(offset) ds_bench_word_at(b, offset)

static struct ds_bench bench, *b = &bench;

static void arming_and_record(void **state) /* the wrap arms, the next event writes */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 32);
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
    assert_int_equal(WORD(0), UINT64_C(32) << 48);
    assert_int_equal(WORD(8), b->registers.eventing_ip);
    assert_int_equal(WORD(16), 1);
    assert_int_equal(WORD(24), b->registers.tsc);
}

static void no_overflow_no_record(void **state)
{
    (void)state;
    static const uint64_t start[] = {0, UINT64_C(0xFFFFFFFFFFF0)};
    for (int i = 0; i < 2; i++) {
        ds_bench_init(b, ds_bench_icelake(), NULL, 320, 32);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, start[i], 0);
        ds_bench_step(b, 10, 0);
        assert_int_equal(STATUS(b), 0);
        assert_int_equal(ds_bench_index(b), 0);
        assert_int_equal(PMC(b, 0), start[i] + 10);
    }
}

static void fixed_counter(void **state) /* its reset value lies behind the GP counters' 8, from format 5 on 32 */
{
    (void)state;
    for (int fmt5 = 0; fmt5 < 2; fmt5++) {
        ds_bench_init(b, ds_model_preset(fmt5 ? "arrowlake" : "sapphirerapids"), NULL, 320, 320);
        *ds_bench_area(b, 0x80) = fmt5 ? 0x80 : MINUS(7);
        *ds_bench_area(b, 0x140) = fmt5 ? MINUS(9) : 0x140;
        ds_bench_write(b, IA32_FIXED_CTR0, MINUS(1));
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0));
        ds_bench_write(b, IA32_PEBS_ENABLE, DS_BIT(32));
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
        ds_bench_step(b, 2, 0);
        assert_int_equal(WORD(16), DS_BIT(32));
        assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), fmt5 ? MINUS(9) : MINUS(7));
        assert_int_equal(STATUS(b), 0);
    }
}

/* Who fills in the 60H bytes Windows knows and no more: a fixed counter's reset value is what lies behind them. So each
 * area is a page of its own, of zeros. */
static void form_of_windows(void **state)
{
    (void)state;
    for (uint64_t behind = 0; behind < 8; behind += 7) {
        ds_bench_init(b, ds_model_preset("sapphirerapids"), NULL, 320, 320);
        for (uint64_t at = sizeof(struct ds_area_60); at < 0x1000; at += 8)
            *ds_bench_area(b, at) = behind;
        ds_bench_write(b, IA32_FIXED_CTR0, MINUS(1));
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0));
        ds_bench_write(b, IA32_PEBS_ENABLE, DS_BIT(32));
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->stored, 1);
        assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), behind);
    }
}

static void load_latency_is_no_counter(void **state) /* the other meaning of bits 32 to 35, and bit 63 */
{
    (void)state;
    ds_bench_init(b, ds_model_preset("sandybridge"), NULL, 1024, 1024);
    ds_bench_write(b, IA32_FIXED_CTR0, MINUS(1));
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0));
    ds_bench_write(b, IA32_PEBS_ENABLE, IA32_PEBS_ENABLE_LL_EN | IA32_PEBS_ENABLE_PS_EN);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
    ds_bench_step(b, 5, 0);
    assert_int_equal(b->stored + b->dropped, 0);
    assert_int_equal(STATUS(b), DS_BIT(32));
}

static void plain_overflow(void **state) /* PEBS_ENABLE is 0 */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 32);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(2), 0);
    ds_bench_write(b, IA32_PEBS_ENABLE, 0);
    ds_bench_step(b, 5, 0);
    assert_int_equal(STATUS(b), 1);
    assert_int_equal(ds_bench_index(b), 0);
    assert_int_equal(b->pmis, 0); /* INT is clear */
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 32);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_INT, MINUS(2), 0);
    ds_bench_write(b, IA32_PEBS_ENABLE, 0);
    ds_bench_step(b, 5, 0);
    assert_int_equal(b->pmis, 1);
}

static void full_buffer(void **state) /* silent until software sets the index back */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 3 * 32, 3 * 32);
    b->handler_unmasks = true; /* so that a second PMI would be seen */
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(4), MINUS(4));
    ds_bench_step(b, 14, 0);
    assert_int_equal(b->stored, 2);
    assert_int_equal(b->pmis, 0);
    ds_bench_step(b, 26, 0);
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

static void two_counters_one_record(void **state)
{
    (void)state;
    for (unsigned format = 1; format <= 6; format++) {
        ds_bench_init(b, ds_bench_of_format(format), NULL, 1024, 1024);
        ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(1), MINUS(3)); /* not 0: it may have precise distribution */
        ds_bench_pebs_counter(b, 3, BRANCHES, MINUS(1), MINUS(8));
        ds_bench_step(b, 1, BRANCH);
        assert_int_equal(STATUS(b), 0xA);
        ds_bench_step(b, 1, BRANCH);
        assert_int_equal(b->stored, 1);
        assert_int_equal(WORD(format >= 4 ? 0x10 : 0x90), 0xA);
        assert_int_equal(STATUS(b), 0);
        assert_int_equal(PMC(b, 1), MINUS(3));
        assert_int_equal(PMC(b, 3), MINUS(8));
    }
    /* formats 1 and 2 show the whole of GLOBAL_STATUS, before the record clears its part */
    ds_bench_init(b, ds_bench_of_format(1), NULL, 1024, 1024);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(2), MINUS(3));
    ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_write(b, IA32_PEBS_ENABLE, 1);
    ds_bench_step(b, 3, 0);
    assert_int_equal(WORD(0x90), 3);
    assert_int_equal(STATUS(b), 2);
}

/* The order of simultaneous overflows: GP ascending, then fixed. The status at the first interrupt tells. */
static void overflow_order(void **state)
{
    (void)state;
    for (unsigned plain = 0; plain < 3; plain += 2) {
        ds_bench_init(b, ds_bench_skylake(), NULL, 1024, 200);
        b->handler_unmasks = true;
        ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(1), 0);
        ds_bench_pebs_counter(b, plain, INSTRUCTIONS | IA32_PERFEVTSEL_INT, MINUS(2), 0);
        ds_bench_write(b, IA32_PEBS_ENABLE, 2);
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, 2);
        assert_int_equal(b->pmi_status[0], plain == 0 ? 3 : OVF_BUF | 4); /* before or after the assist of PMC1 */
        assert_int_equal(b->pmi_status[1], OVF_BUF | DS_BIT(plain));
    }
    ds_bench_init(b, ds_bench_skylake(), NULL, 1024, 1024); /* two that overflow at once share one interrupt */
    b->handler_unmasks = true;
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_INT, MINUS(1), 0);
    ds_bench_pebs_counter(b, 1, INSTRUCTIONS | IA32_PERFEVTSEL_INT, MINUS(1), 0);
    ds_bench_write(b, IA32_PEBS_ENABLE, 0);
    ds_bench_step(b, 1, 0);
    assert_int_equal(b->pmis, 1);
    assert_int_equal(STATUS(b), 3);
}

static void threshold_then_overflow(void **state) /* two PMIs; one where LVTPC stays masked */
{
    (void)state;
    for (int unmasks = 0; unmasks < 2; unmasks++) {
        ds_bench_init(b, ds_bench_icelake(), NULL, 320, 32);
        b->handler_unmasks = unmasks;
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS | IA32_PERFEVTSEL_INT, MINUS(1), MINUS(1));
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, unmasks ? 2 : 1);
        assert_int_equal(b->model.lvtpc, unmasks ? 0xEE : LVTPC_MASKED | 0xEE);
        ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, OVF_BUF);
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, unmasks ? 4 : 1);
    }
}

/* A PMI of a counter or of the PEBS threshold freezes what DEBUGCTL says, in the manner of the version. */
static void freezing(void **state)
{
    (void)state;
    const uint64_t both = IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
    for (unsigned format = 2; format <= 4; format++) /* version 3, 4 and 5 */
        for (int threshold = 0; threshold < 2; threshold++) {
            ds_bench_init(b, ds_bench_of_format(format), NULL, 4096, 0);
            ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | both);
            ds_bench_pebs_counter(b, 1, INSTRUCTIONS | (threshold ? 0 : IA32_PERFEVTSEL_INT), MINUS(2), 0);
            ds_bench_write(b, IA32_PEBS_ENABLE, threshold ? 2 : 0);
            unsigned until = threshold ? 3 : 2;
            for (unsigned i = 0; i < 10; i++)
                ds_bench_branch(b, i, 0);
            assert_int_equal(b->pmis, 1);
            assert_int_equal(PMC(b, 1), 0);
            assert_int_equal(b->model.lbr_tos, until);
            uint64_t frozen = IA32_PERF_GLOBAL_STATUS_LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
            if (format == 2) {
                assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_CTRL), 0);
                assert_int_equal(ds_bench_read(b, IA32_DEBUGCTL), both);
                assert_int_equal(STATUS(b) & frozen, 0);
                ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 2);
                ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
            } else {
                assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_CTRL), 2);
                assert_int_equal(ds_bench_read(b, IA32_DEBUGCTL), IA32_DEBUGCTL_LBR | both);
                assert_int_equal(STATUS(b) & frozen, frozen);
                ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, frozen);
            }
            ds_bench_branch(b, 10, 0);
            assert_int_equal(PMC(b, 1), 1);
            assert_int_equal(b->model.lbr_tos, until + 1);
        }
}

static void precise_distribution(void **state) /* N apart instead of N + 1 */
{
    (void)state;
    static const struct {
        const char *preset;
        unsigned counter;
        uint32_t code;
        unsigned stored;
    } rows[] = {
        {"icelake", 0, INSTRUCTIONS, 8},
        {"icelake", 32, 0, 10},
        {"sapphirerapids", 0, INSTRUCTIONS, 10},
        {"sapphirerapids", 1, INSTRUCTIONS, 8},
        {"sapphirerapids", 32, 0, 8},
        {"skylake", 1, INSTRUCTIONS, 8},
        {"skylake", 1, 0x01C0, 10},
        {"skylake", 0, 0x01C0, 0}, /* PREC_DIST counts on PMC1 alone */
        {"nehalem", 0, 0x01C0, 8},
        {"lunarlake", 0, 0x01C0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_bench_init(b, ds_model_preset(rows[i].preset), NULL, 8192, 8192);
        if (rows[i].counter < 32) {
            ds_bench_pebs_counter(b, rows[i].counter, rows[i].code, MINUS(4), MINUS(4));
        } else {
            *ds_bench_area(b, 0x80) = MINUS(4);
            ds_bench_write(b, IA32_FIXED_CTR0, MINUS(4));
            ds_bench_write(b, IA32_FIXED_CTR_CTRL, 1);
            ds_bench_write(b, IA32_PEBS_ENABLE, DS_BIT(32));
            ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
        }
        ds_bench_step(b, 40, 0);
        if (b->stored != rows[i].stored)
            fail_msg("%s, counter %u, %x: %u records", rows[i].preset, rows[i].counter, rows[i].code, b->stored);
    }
}

static void bystander(void **state) /* armed, and the event is another counter's */
{
    (void)state;
    for (unsigned format = 1; format <= 6; format++)
        for (int swapped = 0; swapped < 2; swapped++) {
            bool reloaded = (format < 3) != swapped;
            const struct ds_model_policy policy = {.bystander_swapped = swapped};
            ds_bench_init(b, ds_bench_of_format(format), &policy, 1024, 1024);
            ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(1), MINUS(100));
            ds_bench_pebs_counter(b, 3, BRANCHES, MINUS(1), MINUS(100));
            ds_bench_step(b, 1, BRANCH);
            ds_bench_step(b, 1, 0);
            assert_int_equal(b->stored, 1);
            assert_int_equal(WORD(format >= 4 ? 0x10 : 0x90), format < 3 ? 0xA : 2);
            assert_int_equal(STATUS(b), reloaded ? 0 : 8);
            assert_int_equal(PMC(b, 3), reloaded ? MINUS(100) : 0);
            assert_int_equal(b->model.swallowed, reloaded); /* its sample has no record */
            ds_bench_step(b, 1, BRANCH);
            assert_int_equal(b->stored, reloaded ? 1 : 2);
            assert_int_equal(b->model.swallowed, reloaded);
        }
}

static void rings_and_controls(void **state)
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 1024, 1024);
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
        assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 3), 0);
    static const uint64_t expected[6] = {4, 3, 0, 3, 3, 0}; /* not enabled, INV alone, cycles, GLOBAL_CTRL clear */
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(PMC(b, i), expected[i]);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), 4);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + 1), 3);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + 3), 0);
}

/* Which event each generation's codes count. */
#define UMASK2(n) ((uint64_t)(n) << 40)
static void event_codes(void **state)
{
    (void)state;
    enum { NONE = DS_MODEL_EVENTS };
    static const struct {
        const char *preset;
        uint64_t code;
        unsigned event;
    } rows[] = {
        {"penryn", 0x00C0, DS_MODEL_INSTRUCTION},
        {"penryn", 0x013C, DS_MODEL_INSTRUCTION},
        {"penryn", 0x01C0, DS_MODEL_LOAD},
        {"penryn", 0x02C0, DS_MODEL_STORE},
        {"penryn", 0x0CC4, DS_MODEL_BRANCH_TAKEN},
        {"penryn", 0x02C4, NONE},
        {"nehalem", 0x00C4, DS_MODEL_BRANCH},
        {"nehalem", 0x01C4, DS_MODEL_BRANCH_CONDITIONAL},
        {"nehalem", 0x02C4, DS_MODEL_NEAR_CALL},
        {"nehalem", 0x010B, DS_MODEL_LOAD},
        {"nehalem", 0x020B, DS_MODEL_STORE},
        {"sandybridge", 0x04C4, DS_MODEL_BRANCH},
        {"haswell", 0x08C4, DS_MODEL_NEAR_RETURN},
        {"nehalem", 0x01C2, DS_MODEL_INSTRUCTION},
        {"nehalem", 0x10C4, NONE},
        {"sandybridge", 0x81D0, DS_MODEL_LOAD_OR_PREFETCH},
        {"sandybridge", 0x10C4, DS_MODEL_CONDITIONAL_NOT_TAKEN},
        {"haswell", 0x81D0, DS_MODEL_LOAD_OR_PREFETCH},
        {"skylake", 0x81D0, DS_MODEL_LOAD_OR_PREFETCH},
        {"skylake", 0x01C2, DS_MODEL_INSTRUCTION},
        {"skylake", 0x02C2, DS_MODEL_INSTRUCTION},
        {"skylake", 0x10C4, DS_MODEL_CONDITIONAL_NOT_TAKEN},
        {"skylake", 0x80C4, NONE},
        {"skylake", 0x82D0, DS_MODEL_STORE},
        {"skylake", 0x20C4, DS_MODEL_BRANCH_TAKEN},
        {"skylake", 0x40C4, DS_MODEL_FAR_BRANCH},
        {"icelake", 0x11C4, DS_MODEL_BRANCH_CONDITIONAL},
        {"icelake", 0x01C4, DS_MODEL_CONDITIONAL_TAKEN},
        {"icelake", 0x10C4, DS_MODEL_CONDITIONAL_NOT_TAKEN},
        {"icelake", 0x80C4, DS_MODEL_NEAR_INDIRECT},
        {"icelake", 0x81D0, DS_MODEL_LOAD_OR_PREFETCH},
        {"icelake", 0x84D0, NONE},
        {"icelake", 0x01C2, NONE},
        {"sapphirerapids", 0x81D0, DS_MODEL_LOAD_OR_PREFETCH},
        {"arrowlake", 0x81D0, DS_MODEL_LOAD},
        {"lunarlake", 0x84D0, DS_MODEL_PREFETCH},
        {"lunarlake", 0x01C4, DS_MODEL_CONDITIONAL_BACKWARD},
        {"lunarlake", UMASK2(1) | 0x00C4, DS_MODEL_CONDITIONAL_FORWARD},
        {"lunarlake", UMASK2(1) | 0x01C4, DS_MODEL_CONDITIONAL_TAKEN},
        {"lunarlake", UMASK2(1) | 0x11C4, DS_MODEL_BRANCH_CONDITIONAL},
        {"lunarlake", 0x11C4, NONE},
        {"pantherlake", 0x01C4, DS_MODEL_CONDITIONAL_BACKWARD},
        {"pantherlake", 0x02C4, DS_MODEL_CONDITIONAL_FORWARD},
        {"pantherlake", 0x03C4, DS_MODEL_CONDITIONAL_TAKEN},
        {"pantherlake", 0x04C4, DS_MODEL_CONDITIONAL_NOT_TAKEN},
        {"pantherlake", 0x10C4, DS_MODEL_NEAR_INDIRECT_CALL},
        {"pantherlake", 0x20C4, DS_MODEL_NEAR_DIRECT_CALL},
        {"pantherlake", 0x40C4, DS_MODEL_NEAR_INDIRECT_JUMP},
        {"pantherlake", 0x50C4, DS_MODEL_NEAR_INDIRECT},
        {"pantherlake", 0x58C4, NONE},
        {"pantherlake", 0x80C4, DS_MODEL_NEAR_DIRECT_JUMP},
        {"pantherlake", 0xC0C4, DS_MODEL_NEAR_JUMP},
        {"clearwaterforest", 0x58C4, DS_MODEL_NEAR_INDIRECT_OR_RETURN},
        {"clearwaterforest", 0x01C2, DS_MODEL_INSTRUCTION},
        {"clearwaterforest", UMASK2(1) | 0x00C4, NONE},
        {"sapphirerapids", 0x02C4, DS_MODEL_NEAR_CALL},
        {"arrowlake", 0x08C4, DS_MODEL_NEAR_RETURN},
        {"lunarlake", 0x20C4, DS_MODEL_BRANCH_TAKEN},
        {"lunarlake", 0x412E, NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_bench_init(b, ds_model_preset(rows[i].preset), NULL, 1024, 1024);
        ds_bench_pebs_counter(b, 0, rows[i].code, 0, 0);
        for (unsigned event = 0; event < DS_MODEL_EVENTS; event++) {
            uint64_t before = PMC(b, 0);
            assert_int_equal(ds_bench_retire(b, DS_BIT(event), event & 1 ? 3 : 0), 0);
            if (PMC(b, 0) - before != (event == rows[i].event))
                fail_msg("%s, code %lx, event %u", rows[i].preset, (unsigned long)rows[i].code, event);
        }
    }
}

/* DS memory missing at each single access of an assist: an error, no step further, never an interrupt of its own. */
static void unmapped(void **state)
{
    enum { AREA = 1, RECORD = 5, INDEX = 1, RELOAD = 1 }; /* six groups, three at once, the last in two pieces */
    (void)state;
    for (int injected = 0; injected < 2; injected++) {
        unsigned missing = 0;
        do {
            const struct ds_model_policy policy = {.unmapped_page_fault = injected};
            ds_bench_init(b, ds_bench_of_format(6), &policy, 4096, 0);
            ds_bench_write(b, MSR_PEBS_DATA_CFG, 0x3F | UINT64_C(1) << 24 | msr_pebs_data_cfg_counters(3, 1));
            ds_bench_pebs_counter(b, 1, INSTRUCTIONS | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), 0);
            ds_bench_step(b, 1, 0);
            b->missing = ++missing;
            int e = ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0);
            if (b->accesses < missing)
                break;
            assert_int_equal(e, injected ? 0 : -EFAULT);
            assert_int_equal(b->page_faults, injected);
            assert_int_equal(b->pmis, 0);
            assert_int_equal(ds_bench_index(b) != 0,
                             b->accesses == AREA + RECORD + INDEX + RELOAD); /* only the reload came after it */
            assert_int_equal(b->model.fault_write, missing > AREA && missing <= AREA + RECORD + INDEX);
            assert_int_equal(b->model.lost, !injected && missing <= AREA + RECORD + INDEX);
            if (injected) {
                assert_int_equal(b->faulted, b->model.fault_address);
                assert_int_equal(b->fault_write, b->model.fault_write);
            }
        } while (missing < 1000);
        assert_int_equal(missing, AREA + RECORD + INDEX + RELOAD + 1); /* then none */
        assert_int_equal(b->stored, 1);
        assert_int_equal(b->pmis, 1);
    }
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_write(b, IA32_DS_AREA, 0x1000); /* nothing checks where it points */
    b->model.fault_write = true;             /* of a fault before */
    ds_bench_step(b, 1, 0);
    assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0), -EFAULT);
    assert_int_equal(b->model.fault_address, 0x1020);
    assert_false(b->model.fault_write);
}

/* The DS area, a record and a branch record that each lie on two pages: every byte is where it belongs, and where the
 * second page is missing, the fault is at its beginning. */
static void across_pages(void **state)
{
    enum { AREA = 0xFD8, SIZE = 200 }; /* the area's first page ends behind the base of the PEBS buffer */
    const uint64_t area = DS_BENCH_BASE + AREA, record = ds_bench_buffer() + 0x2000 - 72, branch = record + 0x2000 + 64;
    const struct ds_model_branch taken = {.from = 0x11, .to = 0x22};
    (void)state;
    for (unsigned missing = 0; missing <= 3; missing++) { /* none, or the second page of one of the three */
        ds_bench_init(b, ds_bench_skylake(), NULL, 4096, 4096);
        ds_bench_write(b, IA32_DS_AREA, area);
        const uint64_t words[] = {branch, branch,        branch + 24,       branch + 48, record,
                                  record, record + SIZE, record + 2 * SIZE, MINUS(1)};
        for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
            *ds_bench_word(b, area + 8 * i) = words[i];
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
        ds_bench_write(b, IA32_DEBUGCTL, IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT);
        *ds_bench_word(b, area + ds_area_reset(3, 0)) = MINUS(5);
        ds_bench_step(b, 1, 0);
        b->registers.rflags = 0x202;
        b->registers.eventing_ip = 0x7777;
        b->accesses = 0;
        /* the area's two pages, the record's, its index, the reload; the area on one page, the branch record's two */
        b->missing = missing == 1 ? 2 : missing == 2 ? 4 : missing == 3 ? 9 : 0;
        const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION), .branch = &taken};
        assert_int_equal(ds_model_retire(&b->model, &retired), missing ? -EFAULT : 0);
        if (missing)
            assert_int_equal(b->model.fault_address, missing == 1   ? DS_BENCH_BASE + 0x1000
                                                     : missing == 2 ? record + 72
                                                                    : branch + 8);
        assert_int_equal(*ds_bench_word(b, area + 0x28), missing == 1 || missing == 2 ? record : record + SIZE);
        assert_int_equal(*ds_bench_word(b, area + 0x08), missing == 3 ? branch : branch + 24);
        if (missing)
            continue;
        assert_int_equal(*ds_bench_word(b, record), 0x202);
        assert_int_equal(*ds_bench_word(b, record + 0xB0), 0x7777); /* EventingIP */
        assert_int_equal(*ds_bench_word(b, branch), 0x11);
        assert_int_equal(*ds_bench_word(b, branch + 8), 0x22);
        assert_int_equal(PMC(b, 0), MINUS(5));
    }
}

static void nobody_asks(void **state) /* a host without the hook for the truth */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
    b->model.host.recorded = NULL;
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_step(b, 2, 0);
    assert_int_equal(b->model.records, 1);
    assert_int_equal(b->stored, 0);
}

/* Software acknowledges between wrap and record: formats 1 and 2 then show no counter; it is reloaded all the same. */
static void acknowledged_while_armed(void **state)
{
    (void)state;
    ds_bench_init(b, ds_bench_of_format(1), NULL, 1024, 1024);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(9));
    ds_bench_step(b, 1, 0);
    ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, 1);
    ds_bench_step(b, 1, 0);
    assert_int_equal(b->stored, 1);
    assert_int_equal(WORD(0x90), 0);
    assert_int_equal(PMC(b, 0), MINUS(9));
}

static void programmed_anew(void **state) /* nothing of the program before stays */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 1024, 1024);
    ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR);
    ds_bench_pebs_counter(b, 0, 0x81D0 | IA32_PERFEVTSEL_ADAPTIVE | IA32_PERFEVTSEL_INT, MINUS(1), 0);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_step(b, 2, 0);
    assert_int_equal(ds_bench_index(b), 32);
    assert_int_equal(b->pmis, 0);
    ds_bench_init(b, ds_bench_skylake(), NULL, 1024, 1024);
    ds_bench_pebs_counter(b, 1, 0x01C0, MINUS(4), MINUS(4)); /* INST_RETIRED.PREC_DIST */
    ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(4), MINUS(4));
    ds_bench_step(b, 4, 0);
    assert_int_equal(b->stored, 0);
    ds_bench_step(b, 1, 0);
    assert_int_equal(b->stored, 1);
}

/* PEBS off for a while, as Linux has it while it reads the buffer: the next event after that is recorded. */
static void disabled_while_armed(void **state)
{
    (void)state;
    for (int events = 0; events < 3; events++) {
        ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(9));
        ds_bench_step(b, 1, 0);
        ds_bench_write(b, IA32_PEBS_ENABLE, 0);
        ds_bench_step(b, (unsigned)events, 0);
        assert_int_equal(b->stored, 0);
        assert_int_equal(STATUS(b), 1);
        ds_bench_write(b, IA32_PEBS_ENABLE, 1);
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->stored, 1);
        assert_int_equal(STATUS(b), 0);
        assert_true(PMC(b, 0) == MINUS(9));
    }
}

static void written_while_armed(void **state) /* it has to overflow anew */
{
    static const uint32_t counters[] = {IA32_PMC0, IA32_A_PMC0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(9));
        ds_bench_step(b, 1, 0);
        ds_bench_write(b, counters[i], MINUS(5) & (i ? UINT64_MAX : UINT32_MAX));
        ds_bench_step(b, 5, 0);
        assert_int_equal(b->stored, 0);
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->stored, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arming_and_record),
        cmocka_unit_test(no_overflow_no_record),
        cmocka_unit_test(fixed_counter),
        cmocka_unit_test(form_of_windows),
        cmocka_unit_test(load_latency_is_no_counter),
        cmocka_unit_test(plain_overflow),
        cmocka_unit_test(full_buffer),
        cmocka_unit_test(two_counters_one_record),
        cmocka_unit_test(overflow_order),
        cmocka_unit_test(threshold_then_overflow),
        cmocka_unit_test(freezing),
        cmocka_unit_test(precise_distribution),
        cmocka_unit_test(bystander),
        cmocka_unit_test(rings_and_controls),
        cmocka_unit_test(event_codes),
        cmocka_unit_test(unmapped),
        cmocka_unit_test(across_pages),
        cmocka_unit_test(nobody_asks),
        cmocka_unit_test(acknowledged_while_armed),
        cmocka_unit_test(programmed_anew),
        cmocka_unit_test(disabled_while_armed),
        cmocka_unit_test(written_while_armed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
