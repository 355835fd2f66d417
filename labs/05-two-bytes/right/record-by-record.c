/* SPDX-License-Identifier: MIT */
/* A right program for lab 5: decode passes each record alone to the decoder, behind the header. */
#define decode right_decode
#include "labs/05-two-bytes/solution.c"
#undef decode

uint32_t decode(const uint8_t *batch, uint32_t bytes, struct decoded *out, uint32_t room)
{
    uint8_t one[sizeof(struct ccswap_buffer) + 8];
    uint32_t at = sizeof(struct ccswap_buffer), n = 0;
    int64_t first, time;
    if (bytes < at)
        return DECODE_BAD;
    for (uint32_t i = 0; i < at; i++)
        one[i] = batch[i];
    for (uint32_t i = 0; i < 8; i++)
        ((uint8_t *)&first)[i] = batch[i];
    for (time = first; at < bytes && n < room; n++) {
        const uint32_t size = ccswap_record_bytes(batch[at]);
        if (at + size > bytes)
            return DECODE_BAD;
        for (uint32_t i = 0; i < size; i++)
            one[sizeof(struct ccswap_buffer) + i] = batch[at + i];
        if (right_decode(one, (uint32_t)sizeof(struct ccswap_buffer) + size, &out[n], 1) != 1)
            return DECODE_BAD;
        time += out[n].time - first;
        out[n].time = time;
        at += size;
    }
    return n;
}
