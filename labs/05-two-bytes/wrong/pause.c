/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: age. Takes the time since the last switch for the age of the batch. */
#define encoder_switch right
#include "labs/05-two-bytes/solution.c" /* all else is right */
#undef encoder_switch

void encoder_switch(struct encoder *e, const struct cswitch *sw, int64_t time)
{
    right(e, sw, time);
    e->deadline = time + e->oldest;
}
