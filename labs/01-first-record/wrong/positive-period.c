/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 1; hint: period. The counter starts at the period instead of at its negative. */
#include "task.h"

int lab_start(const struct sampling *s)
{
    const uint64_t begin = (uintptr_t)s->buffer, end = begin + s->records * s->record_bytes;
    s->area->pebs_buffer_base = s->area->pebs_index = begin;
    s->area->pebs_absolute_maximum = end + 1;
    s->area->pebs_interrupt_threshold = end + s->record_bytes;
    s->area->pebs_gp_counter_reset[s->counter] = s->period;
    lab_wrmsr(IA32_DS_AREA, (uintptr_t)s->area);
    lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, s->event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    lab_wrmsr(IA32_PMC0 + s->counter, s->period);
    return lab_wrmsr(IA32_PEBS_ENABLE, DS_BIT(s->counter));
}

uint32_t lab_stop(const struct sampling *s)
{
    lab_wrmsr(IA32_PEBS_ENABLE, 0);
    return (uint32_t)((s->area->pebs_index - s->area->pebs_buffer_base) / s->record_bytes);
}
