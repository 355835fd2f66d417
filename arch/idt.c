/* SPDX-License-Identifier: MIT */
/* The IDT, and the C code between the stubs (arch/trap.asm, or with ring 3 arch/user/trap.asm) and the kernel's
 * handlers. SDM vol. 3, "Interrupt and Exception Handling in 64-bit Mode". */
#include "arch/internal.h"
#include "arch/registers.h"
#include "arch/upcalls.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"

enum { FIRST_IRQ = 0x20 };

struct gate {
    uint16_t offset_low, selector;
    uint8_t ist, type; /* type: P, DPL, gate type */
    uint16_t offset_mid;
    uint32_t offset_high, reserved;
};
_Static_assert(sizeof(struct gate) == 16, "gate");
#define GATE_INTERRUPT 0x8Eu /* present, DPL 0, 64-bit interrupt gate: IF is cleared */

static struct gate idt[256] __attribute__((aligned(16)));
static arch_irq_handler handlers[256];

static bool not_mine(struct arch_trap_frame *frame)
{
    (void)frame;
    return false;
}

arch_debug_handler arch_debug_function = not_mine;

static uint8_t ist_of(unsigned vector)
{
    switch (vector) {
    case ARCH_VECTOR_DB:
        return IST_DB;
    case ARCH_VECTOR_NMI:
        return IST_NMI;
    case ARCH_VECTOR_DF:
        return IST_DF;
    case ARCH_VECTOR_MC:
        return IST_MC;
    default:
        return 0;
    }
}

void arch_idt_init(void)
{
    for (unsigned vector = 0; vector < 256; vector++) {
        uint64_t stub = (uint64_t)arch_stubs[vector];
        idt[vector] = (struct gate){
            .offset_low = (uint16_t)stub,
            .selector = ARCH_CODE_SELECTOR,
            .ist = ist_of(vector),
            .type = GATE_INTERRUPT,
            .offset_mid = (uint16_t)(stub >> 16),
            .offset_high = (uint32_t)(stub >> 32),
        };
    }
}

void arch_idt_load(void)
{
    struct arch_table_pointer pointer = {.limit = sizeof(idt) - 1, .base = (uint64_t)idt};
    __asm__ volatile("lidt %0" ::"m"(pointer));
}

void arch_irq_set(uint8_t vector, arch_irq_handler handler)
{
    KASSERT(vector >= FIRST_IRQ && vector < ARCH_VECTOR_SPURIOUS);
    handlers[vector] = handler;
}

void arch_debug_set(arch_debug_handler handler)
{
    arch_debug_function = handler ? handler : not_mine;
}

/* The kernel gives out no vector without a handler, but the firmware may have left an interrupt requested (IRR), which
 * nothing but its delivery clears. What did not come from the local APIC is an INT instruction: a bug. */
static void stray(struct arch_trap_frame *frame)
{
    if (!arch_apic_in_service((unsigned)frame->vector))
        kernel_fault(frame);
    arch_apic_eoi();
    kprintf("apic: CPU %u: interrupt %lu was left by the firmware: ignored\n", arch_cpu_index(), frame->vector);
}

void arch_trap(struct arch_trap_frame *frame)
{
    unsigned vector = (unsigned)frame->vector;

    if (vector >= FIRST_IRQ) {
        if (vector == ARCH_VECTOR_SPURIOUS)
            return; /* SDM vol. 3, "Spurious Interrupt": no EOI */
        if (vector == ARCH_VECTOR_WAKE) {
            arch_apic_eoi();
            return;
        }
        arch_irq_handler handler = handlers[vector];
        if (!handler) {
            stray(frame);
            return;
        }
        kernel_irq_enter(frame);
        handler(frame);
        arch_apic_eoi();
        kernel_irq_exit(frame, handler); /* may come back much later, on another CPU */
        return;
    }
    if (vector == ARCH_VECTOR_NMI) {
        kernel_nmi(frame);
        return;
    }
    if (vector == ARCH_VECTOR_GP || vector == ARCH_VECTOR_PF) {
        for (const uint64_t(*fixup)[2] = arch_fixups; fixup < arch_fixups_end; fixup++)
            if ((*fixup)[0] == frame->rip)
                arch_fixup_resume(frame, (*fixup)[1]);
    }
    kernel_fault(frame);
}

void __stack_chk_fail(void)
{
    kpanic("stack smashed in the function that returns to %p", __builtin_return_address(0));
}
