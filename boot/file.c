/* SPDX-License-Identifier: MIT */
/* Reads and writes files of the loader's own volume. Source: UEFI specification, "File Protocol". */
#include "boot/elf.h"
#include "boot/loader.h"

#define PIECE (UINT64_C(1) << 20) /* some firmware fails to read more at once */

EFI_STATUS boot_volume_open(EFI_HANDLE image, EFI_FILE_HANDLE *root)
{
    EFI_GUID loaded_image_guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
    EFI_GUID volume_guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
    EFI_LOADED_IMAGE *loaded;
    EFI_FILE_IO_INTERFACE *volume;

    EFI_STATUS status = BS->HandleProtocol(image, &loaded_image_guid, (void **)&loaded);
    if (EFI_ERROR(status))
        return boot_fail(L"BOOTX64.EFI", L"the firmware does not say where it was loaded from", status);
    status = BS->HandleProtocol(loaded->DeviceHandle, &volume_guid, (void **)&volume);
    if (EFI_ERROR(status))
        return boot_fail(L"BOOTX64.EFI", L"was not loaded from a file system", status);
    status = volume->OpenVolume(volume, root);
    if (EFI_ERROR(status))
        return boot_fail(L"BOOTX64.EFI", L"its volume cannot be opened", status);
    return EFI_SUCCESS;
}

/* Size of an open file, refusing directories: reading one would give its entries. */
static EFI_STATUS file_size(EFI_FILE_HANDLE handle, const CHAR16 *name, uint64_t *size)
{
    EFI_GUID info_guid = EFI_FILE_INFO_ID;
    union {
        EFI_FILE_INFO info;
        uint8_t space[sizeof(EFI_FILE_INFO) + 256 * sizeof(CHAR16)]; /* the name follows the structure */
    } u;
    UINTN bytes = sizeof(u);
    EFI_STATUS status = handle->GetInfo(handle, &info_guid, &bytes, &u);
    if (EFI_ERROR(status))
        return boot_fail(name, L"cannot get its size", status);
    if (u.info.Attribute & EFI_FILE_DIRECTORY)
        return boot_fail(name, L"is a directory", EFI_LOAD_ERROR);
    *size = u.info.FileSize;
    return EFI_SUCCESS;
}

static EFI_STATUS read_all(EFI_FILE_HANDLE handle, const CHAR16 *name, uint64_t max, struct boot_file *file)
{
    EFI_STATUS status = file_size(handle, name, &file->size);
    if (EFI_ERROR(status))
        return status;
    if (file->size > max)
        return boot_fail(name, L"is too large", EFI_BAD_BUFFER_SIZE);
    file->data = boot_alloc(file->size / BOOT_PAGE_SIZE + 1);
    if (file->data == NULL)
        return boot_fail(name, L"no memory to load it", EFI_OUT_OF_RESOURCES);
    for (uint64_t done = 0; done < file->size;) {
        UINTN bytes = file->size - done < PIECE ? file->size - done : PIECE;
        status = handle->Read(handle, &bytes, file->data + done);
        if (EFI_ERROR(status))
            return boot_fail(name, L"cannot be read", status);
        if (bytes == 0)
            return boot_fail(name, L"ends before the size its directory entry gives", EFI_END_OF_FILE);
        done += bytes;
    }
    return EFI_SUCCESS;
}

EFI_STATUS boot_file_read(EFI_FILE_HANDLE root, const CHAR16 *name, uint64_t max, struct boot_file *file)
{
    EFI_FILE_HANDLE handle;
    EFI_STATUS status = root->Open(root, &handle, (CHAR16 *)name, EFI_FILE_MODE_READ, 0);
    if (EFI_ERROR(status))
        return boot_fail(name, L"cannot be opened", status);
    status = read_all(handle, name, max, file);
    handle->Close(handle);
    return status;
}
