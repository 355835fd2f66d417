/* SPDX-License-Identifier: MIT */
/* Lab 10: a solution. Read it after yours has passed. */
#include "task.h"

#define BLOCKS (LAB_TRIALS / 4)

static void sort(int64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j && values[j] < values[j - 1]; j--) {
            const int64_t other = values[j];
            values[j] = values[j - 1];
            values[j - 1] = other;
        }
}

/* What is reported of single trials. */
static void take(const struct lab_trial *trial, bool traced, uint64_t plain_result, struct lab_report *report)
{
    if (trial->result != plain_result) {
        if (!traced)
            report->result = LAB_CANNOT_TELL;
        else if (report->result == LAB_SAME)
            report->result = LAB_CHANGED;
    }
    report->samples += trial->samples;
    if (traced && (trial->lost == LAB_UNKNOWN || report->lost == LAB_UNKNOWN))
        report->lost = LAB_UNKNOWN;
    else if (traced)
        report->lost += trial->lost;
}

/* Off, on, on, off, or the other way round: what grows from run to run, or comes with every second run, is in both
 * sums. */
static int64_t block(struct lab_machine *machine, bool first, uint64_t *plain_result, struct lab_report *report)
{
    const bool traced[] = {first, !first, !first, first};
    struct lab_trial trial[4];
    int64_t difference = 0;
    for (unsigned i = 0; i < 4; i++) {
        trial[i] = lab_run_trial(machine, traced[i]);
        difference += traced[i] ? (int64_t)trial[i].ticks : -(int64_t)trial[i].ticks;
        if (!traced[i] && *plain_result == LAB_UNKNOWN)
            *plain_result = trial[i].result;
    }
    for (unsigned i = 0; i < 4; i++)
        take(&trial[i], traced[i], *plain_result, report);
    return difference / 2;
}

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    int64_t difference[BLOCKS];
    uint64_t plain_result = LAB_UNKNOWN;
    *report = (struct lab_report){0};
    for (uint32_t i = 0; i < BLOCKS; i++)
        difference[i] = block(machine, i % 2, &plain_result, report);
    sort(difference, BLOCKS);
    /* The true median is between these two of 32 in 95 of 100 cases: as 11 to 21 heads in 32 throws of a coin. */
    report->low = difference[10];
    report->high = difference[21];
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
