/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: outside. It ends the lines with one of zeros, for which there may be no room. */
#define lab_lines right_lab_lines
#include "solution.c" /* what is right */
#undef lab_lines

uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines)
{
    const uint32_t found = right_lab_lines(accesses, count, lines);
    lines[found] = (struct lab_line){0};
    return found;
}
