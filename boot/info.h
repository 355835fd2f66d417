/* SPDX-License-Identifier: MIT */
/*
 * The contract between the UEFI loader and the kernel.
 *
 * The loader enters the kernel with interrupts off, in long mode, with RDI = virtual address (direct map) of one struct
 * boot_info. At that moment the page tables hold:
 *   - an identity map of physical memory, so that the loader's last instructions run (the kernel drops it),
 *   - the direct map: physical address P at BOOT_DIRECT_MAP + P, writable, not executable,
 *   - the kernel's segments at their link addresses, with the permissions of their program headers (W^X).
 * Every pointer in this header is a physical address: add BOOT_DIRECT_MAP to use it. 0 means 'not there'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOT_DIRECT_MAP  UINT64_C(0xFFFF800000000000)
#define BOOT_KERNEL_BASE UINT64_C(0xFFFFFFFF80000000) /* lowest link address of the kernel */

#define BOOT_INFO_MAGIC   UINT64_C(0x544F4F424E524143) /* "CARNBOOT" */
#define BOOT_INFO_VERSION 8u

/* UEFI memory types (UEFI 2.x, "Memory Allocation Services", EFI_MEMORY_TYPE). */
enum boot_memory_type {
    BOOT_MEMORY_RESERVED = 0,
    BOOT_MEMORY_LOADER_CODE = 1,
    BOOT_MEMORY_LOADER_DATA = 2, /* all the loader hands over: kernel, boot_info, page tables, files */
    BOOT_MEMORY_BOOT_SERVICES_CODE = 3,
    BOOT_MEMORY_BOOT_SERVICES_DATA = 4,
    BOOT_MEMORY_RUNTIME_CODE = 5,
    BOOT_MEMORY_RUNTIME_DATA = 6,
    BOOT_MEMORY_CONVENTIONAL = 7,
    BOOT_MEMORY_UNUSABLE = 8,
    BOOT_MEMORY_ACPI_RECLAIM = 9,
    BOOT_MEMORY_ACPI_NVS = 10,
    BOOT_MEMORY_MMIO = 11,
    BOOT_MEMORY_MMIO_PORT = 12,
    BOOT_MEMORY_PAL_CODE = 13,
    BOOT_MEMORY_PERSISTENT = 14,
};

/* The types from which the kernel takes pages. */
static inline bool boot_memory_is_free(uint32_t type)
{
    return type == BOOT_MEMORY_CONVENTIONAL || type == BOOT_MEMORY_BOOT_SERVICES_CODE ||
           type == BOOT_MEMORY_BOOT_SERVICES_DATA;
}

/* The types that the kernel may access through its direct map, cached. Devices are not among them, nor any type that
 * need not be plain memory: reserved, unusable, persistent, types of later specifications, OEM types. */
static inline bool boot_memory_is_ram(uint32_t type)
{
    return boot_memory_is_free(type) || type == BOOT_MEMORY_LOADER_CODE || type == BOOT_MEMORY_LOADER_DATA ||
           type == BOOT_MEMORY_RUNTIME_CODE || type == BOOT_MEMORY_RUNTIME_DATA || type == BOOT_MEMORY_ACPI_RECLAIM ||
           type == BOOT_MEMORY_ACPI_NVS;
}

struct boot_memory {
    uint64_t base;       /* physical, multiple of 4096 */
    uint64_t size;       /* bytes, multiple of 4096 */
    uint64_t attributes; /* EFI_MEMORY_* bits as the firmware gave them */
    uint32_t type;       /* enum boot_memory_type, or an OEM value */
    uint32_t reserved;
};
_Static_assert(sizeof(struct boot_memory) == 32, "boot_memory");

/* As the firmware reports it, unchecked (kernel/screen/pixels.h checks it). */
struct boot_framebuffer {
    uint64_t base; /* physical; 0: no GOP, or none with a linear framebuffer */
    uint64_t size;
    uint32_t width, height, pixels_per_line;
    uint32_t format;                  /* EFI_GRAPHICS_PIXEL_FORMAT: 0 RGBX, 1 BGRX, 2 bit masks, 3 BLT only */
    uint32_t masks[3], reserved_mask; /* format 2: the bits of red, green, blue, and the unused bits */
};
_Static_assert(sizeof(struct boot_framebuffer) == 48, "boot_framebuffer");

#define BOOT_TIME_NO_ZONE 2047 /* EFI_UNSPECIFIED_TIMEZONE: local time, wherever that is */

struct boot_time { /* EFI_TIME at loader start; year 0: the firmware had no clock */
    uint16_t year;
    uint8_t month, day, hour, minute, second, daylight;
    int16_t timezone; /* UTC - local time in minutes, or BOOT_TIME_NO_ZONE */
    uint16_t reserved[3];
};
_Static_assert(sizeof(struct boot_time) == 16, "boot_time");

/* Whether the firmware verifies what it starts: its variable SecureBoot. */
enum boot_secure_boot {
    BOOT_SECURE_BOOT_UNKNOWN = 0, /* it has no such variable */
    BOOT_SECURE_BOOT_OFF = 1,
    BOOT_SECURE_BOOT_ON = 2,
};

#define BOOT_SAVE_NOTE  192
#define BOOT_SAVE_NOTES 5 /* as many as there can be: boot/save/save.c */

struct boot_info {
    uint64_t magic;
    uint32_t version;
    uint32_t size; /* sizeof(struct boot_info) as the loader knows it */

    uint64_t memory; /* struct boot_memory[memory_count], ascending by base; what is free overlaps nothing */
    uint32_t memory_count;
    uint32_t memory_left_out; /* ranges that were left out of the array or cut: counted, never silent */
    uint64_t direct_map_size; /* of the direct map, in bytes: GiBs below it that hold no memory are holes in it */

    uint64_t rsdp;      /* ACPI 2.0 RSDP, else ACPI 1.0 RSDP */
    uint64_t smbios[2]; /* entry points of SMBIOS 3 and of 2 */

    uint64_t kernel_phys; /* one contiguous block that holds every segment */
    uint64_t kernel_virt; /* where its first byte is mapped */
    uint64_t kernel_size;
    uint64_t kernel_file; /* the ELF file as read: its .symtab names the kernel's functions */
    uint64_t kernel_file_size;

    uint64_t config;      /* text of \cairn.cfg, NUL-terminated */
    uint64_t config_size; /* without the NUL */

    uint64_t script; /* option monitor.script=: the text of that file */
    uint64_t script_size;

    uint64_t save_area; /* option save=esp: struct save_header (boot/save/save_format.h), then room for the text */
    uint64_t save_bytes;

    struct boot_framebuffer framebuffer;
    struct boot_time time;

    uint64_t entry_tsc; /* TSC when the loader started */
    uint32_t firmware_revision;
    uint32_t page_table_levels; /* 4, or 5 where the firmware runs with CR4.LA57 */
    uint32_t secure_boot;       /* enum boot_secure_boot */
    uint32_t reserved;
    char firmware_vendor[48]; /* ASCII, NUL-terminated */
    char loader_version[32];
    /* Messages about save=esp for the console, ASCII, NUL-terminated; unused ones are "". */
    char save_notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE];
};
_Static_assert(offsetof(struct boot_info, memory) == 16, "boot_info.memory");
_Static_assert(offsetof(struct boot_info, rsdp) == 40, "tests/faults/machine.py: RSDP");
_Static_assert(offsetof(struct boot_info, config) == 104, "tests/faults/machine.py: CONFIG");
_Static_assert(sizeof(struct boot_info) == 1280, "boot_info");
