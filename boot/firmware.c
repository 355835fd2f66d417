/* SPDX-License-Identifier: MIT */
/* What the firmware knows about the machine. Source: UEFI specification, "EFI System Table", "Graphics Output
 * Protocol", "Time Services". */
#include <stdbool.h>

#include "boot/loader.h"

static bool same_guid(const EFI_GUID *a, const EFI_GUID *b)
{
    return __builtin_memcmp(a, b, sizeof(*a)) == 0;
}

static uint64_t find_rsdp(void)
{
    static const EFI_GUID acpi_20 = ACPI_20_TABLE_GUID;
    static const EFI_GUID acpi_10 = ACPI_TABLE_GUID;
    uint64_t old = 0;
    for (UINTN i = 0; i < ST->NumberOfTableEntries; i++) {
        const EFI_CONFIGURATION_TABLE *t = &ST->ConfigurationTable[i];
        if (same_guid(&t->VendorGuid, &acpi_20))
            return (uintptr_t)t->VendorTable;
        if (same_guid(&t->VendorGuid, &acpi_10))
            old = (uintptr_t)t->VendorTable;
    }
    return old;
}

static void describe_framebuffer(struct boot_framebuffer *fb)
{
    EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
    if (EFI_ERROR(BS->LocateProtocol(&guid, NULL, (void **)&gop)) || gop->Mode == NULL || gop->Mode->Info == NULL)
        return;
    const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *mode = gop->Mode->Info;
    if (mode->PixelFormat >= PixelBltOnly)
        return;
    *fb = (struct boot_framebuffer){.base = gop->Mode->FrameBufferBase,
                                    .size = gop->Mode->FrameBufferSize,
                                    .width = mode->HorizontalResolution,
                                    .height = mode->VerticalResolution,
                                    .pixels_per_line = mode->PixelsPerScanLine,
                                    .format = mode->PixelFormat};
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

void boot_firmware_describe(struct boot_info *info)
{
    info->rsdp = find_rsdp();
    describe_framebuffer(&info->framebuffer);
    describe_time(&info->time);
    describe_vendor(info);
}
