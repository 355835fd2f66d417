/* SPDX-License-Identifier: MIT */
/* Option monitor.script=: the loader reads a file beside \cairn.cfg for the kernel's monitor. */
#include "boot/config/config.h"
#include "boot/loader.h"

#define SCRIPT_MAX  (UINT64_C(1) << 20)
#define SCRIPT_NAME 64u /* characters */

EFI_STATUS boot_load_more(EFI_FILE_HANDLE root, struct boot_info *info)
{
    struct boot_file file;
    char name[SCRIPT_NAME];
    CHAR16 path[SCRIPT_NAME + 1];
    if (!config_get((const char *)(uintptr_t)info->config, "monitor.script", name, sizeof(name)) ||
        __builtin_strcmp(name, "none") == 0)
        return EFI_SUCCESS;
    UnicodeSPrint(path, sizeof(path), L"\\%a", name);
    EFI_STATUS status = boot_file_read(root, path, SCRIPT_MAX, &file);
    if (EFI_ERROR(status))
        return status;
    Print(L"%s: %ld bytes\n", path, file.size);
    info->script = (uintptr_t)file.data;
    info->script_size = file.size;
    return EFI_SUCCESS;
}
