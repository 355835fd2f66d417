/* SPDX-License-Identifier: MIT */
/*
 * The local APIC while the report has the processor: its own interrupts are masked, but for those that lead to SMM, and
 * one of the firmware's timer waits. Only what is unmasked is written: a write of vector 0 is an error of the APIC's.
 * SDM vol. 3, "Advanced Programmable Interrupt Controller (APIC)".
 */
#include "arch/apic_registers.h"
#include "arch/arch.h"
#include "arch/registers.h"
#include "tools/report/report.h"

#define SVR_VECTOR 0xFFu /* of APIC_SVR */

#define IA32_TSC_DEADLINE 0x6E0u
#define TIMER_MODE(lvt)   ((lvt) >> 17 & 3)
enum { TIMER_ONE_SHOT, TIMER_PERIODIC, TIMER_DEADLINE };

extern uint64_t report_apic_eoi; /* of take.asm */

static const uint32_t entries[] = {APIC_LVT_CMCI,  APIC_LVT_TIMER, APIC_LVT_THERMAL,
                                   APIC_LVT_LINT0, APIC_LVT_LINT1, APIC_LVT_ERROR};
#define ENTRIES (sizeof entries / sizeof entries[0])

static volatile struct {
    uint32_t reg, value;
} kept[ENTRIES + 2];            /* what the firmware had, in the order in which it was taken */
static volatile unsigned count; /* of them; an exception may come at any access to the APIC */

static bool x2apic;
static uintptr_t apic;

void report_apic_is_at(uint64_t base)
{
    x2apic = base & APIC_BASE_EXTD;
    apic = base & APIC_BASE_ADDRESS;
    report_apic_eoi = x2apic ? 0 : apic + APIC_EOI;
}

static uint32_t apic_read(uint32_t reg)
{
    return x2apic ? (uint32_t)rdmsr(X2APIC_MSR + reg / 16) : *(volatile uint32_t *)(apic + reg);
}

static void apic_write(uint32_t reg, uint32_t value)
{
    if (x2apic)
        wrmsr(X2APIC_MSR + reg / 16, value);
    else
        *(volatile uint32_t *)(apic + reg) = value;
}

uint32_t arch_lvtpc_read(void)
{
    return apic_read(APIC_LVT_PC);
}

void arch_lvtpc_write(uint32_t value)
{
    apic_write(APIC_LVT_PC, value);
}

/* Entries that the APIC has: CMCI came last. */
static bool is_there(uint32_t entry)
{
    const uint32_t last = VERSION_MAX_LVT(apic_read(APIC_VERSION));
    return (entry != APIC_LVT_CMCI || last >= LVT_NUMBER_CMCI) &&
           (entry != APIC_LVT_THERMAL || last >= LVT_NUMBER_THERMAL);
}

static void keep(uint32_t reg, uint32_t value)
{
    kept[count].reg = reg;
    kept[count].value = value;
    count++;
}

/* The spurious vector becomes ours: its handler must not send an EOI, and the firmware's may be anything. */
void report_apic_take(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < ENTRIES; i++) {
        const uint32_t lvt = is_there(entries[i]) ? apic_read(entries[i]) : LVT_MASKED;
        if (lvt & LVT_MASKED || (lvt & LVT_DELIVERY) == LVT_SMI)
            continue;
        keep(entries[i], lvt);
        apic_write(entries[i], lvt | LVT_MASKED);
    }
    keep(APIC_LVT_PC, apic_read(APIC_LVT_PC));
    const uint32_t spurious = apic_read(APIC_SVR);
    keep(APIC_SVR, spurious);
    apic_write(APIC_SVR, (spurious & ~SVR_VECTOR) | ARCH_VECTOR_SPURIOUS | SVR_ENABLE);
}

/* A timer that has run out meanwhile and would never come any more rings now. */
static void ring_timer(void)
{
    const uint32_t lvt = apic_read(APIC_LVT_TIMER);
    if (lvt & LVT_MASKED)
        return;
    if (TIMER_MODE(lvt) == TIMER_DEADLINE && rdmsr(IA32_TSC_DEADLINE) == 0)
        wrmsr(IA32_TSC_DEADLINE, arch_rdtsc());
    if (TIMER_MODE(lvt) == TIMER_ONE_SHOT && apic_read(APIC_TIMER_INITIAL) && !apic_read(APIC_TIMER_CURRENT))
        apic_write(APIC_TIMER_INITIAL, 1);
}

/* What an exception has kept from being given back is left out where this is called again. */
void report_apic_give(void *unused)
{
    (void)unused;
    const bool all = count;
    while (count) {
        const unsigned i = --count;
        if (apic_read(kept[i].reg) != kept[i].value)
            apic_write(kept[i].reg, kept[i].value);
    }
    if (all)
        ring_timer();
}
