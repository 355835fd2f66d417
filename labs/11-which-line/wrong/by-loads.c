/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: order. The line with the most loads comes first. */
#define lab_lines right_lab_lines
#include "solution.c" /* what is right */
#undef lab_lines

uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines)
{
    const uint32_t found = right_lab_lines(accesses, count, lines);
    for (uint32_t i = 1; i < found; i++)
        for (uint32_t j = i; j && lines[j].loads > lines[j - 1].loads; j--) {
            const struct lab_line other = lines[j];
            lines[j] = lines[j - 1];
            lines[j - 1] = other;
        }
    return found;
}
