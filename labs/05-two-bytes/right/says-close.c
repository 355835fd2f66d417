/* SPDX-License-Identifier: MIT */
/* A right program for lab 5: encoder_close marks the batch closed only after lab_batch, and writes into a larger
 * encoder. */
#define encoder_close right_encoder_close
#define encoder_bytes right_encoder_bytes
#include "labs/05-two-bytes/solution.c"
#undef encoder_close
#undef encoder_bytes

const size_t encoder_bytes = sizeof(struct encoder) + 100;

void encoder_close(struct encoder *e, int64_t time, enum why why)
{
    if (e->used)
        lab_batch(e, e->batch.bytes, e->used, e->switches, time, why);
    e->used = 0;
    ((uint8_t *)e)[sizeof *e + 99] = 0;
}
