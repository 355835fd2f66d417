/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: object. The byte behind an object is taken for its last one. */
#define lab_find_object right_lab_find_object
#include "solution.c" /* what is right */
#undef lab_find_object

int lab_find_object(const struct lab_object *objects, uint32_t count, uint64_t address, uint64_t *offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (address >= objects[i].address && address <= objects[i].address + objects[i].bytes) {
            *offset = address - objects[i].address;
            return (int)i;
        }
    return -1;
}
