/* SPDX-License-Identifier: MIT */
/* Lab 9: sampling, with what labs 1 and 3 explain. PMC1 counts instructions. */
#include "sampling.h"

#include "labs/check.h"
#include "labs/machine/sample.h"

#define COUNTER 1u
#define RECORDS 20000u /* half of the instructions of lab_job */

static struct ds_area_a0 *area;
static uint8_t *buffer;
static uint32_t record_bytes;
static bool adaptive;
static void (*take)(const struct sample *sample, uint64_t rsp);

static void set(uint32_t msr, uint64_t value)
{
    if (lab_wrmsr(msr, value) != 0)
        lab_fail("run", "The check itself cannot run here.", "ds/layout.h", "MSR 0x%x refuses 0x%lx", msr,
                 (unsigned long)value);
}

void sampling_init(void)
{
    const unsigned format = lab_format();
    adaptive = format >= 4;
    record_bytes = adaptive ? ds_pebs_adaptive_size(MSR_PEBS_DATA_CFG_GPR) : ds_pebs_fixed_size(format);
    area = lab_memory(sizeof *area);
    buffer = lab_memory((size_t)RECORDS * record_bytes);
    if (!area || !buffer || format < 3)
        lab_fail("memory", "Give the machine more memory, or another processor.", "./run-qemu.sh --help",
                 "no memory for the buffer, or no records that the check can read (format %u)", format);
}

bool sampling_precise(void)
{
    return !adaptive;
}

static void start(uint64_t period, uint64_t first, uint32_t threshold)
{
    const uint64_t begin = (uintptr_t)buffer, end = begin + (uint64_t)RECORDS * record_bytes;
    uint32_t leaf[4];
    lab_cpuid(0x0A, 0, leaf);
    *area = (struct ds_area_a0){
        .pebs_buffer_base = begin,
        .pebs_index = begin,
        .pebs_absolute_maximum = end + 1,
        .pebs_interrupt_threshold = begin + (uint64_t)threshold * record_bytes,
        .pebs_gp_counter_reset[COUNTER] = -period & (DS_BIT(cpuid_0ah_eax_gp_width(leaf[0])) - 1),
    };
    set(IA32_DS_AREA, (uintptr_t)area);
    if (adaptive)
        set(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR);
    /* retired instructions: before Ice Lake INST_RETIRED.PREC_DIST is the one that Intel promises records of */
    set(IA32_PERFEVTSEL0 + COUNTER, ia32_perfevtsel(0xC0, adaptive ? 0 : 1) | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN |
                                        (adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0));
    set(IA32_PMC0 + COUNTER, (uint32_t)-first);
    set(IA32_PEBS_ENABLE, DS_BIT(COUNTER));
}

static void stop(void)
{
    set(IA32_PEBS_ENABLE, 0);
    set(IA32_PERFEVTSEL0 + COUNTER, 0);
    set(IA32_DS_AREA, 0);
}

uint32_t sampling_run(lab_program *program, uint64_t argument, uint64_t period, uint64_t first)
{
    start(period, first, RECORDS + 1);
    (void)lab_run(program, argument, DS_BIT(COUNTER));
    stop();
    const uint32_t records = (uint32_t)((area->pebs_index - area->pebs_buffer_base) / record_bytes);
    if (!records || records == RECORDS)
        lab_fail("run", "The check itself cannot run here: each record should fit.", "labs/lab.h", "%u records",
                 records);
    return records;
}

struct sample sampling_get(uint32_t record)
{
    const uint8_t *at = buffer + (uint64_t)record * record_bytes;
    if (adaptive) {
        const struct ds_pebs_basic *basic = (const struct ds_pebs_basic *)at;
        const struct ds_pebs_gpr *gpr = (const struct ds_pebs_gpr *)(basic + 1);
        return (struct sample){basic->eventing_ip, gpr->rbp, gpr->r8_r15[4]};
    }
    const struct ds_pebs_fmt2 *r = (const struct ds_pebs_fmt2 *)at;
    return (struct sample){r->eventing_ip, r->fmt1.registers.rbp, r->fmt1.registers.r8_r15[4]};
}

/* The counters are frozen until the status is acknowledged (IA32_DEBUGCTL), so that this function is not counted. */
static void pmi(const struct arch_trap_frame *frame)
{
    const uint32_t records = (uint32_t)((area->pebs_index - area->pebs_buffer_base) / record_bytes);
    for (uint32_t i = 0; i < records; i++) {
        const struct sample sample = sampling_get(i);
        take(&sample, frame->rsp);
    }
    area->pebs_index = area->pebs_buffer_base;
    lab_lvtpc_write(LAB_PMI_VECTOR);
    set(IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
}

void sampling_run_with_stacks(lab_program *program, uint64_t argument, uint64_t period,
                              void (*taken)(const struct sample *sample, uint64_t rsp))
{
    take = taken;
    lab_on_pmi(pmi);
    lab_lvtpc_write(LAB_PMI_VECTOR);
    set(IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
    start(period, period, 1);
    (void)lab_run(program, argument, DS_BIT(COUNTER));
    stop();
    set(IA32_DEBUGCTL, 0);
    lab_on_pmi(NULL);
}
