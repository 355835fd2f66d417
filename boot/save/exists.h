/* SPDX-License-Identifier: MIT */
#pragma once

#include <efi.h>
#include <stdbool.h>

/* Whether the volume has this file, or a folder of this name. */
static inline bool save_exists(EFI_FILE_HANDLE root, CHAR16 *name)
{
    EFI_FILE_HANDLE file;
    if (EFI_ERROR(root->Open(root, &file, name, EFI_FILE_MODE_READ, 0)))
        return false;
    file->Close(file);
    return true;
}
