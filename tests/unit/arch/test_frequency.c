/* SPDX-License-Identifier: MIT */
/* arch/clock/frequency.c: what is made of a measured TSC. */
#include "arch/clock/frequency.h"
#include "tests/unit/support/cmocka.h"

/* `hz` as a clock that is `ppm` fast shows it, each edge known to within `edge` parts per million. */
static struct arch_interval shown(uint64_t hz, int64_t ppm, uint64_t edge)
{
    uint64_t middle = (uint64_t)((int64_t)hz + (int64_t)hz / 1000000 * ppm);
    return (struct arch_interval){middle - middle / 1000000 * edge, middle + middle / 1000000 * edge};
}

/* Machines whose CPUID leaf 15H has a ratio but no crystal. */
static void crystals(void **state)
{
    (void)state;
    static const struct {
        uint32_t numerator, denominator;
        uint64_t hz;
    } rows[] = {
        {284, 2, 3408000000}, /* a Skylake sold as 3.40 GHz, 24 MHz: leaf 16H says 3400 */
        {158, 2, 1896000000}, /* a Kaby Lake sold as 1.90 GHz */
        {168, 2, 2100000000}, /* a Xeon, 25 MHz */
        {156, 2, 1497600000}, /* a Goldmont, 19.2 MHz */
        {88, 1, 2200000000},  /* Denverton, 25 MHz */
        {130, 2, 2496000000}, /* 38.4 MHz */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t n = rows[i].numerator, d = rows[i].denominator;
        for (int64_t ppm = -60; ppm <= 60; ppm += 20)
            for (uint64_t edge = 30; edge <= 70; edge += 20)
                assert_true(arch_by_crystal(n, d, shown(rows[i].hz, ppm, edge)) ==
                            (ppm <= (int64_t)edge && -ppm <= (int64_t)edge ? rows[i].hz : 0));
    }
}

/* A base clock that somebody has changed is none of Intel's crystals: the measurement is believed. */
static void other_clocks(void **state)
{
    (void)state;
    assert_int_equal(arch_by_crystal(284, 2, shown(3476000000, 0, 50)), 0);
    assert_int_equal(arch_by_crystal(284, 2, shown(3400000000, 0, 50)), 0);
    assert_int_equal(arch_by_crystal(UINT32_MAX, 1, shown(3400000000, 0, 50)), 0); /* whatever CPUID says */
    assert_int_equal(arch_by_crystal(1, UINT32_MAX, shown(3400000000, 0, 50)), 0);
}

static void round_numbers(void **state)
{
    (void)state;
    assert_true(arch_roundest(shown(2400000000, 7, 3)) == 2400000000);
    assert_true(arch_roundest(shown(2394500000, -12, 5)) == 2394500000);
    assert_true(arch_roundest((struct arch_interval){999999999, 1000000001}) == 1000000000);
    assert_true(arch_roundest((struct arch_interval){7, 7}) == 7);
    struct arch_interval wide = {2000000000, 2999999999}; /* nothing but its width is known */
    assert_true(arch_roundest(wide) >= wide.low && arch_roundest(wide) <= wide.high + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crystals),
        cmocka_unit_test(other_clocks),
        cmocka_unit_test(round_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
