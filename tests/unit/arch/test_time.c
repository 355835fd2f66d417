/* SPDX-License-Identifier: MIT */
/* arch/clock/time.c: clocks that are none, and clocks that stop, are given up in time; what CPUID says then. */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/clock/time.c" /* a clock that stops is one that it would not choose */
#include "arch/internal.h"
#include "tests/unit/support/cmocka.h"

#include "arch/clock/frequency.h"
#include "arch/clock/hpet.h"
#include "kernel/lib/print.h"
#include "tests/unit/fake/processor.h"

static bool any_port;

void arch_out8(uint16_t port, uint8_t value)
{
    if (any_port)
        return;
    assert_int_equal(port, 0x43); /* the PIT's tick is stopped */
    assert_int_equal(value, 0x30);
}

uint8_t arch_in8(uint16_t port)
{
    (void)port;
    return 0xFF; /* nothing is there */
}

static uint32_t leaf_0, leaf_15[4], leaf_16;

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    assert_int_equal(subleaf, 0);
    assert_true(leaf <= leaf_0);
    memset(out, 0, 4 * sizeof *out);
    if (leaf == 0)
        out[0] = leaf_0;
    else if (leaf == 0x15)
        memcpy(out, leaf_15, sizeof leaf_15);
    else if (leaf == 0x16)
        out[0] = leaf_16 | 0xABCD0000; /* reserved */
}

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

/* The APIC timer: a 64th of the TSC. */
void arch_apic_timer_oneshot(uint8_t vector, uint32_t count)
{
    assert_int_equal(vector, 0);
    assert_true(count == UINT32_MAX);
}

uint32_t arch_apic_timer_count(void)
{
    return UINT32_MAX - (uint32_t)(processor.tsc / 64);
}

void arch_timer_stop(void)
{
}

/* What these tests do not reach. */
void arch_apic_timer_periodic(uint8_t vector, uint32_t count)
{
    fail_msg("%u, %u", vector, count);
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

/* No clock to measure with: neither PM timer nor HPET, and a PIT that stands still. */
static void by_cpuid_alone(void **state)
{
    static const struct {
        uint32_t last, denominator, numerator, crystal_hz, mhz;
        uint64_t hz; /* 0: refused */
        const char *source;
    } cases[] = {
        {0x16, 2, 250, 24000000, 3000, 3000000000, "CPUID leaf 15H"},
        {0x15, 2, 200, 38400000, 0, 3840000000, "CPUID leaf 15H"},
        /* the crystal is not told, and the base frequency, which is rounded, tells it */
        {0x16, 2, 284, 0, 3400, 3408000000, "CPUID leaf 15H, whose crystal was found by leaf 16H"},
        {0x16, 2, 76, 0, 900, 912000000, "CPUID leaf 15H, whose crystal was found by leaf 16H"},
        {0x16, 1, 88, 0, 2200, 2200000000, "CPUID leaf 15H, whose crystal was found by leaf 16H"},
        {0x16, 3, 234, 0, 1500, 1497600000, "CPUID leaf 15H, whose crystal was found by leaf 16H"},
        /* none of the crystals */
        {0x16, 2, 284, 0, 3300, 3300000000, "CPUID leaf 16H: nominal, may be wrong by 1 %"},
        /* nothing is told */
        {0x16, 2, 284, 0, 0, 0, NULL},
        {0x15, 2, 284, 0, 3400, 0, NULL},
        {0x16, 0, 284, 24000000, 3400, 0, NULL},
        {0x16, 2, 0, 24000000, 3400, 0, NULL},
        {0x14, 2, 284, 24000000, 3400, 0, NULL},
    };
    (void)state;
    any_port = true;
    processor.step = 20000; /* what a read takes: a PIT that stands still is known by their number */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        arch_acpi = (struct acpi_info){0};
        leaf_0 = cases[i].last;
        leaf_15[0] = cases[i].denominator;
        leaf_15[1] = cases[i].numerator;
        leaf_15[2] = cases[i].crystal_hz;
        leaf_16 = cases[i].mhz;
        tsc_hz = 0;
        said[0] = '\0';
        assert_int_equal(arch_time_init(), cases[i].hz ? 0 : -ENODEV);
        assert_true(arch_tsc_hz() == cases[i].hz);
        assert_string_equal(said, cases[i].hz ? ""
                                              : "time: no clock to measure the TSC with: neither CPUID 15H/16H, PM "
                                                "timer, HPET nor PIT\n");
        if (!cases[i].hz)
            continue;
        assert_string_equal(arch_time_source(), cases[i].source);
        assert_true(arch_apic_timer_hz > cases[i].hz / 65 && arch_apic_timer_hz < cases[i].hz / 63);
    }
    processor.step = 1;
    any_port = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_goes),       cmocka_unit_test(one_that_stops), cmocka_unit_test(one_that_is_too_fast),
        cmocka_unit_test(hpets_that_are_none), cmocka_unit_test(by_cpuid_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
