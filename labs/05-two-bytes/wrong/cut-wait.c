/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: wait. Cuts a long wait to 17 bits, so that 2^17 ticks become 0. */
#define encoder_switch right
#include "labs/05-two-bytes/solution.c" /* all else is right */
#undef encoder_switch

void encoder_switch(struct encoder *e, const struct cswitch *sw, int64_t time)
{
    struct cswitch cut = *sw;
    cut.new_wait &= CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS);
    right(e, &cut, time);
}
