/* SPDX-License-Identifier: MIT */
/* A right program for lab 2: the handler keeps a list of addresses, of which the last one counts. */
#define lab_pmi_start right_pmi_start
#define lab_pmi_stop  right_pmi_stop
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_start
#undef lab_pmi_stop

static volatile uint64_t list[16];
static volatile unsigned length;

static void add(const struct arch_trap_frame *frame)
{
    on_pmi(frame);
    if (length < 16)
        list[length++] = frame->rip;
    lab_lvtpc_write(LAB_PMI_VECTOR);
}

int lab_pmi_start(unsigned counter, uint64_t event, uint64_t period)
{
    length = 0;
    const int e = right_pmi_start(counter, event, period);
    lab_on_pmi(add);
    return e;
}

uint64_t lab_pmi_stop(unsigned counter)
{
    (void)right_pmi_stop(counter);
    lab_on_pmi(NULL);
    return length ? list[length - 1] : 0;
}
