/* SPDX-License-Identifier: MIT */
/* arch/clock/time.c: what the PIT measures, and what CPUID says where it does not. */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/clock/time.c" /* how long it counts is its own */
#include "arch/internal.h"
#include "tests/unit/support/cmocka.h"

#include "kernel/lib/print.h"
#include "tests/unit/fake/processor.h"

/* The PIT: its channel 2 counts `pit_hz` of the TSC's `hz`; 0: it stands still. */
static enum { NO_PIT, PIT, STUCK_PIT } pit;
static uint64_t hz = 3000000000, began;
static unsigned bytes, late, at_once;
static uint16_t loaded;

void arch_out8(uint16_t port, uint8_t value)
{
    if (port == PIT_CHANNEL2) {
        loaded = (uint16_t)(bytes++ % 2 ? loaded | value << 8 : value);
        began = processor.tsc;
    } else if (port == PIT_COMMAND) {
        assert_true(value == PIT_STOP || value == PIT_MODE); /* the firmware's tick is stopped */
        bytes = 0;
    } else {
        assert_int_equal(port, PORT_B);
        assert_int_equal(value & (PORT_B_GATE2 | PORT_B_SPEAKER), PORT_B_GATE2);
    }
}

uint8_t arch_in8(uint16_t port)
{
    assert_int_equal(port, PORT_B);
    if (pit == NO_PIT)
        return 0xFF;
    processor.tsc += 3000; /* a microsecond */
    if (at_once && bytes == 2 && processor.tsc - began < hz / 1000) {
        at_once--;
        processor.tsc += hz; /* nor here, where the count has just begun */
    }
    if (late && processor.tsc - began > hz / 100 && late-- % 2)
        processor.tsc += hz; /* this CPU is not run for a second */
    const bool over = pit == PIT && bytes == 2 && (processor.tsc - began) * (__uint128_t)PIT_HZ / hz > loaded;
    return over ? PORT_B_OUT2 : 0;
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

static char said[256];

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
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

static void by_pit(void **state)
{
    static const uint64_t rates[] = {3000000000, 2400000000, 1896000000, 3408000000};
    (void)state;
    pit = PIT;
    leaf_0 = 0;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        for (unsigned times = 0; times < 6; times++) {
            hz = rates[i];
            late = times;
            at_once = times / 2;
            assert_int_equal(arch_time_init(), 0);
            assert_true(arch_tsc_hz() == hz);
            assert_string_equal(arch_time_source(), "PIT, rounded within the measurement error");
        }
    leaf_0 = 0x15; /* and the crystal, where CPUID knows no more than the ratio */
    memcpy(leaf_15, (uint32_t[]){2, 284, 0, 0}, sizeof leaf_15);
    assert_int_equal(arch_time_init(), 0);
    assert_string_equal(arch_time_source(), "CPUID leaf 15H, whose crystal was found by measuring");
}

/* All counts are interrupted: what is known of them is little, but true. */
static void never_sharp(void **state)
{
    struct arch_interval tsc;
    (void)state;
    pit = PIT;
    hz = 3000000000;
    for (unsigned i = 0; i < 2 * TRIES; i++) {
        late = 1 + i % 2;
        assert_true(count_once(&tsc));
        assert_true(tsc.low <= hz && hz <= tsc.high);
    }
}

/* No clock to measure with: no PIT, or one that stands still. */
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
    processor.step = 20000; /* what a read takes: a PIT that stands still is known by their number */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pit = i == 2 ? STUCK_PIT : NO_PIT;
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
                                              : "time: no clock to measure the TSC with: neither CPUID 15H/16H nor "
                                                "PIT\n");
        if (!cases[i].hz)
            continue;
        assert_string_equal(arch_time_source(), cases[i].source);
        assert_true(arch_apic_timer_hz > cases[i].hz / 65 && arch_apic_timer_hz < cases[i].hz / 63);
    }
    processor.step = 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_pit),
        cmocka_unit_test(never_sharp),
        cmocka_unit_test(by_cpuid_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
