/* SPDX-License-Identifier: MIT */
/* arch/power.c: which reset register is taken into use, and what is said of one that is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/power.c"

struct acpi_info arch_acpi;
const struct boot_info *arch_boot_info;

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

bool arch_is_memory(const struct boot_info *info, uint64_t phys, uint64_t size)
{
    assert_ptr_equal(info, arch_boot_info);
    return size && phys < MEMORY_END;
}

void *arch_map_device(uint64_t phys, size_t size)
{
    assert_int_equal(size, 1);
    return phys < MEMORY_END || phys >> 52 ? NULL : &device;
}

uint64_t arch_tsc_hz(void)
{
    return 1;
}

void arch_delay_us(uint64_t us)
{
    (void)us;
}

static void begin(uint8_t space, uint64_t address)
{
    arch_acpi = (struct acpi_info){.reset = {.address = address, .space = space}, .reset_value = 6};
    said[0] = '\0';
    reset_register = NULL;
    arch_power_init();
}

static void register_in_memory_space(void **state)
{
    (void)state;
    begin(ACPI_SPACE_MEMORY, 0xFED10000);
    assert_ptr_equal(reset_register, &device);
    assert_int_equal(arch_acpi.reset.address, 0xFED10000);
    assert_string_equal(said, "");
    reset_by_acpi(false);
    assert_int_equal(device, 6);
}

/* Neither written nor named among the ways. */
static void register_that_cannot_be(void **state)
{
    static const struct { uint64_t address; const char *line; } cases[] = {
        {0x100000, "acpi: the reset register at 0x100000 is in memory: not used\n"},
        {UINT64_C(1) << 60, "acpi: the reset register at 0x1000000000000000 cannot be mapped: not used\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128];
        begin(ACPI_SPACE_MEMORY, cases[i].address);
        assert_null(reset_register);
        assert_string_equal(said, cases[i].line);
        arch_reset_words(false, words, sizeof words);
        assert_string_equal(words, "CF9H, keyboard controller, triple fault");
    }
}

static void other_registers(void **state)
{
    (void)state;
    begin(ACPI_SPACE_IO, 0xCF9); /* though memory has such an address */
    assert_int_equal(arch_acpi.reset.address, 0xCF9);
    begin(ACPI_SPACE_MEMORY, 0); /* none */
    assert_null(reset_register);
    assert_string_equal(said, "");
}

/* A panic while the tables are being parsed. */
static void register_not_mapped_yet(void **state)
{
    (void)state;
    begin(ACPI_SPACE_MEMORY, 0);
    arch_acpi.reset.address = 0xFED10000;
    device = 0;
    reset_by_acpi(false);
    assert_int_equal(device, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(register_in_memory_space),
        cmocka_unit_test(register_that_cannot_be),
        cmocka_unit_test(other_registers),
        cmocka_unit_test(register_not_mapped_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
