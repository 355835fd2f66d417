/* SPDX-License-Identifier: MIT */
/*
 * What the loader's files share. All of it runs in the firmware's environment: UEFI boot services, one CPU, memory
 * mapped one to one. Everything that the kernel gets is in pages of EfiLoaderData. They are not freed after a failure
 * either: that memory does not matter then.
 */
#pragma once

#include <efi.h>
#include <efilib.h>

#include "arch/registers.h"
#include "boot/info.h"
#include "boot/memory.h"

/* GNU-EFI's library has SSE instructions, which UEFI allows, and U-Boot's 64-bit UEFI of 2023 faults on them. */
static inline void boot_allow_sse(void)
{
    write_cr4(read_cr4() | CR4_OSFXSR | CR4_OSXMMEXCPT);
}

/* Prints the one line of a failure, "cairn loader: FAILED: WHAT: REASON (STATUS)", and returns `status`.
 * run-qemu.sh and the tests look for the first three words. */
EFI_STATUS boot_fail(const CHAR16 *what, const CHAR16 *reason, EFI_STATUS status);

/* `pages` zeroed pages of EfiLoaderData, where the direct map reaches; NULL where the firmware has none left there. */
void *boot_alloc(uint64_t pages);

struct boot_file {
    uint8_t *data; /* whole pages, with at least one zero byte behind the file */
    uint64_t size;
};

/* Opens the root of the volume `image` was loaded from. Prints on failure. */
EFI_STATUS boot_volume_open(EFI_HANDLE image, EFI_FILE_HANDLE *root);
/* Reads a whole file of at most `max` bytes. Prints on failure. */
EFI_STATUS boot_file_read(EFI_FILE_HANDLE root, const CHAR16 *name, uint64_t max, struct boot_file *file);

/* What the firmware knows: ACPI, time, vendor, Secure Boot. Nothing here can fail; what is not there stays
 * 0. */
void boot_firmware_describe(struct boot_info *info);

/* ---- for wings of the loader: a wing that is linked defines them; else boot/hooks.c does, mostly as empty functions
 */
/* At the loader's start, before it allocates anything, for that could lie on what is looked for: where a run before
 * this one has kept its log in memory (save=esp), makes a file of it on `root`, or says why not, and switches the
 * machine off: it does not return then. `notes`: gets what the kernel is to say of such a run. */
void boot_look(EFI_FILE_HANDLE root, char notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE]);
/* With save=esp: takes the memory for this run's log (`map`: as it is now, with all that the loader has taken), leaves
 * word of it to the next start, and sees to it that this is one of ours. Says where `root`, the volume that the log is
 * for, has too little room. Needs the configuration. Prints on failure. */
EFI_STATUS boot_begin(EFI_FILE_HANDLE root, struct boot_info *info, const struct boot_efi_map *map);
/* There is no run after all, because ExitBootServices has failed: takes back what boot_begin has left to the next
 * start, as far as runtime services can. */
void boot_give_up(struct boot_info *info);
/* More files of `root` for the kernel. Needs the configuration. Prints on failure. */
EFI_STATUS boot_load_more(EFI_FILE_HANDLE root, struct boot_info *info);
/* Prints where the output goes from here on. */
void boot_say_where(const struct boot_info *info);
/* After that, because the first text may change the screen's mode: takes the framebuffer into info->framebuffer, and
 * prints whether text goes to the screen, too. */
void boot_say_more(struct boot_info *info);

/* boot/enter.asm */
__attribute__((noreturn)) void boot_enter(uint64_t cr3, uint64_t entry, uint64_t info, uint64_t stack_top);
