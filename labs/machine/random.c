/* SPDX-License-Identifier: MIT */
#include "labs/machine/random.h"

uint32_t lab_draw(uint64_t *state, uint32_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 20) % limit);
}
