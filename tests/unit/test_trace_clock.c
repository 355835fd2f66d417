/* SPDX-License-Identifier: MIT */
/* The session clock against 128-bit arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>

#include <cmocka.h>

#include "tests/unit/trace_support.h"

typedef unsigned __int128 u128;

static const uint64_t rates[] = {20000001, 33333333, 999999999, 1000000000, 2399999999, 2400000000, 2560000000,
                                 3141592653, 5800000000, UINT64_C(1000000000000), INT64_MAX};

static void test_multiplier(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct trace_clock c;
        assert_int_equal(trace_clock_init(&c, rates[i], 5), 0);
        assert_true(c.multiplier == (uint64_t)(((u128)TRACE_CLOCK_HZ << 64) / rates[i]));
        assert_true(c.tsc_hz == rates[i] && c.base == 5);
    }
}

static void test_range(void **state)
{
    (void)state;
    struct trace_clock c = {.multiplier = 77};
    assert_int_equal(trace_clock_init(&c, 0, 0), -ERANGE);
    assert_int_equal(trace_clock_init(&c, 2 * TRACE_CLOCK_HZ, 0), -ERANGE);
    assert_int_equal(trace_clock_init(&c, UINT64_C(1) << 63, 0), -ERANGE);
    assert_int_equal(c.multiplier, 77);
}

/* The clock is floor of the exact quotient, or one less where the multiplier's rounding shows: after t units by at most
 * t / 2^64 * tsc_hz / 10 MHz, so not before centuries by more than one. */
static void test_units(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (unsigned i = 0; i + 1 < sizeof(rates) / sizeof(rates[0]); i++) {
        struct trace_clock c;
        uint64_t base = (uint64_t)test_random(&seed, UINT32_MAX) << 16;
        trace_clock_init(&c, rates[i], base);
        assert_int_equal(trace_clock_units(&c, base), 0);
        int64_t last = 0;
        uint64_t tsc = base;
        for (unsigned n = 0; n < 20000; n++) {
            tsc += (uint64_t)test_random(&seed, UINT32_MAX) << test_random(&seed, 12);
            int64_t units = trace_clock_units(&c, tsc);
            int64_t exact = (int64_t)((u128)(tsc - base) * TRACE_CLOCK_HZ / rates[i]);
            assert_true(units == exact || units == exact - 1);
            assert_true(units >= last);
            last = units;
        }
    }
}

/* At a rate that divides, every boundary between two units is where it should be. */
static void test_boundaries(void **state)
{
    (void)state;
    struct trace_clock c;
    trace_clock_init(&c, TRACE_CLOCK_HZ * BOX_UNIT, 1000);
    for (uint64_t unit = 1; unit < UINT64_C(1) << 40; unit = unit * 3 + 1) {
        assert_int_equal(trace_clock_units(&c, 1000 + unit * BOX_UNIT), unit);
        assert_int_equal(trace_clock_units(&c, 1000 + unit * BOX_UNIT - 1), unit - 1);
    }
}

/* Of a processor whose TSC lags behind the base: before time 0, and in order. */
static void test_behind_the_base(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct trace_clock c;
        trace_clock_init(&c, rates[i], 1000000);
        assert_int_equal(trace_clock_units(&c, 999999), -1);
        assert_true(trace_clock_units(&c, 0) <= -1 && trace_clock_units(&c, 0) >= -500000);
    }
    struct trace_clock c;
    trace_clock_init(&c, TRACE_CLOCK_HZ * BOX_UNIT, 1000);
    for (uint64_t unit = 1; unit < UINT64_C(1) << 40; unit = unit * 3 + 1) {
        assert_int_equal(trace_clock_units(&c, 1000 - unit * BOX_UNIT), -unit);
        assert_int_equal(trace_clock_units(&c, 1000 - unit * BOX_UNIT - 1), -unit - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiplier),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_behind_the_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
