/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 10; hint: drift. All runs without tracing first, then all with it. */
#define lab_measure right_lab_measure
#include "solution.c" /* what is right */
#undef lab_measure

/* What is reported, of pairs that have been made in one order or another. */
static void finish(struct lab_trial trial[2][LAB_TRIALS / 2], struct lab_report *report)
{
    int64_t difference[LAB_TRIALS / 2];
    *report = (struct lab_report){0};
    for (uint32_t i = 0; i < LAB_TRIALS / 2; i++) {
        difference[i] = (int64_t)(trial[1][i].ticks - trial[0][i].ticks);
        take(&trial[0][i], false, trial[0][0].result, report);
        take(&trial[1][i], true, trial[0][0].result, report);
    }
    sort(difference, LAB_TRIALS / 2);
    report->low = difference[23];
    report->high = difference[40];
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    struct lab_trial trial[2][LAB_TRIALS / 2];
    for (uint32_t traced = 0; traced < 2; traced++)
        for (uint32_t i = 0; i < LAB_TRIALS / 2; i++)
            trial[traced][i] = lab_run_trial(machine, traced);
    finish(trial, report);
}
