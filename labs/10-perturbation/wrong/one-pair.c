/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 10; hint: quiet. One run with tracing and one without. */
#define lab_measure right_lab_measure
#include "solution.c" /* what is right */
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    const struct lab_trial plain = lab_run_trial(machine, false), traced = lab_run_trial(machine, true);
    *report = (struct lab_report){0};
    take(&traced, true, plain.result, report);
    report->low = report->high = (int64_t)(traced.ticks - plain.ticks);
    report->cost = report->low > 0 ? LAB_SLOWER : report->low < 0 ? LAB_FASTER : LAB_NOT_SEEN;
}
