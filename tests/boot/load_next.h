/* SPDX-License-Identifier: MIT */
/* For EFI programs that change the machine, and then start what a test boots. */
#pragma once

#include <efi.h>
#include <efilib.h>

/* Loads \loader.efi of the volume that the program `self` is from. */
static inline EFI_STATUS load_next(EFI_HANDLE self, EFI_HANDLE *next)
{
    EFI_GUID guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
    EFI_LOADED_IMAGE *image;
    CHAR16 name[] = L"\\loader.efi";
    EFI_STATUS status = BS->HandleProtocol(self, &guid, (void **)&image);
    return EFI_ERROR(status) ? status
                             : BS->LoadImage(FALSE, self, FileDevicePath(image->DeviceHandle, name), NULL, 0, next);
}
