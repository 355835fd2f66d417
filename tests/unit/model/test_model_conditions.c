/* SPDX-License-Identifier: MIT */
/* CMASK, INV and EDGE, where a cycle is an instruction: worked out on paper for one sequence of instructions. */
#include <stdbool.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define CALLS    0x02C4u /* BR_INST_RETIRED.NEAR_CALL, from Nehalem on */
#define ALL_UOPS 0x01C2u /* UOPS_RETIRED.ALL, Sandy Bridge to Skylake */
#define INV      IA32_PERFEVTSEL_INV
#define EDGE     IA32_PERFEVTSEL_EDGE
#define CMASK(n) ((uint64_t)(n) << 24)
#define ON       (IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS)

static struct ds_bench bench, *b = &bench;

static void retire(bool call, unsigned cpl)
{
    const struct ds_model_retired retired = {
        .events = DS_BIT(DS_MODEL_INSTRUCTION) | (call ? DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_NEAR_CALL) : 0),
        .cpl = cpl,
    };
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
}

/* C: a call, I: another instruction; lower case: at CPL 3. */
static void run(const char *sequence)
{
    for (; *sequence; sequence++)
        retire(*sequence == 'C' || *sequence == 'c', *sequence >= 'a' ? 3 : 0);
}

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint64_t sel, count; /* of CIICCIIIC: 4 C in 3 runs, 5 I in 2 */
    } rows[] = {
        {"icelake", CALLS, 4},
        {"icelake", CALLS | INV, 4}, /* without CMASK it means nothing */
        {"icelake", CALLS | CMASK(1), 4},
        {"icelake", CALLS | CMASK(1) | INV, 5},
        {"icelake", CALLS | CMASK(2), 0},
        {"icelake", CALLS | CMASK(2) | INV, 9},
        {"icelake", CALLS | CMASK(255), 0},
        {"icelake", CALLS | CMASK(255) | INV, 9},
        {"icelake", CALLS | EDGE, 3},
        {"icelake", CALLS | EDGE | CMASK(1), 3},
        {"icelake", CALLS | EDGE | CMASK(1) | INV, 2},
        {"icelake", CALLS | EDGE | CMASK(2), 0},
        {"icelake", CALLS | EDGE | CMASK(2) | INV, 1},
        {"skylake", CALLS | IA32_PERFEVTSEL_ANY, 4}, /* the core has no other thread */
        {"icelake", INSTRUCTIONS | INV, 9},
        {"icelake", INSTRUCTIONS | CMASK(1), 9},
        {"icelake", INSTRUCTIONS | CMASK(1) | INV, 0},
        {"icelake", INSTRUCTIONS | CMASK(16), 0},
        {"icelake", INSTRUCTIONS | CMASK(16) | INV, 9}, /* cycles with PEBS, as Linux asks for them */
        {"icelake", INSTRUCTIONS | EDGE, 1},
        {"icelake", 0x003C | CMASK(1), 9},
        {"nehalem", INSTRUCTIONS | CMASK(16) | INV, 9},
        {"sandybridge", ALL_UOPS | CMASK(16) | INV, 9}, /* likewise; by convention one an instruction */
        {"haswell", ALL_UOPS | CMASK(16), 0},
        {"haswell", ALL_UOPS | CMASK(8) | INV, 9},
        {"haswell", ALL_UOPS | CMASK(1) | INV, 0},
        {"haswell", ALL_UOPS, 9},
        {"haswell", ALL_UOPS | EDGE, 1},
        {"icelake", ALL_UOPS | CMASK(16) | INV, 0}, /* no event of the model there */
        {"skylake", 0x01C0, 0},                     /* INST_RETIRED.PREC_DIST: not on PMC0 */
        {"skylake", 0x01C0 | CMASK(16) | INV, 9},   /* but so it is */
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        ds_bench_init(b, ds_model_preset(rows[r].preset), NULL, 4096, 4096);
        ds_bench_write(b, IA32_PERFEVTSEL0, rows[r].sel | ON);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1);
        run("CIICCIIIC");
        if (PMC(b, 0) != rows[r].count)
            fail_msg("row %zu: %lu, not %lu", r, (unsigned long)PMC(b, 0), (unsigned long)rows[r].count);
    }
}

/* Instructions of other rings are not there for a counter, nor are those while it stands still or is frozen. */
static void rings(void **state)
{
    (void)state;
    const uint64_t usr = IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR;
    ds_bench_init(b, ds_bench_icelake(), NULL, 4096, 4096);
    ds_bench_write(b, IA32_PERFEVTSEL0, CALLS | EDGE | usr);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 1, CALLS | CMASK(1) | INV | usr);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 2, INSTRUCTIONS | CMASK(16) | INV | usr);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 3, CALLS | EDGE | usr | IA32_PERFEVTSEL_OS);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 15);
    run("cICcICi");
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
    run("cIc");
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 15);
    run("c");                       /* after i */
    assert_int_equal(PMC(b, 0), 2); /* cc i c */
    assert_int_equal(PMC(b, 1), 1);
    assert_int_equal(PMC(b, 2), 4);
    assert_int_equal(PMC(b, 3), 4); /* c I Cc I C i c */
    ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
    run("iciciII");
    assert_int_equal(PMC(b, 0), 2);
    assert_int_equal(PMC(b, 1), 1);
    ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
    run("c");
    assert_int_equal(PMC(b, 0), 2);
    ds_bench_write(b, IA32_PERFEVTSEL0, CALLS | EDGE | usr); /* begins anew */
    run("c");
    assert_int_equal(PMC(b, 0), 3);
}

/* They overflow, interrupt and record like others: a record a 3 rising edges, of the call after the overflow's. */
static void records(void **state)
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 4096, 4096);
    ds_bench_pebs_counter(b, 0, CALLS | EDGE, MINUS(2), MINUS(2));
    run("CIC");
    assert_int_equal(b->stored, 0);
    run("CI");
    assert_int_equal(b->stored, 0);
    run("C");
    assert_int_equal(b->stored, 1);
    run("ICICIC");
    assert_int_equal(b->stored, 2);
    ds_bench_init(b, ds_bench_icelake(), NULL, 4096, 4096);
    ds_bench_write(b, IA32_PERFEVTSEL0, CALLS | CMASK(1) | INV | IA32_PERFEVTSEL_INT | ON);
    ds_bench_write(b, IA32_A_PMC0, MINUS(3));
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1);
    run("ICICC");
    assert_int_equal(b->pmis, 0);
    run("I");
    assert_int_equal(b->pmis, 1);
    assert_int_equal(STATUS(b), 1);
}

/* The data address is of a load that was counted, not of what was counted because it was none. */
static void data_addresses(void **state)
{
    (void)state;
    for (int inverted = 0; inverted < 2; inverted++) {
        const struct ds_model_retired load = {
            .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_LOAD_OR_PREFETCH), .load_address = 0x5000};
        ds_bench_init(b, ds_bench_icelake(), NULL, 4096, 4096);
        ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_MEMINFO);
        ds_bench_pebs_counter(b, 0, 0x81D0 | CMASK(1) | (inverted ? INV : 0) | IA32_PERFEVTSEL_ADAPTIVE, MINUS(1), 0);
        for (int i = 0; i < 2; i++) {
            if (inverted)
                run("I");
            assert_int_equal(ds_model_retire(&b->model, &load), 0);
        }
        assert_int_equal(b->stored, 1);
        assert_int_equal(ds_bench_word_at(b, 32), inverted ? 0 : 0x5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(rings),
        cmocka_unit_test(records),
        cmocka_unit_test(data_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
