/* SPDX-License-Identifier: MIT */
/* An EFI program that counts, as the firmware of some machines does, and starts \loader.efi. */
#include <efi.h>
#include <efilib.h>
#include <stdint.h>

#include "ds/layout.h"
#include "tests/boot/load_next.h"

#define INSTRUCTIONS UINT64_C(0x4300C0) /* IA32_PERFEVTSELx: INST_RETIRED.ANY_P in all rings, enabled */
#define FIXED_1_2    UINT64_C(0x330)    /* IA32_FIXED_CTR_CTRL: in all rings, without interrupts */

static void write_msr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

EFI_STATUS efi_main(EFI_HANDLE self, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE self, EFI_SYSTEM_TABLE *system)
{
    EFI_HANDLE loader;
    InitializeLib(self, system);
    write_msr(IA32_PERFEVTSEL0, INSTRUCTIONS);
    write_msr(IA32_FIXED_CTR_CTRL, FIXED_1_2);
    EFI_STATUS status = load_next(self, &loader);
    if (!EFI_ERROR(status))
        status = BS->StartImage(loader, NULL, NULL);
    Print(L"counters_on: %r\n", status);
    return status;
}
