/* SPDX-License-Identifier: MIT */
/* A right program for lab 10: a pseudo-random number draws for each block which of its two orders it has. */
#define lab_measure right_measure
#include "labs/10-perturbation/solution.c"
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    static uint64_t lot = 1;
    int64_t difference[BLOCKS];
    uint64_t plain_result = LAB_UNKNOWN;
    *report = (struct lab_report){0};
    for (uint32_t i = 0; i < BLOCKS; i++) {
        lot = lot * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        difference[i] = block(machine, lot >> 63, &plain_result, report);
    }
    sort(difference, BLOCKS);
    report->low = difference[10];
    report->high = difference[21];
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
