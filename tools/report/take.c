/* SPDX-License-Identifier: MIT */
/*
 * Takes the processor from the firmware and gives it back: the IDT, the task priority, the local APIC's own interrupts
 * (apic.c) and those of the 8259s. Until then no interrupt but that of LVTPC comes. SDM vol. 3, "Interrupt and
 * Exception Handling"; Intel 8259A datasheet.
 *
 * Also what ds/ asks of arch/, in the firmware's world: memory is mapped one to one.
 */
#include "arch/arch.h"
#include "arch/registers.h"
#include "ds/layout.h"
#include "kernel/lib/errno.h"
#include "tools/report/instructions.h"
#include "tools/report/report.h"

#define PIC1_DATA 0x21u /* 8259A: the mask */
#define PIC2_DATA 0xA1u

#define PRIORITY UINT64_C(0xE) /* of CR8: lets vectors from F0H on in */

#define CPUID_01H_EDX_MSR  (1u << 5)
#define CPUID_01H_EDX_APIC (1u << 9)

#define CR4_CET  (UINT64_C(1) << 23)
#define CR4_FRED (UINT64_C(1) << 32)

#define VECTOR_MC 18u

struct gate { /* of a 64-bit IDT */
    uint16_t low, selector, attributes, middle;
    uint32_t high, reserved;
};
_Static_assert(sizeof(struct gate) == 16, "gate");
#define INTERRUPT_GATE 0x8E00u /* present, ring 0, interrupts off */

extern const uint8_t report_stubs[256][16];
extern struct report_trap report_caught;
int report_take_call(void (*f)(void *), void *argument);

static struct {
    struct report_table idt;
    uint64_t priority, rflags;
    uint8_t pic[2];
} firmware; /* what the firmware had */

static struct gate gates[256];

uint64_t arch_virt_to_phys(const void *virt)
{
    return (uintptr_t)virt;
}

bool arch_readable(const void *virt, size_t size)
{
    (void)virt, (void)size;
    return true; /* only a panic's drain asks */
}

/* First, so that an exception of what follows is ours. */
static void take(void)
{
    const struct report_table mine = {sizeof gates - 1, (uintptr_t)gates};
    firmware.rflags = arch_read_rflags();
    arch_cli();
    report_sidt(&firmware.idt);
    report_lidt(&mine);
    firmware.priority = report_read_cr8();
    report_write_cr8(PRIORITY);
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
    report_write_cr8(firmware.priority);
    report_lidt(&firmware.idt);
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
    struct report_table idt;
    uint64_t base = 0;
    arch_cpuid(1, 0, leaf);
    if (!(leaf[3] & CPUID_01H_EDX_APIC) || !(leaf[3] & CPUID_01H_EDX_MSR))
        return "the processor has no local APIC or no MSRs";
    if (read_cr4() & (CR4_CET | CR4_FRED))
        return "the firmware has shadow stacks (CR4.CET) or FRED on, which this program does not know";
    for (unsigned i = 0; i < 256; i++)
        fill_gate(i, report_read_cs());
    report_sidt(&idt);
    if (idt.limit >= (VECTOR_MC + 1) * sizeof(struct gate) - 1) /* a machine check stays the firmware's */
        gates[VECTOR_MC] = ((const struct gate *)(uintptr_t)idt.base)[VECTOR_MC];
    take();
    const int e = report_take_call(read_base, &base);
    give();
    if (e || !(base & APIC_BASE_EN))
        return e ? "IA32_APIC_BASE cannot be read" : "the firmware has turned the local APIC off";
    report_apic_is_at(base);
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
    int e = report_take_call(report_apic_take, NULL);
    const bool taken = !e;
    if (taken)
        e = report_take_call(f, argument);
    *trap = report_caught;
    if (taken && e)
        report_take_call(all_off, NULL);
    while (report_take_call(report_apic_give, NULL)) {
        *trap = e ? *trap : report_caught;
        e = -EFAULT;
    }
    give();
    return e;
}

/* An exception of the local APIC ends the call in both. */
void report_lend(void)
{
    report_apic_give(NULL);
    give();
}

void report_lend_end(void)
{
    take();
    report_apic_take(NULL);
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
