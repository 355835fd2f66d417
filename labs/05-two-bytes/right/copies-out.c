/* SPDX-License-Identifier: MIT */
/* A right program for lab 5: a batch is copied before it is given away, and its own memory is overwritten. */
#include "task.h"

static void give(struct encoder *e, void *batch, uint32_t bytes, uint32_t switches, int64_t time, enum why why)
{
    static uint8_t copy[CCSWAP_BATCH_BYTES];
    for (uint32_t i = 0; i < bytes; i++) {
        copy[i] = ((uint8_t *)batch)[i];
        ((uint8_t *)batch)[i] = 0xFF;
    }
    lab_batch(e, copy, bytes, switches, time, why);
}

#define lab_batch give
#include "labs/05-two-bytes/solution.c"
