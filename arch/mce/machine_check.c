/* SPDX-License-Identifier: MIT */
/* Reads what a machine check left in its MSRs, for the report of a panic. SDM vol. 3, "Machine-Check Architecture". */
#include "arch/arch.h"
#include "kernel/lib/print.h"

#define IA32_MCG_CAP    0x179u
#define MCG_CAP_BANKS   UINT64_C(0xFF)
#define IA32_MCG_STATUS 0x17Au
#define IA32_MC0_STATUS 0x401u /* + 4 * bank; the next two are there where its flags say so */
#define MC_STATUS_VAL   (UINT64_C(1) << 63)
#define MC_STATUS_MISCV (UINT64_C(1) << 59)
#define MC_STATUS_ADDRV (UINT64_C(1) << 58)
#define IA32_MC0_ADDR   0x402u
#define IA32_MC0_MISC   0x403u
#define BANKS_MAX       32u /* from 400H + 4 * 32 on there are other registers */

static void print_bank(unsigned bank, uint64_t status)
{
    uint64_t address = 0, more = 0;

    if (status & MC_STATUS_ADDRV)
        (void)arch_rdmsr_safe(IA32_MC0_ADDR + 4 * bank, &address);
    if (status & MC_STATUS_MISCV)
        (void)arch_rdmsr_safe(IA32_MC0_MISC + 4 * bank, &more);
    kprintf("machine check: bank %u: status %016lx, address %lx, misc %lx\n", bank, status, address, more);
}

void arch_machine_check_print(void)
{
    uint64_t capabilities, global, status;

    if (arch_rdmsr_safe(IA32_MCG_CAP, &capabilities) || arch_rdmsr_safe(IA32_MCG_STATUS, &global))
        return;
    unsigned banks = (unsigned)(capabilities & MCG_CAP_BANKS);
    kprintf("machine check: %u banks, MCG_STATUS %lx\n", banks, global);
    for (unsigned bank = 0; bank < banks && bank < BANKS_MAX; bank++)
        if (arch_rdmsr_safe(IA32_MC0_STATUS + 4 * bank, &status) == 0 && status & MC_STATUS_VAL)
            print_bank(bank, status);
}
