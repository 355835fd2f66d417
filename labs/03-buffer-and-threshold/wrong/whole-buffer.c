/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: not-a-record. The handler delivers the whole buffer, as if it were full. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

static void wrong_on_pmi(const struct arch_trap_frame *frame)
{
    now->area->pebs_index = now->area->pebs_buffer_base + (uint64_t)now->records * now->record_bytes;
    on_pmi(frame);
}

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    lab_on_pmi(wrong_on_pmi);
    return e;
}
