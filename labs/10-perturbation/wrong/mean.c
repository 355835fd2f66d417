/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 10; hint: outliers. The mean of the differences, and two of its standard deviations. */
#define lab_measure right_lab_measure
#include "solution.c" /* what is right */
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    int64_t difference[BLOCKS], mean = 0, squares = 0, error = 0;
    uint64_t plain_result = LAB_UNKNOWN;
    *report = (struct lab_report){0};
    for (uint32_t i = 0; i < BLOCKS; i++) {
        difference[i] = block(machine, i % 2, &plain_result, report);
        mean += difference[i];
    }
    mean /= BLOCKS;
    for (uint32_t i = 0; i < BLOCKS; i++)
        squares += (difference[i] - mean) * (difference[i] - mean);
    while (error * error < 4 * squares / (BLOCKS * (BLOCKS - 1)))
        error++;
    report->low = mean - error;
    report->high = mean + error;
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
