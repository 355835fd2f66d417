/* SPDX-License-Identifier: MIT */
#include "check_sample.h"

#include "labs/check.h"

static struct ds_area_a0 *area;
static uint8_t *buffer;

unsigned lab_format(void)
{
    uint64_t value = 0;
    (void)lab_rdmsr(IA32_PERF_CAPABILITIES, &value);
    return ia32_perf_capabilities_pebs_fmt(value);
}

uint32_t lab_counters(unsigned format, struct lab_counter out[2])
{
    if (format == 1)
        out[0] = (struct lab_counter){1, ia32_perfevtsel(0xC0, 1), false, "PMC1"}; /* INST_RETIRED.ANY_P */
    else if (format < 4)
        out[0] = (struct lab_counter){1, ia32_perfevtsel(0xC0, 1), true, "PMC1 (PDIST)"}; /* INST_RETIRED.PREC_DIST */
    else
        out[0] = (struct lab_counter){DS_COUNTER_FIXED, 0, true, "fixed counter 0 (PDIST)"};
    out[1] = (struct lab_counter){1, ia32_perfevtsel(0xC0, 0), false, "PMC1"}; /* INST_RETIRED.ANY_P */
    return format < 4 ? 1 : 2;
}

static void set_up(const struct lab_counter *c, uint64_t period, uint64_t groups)
{
    const bool fixed = c->number >= DS_COUNTER_FIXED;
    const uint64_t start = -period & (DS_BIT(48) - 1); /* all presets of this lab have 48 bits */
    const uint64_t adaptive = groups ? IA32_PERFEVTSEL_ADAPTIVE : 0;
    *area = (struct ds_area_a0){.pebs_buffer_base = (uintptr_t)buffer,
                                .pebs_index = (uintptr_t)buffer,
                                .pebs_absolute_maximum = (uintptr_t)buffer + DS_PEBS_RECORD_MAX_4 + 1,
                                .pebs_interrupt_threshold = UINT64_MAX};
    *(uint64_t *)((uint8_t *)area + ds_area_reset(lab_format(), c->number)) = DS_BIT(47); /* no second record */
    (void)lab_wrmsr(IA32_DS_AREA, (uintptr_t)area);
    if (groups)
        (void)lab_wrmsr(MSR_PEBS_DATA_CFG, groups);
    if (fixed) {
        (void)lab_wrmsr(IA32_FIXED_CTR0, start);
        (void)lab_wrmsr(IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0) | ia32_fixed_ctr_ctrl_adaptive(0));
    } else {
        (void)lab_wrmsr(IA32_PMC0 + c->number, (uint32_t)start);
        (void)lab_wrmsr(IA32_PERFEVTSEL0 + c->number, c->event | adaptive | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    }
    (void)lab_wrmsr(IA32_PEBS_ENABLE, DS_BIT(c->number));
}

const uint8_t *lab_sample(const struct lab_counter *c, uint64_t period, uint64_t groups, lab_program *program)
{
    const bool fixed = c->number >= DS_COUNTER_FIXED;
    if (!buffer) {
        area = lab_memory(sizeof *area);
        buffer = lab_memory(2 * DS_PEBS_RECORD_MAX_4);
    }
    if (!area || !buffer)
        lab_fail("memory", "Give the machine more memory.", "./run-qemu.sh --help", "no memory for the buffer");
    set_up(c, period, groups);
    if (lab_run(program, 1, DS_BIT(c->number)) != 0)
        lab_fail("run", "The check itself cannot run here.", "./run-qemu.sh --help",
                 "IA32_PERF_GLOBAL_CTRL refuses counter %u", c->number);
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    (void)lab_wrmsr(fixed ? IA32_FIXED_CTR_CTRL : IA32_PERFEVTSEL0 + c->number, 0);
    (void)lab_wrmsr(IA32_DS_AREA, 0);
    return area->pebs_index > (uintptr_t)buffer ? buffer : NULL;
}
