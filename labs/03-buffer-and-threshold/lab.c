/* SPDX-License-Identifier: MIT */
/*
 * Lab 3: your code. README.md has the task. Run it with: make lab N=3
 */
#include "task.h"

int lab_start(const struct sampling *s)
{
    (void)s; /* remove this line */
    return 0;
}

uint64_t lab_stop(const struct sampling *s)
{
    (void)s; /* remove this line */
    return 0;
}
