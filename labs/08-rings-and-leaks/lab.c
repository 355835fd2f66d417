/* SPDX-License-Identifier: MIT */
/*
 * Lab 8: your code. README.md has the task. Run it with: make lab N=8
 */
#include "task.h"

int lab_count(unsigned counter, uint64_t event, unsigned rings)
{
    (void)counter, (void)event, (void)rings; /* remove this line */
    return 0;
}

bool lab_scrub(unsigned format, uint8_t *record)
{
    (void)format, (void)record; /* remove this line */
    return true;
}

enum lab_fitness lab_ds_memory(uint64_t address, uint64_t bytes)
{
    (void)address, (void)bytes; /* remove this line */
    return LAB_FIT;
}
