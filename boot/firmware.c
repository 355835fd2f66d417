/* SPDX-License-Identifier: MIT */
/* What the firmware knows about the machine. Source: UEFI specification, "EFI System Table", "Time Services",
 * "Globally Defined Variables". */
#include "boot/loader.h"

static uint64_t find_table(EFI_GUID guid)
{
    for (UINTN i = 0; i < ST->NumberOfTableEntries; i++)
        if (__builtin_memcmp(&ST->ConfigurationTable[i].VendorGuid, &guid, sizeof(guid)) == 0)
            return (uintptr_t)ST->ConfigurationTable[i].VendorTable;
    return 0;
}

static void describe_time(struct boot_time *time)
{
    EFI_TIME t;
    if (EFI_ERROR(RT->GetTime(&t, NULL)))
        return;
    *time = (struct boot_time){.year = t.Year,
                               .month = t.Month,
                               .day = t.Day,
                               .hour = t.Hour,
                               .minute = t.Minute,
                               .second = t.Second,
                               .daylight = t.Daylight,
                               .timezone = t.TimeZone};
}

static void describe_vendor(struct boot_info *info)
{
    const CHAR16 *name = ST->FirmwareVendor;
    for (size_t i = 0; name != NULL && name[i] != 0 && i < sizeof(info->firmware_vendor) - 1; i++)
        info->firmware_vendor[i] = name[i] >= ' ' && name[i] <= '~' ? (char)name[i] : '?';
    info->firmware_revision = ST->FirmwareRevision;
}

/* One byte: 1 where the firmware starts nothing whose signature it does not know. */
static enum boot_secure_boot find_secure_boot(void)
{
    static CHAR16 name[] = L"SecureBoot";
    EFI_GUID global = EFI_GLOBAL_VARIABLE;
    UINT8 on = 0;
    UINTN size = sizeof(on);
    if (EFI_ERROR(RT->GetVariable(name, &global, NULL, &size, &on)) || size != sizeof(on))
        return BOOT_SECURE_BOOT_UNKNOWN;
    return on == 1 ? BOOT_SECURE_BOOT_ON : BOOT_SECURE_BOOT_OFF;
}

void boot_firmware_describe(struct boot_info *info)
{
    info->rsdp = find_table((EFI_GUID)ACPI_20_TABLE_GUID);
    if (!info->rsdp)
        info->rsdp = find_table((EFI_GUID)ACPI_TABLE_GUID);
    info->smbios[0] = find_table((EFI_GUID)SMBIOS3_TABLE_GUID);
    info->smbios[1] = find_table((EFI_GUID)SMBIOS_TABLE_GUID);
    describe_time(&info->time);
    describe_vendor(info);
    info->secure_boot = find_secure_boot();
}
