/* SPDX-License-Identifier: MIT */
/* A right program for lab 11: lab_shared keeps for each byte of the line who uses it and who stores there. */
#define lab_shared right_shared
#include "labs/11-which-line/solution.c"
#undef lab_shared

enum lab_sharing lab_shared(const struct lab_access *accesses, uint32_t count, uint64_t line)
{
    struct {
        uint32_t users, writers;
    } byte[LAB_LINE_BYTES] = {0}, all = {0};
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t offset = accesses[i].address - line;
        if (offset >= LAB_LINE_BYTES)
            continue;
        byte[offset].users |= 1u << accesses[i].cpu;
        byte[offset].writers |= accesses[i].store ? 1u << accesses[i].cpu : 0;
        all.users |= byte[offset].users;
        all.writers |= byte[offset].writers;
    }
    if (!all.writers || !(all.users & (all.users - 1)))
        return LAB_NOT_SHARED;
    for (uint32_t i = 0; i < LAB_LINE_BYTES; i++)
        if (byte[i].writers && byte[i].users & (byte[i].users - 1))
            return LAB_TRUE_SHARING;
    return LAB_FALSE_SHARING;
}
