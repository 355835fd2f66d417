/* SPDX-License-Identifier: MIT */
#include "arch/firmware/timers/acpi_timers.h"

#include "arch/firmware/acpi_registers.h"
#include "kernel/lib/errno.h"

enum { FADT_PM_TMR = 76, FADT_PM_TMR_LEN = 91, FADT_X_PM_TMR = 208 };
#define FADT_FLAG_TMR_VAL_EXT (1u << 8)

enum { HPET_ADDRESS = 40, HPET_SIZE = 56 };

/* A table of at least `least` bytes, or NULL; a malformed one is noted. */
static const uint8_t *find(const struct acpi_memory *memory, uint64_t rsdp, const char *signature, uint32_t least,
                           uint32_t *size, struct acpi_timers *timers)
{
    struct acpi_problem problem;
    const uint8_t *table;
    int error = acpi_find(memory, rsdp, signature, &table, size, &problem);

    if (!error && *size < least)
        error = acpi_fail(&problem, -EINVAL, signature, "it is too short");
    if (error == -EINVAL)
        timers->ignored[timers->ignored_count++] = problem;
    return error ? NULL : table;
}

void acpi_timers_parse(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_timers *timers)
{
    uint32_t size;

    *timers = (struct acpi_timers){0};
    const uint8_t *fadt = find(memory, rsdp, "FACP", FADT_SIZE_1, &size, timers);
    const uint32_t flags = fadt ? acpi_get32(fadt + FADT_FLAGS) : 0;
    if (fadt && !(flags & FADT_FLAG_HW_REDUCED) && fadt[FADT_PM_TMR_LEN] == 4) {
        timers->pm_timer = acpi_get_port(fadt, size, FADT_PM_TMR, FADT_X_PM_TMR);
        timers->pm_timer_bits = flags & FADT_FLAG_TMR_VAL_EXT ? 32 : 24;
    }
    const uint8_t *hpet = find(memory, rsdp, "HPET", HPET_SIZE, &size, timers);
    if (hpet && acpi_get_register(hpet + HPET_ADDRESS).space == ACPI_SPACE_MEMORY)
        timers->hpet = acpi_get_register(hpet + HPET_ADDRESS).address;
}
