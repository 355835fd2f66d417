/* SPDX-License-Identifier: MIT */
/* The session clock against 128-bit arithmetic. */
#include <errno.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/sessions/filetime.h"

typedef unsigned __int128 u128;

static const uint64_t rates[] = {20000001,   33333333,   999999999,  1000000000, 2399999999,
                                 2400000000, 2560000000, 3141592653, 5800000000, UINT64_C(1000000000000),
                                 INT64_MAX};

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

/* The three types over one TSC: the same moments, each in its own units. */
static void test_types(void **state)
{
    (void)state;
    static const uint32_t ticks[] = {100, 1000, 15625, 100000};
    uint64_t seed = 7;
    for (unsigned i = 0; i + 1 < sizeof(rates) / sizeof(rates[0]); i++) {
        struct trace_clocks c;
        int64_t filetime = INT64_C(134000000000000000) + test_random(&seed, UINT32_MAX);
        uint64_t base = (uint64_t)test_random(&seed, UINT32_MAX) << 16;
        uint32_t tick = ticks[test_random(&seed, 4)];
        assert_int_equal(trace_clocks_init(&c, rates[i], base, filetime, tick), 0);
        assert_int_equal(c.tick_units[0], 10 * tick);
        assert_int_equal(c.tick_units[1], 10 * tick);
        assert_int_equal(c.tick_units[2], (uint64_t)((u128)rates[i] * tick / 1000000));
        for (unsigned t = 0; t < TRACE_CLOCK_TYPES; t++)
            assert_int_equal(c.clock[t].type, t + 1);
        assert_int_equal(trace_clock_hz(&c.clock[1]), TRACE_CLOCK_HZ);
        assert_int_equal(trace_clock_hz(&c.clock[2]), rates[i]);
        assert_int_equal(trace_clock_units(&c.clock[1], base), filetime);
        for (unsigned n = 0; n < 1000; n++) {
            uint64_t tsc = base - 100000 + ((uint64_t)test_random(&seed, UINT32_MAX) << test_random(&seed, 12));
            int64_t qpc = trace_clock_units(&c.clock[0], tsc);
            assert_int_equal(trace_clock_units(&c.clock[1], tsc) - filetime, qpc);
            assert_int_equal(trace_clock_units(&c.clock[2], tsc), tsc);
            assert_int_equal(trace_clock_scale(&c.clock[0], tsc), qpc);
        }
    }
    struct trace_clocks c;
    assert_int_equal(trace_clocks_init(&c, 2 * TRACE_CLOCK_HZ, 0, 0, 1000), -ERANGE);
}

static void test_filetime(void **state)
{
    (void)state;
    assert_int_equal(trace_filetime(1601, 1, 1, 0, 0, 0), 0);
    assert_int_equal(trace_filetime(1601, 1, 1, 0, 0, 1), TRACE_CLOCK_HZ);
    assert_true(trace_filetime(1970, 1, 1, 0, 0, 0) == INT64_C(116444736000000000)); /* as everybody has it */
    assert_true(trace_filetime(2000, 3, 1, 0, 0, 0) - trace_filetime(2000, 2, 29, 23, 59, 59) == TRACE_CLOCK_HZ);
    assert_true(trace_filetime(2026, 11, 21, 2, 10, 59) == INT64_C(134397006590000000));
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t expected = 0;
    for (uint32_t year = 1601; year < 2402; year++) /* day by day, counted on */
        for (uint32_t month = 1; month <= 12; month++) {
            bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);
            for (uint32_t day = 1; day <= days[month - 1] + (leap && month == 2 ? 1u : 0u); day++) {
                assert_true(trace_filetime(year, month, day, 0, 0, 0) == expected);
                expected += INT64_C(86400) * (int64_t)TRACE_CLOCK_HZ;
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiplier), cmocka_unit_test(test_range),           cmocka_unit_test(test_units),
        cmocka_unit_test(test_boundaries), cmocka_unit_test(test_behind_the_base), cmocka_unit_test(test_types),
        cmocka_unit_test(test_filetime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
