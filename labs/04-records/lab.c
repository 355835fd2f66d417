/* SPDX-License-Identifier: MIT */
/*
 * Lab 4: your code. README.md has the task. Run it with: make lab N=4
 */
#include "task.h"

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    (void)format; /* remove these lines */
    (void)bytes;
    (void)left;
    (void)r;
    return 0;
}
