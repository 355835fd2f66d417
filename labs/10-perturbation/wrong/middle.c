/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 10; hint: claim. The claim is that of the middle of the interval. */
#define lab_measure right_lab_measure
#include "solution.c" /* what is right */
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    right_lab_measure(machine, report);
    report->cost = report->low + report->high > 0 ? LAB_SLOWER : LAB_FASTER;
}
