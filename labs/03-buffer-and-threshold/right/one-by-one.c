/* SPDX-License-Identifier: MIT */
/* A right program for lab 3: each record is delivered alone, and the index goes back after the last one. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

static void other_on_pmi(const struct arch_trap_frame *frame)
{
    (void)frame, (void)on_pmi;
    const uint64_t end = now->area->pebs_index;
    for (uint64_t at = now->area->pebs_buffer_base; at < end; at += now->record_bytes, delivered++)
        lab_deliver((const uint8_t *)at, 1);
    now->area->pebs_index = (uintptr_t)now->buffer;
    (void)lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    lab_lvtpc_write(LAB_PMI_VECTOR);
}

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    lab_on_pmi(other_on_pmi);
    return e;
}
