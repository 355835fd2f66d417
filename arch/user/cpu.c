/* SPDX-License-Identifier: MIT */
/* What ring 3 needs of each CPU. */
#include "arch/arch.h"
#include "arch/fpu.h"
#include "arch/internal.h"
#include "arch/registers.h"
#include "arch/user/registers.h"
#include "arch/user/user.h"

#define CPUID_7_EBX_SMEP (1u << 7)
#define CPUID_7_EBX_SMAP (1u << 20)
#define CPUID_7_ECX_UMIP (1u << 2)

_Static_assert(ARCH_SYSCALL_RFLAGS_OFF ==
                   (ARCH_RFLAGS_TF | ARCH_RFLAGS_IF | RFLAGS_DF | RFLAGS_IOPL | RFLAGS_NT | RFLAGS_RF | RFLAGS_AC),
               "ARCH_SYSCALL_RFLAGS_OFF");
/* SYSCALL takes the kernel's CS from STAR[47:32], and SS behind it; STAR[63:48] is SYSRET's, which nobody executes. */
#define STAR ((uint64_t)ARCH_CODE_SELECTOR << 32)
_Static_assert(ARCH_DATA_SELECTOR == ARCH_CODE_SELECTOR + 8, "SYSCALL's SS");

uint8_t arch_smap;

/* SYSCALL is open, SYSENTER is not. */
void arch_cpu_open(bool first)
{
    uint32_t basic[4], seven[4] = {0};

    wrmsr(IA32_STAR, STAR);
    wrmsr(IA32_LSTAR, (uint64_t)arch_syscall_entry);
    wrmsr(IA32_FMASK, ARCH_SYSCALL_RFLAGS_OFF);
    wrmsr(IA32_SYSENTER_CS, 0);
    struct arch_fpu clean; /* nothing of the firmware's */
    arch_fpu_clean(&clean);
    arch_fpu_load(&clean);

    arch_cpuid(0, 0, basic);
    if (basic[0] >= 7)
        arch_cpuid(7, 0, seven);
    const struct {
        const char *word;
        bool there;
        uint64_t cr4;
    } parts[] = {
        {"smep", (seven[1] & CPUID_7_EBX_SMEP) != 0, CR4_SMEP},
        {"smap", (seven[1] & CPUID_7_EBX_SMAP) != 0, CR4_SMAP},
        {"umip", (seven[2] & CPUID_7_ECX_UMIP) != 0, CR4_UMIP},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!parts[i].there)
            continue;
        write_cr4(read_cr4() | parts[i].cr4);
        if (first)
            arch_features_add(parts[i].word);
    }
    arch_smap = (read_cr4() & CR4_SMAP) != 0;
}

bool arch_user_pages_open(void)
{
    return arch_smap && arch_read_rflags() & RFLAGS_AC;
}

void arch_thread_in(void *stack_top, uint64_t space)
{
    struct arch_cpu *cpu = arch_this_cpu();
    struct arch_tables *tables = cpu->tables;

    tables->tss.rsp[0] = (uint64_t)stack_top;
    cpu->kernel_stack = (uint64_t)stack_top;
    arch_space_use(space);
}
