/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 6; hint: stamp. Takes the stamp for the address of the last record, not of the next one. */
#define by_index right
#include "labs/06-whose-sample/solution.c" /* all else is right */
#undef by_index

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    struct sample before = *s;
    before.address--;
    return right(t, &before);
}
