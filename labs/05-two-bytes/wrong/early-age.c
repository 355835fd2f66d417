/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: age. A batch is closed when it is 500 ticks old, and not when it is older. */
#define encoder_init right_encoder_init
#include "labs/05-two-bytes/solution.c"
#undef encoder_init

void encoder_init(struct encoder *e, int64_t tick)
{
    right_encoder_init(e, tick);
    e->oldest--;
}
