/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: samples. Only the two innermost functions are compared. */
#include "alike.h"

static bool alike(const struct lab_calls *a, const struct lab_calls *b)
{
    return a->depth == b->depth && a->symbol[0] == b->symbol[0] && (a->depth < 2 || a->symbol[1] == b->symbol[1]);
}
