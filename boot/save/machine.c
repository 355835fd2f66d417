/* SPDX-License-Identifier: MIT */
/* Source: SDM vol. 2, "CPUID", "The Processor Brand String Method". */
#include "boot/save/machine.h"

#include "arch/firmware/smbios/smbios.h"
#include "arch/instructions.h"
#include "boot/save/append.h"

#define CPUID_EXTENDED    0x80000000u
#define CPUID_BRAND       0x80000002u
#define CPUID_BRAND_LEAFS 3u

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    (void)context, (void)size;
    return (const void *)(uintptr_t)phys;
}

static void add_brand(char words[SAVE_MACHINE])
{
    uint32_t r[4], brand[4 * CPUID_BRAND_LEAFS + 1] = {0};
    arch_cpuid(CPUID_EXTENDED, 0, r);
    for (uint32_t i = 0; i < CPUID_BRAND_LEAFS && CPUID_BRAND + i <= r[0]; i++)
        arch_cpuid(CPUID_BRAND + i, 0, brand + (size_t)4 * i);
    const char *text = (const char *)brand;
    while (*text == ' ') /* some have them in front */
        text++;
    save_append(words, SAVE_MACHINE, text);
}

void save_machine(const uint64_t smbios[2], char words[SAVE_MACHINE])
{
    static const struct acpi_memory memory = {read_memory, NULL};
    struct smbios s;
    __builtin_memset(words, 0, SAVE_MACHINE);
    add_brand(words);
    (void)smbios_read(&memory, smbios, &s); /* what is not told stays "" */
    for (unsigned i = SMBIOS_BOARD_VENDOR; i <= SMBIOS_BOARD_VERSION; i++) {
        save_append(words, SAVE_MACHINE, s.text[i][0] ? ", " : "");
        save_append(words, SAVE_MACHINE, s.text[i]);
    }
}
