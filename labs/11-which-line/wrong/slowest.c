/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: total. The slowest load of a line, not the sum of all. */
#define lab_lines right_lab_lines
#include "solution.c" /* what is right */
#undef lab_lines

uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines)
{
    const uint32_t found = right_lab_lines(accesses, count, lines);
    for (uint32_t i = 0; i < found; i++) {
        lines[i].latency = 0;
        for (uint32_t j = 0; j < count; j++)
            if (line_of(accesses[j].address) == lines[i].address && accesses[j].latency > lines[i].latency)
                lines[i].latency = accesses[j].latency;
    }
    return found;
}
