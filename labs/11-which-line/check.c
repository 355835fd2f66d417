/* SPDX-License-Identifier: MIT */
/*
 * Lab 11: the check. The registers of both processors first; then records, objects and lists of accesses that are made
 * up, so that the truth is known; last a program on two processors.
 */
#include "labs/check.h"

#include "check_parts.h"
#include "labs/machine/random.h"

const char lab_title[] = "11 Which line?";

static uint64_t state;

uint32_t which_below(uint32_t limit)
{
    if (!state)
        state = (lab_seed() + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return lab_draw(&state, limit);
}

void lab_check(void)
{
    which_check_sampling();
    which_check_records();
    which_check_objects();
    which_check_lists();
    which_check_machine();
}
