/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 7; hint: btint. BTINT is set, which makes a buffer of the ring. */
#define lab_start right_lab_start
#include "solution.c" /* what is right */
#undef lab_start

uint64_t lab_start(const struct tracing *t)
{
    return right_lab_start(t) | IA32_DEBUGCTL_BTINT;
}
