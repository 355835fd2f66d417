/* SPDX-License-Identifier: MIT */
/* A right program for lab 1: it clears registers, status and buffer before it begins, and keeps its own settings. */
#define lab_start right_start
#define lab_stop  right_stop
#include "labs/01-first-record/solution.c"
#undef lab_start
#undef lab_stop

static struct sampling kept;

int lab_start(const struct sampling *s)
{
    kept = *s;
    int e = lab_wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
    (void)right_stop(s);
    for (uint32_t i = 0; i < s->records * s->record_bytes; i++)
        ((volatile uint8_t *)s->buffer)[i] = 0xFF;
    e |= lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(s->counter));
    return e ? e : right_start(&kept);
}

uint32_t lab_stop(const struct sampling *s)
{
    (void)s;
    (void)lab_wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
    const uint32_t records = right_stop(&kept);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(kept.counter));
    return records;
}
