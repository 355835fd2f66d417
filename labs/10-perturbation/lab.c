/* SPDX-License-Identifier: MIT */
/*
 * Lab 10: your code. README.md has the task. Run it with: make lab N=10
 */
#include "task.h"

void lab_measure(struct lab_machine *machine, struct lab_report *report)
{
    (void)machine, (void)report; /* remove this line */
}
