/* SPDX-License-Identifier: MIT */
/* CPUID, the MSRs that it promises, and what detection makes of them; and whether these MSRs are as before in the end.
 * The keys are those of a log's machine stream (docs/reference/format.md). */
#include "arch/arch.h"
#include "arch/brand.h"
#include "arch/registers.h"
#include "boot/save/memory_key.h"
#include "ds/driver/driver.h"
#include "ds/ds.h"
#include "ds/lbr_layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

#define MSRS 128u

static struct msr {
    uint32_t number;
    bool refused;  /* #GP */
    bool restored; /* the probe writes it, so it is given back */
    uint64_t value;
} msrs[MSRS];
static unsigned msr_count;

static struct ds_caps caps;

static struct { /* of CPUID */
    uint32_t last, last_extended, leaf1[4], leaf7[4];
} id;

/* ---- CPUID ------------------------------------------------------------------------------------------------------- */

static void print_leaf(uint32_t leaf, uint32_t subleaf, const uint32_t r[4])
{
    if (r[0] | r[1] | r[2] | r[3])
        report_line("cpu.0.cpuid.%08x.%08x=%08x %08x %08x %08x", leaf, subleaf, r[0], r[1], r[2], r[3]);
}

#define SUBLEAVES 64u

/* Those with subleaves: SDM vol. 2A, CPUID. */
static bool has_subleaves(uint32_t leaf)
{
    static const uint8_t some[] = {0x04, 0x07, 0x0B, 0x0D, 0x0F, 0x10, 0x12, 0x14, 0x17, 0x18,
                                   0x1B, 0x1D, 0x1E, 0x1F, 0x20, 0x23, 0x24, 0x27, 0x28};
    for (unsigned i = 0; i < sizeof some; i++)
        if (some[i] == leaf)
            return true;
    return false;
}

/* Topology ends where a level has no kind; caches end where one has no type. */
static bool ends(uint32_t leaf, const uint32_t r[4])
{
    return (leaf == 0x04 && !(r[0] & 0x1F)) || ((leaf == 0x0B || leaf == 0x1F) && !(r[2] >> 8 & 0xFF));
}

static void print_leaves(uint32_t first, uint32_t last)
{
    uint32_t r[4];
    for (uint32_t leaf = first; leaf <= last && leaf - first < 0x100; leaf++)
        for (uint32_t subleaf = 0; subleaf < (has_subleaves(leaf) ? SUBLEAVES : 1); subleaf++) {
            arch_cpuid(leaf, subleaf, r);
            if (ends(leaf, r))
                break;
            print_leaf(leaf, subleaf, r);
        }
}

static void read_id(void)
{
    uint32_t r[4];
    arch_cpuid(0, 0, r);
    id.last = r[0];
    arch_cpuid(1, 0, id.leaf1);
    if (id.last >= 7)
        arch_cpuid(7, 0, id.leaf7);
    arch_cpuid(0x80000000, 0, r);
    id.last_extended = r[0];
}

void report_cpuid(void)
{
    uint32_t r[4];
    read_id();
    report_say("processor=%s", report_brand());
    if (!report_step("cpuid"))
        return;
    print_leaves(0, id.last);
    if (id.leaf1[2] & CPUID_01H_ECX_HYPERVISOR) {
        arch_cpuid(CPUID_HYPERVISOR, 0, r);
        print_leaves(CPUID_HYPERVISOR, r[0] > CPUID_HYPERVISOR ? r[0] : CPUID_HYPERVISOR);
    }
    print_leaves(0x80000000, id.last_extended);
}

/* ---- MSRs -------------------------------------------------------------------------------------------------------- */

static void read(uint32_t number, bool restored)
{
    struct msr *m = &msrs[msr_count];
    if (msr_count == MSRS)
        return;
    *m = (struct msr){.number = number, .restored = restored};
    m->refused = arch_rdmsr_safe(number, &m->value) != 0;
    msr_count++;
}

#define IA32_PLATFORM_ID       0x017u
#define MSR_SMI_COUNT          0x034u
#define IA32_FEATURE_CONTROL   0x03Au
#define IA32_TSC_ADJUST        0x03Bu
#define MSR_PLATFORM_INFO      0x0CEu
#define IA32_ARCH_CAPABILITIES 0x10Au
#define IA32_TME_CAPABILITY    0x981u

#define CPUID_01H_ECX_VMX               (1u << 5)
#define CPUID_01H_ECX_SMX               (1u << 6)
#define CPUID_07H_EBX_TSC_ADJUST        (1u << 1)
#define CPUID_07H_ECX_TME               (1u << 13)
#define CPUID_07H_EDX_ARCH_CAPABILITIES (1u << 29)

/* The machine's own. SMI count and platform information are of a model, not of CPUID: from Nehalem on. */
static void read_platform(void)
{
    read(IA32_APIC_BASE, false);
    read(IA32_PLATFORM_ID, false);
    read(MSR_SMI_COUNT, false);
    read(MSR_PLATFORM_INFO, false);
    read(IA32_MISC_ENABLE, false);
    if (id.leaf1[2] & (CPUID_01H_ECX_VMX | CPUID_01H_ECX_SMX))
        read(IA32_FEATURE_CONTROL, false);
    if (id.leaf7[1] & CPUID_07H_EBX_TSC_ADJUST)
        read(IA32_TSC_ADJUST, false);
    if (id.leaf7[3] & CPUID_07H_EDX_ARCH_CAPABILITIES)
        read(IA32_ARCH_CAPABILITIES, false);
    if (id.leaf7[2] & CPUID_07H_ECX_TME) {
        read(IA32_TME_CAPABILITY, false);
        read(IA32_TME_ACTIVATE, false);
    }
}

static void read_counters(void)
{
    const unsigned gp = caps.gp_counters < DS_GP_MAX ? caps.gp_counters : DS_GP_MAX;
    const unsigned fixed = caps.fixed_counters < DS_FIXED_MAX ? caps.fixed_counters : DS_FIXED_MAX;
    for (unsigned i = 0; i < gp; i++) {
        read(IA32_PERFEVTSEL0 + i, true);
        read((caps.full_width_writes ? IA32_A_PMC0 : IA32_PMC0) + i, true);
    }
    for (unsigned i = 0; i < fixed; i++)
        read(IA32_FIXED_CTR0 + i, true);
    if (fixed)
        read(IA32_FIXED_CTR_CTRL, true);
    if (caps.perfmon_version >= 2)
        read(IA32_PERF_GLOBAL_STATUS, false);
    if (caps.perfmon_version >= 4)
        read(IA32_PERF_GLOBAL_INUSE, false);
}

static void read_arch_pebs(void)
{
    read(IA32_PEBS_BASE, true);
    read(IA32_PEBS_INDEX, true);
    for (unsigned i = 0; i < DS_GP_MAX; i++)
        if (caps.pebs_counters >> i & 1)
            read(IA32_PMC_GP0_CFG_C + i * IA32_PMC_STEP, true);
    for (unsigned i = 0; i < DS_FIXED_MAX; i++)
        if (caps.pebs_counters >> (DS_COUNTER_FIXED + i) & 1)
            read(IA32_PMC_FX0_CFG_C + i * IA32_PMC_STEP, true);
}

static void read_branch_history(void)
{
    if (caps.lbr == DS_LBR_DEBUGCTL) {
        read(MSR_LBR_SELECT, true);
        read(MSR_LASTBRANCH_TOS, false);
    }
    if (caps.lbr == DS_LBR_ARCHITECTURAL) {
        read(IA32_LBR_CTL, true);
        read(IA32_LBR_DEPTH, false);
    }
}

/* In the order in which they may be given back: what enables last. */
static void read_debug_store(void)
{
    const bool store = id.leaf1[3] & CPUID_01H_EDX_DS;
    if (id.leaf1[2] & CPUID_01H_ECX_PDCM)
        read(IA32_PERF_CAPABILITIES, false);
    if (store)
        read(IA32_DS_AREA, true);
    if (caps.pebs && !caps.instead) {
        if (caps.format >= 1)
            read(MSR_PEBS_LD_LAT, true);
        if (caps.format >= 3 && !caps.no_frontend)
            read(MSR_PEBS_FRONTEND, true);
        if (caps.baseline)
            read(MSR_PEBS_DATA_CFG, true);
    }
    read_counters();
    read_branch_history();
    if (caps.pebs && caps.instead)
        read_arch_pebs();
    if (caps.pebs && !caps.instead)
        read(IA32_PEBS_ENABLE, true);
    read(IA32_DEBUGCTL, true);
    if (caps.perfmon_version >= 2)
        read(IA32_PERF_GLOBAL_CTRL, true);
}

static uint64_t microcode;
static enum { NOT_READ, READ, REFUSED } microcode_state;

/* SDM vol. 3, "Update Signature and Verification": 0, then CPUID, which loads it. */
static void read_all(void *unused)
{
    uint32_t r[4];
    (void)unused;
    ds_detect(ds_hw_machine(), &caps);
    arch_wrmsr_safe(IA32_BIOS_SIGN_ID, 0); /* read-only on AMD */
    arch_cpuid(1, 0, r);
    microcode_state = arch_rdmsr_safe(IA32_BIOS_SIGN_ID, &microcode) ? REFUSED : READ;
    microcode = microcode >> 32 ? microcode >> 32 : microcode; /* AMD has it in the low half */
    read_platform();
    read_debug_store();
}

/* ---- into the file ----------------------------------------------------------------------------------------------- */

bool report_msr(uint32_t number, uint64_t *value)
{
    for (unsigned i = 0; i < msr_count; i++)
        if (msrs[i].number == number && !msrs[i].refused) {
            *value = msrs[i].value;
            return true;
        }
    return false;
}

bool report_microcode(uint64_t *version)
{
    *version = microcode;
    return microcode_state == READ;
}

const char *report_brand(void)
{
    static char room[ARCH_BRAND];
    const char *brand = arch_brand(room);
    return *brand ? brand : "without a brand string";
}

static void print_detection(void)
{
    for (uint32_t i = 0; i < caps.tests; i++) {
        const struct ds_test *t = &caps.test[i];
        char value[24];
        snprintf(value, sizeof value, "0x%lx", (unsigned long)t->value);
        report_line("ds.detect.hw.0.%u=%s|%s|%s|%s", i, t->name, t->faulted ? "fault" : value, t->ok ? "ok" : "no",
                    t->verdict);
    }
    report_say("pebs=%s: %s", caps.pebs ? "yes" : "no", caps.reason);
    report_say("bts=%s: %s", caps.bts ? "yes" : "no", caps.bts_reason);
    if (caps.pebs)
        report_say("format=%u", caps.format);
    if (caps.in_use[0])
        report_say("in_use=%s", caps.in_use);
}

const struct ds_caps *report_processor(void)
{
    struct report_trap trap;
    if (report_call(read_all, NULL, &trap)) {
        report_say_trap("msrs", &trap);
        return NULL;
    }
    if (microcode_state == REFUSED)
        report_line("cpu.0.msr.%X=fault", IA32_BIOS_SIGN_ID);
    else
        report_line("cpu.0.microcode=0x%lx", (unsigned long)microcode);
    for (unsigned i = 0; i < msr_count; i++)
        if (msrs[i].refused)
            report_line("cpu.0.msr.%X=fault", msrs[i].number);
        else
            report_line("cpu.0.msr.%X=0x%lx", msrs[i].number, (unsigned long)msrs[i].value);
    print_detection();
    return &caps;
}

/* ---- afterwards -------------------------------------------------------------------------------------------------- */

static uint32_t kept; /* the first that has refused its value */

static void give_back(uint32_t number, uint64_t value)
{
    if (arch_wrmsr_safe(number, value) && !kept)
        kept = number;
}

static void restore(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < msr_count; i++)
        if (msrs[i].restored && !msrs[i].refused)
            give_back(msrs[i].number, msrs[i].value);
}

void report_processor_restore(void)
{
    struct report_trap trap;
    if (report_call(restore, NULL, &trap))
        report_say_trap("restoring registers", &trap);
    if (kept)
        report_say("kept.%X=MSR 0x%x raises #GP where it is given back", kept, kept);
    kept = 0;
}

static uint64_t after[MSRS];

static void read_again(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < msr_count; i++)
        if (msrs[i].refused || arch_rdmsr_safe(msrs[i].number, &after[i]))
            after[i] = msrs[i].value;
}

/* A counter that the firmware has on goes on counting. */
static bool counts(uint32_t number)
{
    const uint64_t counters = caps.counters_in_use;
    for (unsigned i = 0; i < 64; i++)
        if (counters >> i & 1 && number == ds_counter_msr(&caps, i))
            return true;
    return number == MSR_SMI_COUNT || number == MSR_LASTBRANCH_TOS;
}

void report_processor_compare(void)
{
    struct report_trap trap;
    unsigned others = 0;
    if (report_call(read_again, NULL, &trap))
        return;
    for (unsigned i = 0; i < msr_count; i++)
        if (after[i] != msrs[i].value && !counts(msrs[i].number)) {
            report_say("changed.%X=0x%lx, was 0x%lx", msrs[i].number, (unsigned long)after[i],
                       (unsigned long)msrs[i].value);
            others++;
        } else if (msrs[i].number == MSR_SMI_COUNT && !msrs[i].refused) {
            report_line("smi=%lu while this ran", (unsigned long)(after[i] - msrs[i].value));
        }
    report_line("restored=%u of %u registers are as before", msr_count - others, msr_count);
}
