/* SPDX-License-Identifier: MIT */
/* Which releases of spin locks become events, and the bytes of 0529H and its configuration. */
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "trace/locks/lock_sampling.h"
#include "trace/wire/spinlock.h"

#define DEFAULTS                                                                                                       \
    {                                                                                                                  \
        .spin_threshold = TRACE_SPINLOCK_SPIN_THRESHOLD, .acquire_sample_rate = TRACE_SPINLOCK_ACQUIRE_SAMPLE_RATE,    \
        .contention_sample_rate = TRACE_SPINLOCK_CONTENTION_SAMPLE_RATE,                                               \
        .hold_threshold = TRACE_SPINLOCK_HOLD_THRESHOLD                                                                \
    }

static unsigned rules(const struct trace_spinlock_sampling *s, uint64_t contended, uint64_t uncontended, uint32_t spins,
                      uint64_t held)
{
    return trace_spinlock_rules(s, &(struct trace_spinlock_counts){contended, uncontended}, spins, held);
}

/* The least values that Windows takes are its defaults; one below is refused, each by itself. */
static void minima(void **state)
{
    (void)state;
    const struct trace_spinlock_sampling least = DEFAULTS;
    assert_int_equal(least.spin_threshold, 1);
    assert_int_equal(least.acquire_sample_rate, 1000);
    assert_int_equal(least.contention_sample_rate, 1);
    assert_int_equal(least.hold_threshold, 1000000);
    assert_true(trace_spinlock_sampling_valid(&least));

    struct trace_spinlock_sampling s = least;
    s.spin_threshold = 0;
    assert_false(trace_spinlock_sampling_valid(&s));
    s = least, s.acquire_sample_rate = 999;
    assert_false(trace_spinlock_sampling_valid(&s));
    s = least, s.contention_sample_rate = 0;
    assert_false(trace_spinlock_sampling_valid(&s));
    s = least, s.hold_threshold = 999999;
    assert_false(trace_spinlock_sampling_valid(&s));
    s.hold_threshold = 0;
    assert_true(trace_spinlock_sampling_valid(&s));
    s = (struct trace_spinlock_sampling){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, true};
    assert_true(trace_spinlock_sampling_valid(&s));
}

static void held_too_long(void **state)
{
    (void)state;
    struct trace_spinlock_sampling s = DEFAULTS;
    assert_int_equal(rules(&s, 1, 1, 0, 1000000), 0);
    assert_int_equal(rules(&s, 1, 1, 0, 1000001), TRACE_SPINLOCK_HOLD);
    assert_int_equal(rules(&s, 1, 1, 0, UINT64_C(1) << 40), TRACE_SPINLOCK_HOLD);
    s.hold_threshold = 0;
    assert_int_equal(rules(&s, 1, 1, 0, UINT64_MAX), 0);
}

static void contended(void **state)
{
    (void)state;
    struct trace_spinlock_sampling s = DEFAULTS;
    assert_int_equal(rules(&s, 1, 1, 1, 10), TRACE_SPINLOCK_CONTENTION);
    s.spin_threshold = 5;
    assert_int_equal(rules(&s, 1, 1, 4, 10), 0);
    assert_int_equal(rules(&s, 1, 1, 5, 10), TRACE_SPINLOCK_CONTENTION);
    s.contention_sample_rate = 3;
    assert_int_equal(rules(&s, 8, 1, 5, 10), 0);
    assert_int_equal(rules(&s, 9, 1, 5, 10), TRACE_SPINLOCK_CONTENTION);
    /* its count is the other one's business */
    assert_int_equal(rules(&s, 8, 1000, 5, 10), 0);
}

static void uncontended(void **state)
{
    (void)state;
    struct trace_spinlock_sampling s = DEFAULTS;
    assert_int_equal(rules(&s, 7, 999, 0, 10), 0);
    assert_int_equal(rules(&s, 7, 1000, 0, 10), TRACE_SPINLOCK_ACQUIRE);
    assert_int_equal(rules(&s, 7, 2000, 0, 2000000), TRACE_SPINLOCK_ACQUIRE | TRACE_SPINLOCK_HOLD);
    s.every = true;
    assert_int_equal(rules(&s, 7, 999, 0, 10), TRACE_SPINLOCK_EVERY);
    /* of a damaged log */
    s = (struct trace_spinlock_sampling){0};
    assert_int_equal(rules(&s, 0, 0, 0, 10), 0);
    assert_int_equal(rules(&s, 0, 0, 1, 10), 0);
}

static void counts_and_cycles(void **state)
{
    (void)state;
    struct trace_spinlock_counts c = {0};
    trace_spinlock_count(&c, 0);
    trace_spinlock_count(&c, 7);
    trace_spinlock_count(&c, 0);
    assert_int_equal(c.contended, 1);
    assert_int_equal(c.uncontended, 2);
    assert_int_equal(trace_spinlock_cycles(100, 100), 0);
    assert_int_equal(trace_spinlock_cycles(100, 100 + (uint64_t)UINT32_MAX), UINT32_MAX);
    assert_int_equal(trace_spinlock_cycles(100, 101 + (uint64_t)UINT32_MAX), UINT32_MAX);
}

/* The two rates stand in the other order than in EVENT_TRACE_SPINLOCK_INFORMATION. */
static void configuration(void **state)
{
    (void)state;
    const struct trace_spinlock_sampling s = {1, 1000, 7, 0, false};
    const uint8_t bytes[16] = {1, 0, 0, 0, 7, 0, 0, 0, 0xE8, 3, 0, 0};
    struct perfinfo_spinlock_config config = trace_spinlock_config(&s);
    assert_memory_equal(&config, bytes, sizeof bytes);
}

/* The fields of an event of Windows 8 (libtrace's example): held for 649 cycles after 11 spins of 1681 cycles. */
static void bytes_of_windows(void **state)
{
    (void)state;
    struct wmi_spinlock e = {.wait_time_in_cycles = 1681,
                             .spin_count = 11,
                             .acquire_time = 0x1122334455667788,
                             .release_time = 0x1122334455667788 + 649,
                             .acquire_depth = 1,
                             .flags = SPINLOCK_CONVERTED | WMI_SPINLOCK_EXECUTE_ISR};
    uint8_t at[sizeof e];
    memcpy(at, &e, sizeof e);
    assert_int_equal(sizeof e, 56);
    assert_memory_equal(at + 0x10, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
    assert_memory_equal(at + 0x20, "\x91\x06\0\0\x0B\0\0\0", 8);
    assert_int_equal(at[0x31], 1);
    assert_int_equal(at[0x32], 0x84);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minima),           cmocka_unit_test(held_too_long),     cmocka_unit_test(contended),
        cmocka_unit_test(uncontended),      cmocka_unit_test(counts_and_cycles), cmocka_unit_test(configuration),
        cmocka_unit_test(bytes_of_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
