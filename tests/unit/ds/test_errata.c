/* SPDX-License-Identifier: MIT */
/* Detection on single processors: their errata, the counters they have PEBS on, cores of two kinds. */
#include <stdbool.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct ds_fake fake;
static struct ds_caps caps;

/* Each erratum on the processors that have it and no others, with its row and its effect. */
static void errata(void **state)
{
    (void)state;
    static const struct {
        uint32_t signature;
        unsigned format;
        uint64_t microcode; /* what IA32_BIOS_SIGN_ID reads; 1: raises #GP */
        struct ds_errata has;
        const char *refused; /* words of the reason */
    } rows[] = {
        {0x000006F6, 0, 0, {.pebs_unusable = true}, "AJ67, AJ68, AJ69, AJ106"}, /* Merom */
        {0x00010661, 0, 0, {.one_page_buffer = true}, NULL},                    /* Merom L */
        {0x00010676, 0, 0, {.one_page_buffer = true}, NULL},                    /* Penryn */
        {0x000106D1, 0, 0, {.one_page_buffer = true}, NULL},                    /* Dunnington */
        {0x000106A5, 1, 0, {.counters_stuck = true, .period_32 = true}, NULL},  /* Nehalem */
        {0x000206E6, 1, 0, {.counters_stuck = true, .period_32 = true}, NULL},  /* Nehalem-EX */
        {0x000206C2, 1, 0, {.counters_stuck = true}, NULL},                     /* Westmere */
        {0x000206A7, 1, UINT64_C(0x28) << 32, {0}, NULL},                       /* Sandy Bridge */
        {0x000206A7, 1, UINT64_C(0x27) << 32, {.pebs_needs_microcode = true}, "28H"},
        {0x000206A7, 1, 1, {.pebs_needs_microcode = true}, "newer microcode"},
        {0x000206A6, 1, UINT64_C(0x28) << 32, {.pebs_needs_microcode = true}, "newer microcode"},
        {0x000206D6, 1, UINT64_C(0x618) << 32, {0}, NULL},
        {0x000206D6, 1, UINT64_C(0x617) << 32, {.pebs_needs_microcode = true}, "618H"},
        {0x000206D7, 1, UINT64_C(0x70C) << 32, {0}, NULL},
        {0x000206D7, 1, UINT64_C(0x70B) << 32, {.pebs_needs_microcode = true}, "70CH"},
        {0x000306A9, 1, 0, {0}, NULL},                                     /* Ivy Bridge */
        {0x000306C3, 2, 0, {.period_32 = true, .period_128 = true}, NULL}, /* Haswell, and the next two */
        {0x000306F2, 2, 0, {.period_32 = true, .period_128 = true}, NULL},
        {0x00040651, 2, 0, {.period_32 = true, .period_128 = true}, NULL},
        {0x00040661, 2, 0, {.period_32 = true, .period_128 = true}, NULL}, /* with Crystal Well */
        {0x000306D4, 2, 0, {.period_64 = true}, NULL},                     /* Broadwell */
        {0x000506E3, 3, 0, {0}, NULL},                                     /* Skylake */
        {0x000706E5, 4, 0, {0}, NULL},                                     /* Ice Lake */
        {0x000806F8, 4, 0, {.period_128 = true}, NULL}, /* Sapphire Rapids: precise distribution's own, no erratum */
        {0x00000F29, 1, 0, {0}, NULL},                  /* family 15 of a model that family 6 has, too */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_fake_init(&fake, false);
        fake.leaf[1][0] = rows[i].signature;
        ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = rows[i].format << 8;
        if (rows[i].microcode != 1)
            ds_fake_add(&fake, IA32_BIOS_SIGN_ID, 0);
        fake.microcode = rows[i].microcode;
        if (rows[i].refused)
            ds_fake_refused(&fake, &caps, rows[i].refused);
        else
            assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        assert_true(caps.bts); /* none of them is about branches */
        if (memcmp(&caps.errata, &rows[i].has, sizeof caps.errata) != 0)
            fail_msg("signature %x, microcode %llx", rows[i].signature, (unsigned long long)rows[i].microcode);
        const struct ds_errata *has = &caps.errata;
        assert_true(!ds_fake_find_test(&caps, "AJ67") == !has->pebs_unusable);
        assert_true(!ds_fake_find_test(&caps, "format 0") == !has->one_page_buffer);
        assert_true(!ds_fake_find_test(&caps, "BDM11") == !has->period_64);
        assert_true(!ds_fake_find_test(&caps, "AAK100") == !has->counters_stuck);
        assert_true((ds_fake_find_test(&caps, "periods") || ds_fake_find_test(&caps, "HSW11")) == has->period_32);
        if (caps.errata.pebs_needs_microcode)
            assert_false(ds_fake_test(&caps, "microcode")->ok);
    }
    /* Without the Debug Store there is nothing to say. */
    fake.leaf[1][0] = 0x000006F6;
    fake.leaf[1][3] = 0;
    ds_fake_refused(&fake, &caps, "EDX.DS is 0");
    assert_null(ds_fake_find_test(&caps, "AJ67"));
}

/* Which counters have PEBS before the baseline. */
static void counters_of_atoms(void **state)
{
    (void)state;
    static const struct {
        uint32_t signature;
        unsigned format;
        uint64_t counters;
        uint32_t area;
    } rows[] = {
        {0x00030673, 2, 1, 0x60},                       /* Silvermont */
        {0x00050671, 2, 1, 0x60},                       /* Xeon Phi */
        {0x000506C9, 3, 1, 0x60},                       /* Goldmont */
        {0x000706A1, 3, 0xF | UINT64_C(7) << 32, 0xA0}, /* Goldmont Plus: all */
        {0x000506E3, 3, 0xF, 0x60},                     /* Skylake */
        {0x00000F37, 3, 0xF, 0x60},                     /* not family 6 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_fake_init(&fake, false);
        fake.leaf[1][0] = rows[i].signature;
        ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = rows[i].format << 8;
        assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        assert_true(caps.pebs_counters == rows[i].counters);
        assert_int_equal(caps.area_bytes, rows[i].area);
    }
}

/* PMC3 is microcode's own until software gives transactions up. */
static void transactions_take_a_counter(void **state)
{
    (void)state;
    ds_fake_init(&fake, false);
    fake.leaf[7][3] = CPUID_07H_EDX_TSX_FORCE_ABORT;
    ds_fake_add(&fake, MSR_TSX_FORCE_ABORT, 0);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.errata.pmc3_taken);
    assert_non_null(strstr(ds_fake_test(&caps, "TSX_FORCE_ABORT")->verdict, "not used"));
    ds_fake_find(&fake, MSR_TSX_FORCE_ABORT)->value = MSR_TSX_FORCE_ABORT_RTM;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_false(caps.errata.pmc3_taken);
    assert_null(ds_fake_find_test(&caps, "TSX_FORCE_ABORT"));
    ds_fake_remove(&fake, MSR_TSX_FORCE_ABORT);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.errata.pmc3_taken);
    fake.leaf[0][0] = 6; /* leaf 7 would be another's */
    fake.leaf[0x0A][0] = 0;
    ds_fake_refused(&fake, &caps, "older than version 2");
    assert_false(caps.errata.pmc3_taken);
}

/* One package, two kinds of cores: each CPU has its own table, core type, events, counters and format. */
static void mixed_cores(void **state)
{
    (void)state;
    struct ds_event event = {.kind = DS_EVENT_CONDITIONAL};
    uint64_t code;
    static struct ds_caps big;
    ds_fake_init(&fake, true);
    fake.leaf[1][0] = 0x000C0652; /* Arrow Lake-H */
    fake.leaf[0x1A][0] = CPUID_1AH_EAX_CORE << 24;
    assert_int_equal(ds_detect(&fake.machine, &big), 0);
    fake.leaf[0x1A][0] = CPUID_1AH_EAX_ATOM << 24;
    fake.leaf[0x0A][0] = 7u << 24 | 48u << 16 | 6u << 8 | 5;
    fake.leaf[0x0A][3] = 48u << 5 | 3;
    uint64_t *capabilities = &ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value;
    *capabilities = (*capabilities & ~UINT64_C(0xF00)) | 5u << 8;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(big.core_type, CPUID_1AH_EAX_CORE);
    assert_int_equal(caps.core_type, CPUID_1AH_EAX_ATOM);
    assert_string_equal(ds_fake_test(&caps, "core type")->verdict, "an efficient core (Atom)");
    assert_true(big.format == 4 && caps.format == 5 && big.area_bytes == 0xA0 && caps.area_bytes == 0x1C0);
    assert_true(big.pebs_counters == UINT64_C(0xF000000FF) && caps.pebs_counters == UINT64_C(0x70000003F));
    assert_int_equal(ds_event_code(&big, &event, &code), 0);
    assert_int_equal(code, 0x100000011C4);
    assert_true(caps.generation != big.generation);
    fake.leaf[0x1A][0] = 0x10u << 24;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_string_equal(ds_fake_test(&caps, "core type")->verdict, "of a kind not known here");
    /* Cores with architectural PEBS beside them, each is asked by itself. */
    ds_fake_init_arch(&fake);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.instead && !big.instead && big.pebs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errata),
        cmocka_unit_test(counters_of_atoms),
        cmocka_unit_test(transactions_take_a_counter),
        cmocka_unit_test(mixed_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
