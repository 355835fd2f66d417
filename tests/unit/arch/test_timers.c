/* SPDX-License-Identifier: MIT */
/* arch/timers: clocks that are none, and clocks that stop, are given up in time. */
#include <stdio.h>
#include <string.h>

#include "arch/timers/measure.c" /* how long it waits is its own */
#include "arch/timers/timers.c"  /* so is what it has found */
#include "tests/unit/support/cmocka.h"

#include "tests/unit/fake/processor.h"

static const struct boot_info boot_info;
const struct boot_info *arch_boot_info = &boot_info;
const struct acpi_memory arch_acpi_memory;

static uint64_t hpet_at;

void acpi_timers_parse(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_timers *timers)
{
    (void)memory, (void)rsdp;
    *timers = (struct acpi_timers){.hpet = hpet_at};
}

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

static struct arch_timer clock_of(uint64_t hz)
{
    reads = 0;
    stops_at = flaps_from = UINT32_MAX;
    return (struct arch_timer){.hz = hz, .mask = UINT32_MAX, .read = read_clock};
}

static void one_that_goes(void **state)
{
    (void)state;
    struct arch_interval interval;
    const struct arch_timer timer = clock_of(1000000);
    assert_true(arch_timer_measure(&timer, &interval));
    assert_in_range(reads, 2 * 1000000 * MEASURE_MS / 1000, 2 * 1000000 * MEASURE_MS / 1000 + 200); /* twice */
    assert_true(interval.low && interval.low <= interval.high);
}

static void one_that_stops(void **state)
{
    (void)state;
    struct arch_interval interval;
    struct arch_timer timer = clock_of(1000000);
    stops_at = 100; /* behind the first edges */
    assert_false(arch_timer_measure(&timer, &interval));
    timer = clock_of(1000000);
    flaps_from = 100; /* it changes, and never comes there */
    assert_false(arch_timer_measure(&timer, &interval));
}

/* What is beyond the counter would be waited for in vain. */
static void one_that_is_too_fast(void **state)
{
    static const uint64_t hz[] = {FS_PER_SECOND, UINT64_C(107374182400), UINT64_C(81000000000)};
    (void)state;
    for (size_t i = 0; i < sizeof hz / sizeof hz[0]; i++) {
        struct arch_interval interval;
        const struct arch_timer timer = clock_of(hz[i]);
        assert_false(arch_timer_measure(&timer, &interval));
        assert_in_range(reads, 0, 100);
    }
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
        hpet_at = cases[i].address;
        registers[HPET_PERIOD / 4] = cases[i].period;
        arch_timers_init();
        assert_int_equal(hpet != NULL, cases[i].is);
        if (!cases[i].is)
            snprintf(line, sizeof line, "time: no HPET at 0x%lx, where ACPI has one: not used\n", cases[i].address);
        assert_string_equal(said, line);
    }
    said[0] = '\0';
    hpet_at = 0;
    arch_timers_init();
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
