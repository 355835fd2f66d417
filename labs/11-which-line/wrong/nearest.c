/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: object. The object before the address, however long it is. */
#define lab_find_object right_lab_find_object
#include "solution.c" /* what is right */
#undef lab_find_object

int lab_find_object(const struct lab_object *objects, uint32_t count, uint64_t address, uint64_t *offset)
{
    int nearest = -1;
    for (uint32_t i = 0; i < count; i++)
        if (address >= objects[i].address && (nearest < 0 || objects[i].address > objects[nearest].address))
            nearest = (int)i;
    if (nearest >= 0)
        *offset = address - objects[nearest].address;
    return nearest;
}
