/* SPDX-License-Identifier: MIT */
/* The plugin's brand string: what programs that look for " @ N GHz" in it find there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tools/qemu-ds/brand.h"

static const char *text(const char *preset, uint64_t hz)
{
    static char all[49];
    for (uint32_t leaf = QDS_BRAND_FIRST; leaf <= QDS_BRAND_LAST; leaf++) {
        uint32_t out[4];
        qds_brand(preset, hz, leaf, out);
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

static void the_tsc_is_measured(void **state)
{
    (void)state;
    const struct timespec nap = {.tv_nsec = 20000000};
    qds_brand_begin();
    nanosleep(&nap, NULL);
    const uint64_t hz = qds_brand_tsc_hz();
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
        cmocka_unit_test(the_tsc_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
