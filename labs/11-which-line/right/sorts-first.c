/* SPDX-License-Identifier: MIT */
/* A right program for lab 11: lab_lines takes the lowest address that is left, and puts the line where it belongs. */
#define lab_lines right_lines
#include "labs/11-which-line/solution.c"
#undef lab_lines

static bool lowest_line(const struct lab_access *accesses, uint32_t count, uint64_t from, uint64_t *line)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t address = line_of(accesses[i].address);
        if (address < from || (any && address >= *line))
            continue;
        *line = address;
        any = true;
    }
    return any;
}

uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines)
{
    uint32_t found = 0;
    for (uint64_t line = 0; lowest_line(accesses, count, line, &line); line += LAB_LINE_BYTES) {
        struct lab_line sum = {.address = line};
        for (uint32_t i = 0; i < count; i++) {
            const bool here = accesses[i].address / LAB_LINE_BYTES == line / LAB_LINE_BYTES;
            sum.latency += here ? accesses[i].latency : 0;
            sum.loads += here && accesses[i].load;
            sum.stores += here && accesses[i].store;
            sum.changed += here && accesses[i].source == LAB_OTHER_CORE;
        }
        uint32_t at = found++;
        for (; at && lines[at - 1].latency < sum.latency; at--)
            lines[at] = lines[at - 1];
        lines[at] = sum;
    }
    return found;
}
