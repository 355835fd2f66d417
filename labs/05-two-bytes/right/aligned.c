/* SPDX-License-Identifier: MIT */
/* A right program for lab 5: decode copies the batch to aligned memory, and decodes it there. */
#define decode right_decode
#include "labs/05-two-bytes/solution.c"
#undef decode

uint32_t decode(const uint8_t *batch, uint32_t bytes, struct decoded *out, uint32_t room)
{
    static uint64_t copy[1024];
    const uint32_t n = bytes < sizeof copy ? bytes : (uint32_t)sizeof copy;
    for (uint32_t i = 0; i < n; i++)
        ((uint8_t *)copy)[i] = batch[i];
    return right_decode((const uint8_t *)copy, n, out, room);
}
