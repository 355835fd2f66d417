/* SPDX-License-Identifier: MIT */
/* Lab 10: this machine. Its program is traced with PEBS into a buffer that is too small. */
#include "labs/check.h"

#include "labs/machine/sample.h"
#include "machines.h"

#define COUNTER 1u
#define ROUNDS  500u /* of 4 instructions */
#define PERIOD  100u
#define RECORDS 12u

lab_program lab_sum; /* program.asm */

static struct ds_area_a0 *area;
static uint8_t *buffer;
static uint32_t record_bytes;
static uint64_t deadline, event, reset;

static uint64_t plain_ticks(void)
{
    const uint64_t begin = lab_rdtsc();
    lab_sum(ROUNDS);
    return lab_rdtsc() - begin;
}

void real_init(struct lab_machine *machine)
{
    uint32_t leaf[4];
    uint64_t longest = 0;
    const unsigned format = lab_format();
    lab_cpuid(0x0A, 0, leaf);
    reset = -(uint64_t)PERIOD & (DS_BIT(cpuid_0ah_eax_gp_width(leaf[0])) - 1);
    event =
        ia32_perfevtsel(0xC0, format >= 4 ? 0 : 1); /* retired instructions: before Ice Lake INST_RETIRED.PREC_DIST */
    record_bytes = ds_pebs_fixed_size(format);
    area = lab_need_memory(sizeof *area);
    buffer = lab_need_memory(RECORDS * record_bytes);
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t ticks = plain_ticks();
        if (ticks > longest)
            longest = ticks;
    }
    deadline = 2 * longest;
    *machine = (struct lab_machine){.real = true};
}

static void set(uint32_t msr, uint64_t value)
{
    if (lab_wrmsr(msr, value) != 0)
        lab_fail("run", "The check itself cannot run here.", "ds/layout.h", "MSR 0x%x refuses 0x%lx", msr,
                 (unsigned long)value);
}

static uint64_t traced_ticks(void)
{
    const uint64_t begin = (uintptr_t)buffer, end = begin + RECORDS * record_bytes;
    *area = (struct ds_area_a0){.pebs_buffer_base = begin,
                                .pebs_index = begin,
                                .pebs_absolute_maximum = end + 1,
                                .pebs_interrupt_threshold = end + record_bytes,
                                .pebs_gp_counter_reset[COUNTER] = reset};
    set(IA32_DS_AREA, (uintptr_t)area);
    set(IA32_PERFEVTSEL0 + COUNTER, event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    set(IA32_PMC0 + COUNTER, (uint32_t)reset);
    set(IA32_PEBS_ENABLE, DS_BIT(COUNTER));
    const uint64_t before = lab_rdtsc();
    (void)lab_run(lab_sum, ROUNDS, DS_BIT(COUNTER));
    const uint64_t ticks = lab_rdtsc() - before;
    set(IA32_PEBS_ENABLE, 0);
    set(IA32_PERFEVTSEL0 + COUNTER, 0);
    set(IA32_DS_AREA, 0);
    return ticks;
}

/* The result is whether the program has met its deadline. */
struct lab_trial real_trial(bool traced)
{
    const uint64_t dropped = lab_model_dropped();
    struct lab_trial t = {.ticks = traced ? traced_ticks() : plain_ticks()};
    t.result = t.ticks <= deadline;
    if (traced) {
        t.samples = (area->pebs_index - area->pebs_buffer_base) / record_bytes;
        t.lost = lab_is_model() ? lab_model_dropped() - dropped : t.samples < RECORDS ? 0 : LAB_UNKNOWN;
    }
    return t;
}
