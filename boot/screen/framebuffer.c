/* SPDX-License-Identifier: MIT */
/* The framebuffer that the kernel gets for its screen. Source: UEFI specification, "Graphics Output Protocol". */
#include "arch/page_tables.h"
#include "boot/config/config.h"
#include "boot/elf.h"
#include "boot/loader.h"
#include "kernel/lib/errno.h"

#define GIB (UINT64_C(1) << 30)

/* EDK II's, which most firmware is made from: on the handles of the devices that show the console. */
/* clang-format off */
#define CONSOLE_OUT_DEVICE_GUID \
    {0xD3B36F2C, 0xD551, 0x11D4, {0x9A, 0x46, 0x00, 0x90, 0x27, 0x3F, 0xC1, 0x4D}}
/* clang-format on */

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

/* As it is now. Of several adapters: one with a framebuffer, and among those one that the firmware's own console is on.
 */
static void find_framebuffer(struct boot_framebuffer *fb)
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

/* For a panic before the kernel maps it itself. Without memory for the tables such a panic is not shown. Only its own
 * pages, uncached: a page of a GiB could span several types of the MTRRs, and what a processor does then is undefined
 * (SDM vol. 3, "Large Page Size Considerations"). Where memory is in the same GiB, as below 4 GiB, it is mapped
 * already, and of the type that the MTRRs give it. */
static void map(const struct boot_framebuffer *fb, uint64_t *direct_size)
{
    if (fb->base >= BOOT_END || fb->size > BOOT_END - fb->base)
        return;
    const uint64_t end = (fb->base + fb->size + BOOT_PAGE_SIZE - 1) & ~(BOOT_PAGE_SIZE - 1);
    int error = 0;
    for (uint64_t at = fb->base & ~(BOOT_PAGE_SIZE - 1), next; at < end && (!error || error == -EEXIST); at = next) {
        next = at / GIB * GIB + GIB;
        next = next < end ? next : end;
        error = arch_map_range(BOOT_DIRECT_MAP + at, at, next - at, ARCH_MAP_WRITE | ARCH_MAP_UNCACHED);
    }
    if (*direct_size < end)
        *direct_size = end;
}

/* Looks for the framebuffer after the first of the last words: they may have made the console change from the mode of
 * the manufacturer's picture to one for text. */
void boot_say_more(struct boot_info *info)
{
    char screen[8] = "on";
    config_get((const char *)(uintptr_t)info->config, "screen", screen, sizeof(screen));
    find_framebuffer(&info->framebuffer);
    map(&info->framebuffer, &info->direct_map_size);
    if (info->framebuffer.base != 0 && screen[0] == 'o' && screen[1] == 'n' && screen[2] == 0)
        Print(L"and what is meant to be read to this screen, too, if the kernel has one (option screen=)\n");
}
