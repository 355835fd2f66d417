/* SPDX-License-Identifier: MIT */
/* A right program for lab 10: nothing is sorted. The ends of the interval are the differences that have so many others
 * below them. */
#define lab_measure right_measure
#include "labs/10-perturbation/solution.c"
#undef lab_measure

/* The difference of rank `rank`, from 0 up. */
static int64_t ranked(const int64_t difference[BLOCKS], uint32_t rank)
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint32_t below = 0, same = 0;
        for (uint32_t j = 0; j < BLOCKS; j++) {
            below += difference[j] < difference[i];
            same += difference[j] == difference[i];
        }
        if (below <= rank && rank < below + same)
            return difference[i];
    }
    return 0;
}

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    int64_t difference[BLOCKS];
    uint64_t plain_result = LAB_UNKNOWN;
    *report = (struct lab_report){0};
    for (uint32_t i = BLOCKS; i--;)
        difference[i] = block(machine, true, &plain_result, report);
    report->low = ranked(difference, 10);
    report->high = ranked(difference, 21);
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
