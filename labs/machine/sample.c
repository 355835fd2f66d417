/* SPDX-License-Identifier: MIT */
#include "labs/machine/sample.h"

#include "kernel/lib/string.h"
#include "labs/check.h"

#define NEVER        DS_BIT(47) /* as a reset value: no second record */
#define BUFFER_BYTES (2 * DS_PEBS_RECORD_MAX_4)
#define UNWRITTEN    0xA5 /* what lies behind a record is not 0: nobody is right by chance */

static struct ds_area_a0 *area;
static uint8_t *buffer;

unsigned lab_format(void)
{
    return ia32_perf_capabilities_pebs_fmt(lab_msr(IA32_PERF_CAPABILITIES));
}

void lab_check_counters_off(void)
{
    const uint64_t global = lab_msr(IA32_PERF_GLOBAL_CTRL);
    if (global)
        lab_fail("global",
                 "The check turns the counters on when a program begins, and off when it ends. Leave "
                 "IA32_PERF_GLOBAL_CTRL at 0: otherwise a counter counts your own code, too.",
                 "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\"",
                 "IA32_PERF_GLOBAL_CTRL is 0x%lx after lab_start; expected 0", (unsigned long)global);
}

static void fill_area(unsigned counter)
{
    if (!buffer) {
        area = lab_need_memory(sizeof *area);
        buffer = lab_need_memory(BUFFER_BYTES);
    }
    memset(buffer, UNWRITTEN, BUFFER_BYTES);
    *area = (struct ds_area_a0){.pebs_buffer_base = (uintptr_t)buffer,
                                .pebs_index = (uintptr_t)buffer,
                                .pebs_absolute_maximum = (uintptr_t)buffer + DS_PEBS_RECORD_MAX_4 + 1,
                                .pebs_interrupt_threshold = UINT64_MAX};
    *(uint64_t *)((uint8_t *)area + ds_area_reset(lab_format(), counter)) = NEVER;
}

void lab_sample_begin(const struct lab_sample *s)
{
    const uint64_t start = -s->period & (DS_BIT(48) - 1); /* the width on all presets from Nehalem on */
    fill_area(s->counter);
    (void)lab_wrmsr(IA32_DS_AREA, (uintptr_t)area);
    if (s->groups)
        (void)lab_wrmsr(MSR_PEBS_DATA_CFG, s->groups);
    if (s->counter >= DS_COUNTER_FIXED) {
        (void)lab_wrmsr(IA32_FIXED_CTR0, start);
        (void)lab_wrmsr(IA32_FIXED_CTR_CTRL, (s->user ? ia32_fixed_ctr_ctrl_usr(0) : ia32_fixed_ctr_ctrl_os(0)) |
                                                 (s->groups ? ia32_fixed_ctr_ctrl_adaptive(0) : 0));
    } else {
        (void)lab_wrmsr(IA32_PMC0 + s->counter, (uint32_t)start);
        (void)lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, s->event | IA32_PERFEVTSEL_EN |
                                                           (s->user ? IA32_PERFEVTSEL_USR : IA32_PERFEVTSEL_OS) |
                                                           (s->groups ? IA32_PERFEVTSEL_ADAPTIVE : 0));
    }
    (void)lab_wrmsr(IA32_PEBS_ENABLE, DS_BIT(s->counter));
}

uint8_t *lab_sample_end(const struct lab_sample *s)
{
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    (void)lab_wrmsr(s->counter >= DS_COUNTER_FIXED ? IA32_FIXED_CTR_CTRL : IA32_PERFEVTSEL0 + s->counter, 0);
    (void)lab_wrmsr(IA32_DS_AREA, 0);
    return area->pebs_index > (uintptr_t)buffer ? buffer : NULL;
}
