/* SPDX-License-Identifier: MIT */
#include "arch/x2apic/x2apic.h"

#include "arch/apic_registers.h"
#include "arch/internal.h"
#include "arch/registers.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"

static enum arch_x2apic wanted;

void arch_x2apic_want(enum arch_x2apic mode)
{
    wanted = mode;
}

/* Whether the firmware asks for xAPIC mode: its own SMM code may know no other. */
static bool read_opt_out(void)
{
    struct acpi_problem problem;
    const uint8_t *dmar;
    uint32_t size;
    const int error = acpi_find(&arch_acpi_memory, arch_boot_info->rsdp, "DMAR", &dmar, &size, &problem);
    const char *what = error == -EINVAL ? problem.what : !error && size < DMAR_SIZE ? "it is too short" : NULL;

    if (what)
        kprintf("acpi: table DMAR: %s: not used\n", what);
    return !error && !what && dmar[DMAR_FLAGS] & DMAR_FLAG_X2APIC_OPT_OUT;
}

static bool locked_in_x2apic(void)
{
    uint32_t basic[4], seven[4] = {0};

    arch_cpuid(0, 0, basic);
    if (basic[0] >= 7)
        arch_cpuid(7, 0, seven);
    return seven[3] & CPUID_7_EDX_ARCH_CAPABILITIES &&
           rdmsr(IA32_ARCH_CAPABILITIES) & ARCH_CAPABILITIES_XAPIC_DISABLE &&
           rdmsr(IA32_XAPIC_DISABLE_STATUS) & LEGACY_XAPIC_DISABLED;
}

/* CPUs that no xAPIC can address. */
static uint32_t count_far(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < arch_acpi.cpu_count; i++)
        n += arch_acpi.apic_ids[i] > XAPIC_HIGHEST_ID;
    return n;
}

/* In x2APIC mode the page is gone that SMM code may write to, and without interrupt remapping the SDM promises nothing:
 * the firmware knows its machine, so its choice stays unless there is a need. 0 or -ENODEV with one line printed. */
int arch_apic_choose(bool *x2)
{
    uint32_t one[4];
    arch_cpuid(1, 0, one);
    const bool has_x2apic = one[2] & CPUID_1_ECX_X2APIC;
    const bool handed_over = rdmsr(IA32_APIC_BASE) & APIC_BASE_EXTD;
    const bool opt_out = read_opt_out();
    const uint32_t far = count_far();

    *x2 = handed_over;
    if (wanted == ARCH_X2APIC_ON) {
        if (!has_x2apic) {
            kprintf("apic: x2apic=on: this processor has no x2APIC mode: give x2apic=auto\n");
            return -ENODEV;
        }
        if (!handed_over && opt_out)
            kprintf("apic: x2apic=on, though the firmware asks for xAPIC mode (table DMAR)\n");
        *x2 = true;
    } else if (wanted == ARCH_X2APIC_OFF) {
        if (handed_over && locked_in_x2apic()) {
            kprintf("apic: x2apic=off: the firmware has locked x2APIC mode (IA32_XAPIC_DISABLE_STATUS): give "
                    "x2apic=auto\n");
            return -ENODEV;
        }
        if (arch_acpi.apic_ids[0] > XAPIC_HIGHEST_ID) {
            kprintf("apic: x2apic=off: the boot processor's APIC ID, %u, needs x2APIC mode: give x2apic=auto\n",
                    arch_acpi.apic_ids[0]);
            return -ENODEV;
        }
        *x2 = false;
    } else if (far && !handed_over) {
        *x2 = has_x2apic && !opt_out;
        kprintf("apic: processors with APIC IDs above %u: %u; %s\n", XAPIC_HIGHEST_ID, far,
                *x2       ? "x2APIC mode is turned on for them"
                : opt_out ? "the firmware asks for xAPIC mode (table DMAR): they are left out"
                          : "this processor has no x2APIC mode: they are left out");
    }
    return 0;
}

/* The one way out is by an APIC that is off, and its entries are reset: those that lead to SMM are set again. */
void arch_apic_leave_x2apic(void)
{
    static const struct {
        uint32_t number, reg;
    } entries[] = {{LVT_NUMBER_THERMAL, APIC_LVT_THERMAL}, {LVT_NUMBER_CMCI, APIC_LVT_CMCI}};
    uint64_t value[2] = {0};
    const uint64_t base = rdmsr(IA32_APIC_BASE);

    if (!(base & APIC_BASE_EXTD))
        return;
    for (unsigned i = 0; i < 2; i++)
        if (entries[i].number <= VERSION_MAX_LVT(rdmsr(X2APIC_MSR + APIC_VERSION / 16)))
            value[i] = rdmsr(X2APIC_MSR + entries[i].reg / 16);
    wrmsr(IA32_APIC_BASE, base & ~(APIC_BASE_EN | APIC_BASE_EXTD));
    wrmsr(IA32_APIC_BASE, (base & ~APIC_BASE_EXTD) | APIC_BASE_EN);
    arch_apic_write(APIC_SVR, SVR_ENABLE | ARCH_VECTOR_SPURIOUS); /* or all entries stay masked */
    for (unsigned i = 0; i < 2; i++)
        if ((value[i] & LVT_DELIVERY) == LVT_SMI)
            arch_apic_write(entries[i].reg, (uint32_t)value[i]);
}
