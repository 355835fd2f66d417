/* SPDX-License-Identifier: MIT */
/* What a memory system of the host's brings to a model: its events, what records say of an access, amounts. */
#include <string.h>

#include "ds/caps.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

static struct ds_bench bench, *const b = &bench;
static struct ds_model_preset preset;
#define WORD(at) ds_bench_word_at(b, at)

static void init(const char *name)
{
    preset = *ds_model_preset(name);
    preset.memory = &ds_model_memory;
    ds_bench_init_listed(b, &preset, NULL, 4096, 4096);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void codes(void **state)
{
    (void)state;
    enum { NONE = DS_MODEL_EVENTS };
    static const struct {
        const char *preset;
        uint64_t code;
        unsigned event;
    } rows[] = {
        {"nehalem", 0x100B, DS_MODEL_LOAD_LATENCY},
        {"nehalem", 0x10CB, DS_MODEL_LOAD_L3_MISS},
        {"nehalem", 0x01D1, NONE},
        {"sandybridge", 0x02CD, DS_MODEL_STORE},
        {"sandybridge", 0x01D1, DS_MODEL_LOAD_L1_HIT},
        {"sandybridge", 0x08D1, NONE},
        {"haswell", 0x08D1, DS_MODEL_LOAD_L1_MISS},
        {"haswell", 0x02CD, NONE},
        {"skylake", 0x01CD, DS_MODEL_LOAD_LATENCY},
        {"skylake", 0x04D2, DS_MODEL_LOAD_SNOOP_HITM},
        {"skylake", 0x412E, DS_MODEL_L3_MISSED},
        {"skylake", 0x003C, DS_MODEL_CYCLES},
        {"skylake", 0x0E08, DS_MODEL_LOAD_WALK},
        {"skylake", 0x81D0, DS_MODEL_LOAD_OR_PREFETCH},
        {"haswell", 0x01D1, DS_MODEL_LOAD_L1_HIT},
        {"skylake", 0x01D1, DS_MODEL_LOAD_L1_COUNTED},
        {"icelake", 0x4F2E, DS_MODEL_L3_ASKED},
        {"icelake", 0x40D1, DS_MODEL_LOAD_FILL_BUFFER},
        {"sapphirerapids", 0x0E12, DS_MODEL_LOAD_WALK},
        {"sapphirerapids", 0x0E08, NONE},
        {"lunarlake", UINT64_C(0x10000000000) | 0x01D1, DS_MODEL_LOAD_L1_COUNTED},
        {"lunarlake", UINT64_C(0x20000000000) | 0x01D1, DS_MODEL_LOAD_L1_L2_HIT},
        {"clearwaterforest", UINT64_C(0x20000000000) | 0x01D1, DS_MODEL_LOAD_L1_L2_HIT},
        {"clearwaterforest", 0x01D1, DS_MODEL_LOAD_L1_HIT},
        {"clearwaterforest", 0x05D0, DS_MODEL_LOAD_LATENCY},
        {"clearwaterforest", 0x01CD, NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        init(rows[i].preset);
        ds_bench_write(b, IA32_PERFEVTSEL0, rows[i].code | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1);
        for (unsigned event = 0; event < DS_MODEL_EVENTS; event++) {
            const uint64_t before = PMC(b, 0);
            assert_int_equal(ds_bench_retire(b, DS_BIT(event), 0), 0);
            if (PMC(b, 0) - before != (event == rows[i].event))
                fail_msg("%s, code %llx, event %u", rows[i].preset, (unsigned long long)rows[i].code, event);
        }
    }
}

/* OFFCORE_RESPONSE and OCR, by the values that Intel's lists have for them. */
static void offcore(void **state)
{
    (void)state;
    enum { NONE = DS_MODEL_EVENTS };
    static const struct {
        const char *preset;
        unsigned msr;
        uint64_t code, value;
        unsigned event;
    } rows[] = {
        {"nehalem", 0, 0x01B7, 0x4701, DS_MODEL_LOAD_L2_MISS}, /* LOCAL_CACHE_DRAM */
        {"nehalem", 0, 0x01B7, 0x0701, DS_MODEL_LOAD_L3_HIT},
        {"nehalem", 0, 0x01B7, 0xF801, DS_MODEL_LOAD_L3_MISS},
        {"nehalem", 0, 0x01BB, 0xF801, NONE}, /* Westmere's */
        {"sandybridge", 0, 0x01B7, 0x10001, DS_MODEL_LOAD_L2_MISS},
        {"haswell", 1, 0x01BB, 0x3FFFC00001, DS_MODEL_LOAD_L3_MISS},
        {"haswell", 0, 0x01B7, 0x10003C0001, DS_MODEL_LOAD_L3_HIT},
        {"skylake", 0, 0x01B7, 0x10001, DS_MODEL_LOAD_L2_MISS},
        {"skylake", 0, 0x01B7, 0x10002, NONE}, /* writes */
        {"skylake", 0, 0x01B7, 0x1, NONE},     /* no answer */
        {"skylake", 0, 0x012A, 0x10001, NONE},
        {"icelake", 1, 0x01BB, 0x3FC03C0001, DS_MODEL_LOAD_L3_HIT},
        {"sapphirerapids", 0, 0x012A, 0x3FBFC00001, DS_MODEL_LOAD_L3_MISS},
        {"lunarlake", 1, 0x012B, 0x9E7FA000001, DS_MODEL_LOAD_L3_MISS},
        {"lunarlake", 0, 0x012A, 0x40001E00001, DS_MODEL_LOAD_L3_HIT}, /* SNOOP_HITM */
        {"clearwaterforest", 1, 0x02B7, 0x33FBFC00001, DS_MODEL_LOAD_L3_MISS},
        {"clearwaterforest", 0, 0x01B7, 0x10001, DS_MODEL_LOAD_L2_MISS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        init(rows[i].preset);
        ds_bench_write(b, IA32_PERFEVTSEL0, rows[i].code | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
        ds_bench_write(b, MSR_OFFCORE_RSP_0 + rows[i].msr, rows[i].value); /* after it: selects anew */
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1);
        for (unsigned event = 0; event < DS_MODEL_EVENTS; event++) {
            const uint64_t before = PMC(b, 0);
            assert_int_equal(ds_bench_retire(b, DS_BIT(event), 0), 0);
            if (PMC(b, 0) - before != (event == rows[i].event))
                fail_msg("%s, code %llx, row %zu, event %u", rows[i].preset, (unsigned long long)rows[i].code, i,
                         event);
        }
    }
}

/* Without a memory system none of it is there. */
static void nothing_without(void **state)
{
    (void)state;
    static const uint32_t none[] = {0x01CD, 0x01D1, 0x412E, 0x0E08};
    uint32_t r[4];
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        ds_bench_init(b, ds_bench_skylake(), NULL, 4096, 4096);
        ds_bench_write(b, IA32_PERFEVTSEL0, none[i] | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1);
        ds_bench_retire(b, DS_BIT(DS_MODEL_EVENTS) - 1, 0);
        assert_int_equal(PMC(b, 0), 0);
    }
    ds_model_cpuid(&b->model, 0x0A, 0, r);
    assert_int_equal(r[1], 0x58); /* no cache references and misses, no mispredicted branches */
    init("skylake");
    ds_model_cpuid(&b->model, 0x0A, 0, r);
    assert_int_equal(r[1], 0x40);
    init("lunarlake");
    ds_model_cpuid(&b->model, 0x23, 3, r);
    assert_int_equal(r[0], 0xBF);
}

/* Cycles, by event, by CMASK as perf asks for them, and on the fixed counters; none of these are instructions. */
static void cycles(void **state)
{
    (void)state;
    uint32_t by[DS_MODEL_COUNTERS];
    for (unsigned i = 0; i < DS_MODEL_COUNTERS; i++)
        by[i] = 1;
    by[0] = by[1] = by[ds_counter_fixed(1)] = by[ds_counter_fixed(2)] = 7;
    const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_CYCLES),
                                             .by = by};
    const uint64_t on = IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS;
    init("skylake");
    ds_bench_write(b, IA32_PERFEVTSEL0, 0x003C | on);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 1, 0x00C0 | on | IA32_PERFEVTSEL_INV | UINT64_C(16) << 24);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 2, 0x00C0 | on);
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x333);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 7 | UINT64_C(7) << 32);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    assert_int_equal(PMC(b, 0), 70);
    assert_int_equal(PMC(b, 1), 70);
    assert_int_equal(PMC(b, 2), 10);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0), 10);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + 1), 70);
    assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + 2), 70);
}

/* A counter that goes far at once overflows once, and keeps what is beyond. */
static void amounts_overflow(void **state)
{
    (void)state;
    uint32_t by[DS_MODEL_COUNTERS] = {200};
    const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_CYCLES), .by = by};
    init("skylake");
    ds_bench_pebs_counter(b, 0, 0x00C0 | IA32_PERFEVTSEL_INV | UINT64_C(16) << 24, MINUS(150), MINUS(1000));
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    assert_int_equal(PMC(b, 0), 50);
    assert_int_equal(b->stored, 0);
    by[0] = 0; /* it does not move, so it is not recorded */
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    assert_int_equal(b->stored, 0);
    by[0] = 3;
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    assert_int_equal(b->stored, 1);
    assert_int_equal(PMC(b, 0), MINUS(1000));
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Where a record has the address; source and latency are the next two words. */
static void record(const char *name, unsigned counter, uint64_t code, uint64_t extra, unsigned event,
                   const struct ds_model_access *access, uint64_t words[3])
{
    enum { ARCH_AUX = 0x40 }; /* behind header and basic group */
    static const unsigned aux[] = {0, 0x28, 0x30};
    const bool store = event == DS_MODEL_STORE;
    const struct ds_model_retired retired = {
        .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(event),
        .load_address = store ? 0 : 0x111000,
        .store_address = store ? 0x222000 : 0,
        .load = store ? (struct ds_model_access){0} : *access,
        .store = store ? *access : (struct ds_model_access){0},
    };
    init(name);
    const bool arch = preset.format == DS_FORMAT_ARCH, baseline = preset.baseline;
    if (baseline)
        ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_MEMINFO);
    ds_bench_pebs_counter(b, counter, code | (baseline ? IA32_PERFEVTSEL_ADAPTIVE : 0), MINUS(1), 0);
    if (arch)
        ds_bench_write(b, IA32_PMC_GP0_CFG_C + IA32_PMC_STEP * counter, IA32_PMC_CFG_C_AUX | IA32_PMC_CFG_C_EN);
    if (extra)
        ds_bench_write(b, IA32_PEBS_ENABLE, DS_BIT(counter) | extra);
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    for (unsigned i = 0; i < 3; i++)
        words[i] = arch ? *ds_bench_physical(b, ARCH_AUX + aux[i]) : baseline ? WORD(0x20 + 8 * i) : WORD(0x98 + 8 * i);
}

static void load_latency(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        unsigned counter;
        uint64_t code, enable;
        uint64_t l1, fill, l2, l3, snoop_miss, snoop_hit, hitm, memory, stlb_miss, locked;
    } rows[] = {
        {"nehalem", 0, 0x100B, DS_BIT(32), 1, 2, 3, 4, 5, 5, 6, 0xC, 0, 0}, /* Linux takes PMC0, the lists have PMC3 */
        {"nehalem", 3, 0x100B, DS_BIT(35), 1, 2, 3, 4, 5, 5, 6, 0xC, 0, 0},
        {"sandybridge", 3, 0x01CD, DS_BIT(35), 1, 2, 3, 4, 5, 6, 7, 0xC, 0x10, 0x20},
        {"haswell", 0, 0x01CD, DS_BIT(32), 1, 2, 3, 4, 5, 6, 7, 0xC, 0x10, 0x20}, /* likewise */
        {"haswell", 3, 0x01CD, DS_BIT(35), 1, 2, 3, 4, 5, 6, 7, 0xC, 0x10, 0x20},
        {"skylake", 0, 0x01CD, DS_BIT(32), 1, 2, 3, 4, 5, 6, 7, 0xA, 0x10, 0x20},
        {"icelake", 0, 0x01CD, 0, 1, 2, 3, 4, 5, 6, 7, 0xA, 0x10, 0x20},
        {"sapphirerapids", 2, 0x01CD, 0, 1, 2, 3, 4, 5, 6, 7, 0xA, 0x10, 0x20},
        {"lunarlake", 2, 0x01CD, 0, 1, 3, 5, 8, 8, 0xC, 0xD, 0x11, 0x400, 0x800},
        {"pantherlake", 3, 0x01CD, 0, 1, 3, 5, 8, 8, 0xC, 0xD, 0x11, 0x400, 0x800},
        {"clearwaterforest", 3, 0x05D0, 0, 1, 2, 3, 4, 5, 6, 8, 0xA, 0x40, 0x20},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t of[DS_MODEL_SOURCES] = {0,
                                               rows[i].l1,
                                               rows[i].fill,
                                               rows[i].l2,
                                               rows[i].l3,
                                               rows[i].snoop_miss,
                                               rows[i].snoop_hit,
                                               rows[i].hitm,
                                               rows[i].memory};
        for (unsigned source = DS_MODEL_SOURCE_L1; source <= DS_MODEL_SOURCE_MEMORY; source++)
            for (unsigned flags = 0; flags < 4; flags++) {
                const struct ds_model_access a = {
                    .source = (uint8_t)source, .latency = 123, .stlb_miss = flags & 1, .locked = flags & 2};
                uint64_t words[3];
                record(rows[i].preset, rows[i].counter, rows[i].code, rows[i].enable, DS_MODEL_LOAD_LATENCY, &a, words);
                const bool two = preset.generation >= DS_GENERATION_GOLDENCOVE;
                const uint64_t expected =
                    of[source] | (flags & 1 ? rows[i].stlb_miss : 0) | (flags & 2 ? rows[i].locked : 0);
                if (words[0] != 0x111000 || words[1] != expected || words[2] != (two ? 123 | 123ULL << 32 : 123))
                    fail_msg("%s, source %u, flags %u: %llx %llx %llx", rows[i].preset, source, flags,
                             (unsigned long long)words[0], (unsigned long long)words[1], (unsigned long long)words[2]);
            }
    }
}

/* Of other loads only the address; of stores, from Haswell on, whether they hit the L1, too. */
static void data_linear_address(void **state)
{
    (void)state;
    static const char *const presets[] = {"haswell", "skylake", "icelake", "sapphirerapids"};
    for (size_t i = 0; i < 4; i++)
        for (unsigned miss = 0; miss < 2; miss++) {
            const struct ds_model_access a = {.source = miss ? DS_MODEL_SOURCE_L3 : DS_MODEL_SOURCE_L1, .latency = 40};
            uint64_t words[3];
            record(presets[i], 0, 0x81D0, 0, DS_MODEL_LOAD_OR_PREFETCH, &a, words);
            assert_true(words[0] == 0x111000 && words[1] == 0 && words[2] == 0);
            record(presets[i], 0, 0x82D0, 0, DS_MODEL_STORE, &a, words);
            assert_true(words[0] == 0x222000 && words[1] == !miss && words[2] == 0);
        }
}

/* Sandy Bridge's precise store, with its own enable bit; Golden Cove's sample of stores, with source and latency. */
static void stores(void **state)
{
    (void)state;
    const struct ds_model_access hit = {.source = DS_MODEL_SOURCE_L1, .latency = 4};
    const struct ds_model_access far = {.source = DS_MODEL_SOURCE_SNOOP_HITM, .latency = 70, .stlb_miss = true};
    uint64_t words[3];
    record("sandybridge", 3, 0x02CD, IA32_PEBS_ENABLE_PS_EN, DS_MODEL_STORE, &hit, words);
    assert_true(words[0] == 0x222000 && words[1] == 1 && words[2] == 0);
    record("sandybridge", 3, 0x02CD, IA32_PEBS_ENABLE_PS_EN, DS_MODEL_STORE, &far, words);
    assert_true(words[0] == 0x222000 && words[1] == 0x10 && words[2] == 0);
    record("sapphirerapids", 0, 0x02CD, 0, DS_MODEL_STORE, &far, words);
    assert_true(words[0] == 0x222000 && words[1] == 0x17 && words[2] == (70 | 70ULL << 32));
}

/* Before the baseline, without the bit in IA32_PEBS_ENABLE that asks for it: the address of a load, and no more. */
static void load_latency_has_to_be_enabled(void **state)
{
    (void)state;
    const struct ds_model_access far = {.source = DS_MODEL_SOURCE_MEMORY, .latency = 230};
    uint64_t words[3];
    record("skylake", 0, 0x01CD, 0, DS_MODEL_LOAD_LATENCY, &far, words);
    assert_true(words[0] == 0x111000 && words[1] == 0 && words[2] == 0);
}

/* Where records are timed, in their heads; the capability says so. */
static void retire_latency(void **state)
{
    (void)state;
    const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION), .retire_latency = 77};
    static const struct {
        const char *preset;
        bool timed;
    } rows[] = {{"icelake", false}, {"sapphirerapids", false}, {"lunarlake", true}, {"arrowlake", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        init(rows[i].preset);
        const bool shown = ds_bench_read(b, IA32_PERF_CAPABILITIES) & IA32_PERF_CAPABILITIES_PEBS_TIMING;
        assert_int_equal(shown, rows[i].timed);
        ds_bench_pebs_counter(b, 2, INSTRUCTIONS, MINUS(1), 0);
        for (unsigned n = 0; n < 2; n++)
            assert_int_equal(ds_model_retire(&b->model, &retired), 0);
        assert_int_equal(ds_pebs_head_latency(WORD(0)), rows[i].timed ? 77 : 0);
        assert_int_equal(ds_pebs_head_size(WORD(0)), 32);
    }
    init("pantherlake");
    ds_bench_pebs_counter(b, 3, INSTRUCTIONS, MINUS(1), 0);
    for (unsigned n = 0; n < 2; n++)
        assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    assert_int_equal(*ds_bench_physical(b, 0x10 + 0x18), DS_ARCH_RETIRE_VALID | 77);
    /* Without a memory system each instruction takes one cycle, whatever the host says. */
    ds_bench_init(b, ds_model_preset("lunarlake"), NULL, 4096, 4096);
    assert_true(ds_bench_read(b, IA32_PERF_CAPABILITIES) & IA32_PERF_CAPABILITIES_PEBS_TIMING);
    ds_bench_pebs_counter(b, 2, INSTRUCTIONS, MINUS(1), 0);
    for (unsigned n = 0; n < 2; n++)
        assert_int_equal(ds_model_retire(&b->model, &retired), 0);
    assert_int_equal(ds_pebs_head_latency(WORD(0)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes),
        cmocka_unit_test(offcore),
        cmocka_unit_test(nothing_without),
        cmocka_unit_test(cycles),
        cmocka_unit_test(amounts_overflow),
        cmocka_unit_test(load_latency),
        cmocka_unit_test(data_linear_address),
        cmocka_unit_test(stores),
        cmocka_unit_test(load_latency_has_to_be_enabled),
        cmocka_unit_test(retire_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
