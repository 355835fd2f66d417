/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 10; hint: unknown. Where the loss is unknown, the report says that there is none. */
#define lab_measure right_lab_measure
#include "solution.c" /* what is right */
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    right_lab_measure(machine, report);
    if (report->lost == LAB_UNKNOWN)
        report->lost = 0;
}
