/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 1; hint: count. The number is computed from what the README says of the program. */
#define lab_stop right_stop
#include "labs/01-first-record/solution.c"
#undef lab_stop

uint32_t lab_stop(const struct sampling *s)
{
    (void)right_stop(s);
    return (uint32_t)(24 / (s->period + 1));
}
