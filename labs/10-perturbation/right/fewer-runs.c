/* SPDX-License-Identifier: MIT */
/* A right program for lab 10: 100 runs in 25 blocks, of which the first half begin with tracing. */
#define lab_measure right_measure
#include "labs/10-perturbation/solution.c"
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    int64_t difference[25];
    uint64_t plain_result = LAB_UNKNOWN;
    *report = (struct lab_report){0};
    for (uint32_t i = 0; i < 25; i++)
        difference[i] = block(machine, i < 12, &plain_result, report);
    sort(difference, 25);
    report->low = difference[7];
    report->high = difference[17];
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
