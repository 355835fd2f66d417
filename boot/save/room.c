/* SPDX-License-Identifier: MIT */
#include "boot/save/room.h"

#include <efilib.h>

bool save_room(EFI_FILE_HANDLE root, uint64_t *bytes)
{
    EFI_GUID guid = EFI_FILE_SYSTEM_INFO_ID;
    union {
        EFI_FILE_SYSTEM_INFO info;
        uint8_t space[sizeof(EFI_FILE_SYSTEM_INFO) + 256 * sizeof(CHAR16)]; /* the label is its end */
    } u;
    UINTN size = sizeof(u);
    if (EFI_ERROR(root->GetInfo(root, &guid, &size, &u)) || size < SIZE_OF_EFI_FILE_SYSTEM_INFO)
        return false;
    *bytes = u.info.ReadOnly ? 0 : u.info.FreeSpace;
    return true;
}
