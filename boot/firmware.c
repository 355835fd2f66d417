/* SPDX-License-Identifier: MIT */
/* What the firmware knows about the machine. Source: UEFI specification, "EFI System Table", "Graphics Output
 * Protocol", "Time Services", "Globally Defined Variables". */
#include <stdbool.h>

#include "boot/loader.h"

/* EDK II's, which most firmware is made from: on the handles of the devices that show the console. */
/* clang-format off */
#define CONSOLE_OUT_DEVICE_GUID \
    {0xD3B36F2C, 0xD551, 0x11D4, {0x9A, 0x46, 0x00, 0x90, 0x27, 0x3F, 0xC1, 0x4D}}
/* clang-format on */

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

static struct boot_framebuffer framebuffer_of(const EFI_GRAPHICS_OUTPUT_PROTOCOL_MODE *mode)
{
    const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *info = mode->Info;
    const EFI_PIXEL_BITMASK *masks = &info->PixelInformation;
    struct boot_framebuffer fb = {.width = info->HorizontalResolution,
                                  .height = info->VerticalResolution,
                                  .pixels_per_line = info->PixelsPerScanLine,
                                  .format = info->PixelFormat};
    if (info->PixelFormat == PixelBltOnly)
        return fb; /* what the other two say then means nothing */
    fb.base = mode->FrameBufferBase;
    fb.size = mode->FrameBufferSize;
    if (info->PixelFormat == PixelBitMask) {
        fb.masks[0] = masks->RedMask;
        fb.masks[1] = masks->GreenMask;
        fb.masks[2] = masks->BlueMask;
        fb.reserved_mask = masks->ReservedMask;
    }
    return fb;
}

/* Of several adapters: one with a framebuffer, and among those one that the firmware's own console is on. */
void boot_firmware_framebuffer(struct boot_framebuffer *fb)
{
    *fb = (struct boot_framebuffer){0};
    EFI_GUID gop_guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID, console_guid = CONSOLE_OUT_DEVICE_GUID;
    EFI_HANDLE *handles;
    UINTN count;
    int best = 0;
    if (EFI_ERROR(BS->LocateHandleBuffer(ByProtocol, &gop_guid, NULL, &count, &handles)))
        return;
    for (UINTN i = 0; i < count; i++) {
        EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
        void *console;
        if (EFI_ERROR(BS->HandleProtocol(handles[i], &gop_guid, (void **)&gop)) || gop->Mode == NULL ||
            gop->Mode->Info == NULL)
            continue;
        struct boot_framebuffer found = framebuffer_of(gop->Mode);
        int good = 1 + 2 * (found.base != 0) + !EFI_ERROR(BS->HandleProtocol(handles[i], &console_guid, &console));
        if (good > best) {
            *fb = found;
            best = good;
        }
    }
    BS->FreePool(handles);
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
    info->rsdp = find_rsdp();
    boot_firmware_framebuffer(&info->framebuffer);
    describe_time(&info->time);
    describe_vendor(info);
    info->secure_boot = find_secure_boot();
}
