/* SPDX-License-Identifier: MIT */
/* Control registers of one CPU, and the boot processor's first steps. SDM vol. 3, "Control Registers" and "Paging". */
#include "arch/fpu.h"
#include "arch/internal.h"
#include "arch/registers.h"
#include "kernel/lib/string.h"

#define CPUID_7_EBX_SMEP (1u << 7)
#define CPUID_7_EBX_SMAP (1u << 20)
#define CPUID_7_ECX_UMIP (1u << 2)
#define CPUID_1_EDX_MCE  (1u << 7)
#define CPUID_1_EDX_PAT  (1u << 16)

_Static_assert(ARCH_SYSCALL_RFLAGS_OFF ==
                   (ARCH_RFLAGS_TF | ARCH_RFLAGS_IF | RFLAGS_DF | RFLAGS_IOPL | RFLAGS_NT | RFLAGS_RF | RFLAGS_AC),
               "ARCH_SYSCALL_RFLAGS_OFF");
/* SYSCALL takes the kernel's CS from STAR[47:32], and SS behind it; STAR[63:48] is SYSRET's, which nobody executes. */
#define STAR ((uint64_t)ARCH_CODE_SELECTOR << 32)
_Static_assert(ARCH_DATA_SELECTOR == ARCH_CODE_SELECTOR + 8, "SYSCALL's SS");

static char features[96];
uint8_t arch_smap;

void arch_features_add(const char *word)
{
    size_t used = strlen(features);
    snprintf(features + used, sizeof(features) - used, "%s%s", used ? " " : "", word);
}

const char *arch_features(void)
{
    return features;
}

/* Ring 3's doors: SYSCALL is open, SYSENTER is not, and no breakpoint of the firmware's is left. */
static void init_ring3(void)
{
    wrmsr(IA32_STAR, STAR);
    wrmsr(IA32_LSTAR, (uint64_t)arch_syscall_entry);
    wrmsr(IA32_FMASK, ARCH_SYSCALL_RFLAGS_OFF);
    wrmsr(IA32_SYSENTER_CS, 0);
    write_dr7(DR7_NONE);
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
 * it must not have. Of the registers beyond the general ones programs have those that FXSAVE saves (arch/fpu.h):
 * without OSXSAVE the instructions of AVX and later raise #UD. */
void arch_cpu_init(void)
{
    uint32_t basic[4], one[4], seven[4] = {0};
    bool first = !features[0];

    lift_cpuid_limit();
    arch_cpuid(0, 0, basic);
    arch_cpuid(1, 0, one);
    if (basic[0] >= 7)
        arch_cpuid(7, 0, seven);

    const struct {
        const char *word;
        bool there;
        uint64_t cr4;
    } parts[] = {
        {"mce", (one[3] & CPUID_1_EDX_MCE) != 0, CR4_MCE}, /* else a machine check is a silent shutdown */
        {"smep", (seven[1] & CPUID_7_EBX_SMEP) != 0, CR4_SMEP},
        {"smap", (seven[1] & CPUID_7_EBX_SMAP) != 0, CR4_SMAP},
        {"umip", (seven[2] & CPUID_7_ECX_UMIP) != 0, CR4_UMIP},
    };

    /* NXE and SCE: the loader refuses those without. AMD's FFXSR: with it FXSAVE here would leave out XMM registers. */
    wrmsr(IA32_EFER, (rdmsr(IA32_EFER) & ~EFER_FFXSR) | EFER_NXE | EFER_SCE);
    if (one[3] & CPUID_1_EDX_PAT)
        wrmsr(IA32_PAT, PAT_CAIRN); /* PCD and PWT mean what they always did; nothing is mapped with PA4 yet */
    write_cr0((read_cr0() & ~(CR0_CD | CR0_NW | CR0_TS | CR0_AM | CR0_EM)) | CR0_WP | CR0_NE | CR0_MP);
    write_cr4((read_cr4() & (CR4_PAE | CR4_LA57)) | CR4_OSFXSR | CR4_OSXMMEXCPT);
    struct arch_fpu clean; /* nothing of the firmware's */
    arch_fpu_clean(&clean);
    arch_fpu_load(&clean);
    init_ring3();

    if (first)
        arch_features_add("wp nx");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!parts[i].there)
            continue;
        write_cr4(read_cr4() | parts[i].cr4);
        if (first)
            arch_features_add(parts[i].word);
    }
    arch_smap = (read_cr4() & CR4_SMAP) != 0;
    if (first && read_cr4() & CR4_LA57)
        arch_features_add("la57");
}

bool arch_user_pages_open(void)
{
    return arch_smap && arch_read_rflags() & RFLAGS_AC;
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
