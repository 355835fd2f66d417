/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: samples. A stack that is the inner part of a deeper one is taken for the same. */
#include "alike.h"

static bool alike(const struct lab_calls *a, const struct lab_calls *b)
{
    for (uint32_t i = 0; i < a->depth && i < b->depth; i++)
        if (a->symbol[i] != b->symbol[i])
            return false;
    return true;
}
