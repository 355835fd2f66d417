/* SPDX-License-Identifier: MIT */
/* A right program for lab 10: the first eight runs only warm the machine up. They count for the rest of the report. */
#define lab_measure right_measure
#include "labs/10-perturbation/solution.c"
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    int64_t difference[BLOCKS - 2];
    uint64_t plain_result = LAB_UNKNOWN;
    *report = (struct lab_report){0};
    (void)block(machine, false, &plain_result, report);
    (void)block(machine, false, &plain_result, report);
    for (uint32_t i = 0; i < BLOCKS - 2; i++)
        difference[i] = block(machine, i & 1, &plain_result, report);
    sort(difference, BLOCKS - 2);
    report->low = difference[9];
    report->high = difference[20];
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
