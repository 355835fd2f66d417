/* SPDX-License-Identifier: MIT */
/* What the machine consists of, for the dump's machine stream: registers of each CPU at the start, memory, firmware. */
#include "kernel/inventory/inventory.h"

#include "arch/arch.h"
#include "arch/smbios/read.h"
#include "ds/layout.h"
#include "kernel/console/end.h"
#include "kernel/console/serial_port.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/phase.h"
#include "kernel/recording/machine.h"
#include "kernel/sched/cross_call.h"
#include "trace/frames.h"

/* CPUID leaves kept raw for the reader: features, perfmon, frequencies, kind of core, hypervisor, brand, and whether
 * the TSC is invariant. */
static const struct {
    uint32_t leaf, subleaf;
} leaves[] = {
    {0x0, 0},        {0x1, 0},        {0x6, 0},        {0x7, 0},        {0xA, 0},
    {0x15, 0},       {0x16, 0},       {0x1A, 0},       {0x23, 0},       {CPUID_HYPERVISOR, 0},
    {0x80000000, 0}, {0x80000001, 0}, {0x80000002, 0}, {0x80000003, 0}, {0x80000004, 0},
    {0x80000007, 0},
};
#define LEAVES (sizeof leaves / sizeof leaves[0])

#define IA32_TSC_ADJUST 0x3Bu

/* MSRs worth showing. Some are read only where CPUID promises them. */
static const struct {
    uint32_t msr;
    enum { NEEDS_NOTHING, NEEDS_DS, NEEDS_TSC_ADJUST } needs;
} msrs[] = {
    {IA32_MISC_ENABLE, NEEDS_NOTHING},   {IA32_PERF_CAPABILITIES, NEEDS_DS}, {IA32_DS_AREA, NEEDS_DS},
    {IA32_DEBUGCTL, NEEDS_DS},           {IA32_PERF_GLOBAL_CTRL, NEEDS_DS},  {IA32_PEBS_ENABLE, NEEDS_DS},
    {IA32_TSC_ADJUST, NEEDS_TSC_ADJUST},
};
#define MSRS (sizeof msrs / sizeof msrs[0])

struct machine_cpu {
    uint32_t cpuid[LEAVES][4];
    uint64_t msr[MSRS];
    int8_t msr_state[MSRS]; /* 1 read, 0 not tried, -1 faulted */
    uint64_t microcode;
    int8_t microcode_read;
};

static struct machine_cpu *cpus;
static const struct boot_info *boot;
static struct smbios smbios;

/* While what firmware has in reserved memory can still be mapped. */
static void read_smbios(const struct boot_info *unused)
{
    (void)unused;
    (void)arch_smbios_read(&smbios); /* what is not told stays "" */
}
KPHASE(KPHASE_MEMORY, read_smbios);

static bool leaf_exists(uint32_t leaf)
{
    uint32_t r[4];
    arch_cpuid(leaf & 0xC0000000, 0, r);
    return leaf == (leaf & 0xC0000000) || leaf <= r[0];
}

/* CPUID.07H:EBX.TSC_ADJUST[1] */
static bool tsc_adjust(void)
{
    uint32_t r[4] = {0};
    if (leaf_exists(7))
        arch_cpuid(7, 0, r);
    return r[1] >> 1 & 1;
}

static void gather(void *unused)
{
    (void)unused;
    struct machine_cpu *m = &cpus[arch_cpu_index()];
    uint32_t features[4];
    for (unsigned i = 0; i < LEAVES; i++)
        if (leaves[i].leaf == CPUID_HYPERVISOR ? kmachine_virtual() : leaf_exists(leaves[i].leaf))
            arch_cpuid(leaves[i].leaf, leaves[i].subleaf, m->cpuid[i]);
    /* SDM vol. 3, "Update Signature and Verification": 0, then CPUID, which loads it. On AMD it is read-only. */
    arch_wrmsr_safe(IA32_BIOS_SIGN_ID, 0);
    arch_cpuid(1, 0, features);
    bool ds = features[3] >> 21 & 1, pdcm = features[2] >> 15 & 1;
    for (unsigned i = 0; i < MSRS; i++) {
        if ((msrs[i].needs == NEEDS_DS && (!ds || (msrs[i].msr == IA32_PERF_CAPABILITIES && !pdcm))) ||
            (msrs[i].needs == NEEDS_TSC_ADJUST && !tsc_adjust()))
            continue;
        m->msr_state[i] = arch_rdmsr_safe(msrs[i].msr, &m->msr[i]) == 0 ? 1 : -1;
    }
    m->microcode_read = arch_rdmsr_safe(IA32_BIOS_SIGN_ID, &m->microcode) == 0;
}

static void read_all(const struct boot_info *info)
{
    boot = info;
    cpus = kmem_pages_alloc((kcpu_count * sizeof *cpus + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
    if (!cpus)
        kend_failed("setup", "no memory for the list of the machine's parts");
    kcross_call_all(gather, NULL);
}
KPHASE(KPHASE_PROCESSORS, read_all);

/* The hypervisor's name for itself, or "none". */
static void read_signature(char text[13])
{
    uint32_t r[4];
    snprintf(text, 13, "none");
    if (!kmachine_virtual())
        return;
    arch_cpuid(CPUID_HYPERVISOR, 0, r);
    for (unsigned i = 0; i < 12; i++) {
        char c = (char)(r[1 + i / 4] >> i % 4 * 8);
        text[i] = c >= ' ' && c < 127 ? c : '\0';
    }
    text[12] = '\0';
}

/* Intel has it in the upper half, AMD in the lower. */
static uint64_t microcode(const struct machine_cpu *m)
{
    return m->microcode >> 32 ? m->microcode >> 32 : m->microcode;
}

bool kinventory_microcode(uint64_t *version)
{
    if (!cpus || !cpus->microcode_read)
        return false;
    *version = microcode(cpus);
    return true;
}

uint64_t kinventory_memory(void)
{
    const struct boot_memory *m = arch_phys_to_virt(boot->memory);
    uint64_t total = 0;
    for (uint32_t i = 0; i < boot->memory_count; i++)
        if (m[i].type == BOOT_MEMORY_CONVENTIONAL ||
            (m[i].type >= BOOT_MEMORY_LOADER_CODE && m[i].type <= BOOT_MEMORY_BOOT_SERVICES_DATA))
            total += m[i].size;
    return total;
}

/* The map in short: neighbours of one type are one line. */
static void dump_memory(struct trace_dump *d)
{
    const struct boot_memory *m = arch_phys_to_virt(boot->memory);
    unsigned line = 0;
    for (uint32_t i = 0; i < boot->memory_count;) {
        uint64_t base = m[i].base, end = base;
        uint32_t type = m[i].type;
        for (; i < boot->memory_count && m[i].type == type && m[i].base == end; i++)
            end += m[i].size;
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "memory.%u=0x%lx 0x%lx %u", line++, (unsigned long)base,
                         (unsigned long)(end - base), type);
    }
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.memory_bytes=%lu", (unsigned long)kinventory_memory());
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.memory_left_out=%u", boot->memory_left_out);
}

static void dump_cpu(struct trace_dump *d, uint32_t n)
{
    const struct machine_cpu *m = &cpus[n];
    for (unsigned i = 0; i < LEAVES; i++) {
        const uint32_t *r = m->cpuid[i];
        if (r[0] | r[1] | r[2] | r[3])
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.cpuid.%08x.%08x=%08x %08x %08x %08x", n, leaves[i].leaf,
                             leaves[i].subleaf, r[0], r[1], r[2], r[3]);
        if (leaves[i].leaf == 0x1A && r[0])
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.core_type=0x%x", n, r[0] >> 24);
    }
    for (unsigned i = 0; i < MSRS; i++)
        if (m->msr_state[i] > 0)
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.msr.%X=0x%lx", n, msrs[i].msr, (unsigned long)m->msr[i]);
        else if (m->msr_state[i] < 0)
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.msr.%X=fault", n, msrs[i].msr);
    if (m->microcode_read)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.microcode=0x%lx", n, (unsigned long)microcode(m));
}

/* ISO 8601's word for the firmware's time zone: UEFI counts the minutes from local time to UTC. */
static void zone(int minutes, char text[8])
{
    int east = -minutes, size = east < 0 ? -east : east;
    if (minutes == BOOT_TIME_NO_ZONE)
        text[0] = '\0';
    else if (minutes == 0)
        snprintf(text, 8, "Z");
    else
        snprintf(text, 8, "%c%02u:%02u", east < 0 ? '-' : '+', (unsigned)size / 60 % 100, (unsigned)size % 60);
}

static void dump_inventory(struct trace_dump *d)
{
    char text[16];
    if (!boot) /* a panic before the CPUs run */
        return;
    const struct boot_time *t = &boot->time;
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "loader.version=%.31s", boot->loader_version);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "firmware.vendor=%.47s", boot->firmware_vendor);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "firmware.revision=0x%x", boot->firmware_revision);
    for (unsigned i = 0; i < SMBIOS_STRINGS; i++)
        if (smbios.text[i][0])
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "%s=%s", smbios_names[i], smbios.text[i]);
    if (boot->secure_boot != BOOT_SECURE_BOOT_UNKNOWN)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "firmware.secure_boot=%s",
                         boot->secure_boot == BOOT_SECURE_BOOT_ON ? "on" : "off");
    if (t->year) {
        zone(t->timezone, text);
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "boot.time=%04u-%02u-%02uT%02u:%02u:%02u%s", t->year, t->month,
                         t->day, t->hour, t->minute, t->second, text);
    }
    read_signature(text);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.hypervisor=%s", text);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.cpus_left_out=%u", arch_cpus_found() - kcpu_count);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.cpus_disabled=%u", arch_cpus_disabled());
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.features=%s", arch_features());
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.time_source=%s", arch_time_source());
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.serial=%s", kserial_words());
    dump_memory(d);
    for (uint32_t i = 0; cpus && i < kcpu_count; i++)
        dump_cpu(d, i);
}
KDUMP_SECTION(KDUMP_MACHINE, KDUMP_HEAD, dump_inventory);
