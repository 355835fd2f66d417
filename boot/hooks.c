/* SPDX-License-Identifier: MIT */
/* What the loader does without its wings at the points of boot/loader.h that are for them: next to nothing. */
#include "boot/loader.h"

#define WEAK __attribute__((weak))

WEAK void boot_look(EFI_FILE_HANDLE root, char notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE])
{
    (void)root, (void)notes;
}

WEAK EFI_STATUS boot_begin(EFI_FILE_HANDLE root, struct boot_info *info, const struct boot_efi_map *map)
{
    (void)root, (void)info, (void)map;
    return EFI_SUCCESS;
}

WEAK void boot_give_up(struct boot_info *info)
{
    (void)info;
}

WEAK EFI_STATUS boot_load_more(EFI_FILE_HANDLE root, struct boot_info *info)
{
    (void)root, (void)info;
    return EFI_SUCCESS;
}

WEAK void boot_say_where(const struct boot_info *info)
{
    (void)info;
    Print(L"From here on all output goes to the serial port\n");
}

WEAK void boot_say_more(struct boot_info *info)
{
    (void)info;
}
