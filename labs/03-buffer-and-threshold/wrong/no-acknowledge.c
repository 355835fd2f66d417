/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: acknowledge. OvfBuf stays set. */
#include "task.h"

#define USR (IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN)

static const struct sampling *now;
static uint64_t delivered;

/* No counter runs: in the handler because it is in ring 0, in lab_stop because lab_run_user has ended. */
static void drain(void)
{
    const uint64_t bytes = now->area->pebs_index - now->area->pebs_buffer_base;
    lab_deliver(now->buffer, (uint32_t)(bytes / now->record_bytes));
    delivered += bytes / now->record_bytes;
    now->area->pebs_index = now->area->pebs_buffer_base;
}

static void on_pmi(const struct arch_trap_frame *frame)
{
    (void)frame;
    drain();
    lab_lvtpc_write(LAB_PMI_VECTOR); /* the processor has masked it */
}

static void fill_area(const struct sampling *s, uint64_t start)
{
    const uint64_t begin = (uintptr_t)s->buffer, end = begin + (uint64_t)s->records * s->record_bytes;
    const uint32_t spare = s->records > 8 ? s->records / 4 : 1; /* for records until the interrupt is taken */
    s->area->pebs_buffer_base = begin;
    s->area->pebs_index = begin;
    s->area->pebs_absolute_maximum = end + 1;
    s->area->pebs_interrupt_threshold = end - (uint64_t)spare * s->record_bytes;
    s->area->pebs_gp_counter_reset[s->counter] = start;
}

int lab_start(const struct sampling *s)
{
    const uint64_t start = -s->period & (DS_BIT(s->width) - 1);
    now = s;
    delivered = 0;
    fill_area(s, start);
    lab_on_pmi(on_pmi);
    lab_lvtpc_write(LAB_PMI_VECTOR);
    int e = lab_wrmsr(IA32_DS_AREA, (uintptr_t)s->area);
    if (!e)
        e = lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, s->event | USR);
    if (!e)
        e = lab_wrmsr(IA32_PMC0 + s->counter, (uint32_t)start);
    if (!e)
        e = lab_wrmsr(IA32_PERFEVTSEL0 + s->spare, s->event | USR); /* counts the same, from 0, without PEBS */
    if (!e)
        e = lab_wrmsr(IA32_PMC0 + s->spare, 0);
    if (!e)
        e = lab_wrmsr(IA32_PEBS_ENABLE, DS_BIT(s->counter));
    return e;
}

uint64_t lab_stop(const struct sampling *s)
{
    uint64_t events = 0;
    drain();
    (void)lab_rdmsr(IA32_PMC0 + s->spare, &events);
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    const unsigned counters[] = {s->counter, s->spare};
    for (unsigned i = 0; i < 2; i++) {
        (void)lab_wrmsr(IA32_PERFEVTSEL0 + counters[i], 0);
        (void)lab_wrmsr(IA32_PMC0 + counters[i], 0);
    }
    (void)lab_wrmsr(IA32_DS_AREA, 0);
    lab_lvtpc_write(LVTPC_MASKED);
    return events / (s->period + 1) - delivered; /* a lost record reloads the counter, too */
}
