/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: lost. Takes each record for one of 200 bytes, as on a Skylake. */
#define lab_start right_start
#define lab_stop  right_stop
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start
#undef lab_stop

static struct sampling large;

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    large = *s;
    large.record_bytes = 200;
    now = &large;
    return e;
}

uint64_t lab_stop(const struct sampling *s)
{
    return right_stop(s);
}
