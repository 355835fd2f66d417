/* SPDX-License-Identifier: MIT */
/* A right program for lab 11: lab_find_object looks at the last object first, and writes the offset only if it is
 * there. */
#define lab_find_object right_find_object
#include "labs/11-which-line/solution.c"
#undef lab_find_object

int lab_find_object(const struct lab_object *objects, uint32_t count, uint64_t address, uint64_t *offset)
{
    while (count-- > 0)
        if (address >= objects[count].address && address <= objects[count].address + (objects[count].bytes - 1)) {
            *offset = address % objects[count].address; /* the object is shorter than its address */
            return (int)count;
        }
    return -1;
}
