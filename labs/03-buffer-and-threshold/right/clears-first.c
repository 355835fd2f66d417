/* SPDX-License-Identifier: MIT */
/* A right program for lab 3: registers, LVTPC and buffer are cleared before all else, and the handler is taken away. */
#define lab_start right_start
#define lab_stop  right_stop
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start
#undef lab_stop

int lab_start(const struct sampling *s)
{
    lab_on_pmi(NULL);
    lab_lvtpc_write(LVTPC_MASKED);
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    for (uint32_t i = 0; i < s->records * s->record_bytes; i++)
        ((volatile uint8_t *)s->buffer)[i] = 0xFF;
    return right_start(s);
}

uint64_t lab_stop(const struct sampling *s)
{
    const uint64_t lost = right_stop(s);
    lab_on_pmi(NULL);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    for (uint32_t i = 0; i < s->records * s->record_bytes; i++)
        ((volatile uint8_t *)s->buffer)[i] = 0xFF;
    return lost;
}
