/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: lost-none. Nobody has told of a loss, so there is none. */
#define lab_stop right_stop
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_stop

uint64_t lab_stop(const struct sampling *s)
{
    (void)right_stop(s);
    return 0;
}
