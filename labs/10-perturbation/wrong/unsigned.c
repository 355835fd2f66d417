/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 10; hint: sign. The differences are unsigned. */
#define lab_measure right_lab_measure
#include "solution.c" /* what is right */
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    int64_t difference[BLOCKS];
    uint64_t plain_result = LAB_UNKNOWN;
    *report = (struct lab_report){0};
    for (uint32_t i = 0; i < BLOCKS; i++)
        difference[i] = (int64_t)((uint64_t)(2 * block(machine, i % 2, &plain_result, report)) / 2);
    sort(difference, BLOCKS);
    report->low = difference[10];
    report->high = difference[21];
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
