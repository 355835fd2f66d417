/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: line. Every address has a line of its own. */
#define lab_lines right_lab_lines
#include "solution.c" /* what is right */
#undef lab_lines

uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct lab_line *line = find(lines, &found, accesses[i].address);
        line->latency += accesses[i].latency;
        line->loads += accesses[i].load;
        line->stores += accesses[i].store;
        line->changed += accesses[i].source == LAB_OTHER_CORE;
    }
    return found;
}
