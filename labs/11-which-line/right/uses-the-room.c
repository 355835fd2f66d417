/* SPDX-License-Identifier: MIT */
/* A right program for lab 11: lab_lines fills its memory with all accesses first, each a line of its own, and joins
 * them then. */
#define lab_lines right_lines
#include "labs/11-which-line/solution.c"
#undef lab_lines

uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        lines[i] = (struct lab_line){line_of(accesses[i].address), accesses[i].latency, accesses[i].load,
                                     accesses[i].store, accesses[i].source == LAB_OTHER_CORE};
    for (uint32_t i = 0; i < count; i++) {
        const struct lab_line line = lines[i];
        struct lab_line *to = find(lines, &found, line.address);
        to->latency += line.latency;
        to->loads += line.loads;
        to->stores += line.stores;
        to->changed += line.changed;
    }
    for (uint32_t sorted = 0; sorted < found; sorted++) /* the best of the rest comes next */
        for (uint32_t i = sorted + 1; i < found; i++)
            if (before(&lines[i], &lines[sorted])) {
                const struct lab_line other = lines[i];
                lines[i] = lines[sorted];
                lines[sorted] = other;
            }
    return found;
}
