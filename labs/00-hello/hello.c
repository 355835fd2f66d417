/* SPDX-License-Identifier: MIT */
/*
 * PEBS on one page: a UEFI program that has the processor record every fourth call of a small loop, and then says what
 * is in the records. It runs in ring 0 under the firmware, so that it can write MSRs and still print. It needs nothing
 * of Cairn's but ds/layout.h, which gives registers and layouts the names of Intel's manual (SDM vol. 3B, "Processor
 * Event Based Sampling (PEBS)"; "DS" is the Debug Store). Read it from the bottom: efi_main.
 *
 *     ./run-qemu.sh --efi build/hello.efi        docs/learn/hello.md explains each line of the output
 */
#include <efi.h>
#include <efilib.h>

#include "ds/layout.h"

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table);
BOOLEAN hello(BOOLEAN *virtual);

#define COUNTER 1u  /* IA32_PMC1: from Sapphire Rapids on PMC0 is more precise than what this page shows */
#define PERIOD  3u  /* events until the counter overflows */
#define CALLS   24u /* of the loop */
#define EVENT   ia32_perfevtsel(0xC4, 2) /* BR_INST_RETIRED.NEAR_CALL, a PEBS event from Nehalem on */
#define RECORDS 16u                      /* room for them; fewer come, so that the buffer never fills */

static UINT8 area[512] __attribute__((aligned(64))); /* the DS area: it has more counters on newer processors */
static UINT8 buffer[RECORDS * sizeof(struct ds_pebs_fmt3)] __attribute__((aligned(64)));

static UINT64 rdmsr(UINT32 msr)
{
    UINT32 low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (UINT64)high << 32 | low;
}

static void wrmsr(UINT32 msr, UINT64 value)
{
    __asm__ volatile("wrmsr" : : "c"(msr), "a"((UINT32)value), "d"((UINT32)(value >> 32)) : "memory");
}

static void cpuid(UINT32 leaf, UINT32 r[4])
{
    __asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(0));
}

/* Returns RFLAGS as before. */
static UINT64 interrupts_off(void)
{
    UINT64 flags;
    __asm__ volatile("pushfq\n\tpop %0\n\tcli" : "=r"(flags) : : "memory");
    return flags;
}

static void interrupts_as(UINT64 flags)
{
    __asm__ volatile("push %0\n\tpopfq" : : "r"(flags) : "memory", "cc");
}

/* ---- is there PEBS? ---- */

struct processor {
    unsigned format;  /* of records: IA32_PERF_CAPABILITIES[11:8] */
    unsigned width;   /* of a counter, in bits */
    BOOLEAN baseline; /* records consist of groups, which MSR_PEBS_DATA_CFG chooses */
    BOOLEAN virtual;  /* a hypervisor or an emulator says that it is one */
};

/* NULL, or why there is none for this page. The order matters: RDMSR of a register that does not exist is #GP. */
static const CHAR16 *look(struct processor *p)
{
    UINT32 r[4], leaf1[4];
    cpuid(1, leaf1);
    p->virtual = (leaf1[2] & CPUID_01H_ECX_HYPERVISOR) != 0;
    cpuid(0, r);
    if (r[1] != 0x756E6547 || r[3] != 0x49656E69 || r[2] != 0x6C65746E) /* "Genu" "ineI" "ntel" */
        return L"this is not a processor of Intel's: CPUID.0 names another maker";
    if (r[0] < 0xA)
        return L"there is no architectural performance monitoring: CPUID has no leaf 0AH";
    if (!(leaf1[3] & CPUID_01H_EDX_DS) || !(leaf1[2] & CPUID_01H_ECX_DTES64))
        return L"there is no Debug Store in 64-bit form: CPUID.1:EDX[21] or ECX[2] is 0";
    if (!(leaf1[2] & CPUID_01H_ECX_PDCM))
        return L"the format of records is unknown: CPUID.1:ECX[15] is 0, so IA32_PERF_CAPABILITIES does not exist";
    const UINT64 capabilities = rdmsr(IA32_PERF_CAPABILITIES);
    p->format = ia32_perf_capabilities_pebs_fmt(capabilities);
    p->baseline = (capabilities & IA32_PERF_CAPABILITIES_PEBS_BASELINE) != 0;
    if (p->format == IA32_PERF_CAPABILITIES_PEBS_FMT_ARCHITECTURAL)
        return L"PEBS is architectural here (CPUID.23H) and does not use the Debug Store";
    if (rdmsr(IA32_MISC_ENABLE) & IA32_MISC_ENABLE_PEBS_UNAVAIL)
        return L"PEBS is unavailable: IA32_MISC_ENABLE[12] is 1";
    cpuid(0xA, r);
    if (cpuid_0ah_eax_version(r[0]) < 2 || cpuid_0ah_eax_gp_counters(r[0]) <= COUNTER)
        return L"CPUID.0AH lists no second counter, or no IA32_PERF_GLOBAL_CTRL";
    p->width = cpuid_0ah_eax_gp_width(r[0]);
    if (p->format == 0)
        return L"calls are no PEBS event before Nehalem";
    if (rdmsr(IA32_PEBS_ENABLE) || rdmsr(IA32_PERFEVTSEL0 + COUNTER) & IA32_PERFEVTSEL_EN)
        return L"the firmware, or a hypervisor, uses PEBS or IA32_PMC1 itself";
    return NULL;
}

/* ---- the loop, and PEBS around it ---- */

extern const UINT8 call_a[], call_b[], call_c[], callee[];

/* Counting begins, RCX numbers the calls, counting ends. The WRMSRs are here so that no other call is counted. */
static __attribute__((noinline)) void run(void)
{
    UINT64 calls = 0;
    __asm__ volatile("mov %[on], %%eax\n\t"
                     "xor %%edx, %%edx\n\t"
                     "mov %[global_ctrl], %%ecx\n\t"
                     "wrmsr\n\t" /* IA32_PERF_GLOBAL_CTRL: the counter counts from here on */
                     "xor %%ecx, %%ecx\n"
                     "1:\n\t"
                     "inc %%ecx\n"
                     "call_a:\n\t"
                     "call callee\n\t"
                     "inc %%ecx\n"
                     "call_b:\n\t"
                     "call callee\n\t"
                     "inc %%ecx\n"
                     "call_c:\n\t"
                     "call callee\n\t"
                     "cmp %[limit], %%ecx\n\t"
                     "jb 1b\n\t"
                     "mov %%rcx, %[calls]\n\t"
                     "xor %%eax, %%eax\n\t"
                     "mov %[global_ctrl], %%ecx\n\t"
                     "wrmsr\n\t" /* and no longer */
                     "jmp 2f\n"
                     "callee:\n\t"
                     "ret\n"
                     "2:"
                     : [calls] "=&r"(calls)
                     : [on] "i"(1u << COUNTER), [global_ctrl] "i"(IA32_PERF_GLOBAL_CTRL), [limit] "i"(CALLS)
                     : "rax", "rcx", "rdx", "cc", "memory");
}

/* Returns the bytes of records that the processor has written. Interrupts stay off meanwhile: a handler of the
 * firmware's has calls, too. */
static UINT64 sample(const struct processor *p)
{
    struct ds_area_60 *ds = (struct ds_area_60 *)(void *)area;
    const UINT64 begin = (UINTN)buffer, reload = -(UINT64)PERIOD & (DS_BIT(p->width) - 1);

    ds->pebs_buffer_base = ds->pebs_index = begin; /* where the first record goes; the processor moves the index */
    ds->pebs_absolute_maximum = begin + sizeof buffer + 1;
    ds->pebs_interrupt_threshold = begin + 2 * sizeof buffer; /* never reached: there is nobody to take an interrupt */
    ds->pebs_counter_reset[COUNTER] = reload;                 /* after each record */

    const UINT64 global_ctrl = rdmsr(IA32_PERF_GLOBAL_CTRL), ds_area = rdmsr(IA32_DS_AREA);
    wrmsr(IA32_PERF_GLOBAL_CTRL, 0); /* nothing counts while this is set up */
    wrmsr(IA32_DS_AREA, (UINTN)area);
    if (p->baseline)
        wrmsr(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR); /* a record has the basic group and the registers */
    wrmsr(IA32_PERFEVTSEL0 + COUNTER,
          EVENT | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | (p->baseline ? IA32_PERFEVTSEL_ADAPTIVE : 0));
    wrmsr(IA32_PMC0 + COUNTER, (UINT32)reload); /* bits above 31 are copies of bit 31 */
    wrmsr(IA32_PEBS_ENABLE, DS_BIT(COUNTER));
    run();
    wrmsr(IA32_PEBS_ENABLE, 0);
    wrmsr(IA32_PERFEVTSEL0 + COUNTER, 0);
    wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(COUNTER));
    wrmsr(IA32_DS_AREA, ds_area);
    wrmsr(IA32_PERF_GLOBAL_CTRL, global_ctrl);
    return ds->pebs_index - begin;
}

/* ---- what is in the records ---- */

static const CHAR16 *place(UINT64 address)
{
    return address == (UINTN)call_a   ? L"the first CALL of the loop"
           : address == (UINTN)call_b ? L"the second CALL of the loop"
           : address == (UINTN)call_c ? L"the third CALL of the loop"
           : address == (UINTN)callee ? L"the function that is called"
                                      : L"not in the loop";
}

static void show(unsigned number, const struct processor *p, const UINT8 *record)
{
    UINT64 eventing_ip = 0, rip, rcx, tsc = 0;
    if (p->baseline) {
        const struct ds_pebs_basic *basic = (const void *)record;
        const struct ds_pebs_gpr *gpr = (const void *)(basic + 1);
        eventing_ip = basic->eventing_ip, rip = gpr->rip, rcx = gpr->rcx, tsc = basic->tsc;
    } else {
        const struct ds_pebs_fmt3 *r = (const void *)record; /* each format begins with the one before it */
        rip = r->fmt2.fmt1.registers.rip, rcx = r->fmt2.fmt1.registers.rcx;
        eventing_ip = p->format >= 2 ? r->fmt2.eventing_ip : 0;
        tsc = ds_pebs_has_tsc(p->format) ? r->tsc : 0;
    }
    Print(L"record %d: call %ld of %d\n", number, rcx, CALLS);
    if (eventing_ip)
        Print(L"  EventingIP 0x%lx: %s\n", eventing_ip, place(eventing_ip));
    Print(L"  RIP        0x%lx: %s\n", rip, place(rip));
    if (tsc)
        Print(L"  TSC        %ld\n", tsc);
}

/* The page. Returns whether there is PEBS; `virtual`: whether this is a machine of an emulator's or a hypervisor's. */
BOOLEAN hello(BOOLEAN *virtual)
{
    struct processor p = {0};
    const CHAR16 *why_not = look(&p);
    *virtual = p.virtual;
    if (p.virtual)
        Print(L"this processor is emulated, or a hypervisor's: CPUID.1:ECX[31] is 1\n");
    if (why_not) {
        Print(L"no PEBS here: %s\n", why_not);
        return FALSE;
    }
    const unsigned size =
        p.baseline ? sizeof(struct ds_pebs_basic) + sizeof(struct ds_pebs_gpr) : ds_pebs_fixed_size(p.format);
    Print(L"PEBS format %d%s: a record has %d bytes\n", p.format, p.baseline ? L", in groups" : L"", size);
    const UINT64 flags = interrupts_off(), bytes = sample(&p);
    interrupts_as(flags);
    Print(L"%d calls, period %d: %ld bytes of records, PebsIndex at 0x%lx\n", CALLS, PERIOD, bytes,
          (UINTN)buffer + bytes);
    for (unsigned i = 0; (i + 1) * size <= bytes; i++)
        show(i + 1, &p, buffer + i * size);
    if (!bytes)
        Print(L"no record: perhaps this core codes near calls in another way, as Atom cores do\n");
    return TRUE;
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    BOOLEAN virtual;
    InitializeLib(image, table);
    const BOOLEAN pebs = hello(&virtual);
    if (virtual) /* the machine of a test or of a try: off */
        uefi_call_wrapper(RT->ResetSystem, 4, EfiResetShutdown, EFI_SUCCESS, 0, NULL);
    Print(L"press a key\n");
    WaitForSingleEvent(ST->ConIn->WaitForKey, 0);
    return pebs ? EFI_SUCCESS : EFI_UNSUPPORTED;
}
