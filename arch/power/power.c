/* SPDX-License-Identifier: MIT */
/* Ends the machine's run: reset, power-off. */
#include "arch/power/power.h"

#include "arch/device.h"
#include "arch/firmware/power/reset.h"
#include "arch/internal.h"
#include "kernel/lib/print.h"

#define KBC_COMMAND     0x64u
#define KBC_INPUT_FULL  0x02u
#define KBC_PULSE_RESET 0xFEu

#define CPUID_1_EBX_CLFLUSH(ebx) ((ebx) >> 8 & 0xFFu) /* size of a cache line, in units of 8 bytes */

#define PM1_SCI_EN     0x0001u
#define PM1_SLP_TYP(t) (((t)&7u) << 10)
#define PM1_SLP_EN     0x2000u

#define PCI_CONFIG_ADDRESS 0xCF8u
#define PCI_CONFIG_ENABLE  0x80000000u
#define PCI_CONFIG_DATA    0xCFCu

#define WAIT_US 100000u /* for hardware that acts some time after it was told */

static inline void out16(uint16_t port, uint16_t value)
{
    __asm__ volatile("outw %0, %1" ::"a"(value), "Nd"(port));
}

static inline uint16_t in16(uint16_t port)
{
    uint16_t value;
    __asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

bool arch_reset_warm;

static struct acpi_power power;
static volatile uint8_t *reset_register; /* in memory space; mapped at boot, for a panic cannot map */

void arch_power_init(void)
{
    struct acpi_register *reset = &power.reset;

    acpi_power_parse(&arch_acpi_memory, arch_boot_info->rsdp, &power);
    for (uint32_t i = 0; i < power.ignored_count; i++)
        kprintf("acpi: table %s: %s: not used\n", power.ignored[i].table, power.ignored[i].what);
    if (!reset->address || reset->space != ACPI_SPACE_MEMORY)
        return;
    reset_register = arch_map_device(reset->address, 1);
    if (reset_register)
        return;
    kprintf("acpi: the reset register at 0x%lx %s: not used\n", reset->address,
            arch_memory_at(reset->address, 1) ? "is in memory" : "cannot be mapped");
    *reset = (struct acpi_register){0}; /* as if the FADT had none: what is said of the order stays true */
}

static void reset_by_acpi(bool warm)
{
    const struct acpi_register *reset = &power.reset;
    const uint8_t value = arch_reset_value(&power, warm);

    switch (reset->space) {
    case ACPI_SPACE_IO:
        arch_out8((uint16_t)reset->address, value);
        break;
    case ACPI_SPACE_MEMORY:
        if (!reset_register)
            return; /* a panic before arch_power_init */
        *reset_register = value;
        break;
    case ACPI_SPACE_PCI: { /* bus 0; 47:32 device, 31:16 function, 15:0 offset */
        const uint32_t device = reset->address >> 32 & 31, function = reset->address >> 16 & 7;
        const uint32_t offset = reset->address & 255;
        arch_out32(PCI_CONFIG_ADDRESS, PCI_CONFIG_ENABLE | device << 11 | function << 8 | (offset & 0xFC));
        arch_out8((uint16_t)(PCI_CONFIG_DATA + (offset & 3)), value);
    }
    }
    arch_wait_for_effect(WAIT_US);
}

/* Without a power cycle, warm or not: where there is no such register nobody minds. */
static void reset_by_cf9(void)
{
    arch_out8(RST_CNT, RST_CNT_SYS_RST);
    arch_out8(RST_CNT, RST_CNT_SYS_RST | RST_CNT_RST_CPU);
    arch_wait_for_effect(WAIT_US);
}

static void reset_by_keyboard_controller(void)
{
    for (unsigned i = 0; i < 1000 && arch_in8(KBC_COMMAND) & KBC_INPUT_FULL; i++)
        arch_pause();
    arch_out8(KBC_COMMAND, KBC_PULSE_RESET);
    arch_wait_for_effect(WAIT_US);
}

/* An exception that finds no IDT: #DF, then shutdown, which every chipset turns into a reset. */
static void reset_by_triple_fault(void)
{
    static const struct arch_table_pointer empty;

    arch_triple_fault(&empty);
}

/* A panic before the tables are parsed comes here as well: of all-zero tables nothing is known to be absent. */
void arch_reboot(void)
{
    const bool warm = arch_reset_warm;
    enum arch_reset_way ways[ARCH_RESET_WAYS];
    const unsigned count = arch_reset_order(&power, warm, ways);

    arch_cli();
    for (unsigned i = 0; i < count; i++) {
        switch (ways[i]) {
        case ARCH_RESET_ACPI:
            reset_by_acpi(warm);
            break;
        case ARCH_RESET_CF9:
            reset_by_cf9();
            break;
        case ARCH_RESET_8042:
            reset_by_keyboard_controller();
            break;
        case ARCH_RESET_TRIPLE_FAULT:
            reset_by_triple_fault();
        }
    }
}

void arch_reset_words(char *text, size_t size)
{
    arch_reset_show(&power, arch_reset_warm, text, size);
}

/* SDM vol. 2, "CLFLUSH": from all caches of all processors, which WBINVD is not; MFENCE orders it. */
void arch_flush(const void *from, size_t size)
{
    uint32_t id[4];

    arch_cpuid(1, 0, id);
    const uint32_t line = CPUID_1_EBX_CLFLUSH(id[1]) * 8; /* each processor of 64 bits has it */
    __asm__ volatile("mfence" ::: "memory");
    for (uint64_t at = (uint64_t)from & ~(uint64_t)(line - 1); at < (uint64_t)from + size; at += line)
        __asm__ volatile("clflush (%0)" ::"r"(at) : "memory");
    __asm__ volatile("mfence" ::: "memory");
}

/* The other bits of the register stay: some are the firmware's. */
static void enter_s5(uint16_t port, uint8_t type)
{
    unsigned kept = in16(port) & ~(PM1_SLP_TYP(7) | PM1_SLP_EN);
    out16(port, (uint16_t)(kept | PM1_SLP_TYP(type) | PM1_SLP_EN));
}

void arch_poweroff(void)
{
    if (!power.has_s5)
        return;
    if (power.smi_command && !(in16(power.pm1a_control) & PM1_SCI_EN)) {
        arch_out8(power.smi_command, power.acpi_enable); /* legacy mode: the firmware must hand over first */
        arch_wait_for_effect(WAIT_US);
    }
    enter_s5(power.pm1a_control, power.s5_type_a);
    if (power.pm1b_control)
        enter_s5(power.pm1b_control, power.s5_type_b);
    arch_wait_for_effect(WAIT_US);
}
