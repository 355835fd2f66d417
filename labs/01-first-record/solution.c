/* SPDX-License-Identifier: MIT */
/* Lab 1: a solution. Read it after yours has passed. */
#include "task.h"

/* The counter counts up. It overflows when it reaches 2^width, so it starts `period` below that. */
static uint64_t start_value(const struct sampling *s)
{
    return -s->period & (DS_BIT(s->width) - 1);
}

int lab_start(const struct sampling *s)
{
    const uint64_t begin = (uintptr_t)s->buffer, end = begin + (uint64_t)s->records * s->record_bytes;
    s->area->pebs_buffer_base = begin;
    s->area->pebs_index = begin;
    s->area->pebs_absolute_maximum = end + 1; /* the last record ends at `end`, and must end below this */
    s->area->pebs_interrupt_threshold = end + s->record_bytes;
    s->area->pebs_gp_counter_reset[s->counter] = start_value(s);

    int e = lab_wrmsr(IA32_DS_AREA, (uintptr_t)s->area);
    if (!e)
        e = lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, s->event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    if (!e)
        e = lab_wrmsr(IA32_PMC0 + s->counter, (uint32_t)start_value(s)); /* bits above 31 become copies of bit 31 */
    if (!e)
        e = lab_wrmsr(IA32_PEBS_ENABLE, DS_BIT(s->counter));
    return e;
}

uint32_t lab_stop(const struct sampling *s)
{
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    (void)lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, 0);
    (void)lab_wrmsr(IA32_PMC0 + s->counter, 0);
    (void)lab_wrmsr(IA32_DS_AREA, 0);
    return (uint32_t)((s->area->pebs_index - s->area->pebs_buffer_base) / s->record_bytes);
}
