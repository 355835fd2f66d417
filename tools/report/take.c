/* SPDX-License-Identifier: MIT */
/*
 * Takes the processor from the firmware and gives it back: the IDT, the task priority, the local APIC's own interrupts
 * and those of the 8259s. Until then no interrupt but that of LVTPC comes; one of the firmware's timer waits. SDM vol.
 * 3, "Interrupt and Exception Handling", "Advanced Programmable Interrupt Controller (APIC)"; Intel 8259A datasheet.
 *
 * Also what ds/ asks of arch/, in the firmware's world: memory is mapped one to one.
 */
#include "arch/apic_registers.h"
#include "arch/arch.h"
#include "arch/registers.h"
#include "ds/layout.h"
#include "kernel/lib/errno.h"
#include "tools/report/report.h"

#define PIC1_DATA 0x21u /* 8259A: the mask */
#define PIC2_DATA 0xA1u

#define PRIORITY UINT64_C(0xE) /* of CR8: lets vectors from F0H on in */

#define CPUID_01H_EDX_MSR  (1u << 5)
#define CPUID_01H_EDX_APIC (1u << 9)

#define CR4_CET  (UINT64_C(1) << 23)
#define CR4_FRED (UINT64_C(1) << 32)

#define SVR_VECTOR 0xFFu /* of APIC_SVR */

#define VECTOR_MC         18u
#define IA32_TSC_DEADLINE 0x6E0u
#define TIMER_MODE(lvt)   ((lvt) >> 17 & 3)
enum { TIMER_ONE_SHOT, TIMER_PERIODIC, TIMER_DEADLINE };

struct gate { /* of a 64-bit IDT */
    uint16_t low, selector, attributes, middle;
    uint32_t high, reserved;
};
_Static_assert(sizeof(struct gate) == 16, "gate");
#define INTERRUPT_GATE 0x8E00u /* present, ring 0, interrupts off */

struct table {
    uint16_t limit;
    uint64_t base;
} __attribute__((packed));

extern const uint8_t report_stubs[256][16];
extern uint64_t report_apic_eoi;
extern struct report_trap report_caught;
int report_take_call(void (*f)(void *), void *argument);

static const uint32_t entries[] = {APIC_LVT_CMCI,  APIC_LVT_TIMER, APIC_LVT_THERMAL,
                                   APIC_LVT_LINT0, APIC_LVT_LINT1, APIC_LVT_ERROR};
#define ENTRIES (sizeof entries / sizeof entries[0])

static struct {
    struct table idt;
    uint64_t priority, rflags;
    volatile struct {
        uint32_t reg, value;
    } apic[ENTRIES + 2];     /* in the order in which they were taken */
    volatile unsigned count; /* of them; an exception may come at any access to the APIC */
    uint8_t pic[2];
} firmware; /* what the firmware had */

static struct gate gates[256];
static bool x2apic;
static uintptr_t apic;

/* ---- the local APIC ---------------------------------------------------------------------------------------------- */

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

uint64_t arch_virt_to_phys(const void *virt)
{
    return (uintptr_t)virt;
}

bool arch_readable(const void *virt, size_t size)
{
    (void)virt, (void)size;
    return true; /* only a panic's drain asks */
}

/* Entries that the APIC has: CMCI came last. What leads to SMM stays as it is. */
static bool is_there(unsigned i)
{
    const uint32_t last = VERSION_MAX_LVT(apic_read(APIC_VERSION));
    return (entries[i] != APIC_LVT_CMCI || last >= LVT_NUMBER_CMCI) &&
           (entries[i] != APIC_LVT_THERMAL || last >= LVT_NUMBER_THERMAL);
}

/* Its value, which give_apic writes back. */
static uint32_t apic_keep(uint32_t reg)
{
    const uint32_t value = apic_read(reg);
    firmware.apic[firmware.count].reg = reg;
    firmware.apic[firmware.count].value = value;
    firmware.count++;
    return value;
}

/* The spurious vector becomes ours: its handler must not send an EOI, and the firmware's may be anything. */
static void take_apic(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < ENTRIES; i++)
        if (is_there(i) && (apic_read(entries[i]) & LVT_DELIVERY) != LVT_SMI)
            apic_write(entries[i], apic_keep(entries[i]) | LVT_MASKED);
    apic_keep(APIC_LVT_PC);
    apic_write(APIC_SVR, (apic_keep(APIC_SVR) & ~SVR_VECTOR) | ARCH_VECTOR_SPURIOUS | SVR_ENABLE);
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
static void give_apic(void *unused)
{
    (void)unused;
    const bool all = firmware.count;
    while (firmware.count) {
        const unsigned i = --firmware.count;
        apic_write(firmware.apic[i].reg, firmware.apic[i].value);
    }
    if (all)
        ring_timer();
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* First, so that an exception of what follows is ours. */
static void take(void)
{
    const struct table mine = {sizeof gates - 1, (uintptr_t)gates};
    firmware.rflags = arch_read_rflags();
    arch_cli();
    __asm__ volatile("sidt %0" : "=m"(firmware.idt));
    __asm__ volatile("lidt %0" ::"m"(mine));
    __asm__ volatile("mov %%cr8, %0" : "=r"(firmware.priority));
    __asm__ volatile("mov %0, %%cr8" ::"r"(PRIORITY));
    firmware.pic[0] = arch_in8(PIC1_DATA);
    firmware.pic[1] = arch_in8(PIC2_DATA);
    arch_out8(PIC1_DATA, 0xFF);
    arch_out8(PIC2_DATA, 0xFF);
}

static void give(void)
{
    arch_cli();
    arch_out8(PIC2_DATA, firmware.pic[1]);
    arch_out8(PIC1_DATA, firmware.pic[0]);
    __asm__ volatile("mov %0, %%cr8" ::"r"(firmware.priority));
    __asm__ volatile("lidt %0" ::"m"(firmware.idt));
    arch_irq_restore(firmware.rflags & ARCH_RFLAGS_IF);
}

static void fill_gate(unsigned vector, uint16_t selector)
{
    const uint64_t at = (uintptr_t)report_stubs[vector];
    gates[vector] =
        (struct gate){(uint16_t)at, selector, INTERRUPT_GATE, (uint16_t)(at >> 16), (uint32_t)(at >> 32), 0};
}

static void read_base(void *base)
{
    *(uint64_t *)base = rdmsr(IA32_APIC_BASE);
}

const char *report_take_check(void)
{
    uint32_t leaf[4];
    uint16_t selector;
    struct table idt;
    uint64_t base = 0;
    arch_cpuid(1, 0, leaf);
    if (!(leaf[3] & CPUID_01H_EDX_APIC) || !(leaf[3] & CPUID_01H_EDX_MSR))
        return "the processor has no local APIC or no MSRs";
    if (read_cr4() & (CR4_CET | CR4_FRED))
        return "the firmware has shadow stacks (CR4.CET) or FRED on, which this program does not know";
    __asm__ volatile("mov %%cs, %0" : "=r"(selector));
    for (unsigned i = 0; i < 256; i++)
        fill_gate(i, selector);
    __asm__ volatile("sidt %0" : "=m"(idt));
    if (idt.limit >= (VECTOR_MC + 1) * sizeof(struct gate) - 1) /* a machine check stays the firmware's */
        gates[VECTOR_MC] = ((const struct gate *)(uintptr_t)idt.base)[VECTOR_MC];
    take();
    const int e = report_take_call(read_base, &base);
    give();
    if (e || !(base & APIC_BASE_EN))
        return e ? "IA32_APIC_BASE cannot be read" : "the firmware has turned the local APIC off";
    x2apic = base & APIC_BASE_EXTD;
    apic = base & APIC_BASE_ADDRESS;
    report_apic_eoi = x2apic ? 0 : apic + APIC_EOI;
    return NULL;
}

/* What an exception may have left on would go on in the firmware's code. What the processor does not have is refused.
 */
static void all_off(void *unused)
{
    (void)unused;
    arch_wrmsr_safe(IA32_PERF_GLOBAL_CTRL, 0);
    arch_wrmsr_safe(IA32_PEBS_ENABLE, 0);
    arch_wrmsr_safe(IA32_DEBUGCTL, 0);
}

int report_call(void (*f)(void *), void *argument, struct report_trap *trap)
{
    take();
    int e = report_take_call(take_apic, NULL);
    const bool taken = !e;
    if (taken)
        e = report_take_call(f, argument);
    *trap = report_caught;
    if (taken && e)
        report_take_call(all_off, NULL);
    while (report_take_call(give_apic, NULL)) {
        *trap = e ? *trap : report_caught;
        e = -EFAULT;
    }
    give();
    return e;
}

/* An exception of the local APIC ends the call in both. */
void report_lend(void)
{
    give_apic(NULL);
    give();
}

void report_lend_end(void)
{
    take();
    take_apic(NULL);
}

extern const uint8_t ImageBase[]; /* GNU-EFI's: where the firmware has put this program */

void report_say_trap(const char *during, const struct report_trap *t)
{
    if (t->vector == ARCH_VECTOR_GP)
        report_say("stopped=%s: #GP at 0x%lx of this program, ECX 0x%lx", during,
                   (unsigned long)(t->rip - (uintptr_t)ImageBase), (unsigned long)t->rcx);
    else
        report_say("stopped=%s: exception %lu at 0x%lx of this program, error code 0x%lx, CR2 0x%lx", during,
                   (unsigned long)t->vector, (unsigned long)(t->rip - (uintptr_t)ImageBase), (unsigned long)t->error,
                   (unsigned long)t->address);
}
