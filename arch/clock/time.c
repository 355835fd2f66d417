/* SPDX-License-Identifier: MIT */
/*
 * The frequencies of the TSC and the APIC timer, and waiting.
 *
 * A measured frequency is an interval (arch/clock/frequency.h), which is made at least as wide as the tolerance of
 * clocks (ARCH_CLOCK_PPM). The frequency used is that of a crystal times the ratio from CPUID, or else the roundest
 * number in the interval. So two runs on one machine agree although their measurements differ, and nominal frequencies
 * come out exactly. The price is an error of up to ARCH_CLOCK_PPM, or of the measurement if that is larger.
 */
#include "arch/clock/frequency.h"
#include "arch/internal.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"

#define MEASURE_MS 40u /* under the 54.9 ms of the PIT's 16 bits */
#define TRIES      8u
#define WIDEST_PPM 10000u /* as wide as what CPUID leaf 16H says */

#define PIT_HZ         1193182u
#define PIT_COUNT      (PIT_HZ * MEASURE_MS / 1000)
#define PIT_CHANNEL2   0x42u
#define PIT_COMMAND    0x43u
#define PIT_MODE       0xB0u /* channel 2, low byte then high byte, mode 0: its output rises when the count is over */
#define PIT_STOP       0x30u /* channel 0, mode 0: waits for a count that never comes */
#define PIT_POLLS      4000000u /* reads within MEASURE_MS: no port answers in 10 ns */
#define PORT_B         0x61u
#define PORT_B_GATE2   0x01u
#define PORT_B_SPEAKER 0x02u
#define PORT_B_OUT2    0x20u

static struct arch_interval tsc_interval;
static uint64_t tsc_hz;
uint64_t arch_apic_timer_hz;
static const char *source = "not measured";

/* One count of the PIT, which takes PIT_COUNT of its cycles and up to one more until it begins (Intel 8254 datasheet,
 * "Mode 0"). Where this CPU was not run for a while, as a virtual one, the interval is wide, but not wrong; where no
 * PIT is there, it begins at 0 because the port reads FFH. False: the PIT stands still. */
static bool count_once(struct arch_interval *tsc)
{
    arch_out8(PORT_B, (uint8_t)((arch_in8(PORT_B) & ~PORT_B_SPEAKER) | PORT_B_GATE2));
    arch_out8(PIT_COMMAND, PIT_MODE);
    arch_out8(PIT_CHANNEL2, PIT_COUNT & 0xFF);
    const uint64_t before = arch_ordered_tsc();
    arch_out8(PIT_CHANNEL2, PIT_COUNT >> 8);
    const uint64_t begun = arch_ordered_tsc();
    uint64_t low = begun, now = begun;
    for (uint32_t poll = 0; !(arch_in8(PORT_B) & PORT_B_OUT2); poll++) {
        low = now;
        now = arch_ordered_tsc();
        if (poll == PIT_POLLS)
            return false;
    }
    tsc->low = (low - begun) * PIT_HZ / (PIT_COUNT + 1);
    tsc->high = (arch_ordered_tsc() - before) * PIT_HZ / PIT_COUNT;
    return true;
}

static bool closer_than(uint64_t ppm)
{
    return tsc_interval.high - tsc_interval.low <= tsc_interval.high / 1000000 * ppm;
}

/* Each count bounds the frequency on both sides: several together, until the bounds are close. Bounds that stay far
 * apart are used only where CPUID does not tell the frequency. */
static bool measure_pit(bool told)
{
    tsc_interval = (struct arch_interval){.high = UINT64_MAX};
    for (unsigned i = 0; i < TRIES && !closer_than(5 * ARCH_CLOCK_PPM); i++) {
        struct arch_interval tsc;
        if (!count_once(&tsc))
            return false;
        if (tsc.low > tsc_interval.low)
            tsc_interval.low = tsc.low;
        if (tsc.high < tsc_interval.high)
            tsc_interval.high = tsc.high;
        if (tsc_interval.low > tsc_interval.high)
            return false; /* no constant frequency explains this */
    }
    source = "PIT, rounded within the measurement error";
    return told ? closer_than(WIDEST_PPM) : tsc_interval.low > 0;
}

/* What CPUID says of the TSC: leaf 15H, TSC / core crystal clock = EBX / EAX, ECX: the crystal in Hz; leaf 16H, the
 * processor's base frequency in MHz (SDM vol. 3, "Determining the Processor Base Frequency"). 0: not told. */
struct tsc_leaves {
    uint32_t numerator, denominator, crystal_hz, base_mhz;
};

static struct tsc_leaves ask_cpuid(void)
{
    struct tsc_leaves told = {0};
    uint32_t r[4];

    arch_cpuid(0, 0, r);
    uint32_t last = r[0];
    if (last < 0x15)
        return told;
    arch_cpuid(0x15, 0, r);
    if (!r[0] || !r[1])
        return told;
    told = (struct tsc_leaves){.numerator = r[1], .denominator = r[0], .crystal_hz = r[2]};
    if (last >= 0x16) {
        arch_cpuid(0x16, 0, r);
        told.base_mhz = r[0] & 0xFFFF;
    }
    return told;
}

/* If there is no clock to measure with, leaf 16H gives the MHz of the processor's name, in steps of 100. The TSC runs
 * at a multiple of the crystal: at 912 MHz, say, where the name says 900. Some processors tell the ratio but not the
 * crystal (Skylake, Kaby Lake, Denverton). Then the measurement or leaf 16H shows which crystal it is: the possible
 * ones are far enough apart. */
static bool find_tsc(const struct tsc_leaves *told)
{
    const bool measured =
        (arch_timers_measure && arch_timers_measure(&tsc_interval, &source)) || measure_pit(told->base_mhz);
    if (!measured) {
        const uint64_t hz = told->base_mhz * UINT64_C(1000000), off = hz / 1000 * 15;
        tsc_interval = (struct arch_interval){hz - off, hz + off};
        source = "CPUID leaf 16H: nominal, may be wrong by 1 %";
        tsc_hz = hz;
    } else {
        tsc_hz = arch_roundest(tsc_interval);
    }
    const uint64_t exact = told->numerator ? arch_by_crystal(told->numerator, told->denominator, tsc_interval) : 0;
    if (exact) {
        source = measured ? "CPUID leaf 15H, whose crystal was found by measuring"
                          : "CPUID leaf 15H, whose crystal was found by leaf 16H";
        tsc_hz = exact;
    }
    if (exact || !measured)
        tsc_interval = (struct arch_interval){tsc_hz, tsc_hz};
    return tsc_hz != 0;
}

struct reading {
    uint64_t before, after; /* TSC */
    uint32_t count;
};

/* One reading of the APIC timer, between two of the TSC; the sharpest of several. */
static struct reading apic_reading(void)
{
    struct reading best = {0};

    for (unsigned i = 0; i < TRIES; i++) {
        struct reading now = {.before = arch_ordered_tsc()};
        now.count = arch_apic_timer_count();
        now.after = arch_ordered_tsc();
        if (i == 0 || now.after - now.before < best.after - best.before)
            best = now;
    }
    return best;
}

static bool measure_apic_timer(void)
{
    arch_apic_timer_oneshot(0, UINT32_MAX);
    struct reading from = apic_reading();
    arch_delay_us(MEASURE_MS * 1000);
    struct reading to = apic_reading();
    arch_timer_stop();

    uint64_t ticks = from.count - to.count; /* it counts down */
    if (!ticks)
        return false;
    /* A reading may be one tick old. */
    struct arch_interval interval = {
        .low = (ticks - 1) * tsc_interval.low / (to.after - from.before),
        .high = (ticks + 1) * tsc_interval.high / (to.before - from.after),
    };
    arch_apic_timer_hz = arch_roundest(interval);
    return true;
}

int arch_time_init(void)
{
    /* The firmware's tick: nobody hears it any more, but it costs an emulator, and it ticks at a phase of its own:
     * under -icount that decides when QEMU goes from one CPU to the next. */
    arch_out8(PIT_COMMAND, PIT_STOP);
    if (arch_timers_init)
        arch_timers_init();

    struct tsc_leaves told = ask_cpuid();
    if (told.crystal_hz) {
        tsc_hz = (uint64_t)told.crystal_hz * told.numerator / told.denominator;
        source = "CPUID leaf 15H";
        tsc_interval = (struct arch_interval){tsc_hz, tsc_hz};
    } else if (!find_tsc(&told)) {
        kprintf("time: no clock to measure the TSC with: neither CPUID 15H/16H%s nor PIT\n",
                arch_timers_names ? arch_timers_names : "");
        return -ENODEV;
    }
    if (!measure_apic_timer()) {
        kprintf("time: the local APIC timer does not count\n");
        return -ENODEV;
    }
    return 0;
}

uint64_t arch_tsc_hz(void)
{
    return tsc_hz;
}

const char *arch_time_source(void)
{
    return source;
}

__attribute__((weak)) uint64_t arch_tsc_common(void)
{
    return arch_rdtsc();
}

void arch_delay_us(uint64_t us)
{
    uint64_t start = arch_rdtsc();
    uint64_t ticks = us * tsc_hz / 1000000;

    while (arch_rdtsc() - start < ticks)
        arch_pause();
}

void arch_timer_start(uint32_t period_us)
{
    uint64_t count = arch_apic_timer_hz * period_us / 1000000;
    arch_apic_timer_periodic(ARCH_VECTOR_TIMER, count > UINT32_MAX ? UINT32_MAX : count ? (uint32_t)count : 1);
}
