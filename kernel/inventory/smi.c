/* SPDX-License-Identifier: MIT */
/*
 * How often the firmware has taken each CPU away: MSR_SMI_COUNT, from Nehalem on (SDM vol. 4). Times and counts of a
 * run with many SMIs are the firmware's, too, and software sees nothing else of it.
 */
#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/card.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/phase.h"
#include "kernel/sched/cross_call.h"
#include "trace/frames.h"

#define MSR_SMI_COUNT 0x34u
#define SMI_COUNT(v)  ((uint32_t)(v))

static struct {
    uint32_t begin, end;
    bool begun, ended; /* read; else there is no such register */
} counts[MAX_CPUS];

static bool read_count(uint32_t *count)
{
    uint64_t value;
    uint32_t r[4];
    arch_cpuid(0, 0, r);
    if (memcmp(&r[1], "Genu", 4) != 0 || arch_rdmsr_safe(MSR_SMI_COUNT, &value))
        return false;
    *count = SMI_COUNT(value);
    return true;
}

static void begin_here(void *unused)
{
    (void)unused;
    const uint32_t i = arch_cpu_index();
    counts[i].begun = read_count(&counts[i].begin);
}

static void end_here(void *unused)
{
    (void)unused;
    const uint32_t i = arch_cpu_index();
    counts[i].ended = counts[i].begun && read_count(&counts[i].end);
}

static void begin(const struct boot_info *unused)
{
    (void)unused;
    kcross_call_all(begin_here, NULL);
}
KPHASE(KPHASE_PROCESSORS, begin);

static void end(const struct boot_info *unused)
{
    (void)unused;
    kcross_call_all(end_here, NULL);
}
KPHASE(KPHASE_RUN_ENDS, end);

/* Of the CPU that had most: an SMI mostly takes all of them. False: it is not known of any. */
static bool most(uint32_t *smis)
{
    bool known = false;
    *smis = 0;
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (counts[i].ended) {
            const uint32_t n = counts[i].end - counts[i].begin; /* it may have wrapped */
            *smis = n > *smis ? n : *smis;
            known = true;
        }
    return known;
}

static void say(const struct boot_info *unused)
{
    uint32_t smis;
    (void)unused;
    if (most(&smis) && smis)
        kprintf("smi: %u system management interrupts since the CPUs started: times and counts include them\n", smis);
}
KPHASE(KPHASE_VERDICT, say);

static void tell(void (*put)(const char *name, const char *value))
{
    char text[12];
    uint32_t smis;
    if (!most(&smis) || !smis)
        return; /* the card has little room */
    snprintf(text, sizeof text, "%u", smis);
    put("smi", text);
}
static const struct kcard_row row = {tell};
ROWS_ADD(kcard, row);

static void dump_begin(struct trace_dump *d)
{
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (counts[i].begun)
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.smi=%u", i, counts[i].begin);
}
KDUMP_SECTION(KDUMP_MACHINE, KDUMP_HEAD, dump_begin);

static void dump_end(struct trace_dump *d)
{
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (counts[i].ended)
            trace_dump_print(d, CAIRN_STREAM_END, "end.cpu.%u.smi=%u", i, counts[i].end);
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, dump_end);
