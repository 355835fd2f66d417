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
#include "arch/clock/hpet.h"
#include "arch/clock/tscsync.h"
#include "arch/internal.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"

#define PM_TIMER_HZ   3579545u /* ACPI, "Power Management Timer" */
#define PIT_HZ        1193182u
#define MEASURE_MS    40u /* under the 54.9 ms in which the PIT's 16 bits wrap */
#define MEASURE_TRIES 8u
#define EDGE_TRIES    8u
#define STUCK_POLLS   1000000u /* reads without a change after which a clock is dead; 0.3 s and more on hardware */
#define MEASURE_POLLS 4000000u /* reads within MEASURE_MS: a device answers none in 10 ns */

#define PIT_CHANNEL2   0x42u
#define PIT_COMMAND    0x43u
#define PIT_MODE       0xB4u /* channel 2, low byte then high byte, mode 2, binary */
#define PIT_LATCH      0x80u /* latch channel 2 */
#define PIT_STOP       0x30u /* channel 0, mode 0: waits for a count that never comes */
#define PORT_B         0x61u
#define PORT_B_GATE2   0x01u
#define PORT_B_SPEAKER 0x02u

#define FS_PER_SECOND UINT64_C(1000000000000000)

static struct arch_interval tsc_interval;
static uint64_t tsc_hz;
uint64_t arch_apic_timer_hz;
static const char *source = "not measured";

/* A clock of known frequency that counts up, modulo mask + 1. */
struct reference {
    const char *name;
    uint64_t hz;
    uint32_t mask;
    uint32_t (*read)(void);
};

/* A moment: count `value` of the reference began between these two TSC values. */
struct edge {
    uint64_t before, after;
    uint32_t value;
};

static volatile uint32_t *hpet; /* NULL: there is none */

static uint32_t read_pm_timer(void)
{
    return arch_in32(arch_acpi.pm_timer);
}

static uint32_t read_hpet(void)
{
    return hpet[HPET_COUNTER / 4];
}

static uint32_t read_pit(void)
{
    arch_out8(PIT_COMMAND, PIT_LATCH);
    uint32_t low = arch_in8(PIT_CHANNEL2);
    return ~(low | (uint32_t)arch_in8(PIT_CHANNEL2) << 8); /* it counts down */
}

static bool start_pm_timer(struct reference *reference)
{
    if (!arch_acpi.pm_timer)
        return false;
    *reference = (struct reference){.name = "ACPI PM timer, rounded within the measurement error",
                                    .hz = PM_TIMER_HZ,
                                    .mask = arch_acpi.pm_timer_bits == 32 ? UINT32_MAX : 0xFFFFFF,
                                    .read = read_pm_timer};
    return true;
}

static bool start_hpet(struct reference *reference)
{
    if (!hpet)
        return false;
    uint32_t period = hpet[HPET_PERIOD / 4];
    hpet[HPET_CONFIGURATION / 4] |= HPET_ENABLE;
    *reference = (struct reference){.name = "HPET, rounded within the measurement error",
                                    .hz = FS_PER_SECOND / period,
                                    .mask = UINT32_MAX,
                                    .read = read_hpet};
    return true;
}

static bool start_pit(struct reference *reference)
{
    arch_out8(PORT_B, (uint8_t)((arch_in8(PORT_B) & ~PORT_B_SPEAKER) | PORT_B_GATE2));
    arch_out8(PIT_COMMAND, PIT_MODE);
    arch_out8(PIT_CHANNEL2, 0); /* 65536 */
    arch_out8(PIT_CHANNEL2, 0);
    *reference = (struct reference){
        .name = "PIT, rounded within the measurement error", .hz = PIT_HZ, .mask = 0xFFFF, .read = read_pit};
    return true;
}

/* Waits for the reference's next edge: it lies between the begin of the last reading that gave the old value and the
 * end of the first that gave the new one. False where the reference stands still. */
static bool next_edge(const struct reference *reference, struct edge *edge)
{
    uint64_t begin = arch_ordered_tsc();
    uint32_t last = reference->read() & reference->mask;

    for (uint32_t poll = 0; poll < STUCK_POLLS; poll++) {
        uint64_t next_begin = arch_ordered_tsc();
        uint32_t now = reference->read() & reference->mask;
        if (now != last) {
            *edge = (struct edge){.before = begin, .after = arch_ordered_tsc(), .value = now};
            return true;
        }
        begin = next_begin;
        last = now;
    }
    return false;
}

/* The sharpest of several edges: an emulator's thread may lose its CPU in the midst of one. */
static bool sharp_edge(const struct reference *reference, struct edge *best)
{
    struct edge edge;

    for (unsigned i = 0; i < EDGE_TRIES; i++) {
        if (!next_edge(reference, &edge))
            return false;
        if (i == 0 || edge.after - edge.before < best->after - best->before)
            *best = edge;
    }
    return true;
}

static bool measure_once(const struct reference *reference, struct arch_interval *interval)
{
    struct edge from, to;

    if (!sharp_edge(reference, &from))
        return false;
    uint64_t wait = reference->hz * MEASURE_MS / 1000;
    if (wait > reference->mask / 4 * 3)
        return false; /* between two reads it could wrap */
    for (uint32_t poll = 0; ((reference->read() - from.value) & reference->mask) < wait; poll++)
        if (poll == MEASURE_POLLS)
            return false; /* it has stopped, or jumps */
    if (!sharp_edge(reference, &to))
        return false;
    uint64_t ticks = (to.value - from.value) & reference->mask;
    if (!ticks)
        return false;
    interval->low = (to.before - from.after) * reference->hz / ticks;
    interval->high = (to.after - from.before) * reference->hz / ticks;
    return true;
}

/* Until two measurements in a row agree: a virtual machine that is not run for a while misses wraps of the PIT. */
static bool measure_tsc(const struct reference *reference)
{
    struct arch_interval last;

    if (!measure_once(reference, &last))
        return false;
    for (unsigned i = 0; i < MEASURE_TRIES; i++) {
        if (!measure_once(reference, &tsc_interval))
            return false;
        uint64_t slack = last.low / 1000000 * ARCH_CLOCK_PPM;
        if (tsc_interval.low <= last.high + slack && last.low <= tsc_interval.high + slack) {
            tsc_hz = arch_roundest(tsc_interval);
            source = reference->name;
            return true;
        }
        last = tsc_interval;
    }
    return false;
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

/* Without a clock to measure with. Leaf 16H has the MHz of the processor's name, in steps of 100, and the TSC those of
 * a multiple of the crystal: 912 where the name says 900. No two crystals are that close. */
static void take_base_frequency(const struct tsc_leaves *told)
{
    const uint64_t hz = told->base_mhz * UINT64_C(1000000), off = hz / 1000 * 15;
    const uint64_t exact =
        arch_by_crystal(told->numerator, told->denominator, (struct arch_interval){hz - off, hz + off});
    tsc_hz = exact ? exact : hz;
    source =
        exact ? "CPUID leaf 15H, whose crystal was found by leaf 16H" : "CPUID leaf 16H: nominal, may be wrong by 1 %";
    tsc_interval = (struct arch_interval){tsc_hz, tsc_hz};
}

/* Measures, and where CPUID knows the ratio but not the crystal (Skylake, Kaby Lake, Denverton) takes the crystal that
 * the measurement means. */
static bool find_tsc(const struct tsc_leaves *told)
{
    static bool (*const starts[])(struct reference *) = {start_pm_timer, start_hpet, start_pit};
    struct reference reference;
    bool known = false;

    for (size_t i = 0; !known && i < sizeof(starts) / sizeof(starts[0]); i++)
        known = starts[i](&reference) && measure_tsc(&reference);
    if (!known && told->base_mhz) {
        take_base_frequency(told);
        return true;
    }
    uint64_t exact = known && told->numerator ? arch_by_crystal(told->numerator, told->denominator, tsc_interval) : 0;
    if (exact) {
        tsc_hz = exact;
        source = "CPUID leaf 15H, whose crystal was found by measuring";
        tsc_interval = (struct arch_interval){tsc_hz, tsc_hz};
    }
    return known;
}

/* One reading of the APIC timer, between two of the TSC; the sharpest of several. */
static struct edge apic_reading(void)
{
    struct edge best = {0};

    for (unsigned i = 0; i < EDGE_TRIES; i++) {
        struct edge edge = {.before = arch_ordered_tsc()};
        edge.value = arch_apic_timer_count();
        edge.after = arch_ordered_tsc();
        if (i == 0 || edge.after - edge.before < best.after - best.before)
            best = edge;
    }
    return best;
}

static bool measure_apic_timer(void)
{
    arch_apic_timer_oneshot(0, UINT32_MAX);
    struct edge from = apic_reading();
    arch_delay_us(MEASURE_MS * 1000);
    struct edge to = apic_reading();
    arch_timer_stop();

    uint64_t ticks = from.value - to.value; /* it counts down */
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

/* The firmware's own ticks. That of the PIT nobody hears any more, but it costs an emulator, and it ticks at a phase of
 * its own: under -icount that decides when QEMU goes from one CPU to the next. Those of an HPET may come past the I/O
 * APICs, which are masked. */
static void stop_firmware_ticks(void)
{
    arch_out8(PIT_COMMAND, PIT_STOP);
    if (arch_acpi.hpet)
        hpet = arch_map_device(arch_acpi.hpet, HPET_SIZE);
    if (arch_acpi.hpet && (!hpet || arch_hpet_silence(hpet) != 0)) {
        kprintf("time: what ACPI calls an HPET, at 0x%lx, is none: not used\n", arch_acpi.hpet);
        hpet = NULL;
    }
}

int arch_time_init(void)
{
    stop_firmware_ticks();

    struct tsc_leaves told = ask_cpuid();

    if (told.crystal_hz) {
        tsc_hz = (uint64_t)told.crystal_hz * told.numerator / told.denominator;
        source = "CPUID leaf 15H";
        tsc_interval = (struct arch_interval){tsc_hz, tsc_hz};
    } else if (!find_tsc(&told)) {
        kprintf("time: no clock to measure the TSC with: neither CPUID 15H/16H, PM timer, HPET nor PIT\n");
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
