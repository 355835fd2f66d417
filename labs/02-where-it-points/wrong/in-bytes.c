/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: skid. Counts bytes. */
#define lab_skid right_skid
#include "labs/02-where-it-points/solution.c"
#undef lab_skid

int32_t lab_skid(const struct lab_path *path, uint32_t event, uint64_t address)
{
    return right_skid(path, event, address) < 0 ? -1 : (int32_t)(address - path->instruction[event]);
}
