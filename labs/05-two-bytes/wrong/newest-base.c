/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: priority. Keeps the newest base priority of a thread, not the first one. */
#define encoder_switch right
#include "labs/05-two-bytes/solution.c" /* all else is right */
#undef encoder_switch

void encoder_switch(struct encoder *e, const struct cswitch *sw, int64_t time)
{
    if (e->used && sw->old_tid && find(e, sw->old_tid) < e->tids)
        e->batch.header.thread_base_priority[find(e, sw->old_tid)] = sw->old_base;
    right(e, sw, time);
}
