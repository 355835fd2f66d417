/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake/processor.h"

#include <string.h>

#include "arch/device.h"
#include "arch/register_access.h"
#include "kernel/cpu.h"
#include "kernel/this_thread.h"
#include "tests/unit/support/cmocka.h"

#define WEAK __attribute__((weak))

struct processor processor = {.step = 1};

WEAK uint64_t arch_rdtsc(void)
{
    return processor.tsc += processor.step;
}

WEAK uint64_t arch_ordered_tsc(void)
{
    return arch_rdtsc();
}

WEAK uint64_t arch_tsc_common(void)
{
    return arch_rdtsc();
}

WEAK void arch_pause(void)
{
    processor.tsc += processor.step;
}

WEAK uint64_t arch_read_rflags(void)
{
    return ARCH_RFLAGS_FIXED | (processor.irq_on ? ARCH_RFLAGS_IF : 0);
}

WEAK void arch_cli(void)
{
    processor.irq_on = false;
}

WEAK bool arch_irq_save(void)
{
    bool on = processor.irq_on;
    processor.irq_on = false;
    return on;
}

WEAK void arch_irq_restore(bool on)
{
    processor.irq_on |= on;
}

WEAK struct kcpu *kcpu_this(void)
{
    return processor.cpu;
}

WEAK struct arch_cpu *arch_this_cpu(void)
{
    return &kcpu_this()->arch;
}

WEAK uint32_t arch_cpu_index(void)
{
    return kcpu_this()->arch.index;
}

WEAK struct kthread *kthread_from_stack(void)
{
    return kcpu_this()->current;
}

WEAK uint32_t arch_mmio_read(const volatile uint8_t *at, unsigned width)
{
    uint32_t value = 0;
    memcpy(&value, (const void *)at, width);
    return value;
}

WEAK void arch_mmio_write(volatile uint8_t *at, unsigned width, uint32_t value)
{
    memcpy((void *)at, &value, width);
}

/* ---- what a test that needs it defines --------------------------------------------------------------------------- */

void processor_has_none(const char *name);
void processor_has_none(const char *name)
{
    fail_msg("%s: not of this test's processor", name);
}

#define NONE(name)                                                                                                     \
    ".weak " #name "\n" #name ": leaq 1f(%rip), %rdi\n\tjmp processor_has_none\n1: .asciz \"" #name "\"\n"
__asm__(".text\n" NONE(arch_cpuid) NONE(arch_in8) NONE(arch_out8) NONE(arch_in32) NONE(arch_out32) NONE(arch_outs8)
            NONE(arch_triple_fault) NONE(arch_phys_to_virt) NONE(arch_virt_to_phys) NONE(read_cr0) NONE(write_cr0)
                NONE(read_cr2) NONE(read_cr3) NONE(write_cr3) NONE(read_cr4) NONE(write_cr4) NONE(write_dr7) NONE(rdmsr)
                    NONE(wrmsr));
