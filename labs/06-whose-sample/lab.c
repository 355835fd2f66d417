/* SPDX-License-Identifier: MIT */
/*
 * Lab 6: your code. README.md has the task. Run it with: make lab N=6
 */
#include "task.h"

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    (void)t; /* remove these lines */
    (void)s;
    return UNKNOWN;
}

uint32_t by_time(const struct trace *t, const struct sample *s)
{
    (void)t; /* remove these lines */
    (void)s;
    return UNKNOWN;
}

bool close_here(uint64_t own[OWN_WORDS], const struct moment *m)
{
    (void)own; /* remove these lines */
    (void)m;
    return false;
}
