/* SPDX-License-Identifier: MIT */
/* What comes after the report: Cairn itself, with one of the configurations on the stick, or the firmware's menu.
 * Source: UEFI specification, "Image Services", "Simple Text Input Protocol". */
#include "arch/instructions.h"
#include "boot/loader.h"
#include "boot/save/exists.h"
#include "boot/save/memory_key.h"
#include "ds/layout.h"
#include "tools/report/report.h"

#define LOADER     L"\\cairn\\loader.efi"
#define CONFIG     L"\\cairn.cfg" /* what the loader reads */
#define CONFIG_MAX (UINT64_C(64) << 10)

/* Seconds that an emulator's or a hypervisor's machine waits for a key: it may have nobody to press one. */
#define VIRTUAL_S 5u
#define POLL_US   20000u

enum cairn { ABSENT, NOT_WRITABLE, THERE }; /* the second: it needs the stick for its log */

static CHAR16 probe_config[] = L"\\cairn\\probe.cfg", mix_config[] = L"\\cairn\\mix.cfg";

static bool is_virtual(void)
{
    uint32_t r[4];
    arch_cpuid(1, 0, r);
    return r[2] & CPUID_01H_ECX_HYPERVISOR;
}

/* The key; 0 where nobody has pressed one in time: of a virtual machine alone. It polls, because the event for a key is
 * not everywhere. */
static CHAR16 wait_for_key(void)
{
    EFI_INPUT_KEY key;
    for (unsigned polls = 0; !is_virtual() || polls < VIRTUAL_S * 1000000u / POLL_US; polls++) {
        if (!EFI_ERROR(ST->ConIn->ReadKeyStroke(ST->ConIn, &key)))
            return key.UnicodeChar ? key.UnicodeChar : 1;
        BS->Stall(POLL_US);
    }
    return 0;
}

static EFI_STATUS write_config(EFI_FILE_HANDLE root, const struct boot_file *config)
{
    EFI_FILE_HANDLE handle;
    UINTN bytes = config->size;
    CHAR16 name[] = CONFIG;
    EFI_STATUS status = root->Open(root, &handle, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, 0);
    if (!EFI_ERROR(status))
        handle->Delete(handle); /* else a longer one's end would stay */
    status = root->Open(root, &handle, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0);
    if (EFI_ERROR(status))
        return boot_fail(name, L"cannot be written", status);
    status = handle->Write(handle, &bytes, config->data);
    handle->Close(handle);
    return EFI_ERROR(status) ? boot_fail(name, L"cannot be written", status) : EFI_SUCCESS;
}

/* Comes back only where Cairn has not begun. */
static EFI_STATUS start_cairn(EFI_HANDLE image, EFI_FILE_HANDLE root, const CHAR16 *chosen)
{
    EFI_GUID loaded_image = EFI_LOADED_IMAGE_PROTOCOL_GUID;
    EFI_LOADED_IMAGE *loaded;
    EFI_HANDLE loader;
    CHAR16 loader_name[] = LOADER;
    struct boot_file config;
    EFI_STATUS status = boot_file_read(root, chosen, CONFIG_MAX, &config);
    if (!EFI_ERROR(status))
        status = write_config(root, &config);
    if (EFI_ERROR(status))
        return status;
    status = BS->HandleProtocol(image, &loaded_image, (void **)&loaded);
    if (!EFI_ERROR(status))
        status = BS->LoadImage(FALSE, image, FileDevicePath(loaded->DeviceHandle, loader_name), NULL, 0, &loader);
    if (EFI_ERROR(status))
        return boot_fail(LOADER, L"cannot be loaded", status);
    return BS->StartImage(loader, NULL, NULL);
}

static bool loses_memory(void)
{
    uint64_t activate;
    return !is_virtual() && report_msr(IA32_TME_ACTIVATE, &activate) && save_key_is_new_next(activate);
}

/* Without a Debug Store Cairn would ask its own model. */
static void offer_cairn(bool store)
{
    if (loses_memory())
        Print(L"Cairn cannot save its log: memory has a new key at each start (TME). Photograph\r\n"
              L"its end, or turn TME off in the firmware's menu.\r\n");
    if (store)
        Print(L"1: Cairn asks each kind of core   2: Cairn records a trace\r\n");
    else
        Print(L"2: Cairn records a trace (1 is for processors with a Debug Store)\r\n");
}

static CHAR16 ask(enum cairn cairn, bool store)
{
    if (cairn == THERE)
        offer_cairn(store);
    if (cairn == NOT_WRITABLE)
        Print(L"Keys 1 and 2, a run of Cairn, need a stick that can be written\r\n");
    Print(L"o: switch off   any other key: the firmware's menu\r\n");
    if (is_virtual())
        Print(L"(an emulated machine switches off by itself in %d s)\r\n", VIRTUAL_S);
    report_card_draw();
    return wait_for_key();
}

/* Until there is nothing to come back from. */
EFI_STATUS report_menu(EFI_HANDLE image, EFI_FILE_HANDLE root, bool whole, bool store)
{
    CHAR16 loader[] = LOADER;
    const enum cairn cairn = !save_exists(root, loader) ? ABSENT : whole ? THERE : NOT_WRITABLE;
    ST->ConIn->Reset(ST->ConIn, FALSE); /* keys of the firmware's own menu are not meant for this one */
    for (;;) {
        const CHAR16 key = ask(cairn, store);
        if (key == L'o' || key == L'O' || key == 0)
            return RT->ResetSystem(EfiResetShutdown, EFI_SUCCESS, 0, NULL);
        if (cairn != THERE || (key != L'2' && !(key == L'1' && store)))
            return EFI_SUCCESS;
        start_cairn(image, root, key == L'1' ? probe_config : mix_config);
    }
}
