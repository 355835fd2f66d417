/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS: from an event to a record, a PMI, a full buffer; auto counter reload; what each policy changes.
 * Worked out on paper.
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
#define RELOAD(n)   ((uint32_t) - (n))
#define ARCH_PEBS   DS_BIT(54)
#define ALL_RINGS   (IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN)

static struct ds_bench bench, *b = &bench;

/* Threshold out of reach, until a test wants it. */
static void init(const char *preset, const struct ds_model_policy *policy)
{
    ds_bench_init(b, ds_model_preset(preset), policy, 0, 0);
    ds_bench_arch(b, 0, 0x7FFFFF0);
    b->handler_unmasks = true;
}

/* GP counter i counts instructions with PEBS, from -first, and is reloaded with -period; 0: not at all. */
static void pebs(unsigned i, unsigned first, unsigned period)
{
    ds_bench_pebs_counter(b, i, INSTRUCTIONS, MINUS(first), -(uint64_t)period);
}

/* Likewise a fixed counter, of instructions. */
static void pebs_fixed(unsigned i, unsigned first, unsigned period)
{
    ds_bench_write(b, IA32_FIXED_CTR0 + i, MINUS(first));
    ds_bench_write(b, FX_CFG_C(i), EN | (uint32_t) - (uint64_t)period);
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, ds_bench_read(b, IA32_FIXED_CTR_CTRL) | UINT64_C(3) << 4 * i);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, ds_bench_read(b, IA32_PERF_GLOBAL_CTRL) | FIXED(i));
}

static void index_is(uint64_t expected)
{
    const uint64_t index = ds_bench_read(b, IA32_PEBS_INDEX);
    if (index != expected)
        fail_msg("IA32_PEBS_INDEX: %llx, not %llx", (unsigned long long)index, (unsigned long long)expected);
}

/* ---- when a record is written ------------------------------------------------------------------------------------ */

/* An armed counter records its next event; one with precise distribution the event that overflows. */
static void armed_or_precise(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 14; i++) {
        const bool gp = i < 10, precise = i == 0 || i == 1 || i == 10;
        init("pantherlake", NULL);
        if (gp)
            pebs(i, 3, 5);
        else
            pebs_fixed(i - 10, 3, 5);
        if (i == 13) /* slots, of which each instruction has several: test_model_slots.c */
            continue;
        const uint64_t bit = gp ? DS_BIT(i) : FIXED(i - 10);
        ds_bench_step(b, 2, 0);
        assert_int_equal(STATUS(b), 0);
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->stored, precise);
        assert_true(STATUS(b) == (precise ? 0 : bit));
        ds_bench_step(b, precise ? 0 : 1, 0);
        assert_int_equal(b->stored, 1);
        assert_int_equal(STATUS(b), 0);
        assert_int_equal(*ds_bench_physical(b, 24), bit); /* applicable counters */
        assert_int_equal(ds_bench_read(b, gp ? IA32_PMC0 + i : IA32_FIXED_CTR0 + i - 10), MINUS(5));
        ds_bench_step(b, precise ? 4 : 5, 0);
        assert_int_equal(b->stored, 1);
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->stored, 2);
        index_is(UINT64_C(0x07FFFFF100000080));
    }
}

/* Without one of its four switches there is no record; without that of PEBS an overflow is one as of any counter. */
static void switches(void **state)
{
    (void)state;
    for (int off = 0; off < 5; off++) {
        init("clearwaterforest", NULL);
        pebs(2, 2, 2);
        ds_bench_write(b, IA32_PERFEVTSEL0 + 2, INSTRUCTIONS | IA32_PERFEVTSEL_INT | (off == 1 ? 0 : ALL_RINGS));
        if (off == 2)
            ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(3));
        if (off == 3)
            ds_bench_write(b, GP_CFG_C(2), RELOAD(2));
        if (off == 4)
            ds_bench_write(b, IA32_PEBS_INDEX, UINT64_C(0x07FFFFF000000000));
        ds_bench_step(b, 3, 0);
        assert_int_equal(b->stored, off == 0);
        assert_int_equal(b->pmis, off == 0 || off >= 3);
        assert_int_equal(STATUS(b), off >= 3 ? 4 : 0);
        assert_true(PMC(b, 2) == (off == 0 ? MINUS(2) : off >= 3 ? 1 : MINUS(2)));
    }
}

/* Turned off it records nothing; on again, or after a drain, it is still armed; a counter written anew is not. */
static void armed_and_off(void **state)
{
    (void)state;
    for (int how = 0; how < 5; how++) {
        init("pantherlake", NULL);
        pebs(2, 2, 9);
        ds_bench_step(b, 2, 0);
        const uint64_t index = ds_bench_read(b, IA32_PEBS_INDEX), cfg_c = ds_bench_read(b, GP_CFG_C(2));
        if (how == 1)
            ds_bench_write(b, IA32_PEBS_INDEX, index & ~DS_BIT(32));
        if (how == 2)
            ds_bench_write(b, GP_CFG_C(2), cfg_c & ~EN);
        ds_bench_step(b, how == 1 || how == 2, 0);
        assert_int_equal(b->stored, 0);
        if (how == 4)
            ds_bench_write(b, IA32_A_PMC0 + 2, 0);
        ds_bench_write(b, IA32_PEBS_INDEX, index);
        ds_bench_write(b, GP_CFG_C(2), how == 3 ? cfg_c | DS_BIT(61) : cfg_c); /* other groups: the record has them */
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->stored, how != 4);
        assert_int_equal(ds_bench_index(b), how == 3 ? 224 : how == 4 ? 0 : 64);
        assert_true(PMC(b, 2) == (how == 4 ? 1 : MINUS(9)));
    }
}

/* Events that have lists of counters; the policy records them elsewhere, too. */
static void listed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++)
        for (uint8_t unlisted = 0; unlisted < 3; unlisted++) {
            const struct ds_model_policy policy = {.unlisted = unlisted};
            ds_bench_init_listed(b, ds_model_preset("pantherlake"), &policy, 0, 0);
            ds_bench_pebs_counter(b, i, 0x02CD, MINUS(1), 0); /* MEM_TRANS_RETIRED.STORE_SAMPLE: PMC0, PMC1 */
            ds_bench_step(b, 1, DS_BIT(DS_MODEL_STORE));
            ds_bench_step(b, 1, DS_BIT(DS_MODEL_STORE));
            assert_int_equal(b->stored, i < 2 || unlisted == DS_MODEL_UNLISTED_RECORD);
        }
}

/* ---- the reload value -------------------------------------------------------------------------------------------- */

static void reload_values(void **state)
{
    (void)state;
    static const struct {
        uint32_t reload;
        bool minimum;
        unsigned counter;
        uint64_t value; /* after the record */
    } rows[] = {
        {0xFFFFD8F0, false, 2, MINUS(10000)},
        {0xFFFFFFFF, false, 2, MINUS(1)},
        {0x80000000, false, 2, UINT64_C(0xFFFF80000000)}, /* sign-extended to the counter's width */
        {0x7FFFFFFF, false, 2, 0x7FFFFFFF},
        {1, false, 2, 1},
        {0, false, 2, 1}, /* none: it goes on as it wrapped, and has counted the record's event */
        {0, false, 0, 0},
        {0xFFFFFFFF, true, 2, MINUS(1)},
        {0xFFFFFFFF, true, 0, MINUS(128)}, /* policy pdist_minimum: precise distribution */
        {0xFFFFFF80, true, 1, MINUS(128)},
        {0xFFFFFF7F, true, 1, MINUS(129)},
        {0x7FFFFFFF, true, 0, 0x7FFFFFFF},
        {0, true, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const unsigned c = rows[i].counter;
        init("pantherlake", &(struct ds_model_policy){.pdist_minimum = rows[i].minimum});
        pebs(c, 1, 0);
        ds_bench_write(b, GP_CFG_C(c), EN | rows[i].reload);
        ds_bench_step(b, c < 2 ? 1 : 2, 0);
        assert_int_equal(b->stored, 1);
        if (PMC(b, c) != rows[i].value)
            fail_msg("row %zu: %llx", i, (unsigned long long)PMC(b, c));
        assert_int_equal(STATUS(b), 0);
    }
}

/* Its own bit of GLOBAL_STATUS, which software does not look at: before the record, and after it. */
static void overflow_bits(void **state)
{
    (void)state;
    static const struct {
        uint8_t policy;
        uint64_t before, after;
    } rows[] = {{DS_MODEL_ARCH_CLEARED, 4, 0}, {DS_MODEL_ARCH_NEVER, 0, 0}, {DS_MODEL_ARCH_STAYS, 4, 4}};
    for (size_t i = 0; i < 3; i++) {
        init("pantherlake", &(struct ds_model_policy){.arch_overflow = rows[i].policy});
        pebs(2, 2, 5);
        ds_bench_write(b, IA32_PERFEVTSEL0 + 3, INSTRUCTIONS | ALL_RINGS); /* one without PEBS, always the same */
        ds_bench_write(b, IA32_A_PMC0 + 3, MINUS(1));
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0xC);
        ds_bench_step(b, 2, 0);
        assert_int_equal(STATUS(b), rows[i].before | 8);
        ds_bench_step(b, 1, 0);
        assert_int_equal(STATUS(b), rows[i].after | 8);
        ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, 4); /* the record to come clears a bit it did not set as well */
        ds_bench_step(b, 6, 0);
        assert_int_equal(b->stored, 2);
        assert_int_equal(STATUS(b), (rows[i].policy == DS_MODEL_ARCH_CLEARED ? 0 : 4) | 8);
    }
}

/* ---- IA32_PEBS_INDEX --------------------------------------------------------------------------------------------- */

/* Records of 224 or 64 bytes in a buffer of 64 KiB, one for each instruction. */
static void many(uint64_t index, unsigned bytes, unsigned records, const struct ds_model_policy *policy)
{
    init("pantherlake", policy);
    ds_bench_arch(b, 4, 0);
    ds_bench_write(b, IA32_PEBS_INDEX, index);
    pebs(0, 1, 1);
    ds_bench_write(b, GP_CFG_C(0), EN | (bytes == 224 ? DS_BIT(61) : 0) | RELOAD(1));
    ds_bench_step(b, records, 0);
}

static void index_values(void **state)
{
    (void)state;
    static const uint64_t single = UINT64_C(0x0000001100000000), multi = UINT64_C(0x0000F00100000000);
    static const struct {
        uint64_t fresh;
        unsigned bytes, records;
        uint64_t index;
        unsigned pmis;
    } rows[] = {
        {single, 224, 0, UINT64_C(0x0000001100000000), 0},
        {single, 224, 1, UINT64_C(0x00000011000000E0), 1},
        {multi, 224, 1, UINT64_C(0x0000F001000000E0), 0},
        {multi, 224, 2, UINT64_C(0x0000F001000001C0), 0},
        {multi, 224, 10, UINT64_C(0x0000F001000008C0), 0},
        {multi, 224, 274, UINT64_C(0x0000F0010000EFC0), 0},
        {multi, 224, 275, UINT64_C(0x0000F0010000F0A0), 1},
        {multi, 224, 292, UINT64_C(0x0000F0010000FF80), 1}, /* 128 bytes are left */
        {multi, 224, 293, UINT64_C(0x0000F0018000FF80), 1}, /* FULL */
        {multi, 224, 400, UINT64_C(0x0000F0018000FF80), 1},
        {multi, 64, 959, UINT64_C(0x0000F0010000EFC0), 0},
        {multi, 64, 960, UINT64_C(0x0000F0010000F000), 1}, /* exactly on the threshold */
        {multi, 64, 1024, UINT64_C(0x0000F00100010000), 1},
        {multi, 64, 1025, UINT64_C(0x0000F00180010000), 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        many(rows[i].fresh, rows[i].bytes, rows[i].records, NULL);
        index_is(rows[i].index);
        assert_int_equal(b->pmis, rows[i].pmis);
        assert_true(STATUS(b) == (rows[i].pmis ? ARCH_PEBS : 0));
        const unsigned room = 65536 / rows[i].bytes;
        assert_int_equal(b->stored, rows[i].records < room ? rows[i].records : room);
        assert_int_equal(b->dropped, rows[i].records - b->stored);
    }
    many(multi, 64, 960, &(struct ds_model_policy){.arch_threshold_gt = true});
    assert_int_equal(b->pmis, 0);
    ds_bench_step(b, 1, 0);
    assert_int_equal(b->pmis, 1);
    many(IA32_PEBS_INDEX_EN, 64, 1, NULL); /* threshold 0 */
    assert_int_equal(b->pmis, 1);
}

/* The largest buffer ends where WR cannot point any more; a base whose SIZE is greater describes no larger one. */
static void largest_buffer(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        init("pantherlake", &(struct ds_model_policy){.arch_size_wide = wide});
        /* the last 64 KiB of 128 MiB lie where the bench has memory */
        ds_bench_write(b, IA32_PEBS_BASE, (DS_BENCH_PHYSICAL - 0x7FF0000) | (wide ? 0x10 : 0xF));
        ds_bench_write(b, IA32_PEBS_INDEX, UINT64_C(0x07FFFFF100000000) | 0x7FFFF40);
        pebs(0, 1, 1);
        ds_bench_step(b, 1, 0);
        index_is(UINT64_C(0x07FFFFF100000000) | 0x7FFFF80);
        assert_int_equal(*ds_bench_physical(b, 0xFF40), UINT64_C(0x8000000040000040));
        ds_bench_step(b, 2, 0);
        index_is(UINT64_C(0x07FFFFF180000000) | 0x7FFFFC0); /* 64 bytes are left, but no WR for their end */
        assert_int_equal(b->dropped, 1);
    }
}

/* Bit 54 raises a PMI when it is set, not while it is; but where one may have been lost each record does. */
static void one_pmi(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++)
        for (int lost = 0; lost < 2; lost++) {
            const uint64_t bits = ARCH_PEBS | (both ? OVF_BUF : 0);
            const struct ds_model_policy policy = {.arch_sets_ovf_buf = both, .masked_pmi_lost = lost};
            many(UINT64_C(0x0000001100000000), 64, 3, &policy);
            assert_int_equal(b->pmis, lost ? 3 : 1);
            assert_int_equal(b->pmi_status[0], bits);
            assert_int_equal(STATUS(b), bits);
            ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, bits & ~ARCH_PEBS);
            ds_bench_step(b, 1, 0);
            assert_int_equal(b->pmis, lost ? 4 : 1);
            assert_int_equal(STATUS(b), bits);
            ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, ARCH_PEBS);
            ds_bench_step(b, 1, 0); /* still at or above the threshold */
            assert_int_equal(b->pmis, lost ? 5 : 2);
            ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, bits);
            ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, ARCH_PEBS);
            ds_bench_step(b, 1, 0);
            assert_int_equal(b->pmis, lost ? 6 : 2);
            assert_int_equal(STATUS(b), bits);
        }
}

/* What a full buffer does by each policy: FULL keeps records out, however small, until software clears it. */
static void full(void **state)
{
    (void)state;
    for (int disables = 0; disables < 2; disables++)
        for (int keeps = 0; keeps < 2; keeps++) {
            init("pantherlake",
                 &(struct ds_model_policy){.arch_full_disables = disables, .drop_keeps_overflow = keeps});
            ds_bench_write(b, IA32_PEBS_INDEX, UINT64_C(0x07FFFFF100000000) | 0xF50); /* 176 bytes are left */
            pebs(2, 1, 5);
            ds_bench_write(b, GP_CFG_C(2), EN | DS_BIT(61) | RELOAD(5));
            ds_bench_step(b, 2, 0);
            index_is(UINT64_C(0x07FFFFF080000000) | 0xF50 | (disables ? 0 : DS_BIT(32)));
            assert_int_equal(b->dropped, 1);
            assert_true(PMC(b, 2) == (keeps ? 1 : MINUS(5)));
            assert_int_equal(STATUS(b), keeps ? 4 : 0);
            assert_int_equal(b->model.armed, keeps ? 4 : 0);
            ds_bench_write(b, GP_CFG_C(2), EN | RELOAD(5)); /* 64 bytes would fit */
            ds_bench_step(b, keeps ? 1 : 6, 0);
            assert_int_equal(b->stored, 0);
            assert_int_equal(b->dropped, disables ? 1 : 2);
            ds_bench_write(b, IA32_PEBS_INDEX, UINT64_C(0x07FFFFF100000000) | 0xF50);
            ds_bench_write(b, IA32_A_PMC0 + 2, MINUS(1));
            ds_bench_step(b, 2, 0);
            assert_int_equal(b->stored, 1);
            index_is(UINT64_C(0x07FFFFF100000000) | 0xF90);
            assert_int_equal(b->pmis, 0);
        }
}

/* ---- several counters -------------------------------------------------------------------------------------------- */

/* Counters that cause a record at one instruction share it, or write one each, the lowest first. */
static void together(void **state)
{
    (void)state;
    for (int each = 0; each < 2; each++) {
        init("pantherlake", &(struct ds_model_policy){.arch_record_each = each});
        pebs(1, 2, 7);
        pebs_fixed(0, 2, 9);
        ds_bench_write(b, GP_CFG_C(1), EN | DS_BIT(61) | RELOAD(7));
        ds_bench_write(b, FX_CFG_C(0), EN | DS_BIT(62) | RELOAD(9));
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->stored, each ? 2 : 1);
        assert_int_equal(ds_bench_index(b), each ? 224 + 128 : 288);
        assert_int_equal(*ds_bench_physical(b, 0), each ? UINT64_C(0xA0000000400000E0) : UINT64_C(0xE000000040000120));
        assert_int_equal(*ds_bench_physical(b, 24), each ? 2 : 2 | FIXED(0));
        if (each) {
            assert_int_equal(*ds_bench_physical(b, 224), UINT64_C(0xC000000040000080));
            assert_int_equal(*ds_bench_physical(b, 224 + 24), FIXED(0));
        }
        assert_int_equal(PMC(b, 1), MINUS(7));
        assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), MINUS(9));
    }
}

/* An armed counter whose event this is not: left alone, or by the policy reloaded, and its sample lost. */
static void bystanders(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++)
        for (int each = 0; each < 2; each++) {
            init("pantherlake", &(struct ds_model_policy){.bystander_swapped = swapped, .arch_record_each = each});
            pebs(2, 2, 6);
            ds_bench_pebs_counter(b, 3, BRANCHES, MINUS(1), MINUS(4));
            ds_bench_step(b, 1, BRANCH); /* arms the latter */
            ds_bench_step(b, 2, 0);      /* arms the former, records it */
            assert_int_equal(b->stored, 1);
            assert_int_equal(*ds_bench_physical(b, 24), 4);
            assert_int_equal(b->model.swallowed, swapped);
            assert_int_equal(STATUS(b), swapped ? 0 : 8);
            assert_true(PMC(b, 3) == (swapped ? MINUS(4) : 0));
            ds_bench_step(b, 1, BRANCH);
            assert_int_equal(b->stored, swapped ? 1 : 2);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(armed_or_precise), cmocka_unit_test(switches),
        cmocka_unit_test(armed_and_off),    cmocka_unit_test(listed),
        cmocka_unit_test(reload_values),    cmocka_unit_test(overflow_bits),
        cmocka_unit_test(index_values),     cmocka_unit_test(largest_buffer),
        cmocka_unit_test(one_pmi),          cmocka_unit_test(full),
        cmocka_unit_test(together),         cmocka_unit_test(bystanders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
