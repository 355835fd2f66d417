/* SPDX-License-Identifier: MIT */
#include "arch/timers/timers.h"

#include "arch/device.h"
#include "arch/firmware/timers/acpi_timers.h"
#include "arch/internal.h"
#include "arch/timers/hpet.h"
#include "kernel/lib/print.h"

#define PM_TIMER_HZ   3579545u /* ACPI, "Power Management Timer" */
#define FS_PER_SECOND UINT64_C(1000000000000000)

const char arch_timers_names[] = ", PM timer, HPET";
static struct acpi_timers found;
static volatile uint32_t *hpet; /* NULL: there is none */

static uint32_t read_pm_timer(void)
{
    return arch_in32(found.pm_timer);
}

static uint32_t read_hpet(void)
{
    return hpet[HPET_COUNTER / 4];
}

void arch_timers_init(void)
{
    acpi_timers_parse(&arch_acpi_memory, arch_boot_info->rsdp, &found);
    for (uint32_t i = 0; i < found.ignored_count; i++)
        kprintf("acpi: table %s: %s: not used\n", found.ignored[i].table, found.ignored[i].what);
    if (found.hpet)
        hpet = arch_map_device(found.hpet, HPET_SIZE);
    if (found.hpet && (!hpet || arch_hpet_silence(hpet) != 0)) {
        kprintf("time: no HPET at 0x%lx, where ACPI has one: not used\n", found.hpet);
        hpet = NULL;
    }
}

bool arch_timers_measure(struct arch_interval *tsc, const char **source)
{
    if (found.pm_timer) {
        const struct arch_timer pm_timer = {
            .hz = PM_TIMER_HZ, .mask = found.pm_timer_bits == 32 ? UINT32_MAX : 0xFFFFFF, .read = read_pm_timer};
        *source = "ACPI PM timer, rounded within the measurement error";
        if (arch_timer_measure(&pm_timer, tsc))
            return true;
    }
    if (!hpet)
        return false;
    const struct arch_timer by_hpet = {
        .hz = FS_PER_SECOND / hpet[HPET_PERIOD / 4], .mask = UINT32_MAX, .read = read_hpet};
    hpet[HPET_CONFIGURATION / 4] |= HPET_ENABLE;
    *source = "HPET, rounded within the measurement error";
    return arch_timer_measure(&by_hpet, tsc);
}
