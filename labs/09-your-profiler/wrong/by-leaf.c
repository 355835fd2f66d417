/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: samples. Stacks of the same depth and the same innermost function are taken for the
 * same. */
#include "alike.h"

static bool alike(const struct lab_calls *a, const struct lab_calls *b)
{
    return a->depth == b->depth && a->symbol[0] == b->symbol[0];
}
