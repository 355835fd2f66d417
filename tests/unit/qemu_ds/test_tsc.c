/* SPDX-License-Identifier: MIT */
/* What CPUID says of the TSC: the ratio as Linux computes with it, and the brand string for programs that look for
 * " @ N GHz" there. */
#include <string.h>
#include <time.h>

#include "tests/unit/support/cmocka.h"
#include "tools/qemu-ds/cpuid/tsc.h"

static const char *text(const char *preset, uint64_t hz)
{
    static char all[49];
    for (uint32_t leaf = QDS_BRAND_FIRST; leaf <= QDS_BRAND_LAST; leaf++) {
        uint32_t out[4];
        qds_tsc_cpuid(preset, hz, leaf, out);
        memcpy(all + 16 * (leaf - QDS_BRAND_FIRST), out, sizeof out);
    }
    return all;
}

static void names_and_rounds(void **state)
{
    (void)state;
    assert_string_equal(text("icelake", 2445404000), "QEMU qemu-ds icelake @ 2.45GHz");
    assert_string_equal(text("sapphirerapids", 1999999999), "QEMU qemu-ds sapphirerapids @ 2.00GHz");
    assert_string_equal(text("x", 996000000), "QEMU qemu-ds x @ 1.00GHz");
}

static void the_longest_fits(void **state)
{
    (void)state;
    assert_int_equal(strlen(text("nnnnnnnnnnnnnnnnnnnn", UINT64_C(99990000000))), 44);
}

/* 120 ppm: half the distance between n / 1 and the next fraction, which is 1 / (4294 - n) of n. */
static void check_ratio(uint64_t hz)
{
    uint32_t tsc[4], frequency[4];
    qds_tsc_cpuid("x", hz, QDS_CPUID_TSC, tsc);
    qds_tsc_cpuid("x", hz, QDS_CPUID_FREQUENCY, frequency);
    const uint32_t khz = tsc[2] / 1000 * tsc[1] / tsc[0]; /* in 32 bits, as Linux does */
    const uint64_t off = hz / 1000 * 120 / 1000000 + 1;   /* a kHz that the division drops */
    assert_in_range(khz, hz / 1000 - off, hz / 1000 + off);
    assert_true(tsc[2] == 1000000000 && tsc[3] == 0);
    assert_true(frequency[0] == (hz + 500000) / 1000000 && frequency[1] == frequency[0]);
}

static void the_ratio_is_close(void **state)
{
    (void)state;
    for (uint64_t hz = 600000000; hz < 6000000000; hz += 1234567)
        check_ratio(hz);
    /* Beside simple fractions the next one is far away. */
    for (uint64_t simple = 1000000000; simple <= 4000000000; simple += 500000000)
        for (uint64_t hz = simple - 1000000; hz <= simple + 1000000; hz += 10000)
            check_ratio(hz);
    uint32_t exact[4];
    qds_tsc_cpuid("x", 2600000000, QDS_CPUID_TSC, exact);
    assert_int_equal((uint64_t)exact[2] * exact[1] / exact[0], 2600000000);
}

static void the_tsc_is_measured(void **state)
{
    (void)state;
    const struct timespec nap = {.tv_nsec = 20000000};
    qds_tsc_begin();
    nanosleep(&nap, NULL);
    const uint64_t hz = qds_tsc_hz();
#ifdef __x86_64__
    const uint64_t before = __builtin_ia32_rdtsc();
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    nanosleep(&nap, NULL);
    const uint64_t ticks = __builtin_ia32_rdtsc() - before;
    clock_gettime(CLOCK_MONOTONIC, &to);
    const double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    assert_in_range((uint64_t)((double)ticks / seconds / 1e6), hz / 1000000 * 9 / 10, hz / 1000000 * 11 / 10);
#else
    assert_int_equal(hz, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_rounds),
        cmocka_unit_test(the_longest_fits),
        cmocka_unit_test(the_ratio_is_close),
        cmocka_unit_test(the_tsc_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
