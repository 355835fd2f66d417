/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: int. INT is set, as in lab 2. */
#define lab_count right_count
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_count

int lab_count(unsigned counter, uint64_t event, unsigned rings)
{
    return right_count(counter, event | IA32_PERFEVTSEL_INT, rings);
}
