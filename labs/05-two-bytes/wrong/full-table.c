/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: tids. Closes the batch as soon as the table is full, also for a thread that is in
 * it. */
#define encoder_switch right
#include "labs/05-two-bytes/solution.c" /* all else is right */
#undef encoder_switch

void encoder_switch(struct encoder *e, const struct cswitch *sw, int64_t time)
{
    if (e->used && sw->old_tid && e->tids == CCSWAP_TIDS)
        encoder_close(e, time, WHY_TIDS);
    right(e, sw, time);
}
