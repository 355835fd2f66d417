/* SPDX-License-Identifier: MIT */
/* A right program for lab 1: the registers in the opposite order, the DS area after them. No counter runs meanwhile. */
#include "task.h"

int lab_start(const struct sampling *s)
{
    const uint64_t start = (UINT64_C(1) << s->width) - s->period;
    const uint64_t end = (uintptr_t)(s->buffer + (size_t)s->records * s->record_bytes);
    int e = lab_wrmsr(IA32_PEBS_ENABLE, UINT64_C(1) << s->counter);
    e |= lab_wrmsr(IA32_PMC0 + s->counter, start & UINT32_MAX);
    e |= lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS | s->event);
    e |= lab_wrmsr(IA32_DS_AREA, (uintptr_t)s->area);
    s->area->pebs_gp_counter_reset[s->counter] = start;
    s->area->pebs_interrupt_threshold = end + 2;
    s->area->pebs_absolute_maximum = end + 1;
    s->area->pebs_index = (uintptr_t)s->buffer;
    s->area->pebs_buffer_base = (uintptr_t)s->buffer;
    return e;
}

uint32_t lab_stop(const struct sampling *s)
{
    uint32_t records = 0;
    for (uint64_t at = (uintptr_t)s->buffer; at < s->area->pebs_index; at += s->record_bytes)
        records++;
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    (void)lab_wrmsr(IA32_DS_AREA, 0);
    (void)lab_wrmsr(IA32_PMC0 + s->counter, 0);
    (void)lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, 0);
    return records;
}
