/* SPDX-License-Identifier: MIT */
/* arch/power/power.c: which reset register is taken into use, and what is said of one that is not. */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/device.h"
#include "arch/firmware/power/acpi_power.h"
#include "arch/internal.h"
#include "arch/power/power.h"
#include "tests/unit/support/cmocka.h"

#include "kernel/lib/print.h"
#include "tests/unit/fake/processor.h"
#include "tests/unit/support/alone.h"

static struct acpi_power told;
const struct boot_info *arch_boot_info;
static struct boot_info boot_info;
const struct acpi_memory arch_acpi_memory;

void acpi_power_parse(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_power *power)
{
    assert_ptr_equal(memory, &arch_acpi_memory);
    (void)rsdp;
    *power = told;
}

static char said[256];
static uint8_t device;

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
}

#define MEMORY_END 0x80000000u

static bool panics; /* at the next mapping */
static void reboot(void);

bool arch_is_memory(const struct boot_info *info, uint64_t phys, uint64_t size)
{
    assert_ptr_equal(info, arch_boot_info);
    return size && phys < MEMORY_END;
}

void *arch_map_device(uint64_t phys, size_t size)
{
    assert_int_equal(size, 1);
    if (panics)
        reboot();
    return phys < MEMORY_END || phys >> 52 ? NULL : &device;
}

static uint64_t tsc_hz, waited;
static uint32_t reads, faults;
static char written[128]; /* "port=value@reads before it " */

uint64_t arch_tsc_hz(void)
{
    return tsc_hz;
}

void arch_delay_us(uint64_t us)
{
    waited += tsc_hz ? us : 0;
}

uint8_t arch_in8(uint16_t port)
{
    reads += port == 0x80; /* to read it does nothing */
    return 0;
}

void arch_out8(uint16_t port, uint8_t value)
{
    const size_t at = strlen(written);
    snprintf(written + at, sizeof written - at, "%x=%x@%u ", port, value, reads);
}

/* The last way: what would come next is a reset. */
void arch_triple_fault(const void *no_idt)
{
    assert_memory_equal(no_idt, (uint8_t[10]){0}, 10);
    assert_false(processor.irq_on);
    faults++;
}

static void begin(uint8_t space, uint64_t address)
{
    arch_boot_info = &boot_info;
    told = (struct acpi_power){.reset = {.address = address, .space = space}, .reset_value = 6};
    said[0] = '\0';
    tsc_hz = 1;
    waited = reads = 0;
    processor.irq_on = true;
    written[0] = '\0';
    arch_power_init();
}

/* Nothing here resets: each way is tried, and the last one once. */
static void reboot(void)
{
    faults = 0;
    arch_reboot();
    assert_int_equal(faults, 1);
}

static void register_in_memory_space(void **state)
{
    (void)state;
    begin(ACPI_SPACE_MEMORY, 0xFED10000);
    assert_string_equal(said, "");
    reboot();
    assert_int_equal(device, 6);
}

/* Neither written nor named among the ways. */
static void register_that_cannot_be(void **state)
{
    static const struct {
        uint64_t address;
        const char *line;
    } cases[] = {
        {0x100000, "acpi: the reset register at 0x100000 is in memory: not used\n"},
        {UINT64_C(1) << 60, "acpi: the reset register at 0x1000000000000000 cannot be mapped: not used\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128];
        begin(ACPI_SPACE_MEMORY, cases[i].address);
        assert_string_equal(said, cases[i].line);
        arch_reset_words(words, sizeof words);
        assert_string_equal(words, "CF9H, keyboard controller, triple fault");
    }
}

static void other_registers(void **state)
{
    (void)state;
    begin(ACPI_SPACE_IO, 0xCF9); /* though memory has such an address */
    char words[128];
    arch_reset_words(words, sizeof words);
    assert_string_equal(words, "FADT's register (I/O port 0xcf9 = 0x06), CF9H, keyboard controller, triple fault");
    begin(ACPI_SPACE_MEMORY, 0); /* none */
    assert_string_equal(said, "");
}

/* A panic while it is being mapped. */
static void register_not_mapped_yet(void **state)
{
    (void)state;
    device = 0;
    panics = true;
    begin(ACPI_SPACE_MEMORY, 0xFED10000);
    panics = false;
    assert_int_equal(faults, 1);
    assert_int_equal(device, 0);
    assert_non_null(strstr(written, "cf9=6"));
}

void arch_out32(uint16_t port, uint32_t value)
{
    const size_t at = strlen(written);
    snprintf(written + at, sizeof written - at, "%x=%x ", port, value);
}

/* Device 31, function 7, offset 46H, on bus 0: one byte of the dword. */
static void register_of_pci(void **state)
{
    (void)state;
    begin(ACPI_SPACE_PCI, UINT64_C(31) << 32 | 7 << 16 | 0x46);
    reboot();
    assert_string_equal(written, "cf8=8000ff44 cfe=6@0 cf9=2@0 cf9=6@0 64=fe@0 ");
}

/* Each way gets its tenth of a second, whether the TSC has been measured or not: a chipset's reset takes its time. */
static void each_way_is_waited_for(void **state)
{
    (void)state;
    begin(ACPI_SPACE_IO, 0x64);
    reboot();
    assert_int_equal(waited, 3 * 100000);
    assert_string_equal(written, "64=6@0 cf9=2@0 cf9=6@0 64=fe@0 ");

    begin(ACPI_SPACE_IO, 0x64);
    tsc_hz = 0;
    reboot();
    assert_int_equal(waited, 0);
    assert_string_equal(written, "64=6@0 cf9=2@100000 cf9=6@100000 64=fe@200000 ");
    assert_int_equal(reads, 300000);
    arch_debug_exit(0x11);
    assert_int_equal(reads, 1300000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(register_in_memory_space), cmocka_unit_test(register_that_cannot_be),
        cmocka_unit_test(other_registers),          cmocka_unit_test(register_not_mapped_yet),
        cmocka_unit_test(register_of_pci),          cmocka_unit_test(each_way_is_waited_for),
    };
    return alone_run_tests(tests, sizeof tests / sizeof tests[0]);
}
