/* SPDX-License-Identifier: MIT */
/* A right program for lab 10: all runs are made first, always in the order off, on, on, off, and judged afterwards. */
#define lab_measure right_measure
#include "labs/10-perturbation/solution.c"
#undef lab_measure

static bool is_traced(uint32_t i)
{
    return (i + 1) / 2 % 2;
}

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    static struct lab_trial trial[LAB_TRIALS];
    int64_t difference[BLOCKS];
    bool varies = false, differs = false;
    *report = (struct lab_report){.result = LAB_SAME};
    for (uint32_t i = 0; i < LAB_TRIALS; i++)
        trial[i] = lab_run_trial(machine, is_traced(i));
    for (uint32_t i = 0; i < LAB_TRIALS; i++) {
        *(is_traced(i) ? &differs : &varies) |= trial[i].result != trial[0].result;
        report->samples += trial[i].samples;
    }
    for (uint32_t i = 0; i < LAB_TRIALS && report->lost != LAB_UNKNOWN; i++)
        if (is_traced(i))
            report->lost = trial[i].lost == LAB_UNKNOWN ? LAB_UNKNOWN : report->lost + trial[i].lost;
    report->result = varies ? LAB_CANNOT_TELL : differs ? LAB_CHANGED : LAB_SAME;
    for (uint32_t i = 0; i < BLOCKS; i++)
        difference[i] =
            (int64_t)(trial[4 * i + 1].ticks + trial[4 * i + 2].ticks - trial[4 * i].ticks - trial[4 * i + 3].ticks) /
            2;
    sort(difference, BLOCKS);
    report->low = difference[10];
    report->high = difference[21];
    report->cost = report->low > 0 ? LAB_SLOWER : report->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
