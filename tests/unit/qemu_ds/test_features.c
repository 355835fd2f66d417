/* SPDX-License-Identifier: MIT */
/* What is left of CPUID for each preset, of leaves that have every bit set. */
#include <string.h>

#include "ds/model/variant/variant.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/presets.h"
#include "tools/qemu-ds/cpuid/features.h"

enum { EAX, EBX, ECX, EDX };

static uint32_t left(const char *preset, uint32_t leaf, uint32_t subleaf, unsigned reg)
{
    uint32_t out[4];
    memset(out, 0xFF, sizeof out);
    assert_true(qds_features_in(leaf, subleaf));
    qds_features_mask(ds_model_preset(preset), leaf, subleaf, out);
    return out[reg];
}

struct row {
    const char *preset;
    uint32_t leaf, subleaf;
    unsigned reg;
    uint32_t gone;
};

/* clang-format off */
static const struct row rows[] = {
    {"penryn", 1, 0, ECX, 0x7EF01002},
    {"nehalem", 1, 0, ECX, 0x7E601002},         /* SSE4.2 and POPCNT are there */
    {"sandybridge", 1, 0, ECX, 0x60401000},     /* no FMA, MOVBE, F16C, RDRAND */
    {"haswell", 1, 0, ECX, 0},
    {"sandybridge", 7, 0, EBX, 0x219C43A9},
    {"haswell", 7, 0, EBX, 0x219C4000},
    {"skylake", 7, 0, EBX, 0x21000000},         /* no SHA, CLWB */
    {"icelake", 7, 0, EBX, 0x01004000},         /* no MPX, CLWB */
    {"sapphirerapids", 7, 0, EBX, 0x00004000},
    {"skylake", 7, 0, ECX, 0x8041021C},         /* no UMIP, PKU, OSPKE, VAES, LA57, RDPID, PKS */
    {"icelake", 7, 0, ECX, 0x80010000},
    {"sapphirerapids", 7, 0, ECX, 0},
    {"lunarlake", 7, 0, ECX, 0x00010000},       /* no LA57 */
    {"clearwaterforest", 7, 0, ECX, 0x00010000},
    {"skylake", 7, 0, EDX, 0x10},               /* FSRM */
    {"icelake", 7, 1, EAX, 0x1C80},
    {"sapphirerapids", 7, 1, EAX, 0x0080},      /* no CMPCCXADD */
    {"arrowlake", 7, 1, EAX, 0x1400},
    {"clearwaterforest", 7, 1, EAX, 0x1400},
    {"haswell", 0x0D, 1, EAX, 4},
    {"skylake", 0x0D, 1, EAX, 0},
    {"penryn", 0x80000001, 0, ECX, ~1u},        /* no AMD's, no LZCNT, no PREFETCHW */
    {"skylake", 0x80000001, 0, ECX, ~0x121u},
    {"nehalem", 0x80000001, 0, EDX, ~0x28100800u},
    {"haswell", 0x80000001, 0, EDX, ~0x2C100800u},
    {"icelake", 0x80000008, 0, EBX, ~0u},
    {"pantherlake", 0x80000008, 0, EBX, ~0x200u},
};
/* clang-format on */

static void features_of_their_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t gone = ~left(rows[i].preset, rows[i].leaf, rows[i].subleaf, rows[i].reg);
        if (gone != rows[i].gone)
            fail_msg("%s, leaf %x.%u: %08x is gone, not %08x", rows[i].preset, (unsigned)rows[i].leaf,
                     (unsigned)rows[i].subleaf, (unsigned)gone, (unsigned)rows[i].gone);
    }
}

static void linear_addresses(void **state)
{
    (void)state;
    uint32_t r[4] = {0x3928};
    qds_features_mask(ds_model_preset("sapphirerapids"), 0x80000008, 0, r);
    assert_int_equal(r[EAX], 0x3928);
    qds_features_mask(ds_model_preset("skylake"), 0x80000008, 0, r);
    assert_int_equal(r[EAX], 0x3028);
}

static void a_guest_of_kvm_is_a_server(void **state)
{
    (void)state;
    struct ds_model_preset guest = *ds_model_preset("icelake");
    assert_int_equal(ds_model_kvm_guest(&guest), 0);
    uint32_t r[4] = {[EBX] = UINT32_MAX, [ECX] = UINT32_MAX};
    qds_features_mask(&guest, 7, 0, r);
    assert_int_equal(r[EBX], UINT32_MAX & ~(1u << 14)); /* MPX; CLWB is there */
    assert_int_equal(r[ECX], UINT32_MAX & ~(1u << 31)); /* PKS; LA57 is there */
}

static void efficient_cores_are_as_those_beside_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRESETS; i++) {
        struct ds_model_preset core;
        static const uint32_t leaves[][2] = {{1, 0}, {7, 0}, {7, 1}, {0x0D, 1}, {0x80000001, 0}, {0x80000008, 0}};
        if (!ds_model_efficient(preset_at(i), &core))
            continue;
        for (size_t l = 0; l < sizeof leaves / sizeof leaves[0]; l++) {
            uint32_t beside[4], own[4];
            memset(beside, 0xFF, sizeof beside);
            memset(own, 0xFF, sizeof own);
            qds_features_mask(preset_at(i), leaves[l][0], leaves[l][1], beside);
            qds_features_mask(&core, leaves[l][0], leaves[l][1], own);
            assert_memory_equal(own, beside, sizeof own);
        }
    }
}

static void extended_leaves_end_with_intels(void **state)
{
    (void)state;
    uint32_t r[4] = {0x80000021, 'a', 'b', 'c'};
    qds_features_mask(ds_model_preset("penryn"), 0x80000000, 0, r);
    assert_true(r[EAX] == 0x80000008 && r[EBX] == 'a');
    r[EAX] = 0x80000004; /* a -cpu that has fewer */
    qds_features_mask(ds_model_preset("penryn"), 0x80000000, 0, r);
    assert_int_equal(r[EAX], 0x80000004);
    assert_false(qds_features_in(7, 2) || qds_features_in(0x0D, 0) || qds_features_in(0x0A, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_of_their_time),          cmocka_unit_test(linear_addresses),
        cmocka_unit_test(a_guest_of_kvm_is_a_server),      cmocka_unit_test(efficient_cores_are_as_those_beside_them),
        cmocka_unit_test(extended_leaves_end_with_intels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
