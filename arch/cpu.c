/* SPDX-License-Identifier: MIT */
/* Control registers of one CPU, and the boot processor's first steps. SDM vol. 3, "Control Registers" and "Paging". */
#include "arch/internal.h"
#include "arch/registers.h"
#include "kernel/lib/string.h"

#define CPUID_01H_EDX_MCE (1u << 7)

static char features[96];

void arch_features_add(const char *word)
{
    size_t used = strlen(features);
    snprintf(features + used, sizeof(features) - used, "%s%s", used ? " " : "", word);
}

const char *arch_features(void)
{
    return features;
}

/* "Limit CPUID Maxval" in the firmware's menu, for systems older than long mode: CPUID ends at leaf 3 then, and 0AH
 * and all others seem not to be there. SDM vol. 4, "IA32_MISC_ENABLE". */
static void lift_cpuid_limit(void)
{
    uint32_t basic[4];
    uint64_t enable;

    arch_cpuid(0, 0, basic);
    if (basic[0] <= 3 && arch_rdmsr_safe(IA32_MISC_ENABLE, &enable) == 0 && enable & MISC_ENABLE_LIMIT_CPUID)
        (void)arch_wrmsr_safe(IA32_MISC_ENABLE, enable & ~MISC_ENABLE_LIMIT_CPUID);
}

/* CR4 is made from nothing but the paging mode, whatever the firmware left on: FSGSBASE and PCE would give ring 3 what
 * it must not have. Of the registers beyond the general ones programs have those that FXSAVE saves: without OSXSAVE the
 * instructions of AVX and later raise #UD. */
void arch_cpu_init(void)
{
    bool first = !features[0];
    uint32_t leaf1[4];

    lift_cpuid_limit();
    arch_cpuid(1, 0, leaf1);
    const bool mce = leaf1[3] & CPUID_01H_EDX_MCE;
    /* NXE and SCE: the loader refuses those without. AMD's FFXSR: with it FXSAVE here would leave out XMM registers. */
    wrmsr(IA32_EFER, (rdmsr(IA32_EFER) & ~EFER_FFXSR) | EFER_NXE | EFER_SCE);
    wrmsr(IA32_PAT, PAT_CAIRN); /* PCD and PWT mean what they always did; nothing is mapped with PA4 yet */
    write_cr0((read_cr0() & ~(CR0_CD | CR0_NW | CR0_TS | CR0_AM | CR0_EM)) | CR0_WP | CR0_NE | CR0_MP);
    write_cr4((read_cr4() & (CR4_PAE | CR4_LA57)) | CR4_OSFXSR | CR4_OSXMMEXCPT | (mce ? CR4_MCE : 0));
    write_dr7(DR7_NONE);

    if (first)
        arch_features_add(mce ? "wp nx mce" : "wp nx");
    if (arch_cpu_open)
        arch_cpu_open(first);
    if (first && read_cr4() & CR4_LA57)
        arch_features_add("la57");
}

void arch_early_init(struct arch_cpu *cpu)
{
    static _Alignas(16) uint8_t tables[ARCH_PAGE_SIZE];
    void *tops[IST_COUNT];

    for (unsigned i = 0; i < IST_COUNT; i++)
        tops[i] = arch_boot_ist[i].bytes + ARCH_STACK_SIZE;
    arch_tables_fill(tables, tops);
    cpu->self = cpu;
    cpu->index = 0;
    cpu->apic_id = arch_apic_id();
    cpu->tables = tables;
    arch_idt_init();
    arch_tables_load(cpu);
    arch_cpu_init();
}

void arch_halt(void)
{
    for (;;)
        __asm__ volatile("cli; hlt" ::: "memory");
}
