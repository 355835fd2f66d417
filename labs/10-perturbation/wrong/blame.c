/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 10; hint: by-itself. Whatever differs is due to tracing. */
#define lab_measure right_lab_measure
#include "solution.c" /* what is right */
#undef lab_measure

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    right_lab_measure(machine, report);
    if (report->result == LAB_CANNOT_TELL)
        report->result = LAB_CHANGED;
}
