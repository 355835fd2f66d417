/* SPDX-License-Identifier: MIT */
#include "boot/save/machine.h"

#include "arch/brand.h"
#include "arch/firmware/smbios/smbios.h"
#include "boot/save/append.h"

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    (void)context, (void)size;
    return (const void *)(uintptr_t)phys;
}

void save_machine(const uint64_t smbios[2], char words[SAVE_MACHINE])
{
    static const struct acpi_memory memory = {read_memory, NULL};
    char brand[ARCH_BRAND];
    struct smbios s;
    __builtin_memset(words, 0, SAVE_MACHINE);
    save_append(words, SAVE_MACHINE, arch_brand(brand));
    (void)smbios_read(&memory, smbios, &s); /* what is not told stays "" */
    for (unsigned i = SMBIOS_BOARD_VENDOR; i <= SMBIOS_BOARD_VERSION; i++) {
        save_append(words, SAVE_MACHINE, s.text[i][0] ? ", " : "");
        save_append(words, SAVE_MACHINE, s.text[i]);
    }
}
