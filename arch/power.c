/* SPDX-License-Identifier: MIT */
/* Ends the machine's run: QEMU's debug port, reset, power-off. */
#include "arch/firmware/reset.h"
#include "arch/internal.h"
#include "kernel/lib/print.h"

#define DEBUG_EXIT_PORT 0xF4u /* -device isa-debug-exit,iobase=0xf4,iosize=0x04 */

#define KBC_COMMAND     0x64u
#define KBC_INPUT_FULL  0x02u
#define KBC_PULSE_RESET 0xFEu

#define CPUID_1_EBX_CLFLUSH(ebx) ((ebx) >> 8 & 0xFFu) /* size of a cache line, in units of 8 bytes */

#define PM1_SCI_EN     0x0001u
#define PM1_SLP_TYP(t) (((t)&7u) << 10)
#define PM1_SLP_EN     0x2000u

#define DELAY_PORT 0x80u /* POST codes are written there; to read it does nothing */

#define WAIT_US      100000u  /* for hardware that acts some time after it was told */
#define EXIT_WAIT_US 1000000u /* for QEMU: from version 9.1 on another of its threads ends it */

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

static volatile uint8_t *reset_register; /* in memory space; mapped at boot, for a panic cannot map */

void arch_power_init(void)
{
    struct acpi_register *reset = &arch_acpi.reset;

    if (!reset->address || reset->space != ACPI_SPACE_MEMORY)
        return;
    reset_register = arch_map_device(reset->address, 1);
    if (reset_register)
        return;
    kprintf("acpi: the reset register at 0x%lx %s: not used\n", reset->address,
            arch_memory_at(reset->address, 1) ? "is in memory" : "cannot be mapped");
    *reset = (struct acpi_register){0}; /* as if the FADT had none: what is said of the order stays true */
}

/* Before arch_time_init, too, from a panic or where options are refused: then by reads of a port that nobody minds,
 * each of which takes a PC about a microsecond, and an emulator less. */
static void wait_for_effect(uint64_t us)
{
    if (arch_tsc_hz())
        arch_delay_us(us);
    else
        for (uint64_t i = 0; i < us; i++)
            (void)arch_in8(DELAY_PORT);
}

void arch_debug_exit(uint8_t code)
{
    arch_out8(DEBUG_EXIT_PORT, code);
    wait_for_effect(EXIT_WAIT_US);
}

static void reset_by_acpi(bool warm)
{
    const struct acpi_register *reset = &arch_acpi.reset;
    const uint8_t value = arch_reset_value(&arch_acpi, warm);

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
        const uint64_t device = reset->address >> 32 & 31, function = reset->address >> 16 & 7;
        arch_pci_write8((uint16_t)(device << 3 | function), reset->address & 255, value);
    }
    }
    wait_for_effect(WAIT_US);
}

/* Without a power cycle, warm or not: where there is no such register nobody minds. */
static void reset_by_cf9(void)
{
    arch_out8(RST_CNT, RST_CNT_SYS_RST);
    arch_out8(RST_CNT, RST_CNT_SYS_RST | RST_CNT_RST_CPU);
    wait_for_effect(WAIT_US);
}

static void reset_by_keyboard_controller(void)
{
    for (unsigned i = 0; i < 1000 && arch_in8(KBC_COMMAND) & KBC_INPUT_FULL; i++)
        arch_pause();
    arch_out8(KBC_COMMAND, KBC_PULSE_RESET);
    wait_for_effect(WAIT_US);
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
    const unsigned count = arch_reset_order(&arch_acpi, warm, ways);

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
    arch_reset_show(&arch_acpi, arch_reset_warm, text, size);
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
    if (!arch_acpi.has_s5)
        return;
    if (arch_acpi.smi_command && !(in16(arch_acpi.pm1a_control) & PM1_SCI_EN)) {
        arch_out8(arch_acpi.smi_command, arch_acpi.acpi_enable); /* legacy mode: the firmware must hand over first */
        wait_for_effect(WAIT_US);
    }
    enter_s5(arch_acpi.pm1a_control, arch_acpi.s5_type_a);
    if (arch_acpi.pm1b_control)
        enter_s5(arch_acpi.pm1b_control, arch_acpi.s5_type_b);
    wait_for_effect(WAIT_US);
}
