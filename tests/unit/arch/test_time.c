/* SPDX-License-Identifier: MIT */
/* arch/clock/time.c: clocks that are none, and clocks that stop, are given up in time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/internal.h"
#include "arch/clock/time.c" /* a clock that stops is one that it would not choose */
#include "arch/arch.h"

void arch_out8(uint16_t port, uint8_t value)
{
    assert_int_equal(port, 0x43); /* the PIT's tick is stopped */
    assert_int_equal(value, 0x30);
}

#include "arch/clock/frequency.h"
#include "arch/clock/hpet.h"
#include "kernel/lib/print.h"

struct acpi_info arch_acpi;

static char said[256];

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
}

static uint32_t registers[HPET_SIZE / 4];

void *arch_map_device(uint64_t phys, size_t size)
{
    assert_int_equal(size, sizeof registers);
    return phys >= 0x80000000 ? registers : NULL; /* below is memory */
}

/* What these tests do not reach. */
void arch_apic_timer_oneshot(uint8_t vector, uint32_t count)
{
    fail_msg("%u, %u", vector, count);
}

void arch_apic_timer_periodic(uint8_t vector, uint32_t count)
{
    fail_msg("%u, %u", vector, count);
}

uint32_t arch_apic_timer_count(void)
{
    fail();
    return 0;
}

void arch_timer_stop(void)
{
    fail();
}

void arch_smp_park(void)
{
    fail();
}

void arch_spin(uint64_t loops)
{
    fail_msg("%lu", loops);
}

void arch_wait_for_interrupt(void)
{
    fail();
}

/* ---- a clock ----------------------------------------------------------------------------------------------------- */

static uint32_t reads, stops_at, flaps_from;

static uint32_t read_clock(void)
{
    assert_true(reads < 2 * (MEASURE_POLLS + STUCK_POLLS)); /* some seconds */
    reads++;
    if (reads > flaps_from)
        return flaps_from + (reads & 1);
    return reads < stops_at ? reads : stops_at;
}

static struct reference clock_of(uint64_t hz)
{
    reads = 0;
    stops_at = flaps_from = UINT32_MAX;
    return (struct reference){.name = "clock", .hz = hz, .mask = UINT32_MAX, .read = read_clock};
}

static void one_that_goes(void **state)
{
    (void)state;
    struct arch_interval interval;
    const struct reference reference = clock_of(1000000);
    assert_true(measure_once(&reference, &interval));
    assert_in_range(reads, 1000000 * MEASURE_MS / 1000, 1000000 * MEASURE_MS / 1000 + 100);
    assert_true(interval.low && interval.low <= interval.high);
}

static void one_that_stops(void **state)
{
    (void)state;
    struct arch_interval interval;
    struct reference reference = clock_of(1000000);
    stops_at = 100; /* behind the first edges */
    assert_false(measure_once(&reference, &interval));
    reference = clock_of(1000000);
    flaps_from = 100; /* it changes, and never comes there */
    assert_false(measure_once(&reference, &interval));
}

/* What is beyond the counter would be waited for in vain. */
static void one_that_is_too_fast(void **state)
{
    static const uint64_t hz[] = {FS_PER_SECOND, UINT64_C(107374182400), UINT64_C(81000000000)};
    (void)state;
    for (size_t i = 0; i < sizeof hz / sizeof hz[0]; i++) {
        struct arch_interval interval;
        const struct reference reference = clock_of(hz[i]);
        assert_false(measure_once(&reference, &interval));
        assert_in_range(reads, 0, 100);
    }
    assert_true((uint64_t)PIT_HZ * MEASURE_MS / 1000 <= 0xFFFFu / 4 * 3); /* but the PIT is not refused */
}

static void hpets_that_are_none(void **state)
{
    static const struct {
        uint64_t address;
        uint32_t period;
        bool is;
    } cases[] = {
        {0xFED00000, 69841279, true},
        {0xFED00000, 1, false},
        {0xFED00000, UINT32_MAX, false},
        {0x100000, 69841279, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[128] = "";
        said[0] = '\0';
        hpet = NULL;
        arch_acpi.hpet = cases[i].address;
        registers[HPET_PERIOD / 4] = cases[i].period;
        stop_firmware_ticks();
        assert_int_equal(hpet != NULL, cases[i].is);
        if (!cases[i].is)
            snprintf(line, sizeof line, "time: what ACPI calls an HPET, at 0x%lx, is none: not used\n",
                     cases[i].address);
        assert_string_equal(said, line);
    }
    said[0] = '\0';
    arch_acpi.hpet = 0;
    stop_firmware_ticks();
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_goes),
        cmocka_unit_test(one_that_stops),
        cmocka_unit_test(one_that_is_too_fast),
        cmocka_unit_test(hpets_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
