/* SPDX-License-Identifier: MIT */
/*
 * An EFI program that moves the framebuffer of QEMU's ramfb beyond 4 GiB, where graphics cards of real machines have
 * it, and starts \loader.efi. No firmware for QEMU puts it there by itself. It lies in reserved memory, or in what the
 * firmware's map does not have, such as a pc-dimm. QEMU, docs/specs/fw_cfg.rst; hw/display/ramfb.c: where the picture
 * is, is the content of the file "etc/ramfb".
 */
#include <efi.h>
#include <efilib.h>
#include <stdint.h>

#include "tests/boot/load_next.h"

#define SCREEN         UINT64_C(0x110000000)
#define FW_CFG_SELECT  0x510
#define FW_CFG_DATA    0x511
#define FW_CFG_DMA     0x514
#define FILE_DIRECTORY 0x19
#define DMA_SELECT     0x8u
#define DMA_WRITE      0x10u
#define XR24           0x34325258u /* 32 bits a pixel: blue, green, red, unused */

struct file { /* big-endian, as all here */
    uint32_t size;
    uint16_t select, reserved;
    char name[56];
};

static struct __attribute__((packed)) {
    uint64_t address;
    uint32_t fourcc, flags, width, height, stride;
} picture;

static volatile struct {
    uint32_t control, length;
    uint64_t address;
} dma;

static void out32(uint16_t port, uint32_t value)
{
    __asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port) : "memory");
}

static void read_config(void *to, UINTN size)
{
    for (uint8_t *at = to; size--; at++)
        __asm__ volatile("inb %1, %0" : "=a"(*at) : "Nd"((uint16_t)FW_CFG_DATA));
}

/* The selector of etc/ramfb, 0: there is none. */
static uint16_t find_ramfb(void)
{
    struct file file;
    uint32_t count;
    __asm__ volatile("outw %0, %1" ::"a"((uint16_t)FILE_DIRECTORY), "Nd"((uint16_t)FW_CFG_SELECT));
    read_config(&count, sizeof count);
    for (count = __builtin_bswap32(count); count--;) {
        read_config(&file, sizeof file);
        if (strcmpa((CHAR8 *)file.name, (CHAR8 *)"etc/ramfb") == 0)
            return __builtin_bswap16(file.select);
    }
    return 0;
}

static BOOLEAN is_in_map(EFI_PHYSICAL_ADDRESS at)
{
    UINTN count, key, size;
    UINT32 version;
    BOOLEAN found = FALSE;
    uint8_t *map = (uint8_t *)LibMemoryMap(&count, &key, &size, &version);
    for (UINTN i = 0; i < count; i++) {
        const EFI_MEMORY_DESCRIPTOR *d = (const EFI_MEMORY_DESCRIPTOR *)(map + i * size);
        found |= at >= d->PhysicalStart && (at - d->PhysicalStart) >> EFI_PAGE_SHIFT < d->NumberOfPages;
    }
    FreePool(map);
    return found;
}

static EFI_STATUS move_screen(EFI_GRAPHICS_OUTPUT_PROTOCOL_MODE *mode)
{
    EFI_PHYSICAL_ADDRESS to = SCREEN;
    const uint16_t ramfb = find_ramfb();
    if (!ramfb)
        return EFI_NOT_FOUND;
    EFI_STATUS status = EFI_SUCCESS;
    if (is_in_map(to))
        status =
            BS->AllocatePages(AllocateAddress, EfiReservedMemoryType, EFI_SIZE_TO_PAGES(mode->FrameBufferSize), &to);
    if (EFI_ERROR(status))
        return status;
    picture.address = __builtin_bswap64(to);
    picture.fourcc = __builtin_bswap32(XR24);
    picture.width = __builtin_bswap32(mode->Info->HorizontalResolution);
    picture.height = __builtin_bswap32(mode->Info->VerticalResolution);
    picture.stride = __builtin_bswap32(mode->Info->PixelsPerScanLine * 4);
    dma.control = __builtin_bswap32((uint32_t)ramfb << 16 | DMA_SELECT | DMA_WRITE);
    dma.length = __builtin_bswap32(sizeof picture);
    dma.address = __builtin_bswap64((uintptr_t)&picture);
    out32(FW_CFG_DMA, __builtin_bswap32((uint32_t)((uintptr_t)&dma >> 32)));
    out32(FW_CFG_DMA + 4, __builtin_bswap32((uint32_t)(uintptr_t)&dma));
    if (dma.control)
        return EFI_DEVICE_ERROR;
    mode->FrameBufferBase = to;
    return EFI_SUCCESS;
}

EFI_STATUS efi_main(EFI_HANDLE self, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE self, EFI_SYSTEM_TABLE *system)
{
    EFI_GUID gop_guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
    EFI_HANDLE loader;
    InitializeLib(self, system);
    EFI_STATUS status = BS->LocateProtocol(&gop_guid, NULL, (void **)&gop);
    if (!EFI_ERROR(status))
        status = move_screen(gop->Mode);
    if (!EFI_ERROR(status))
        status = load_next(self, &loader);
    if (!EFI_ERROR(status))
        status = BS->StartImage(loader, NULL, NULL);
    Print(L"high_screen: %r\n", status);
    return status;
}
