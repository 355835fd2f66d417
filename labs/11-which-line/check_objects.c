/* SPDX-License-Identifier: MIT */
/* Lab 11: addresses in objects, at their edges and between them. */
#include "labs/check.h"

#include "check_parts.h"

#define OBJECTS 12u
#define LISTS   40u

int which_judge_object(const struct lab_object *objects, uint32_t count, uint64_t address, uint64_t *offset)
{
    int right = -1;
    for (uint32_t i = 0; i < count; i++)
        if (address >= objects[i].address && address <= objects[i].address + objects[i].bytes - 1)
            right = (int)i;
    *offset = 0x5EED;
    const int given = lab_find_object(objects, count, address, offset);
    if (given != right)
        lab_fail("object",
                 "An address is in an object if it is not below the object's address, and less than `bytes` above it. "
                 "The next object may begin right there.",
                 TASK, "lab_find_object returns %d for 0x%lx; expected %d, %s", given, (unsigned long)address, right,
                 right < 0 ? "as no object has it" : objects[right].name);
    if (*offset != (right < 0 ? 0x5EED : address - objects[right].address))
        lab_fail("offset", "The offset is the distance from the object's first byte. If there is no object, leave it.",
                 TASK, "the offset of 0x%lx is 0x%lx; expected %s0x%lx", (unsigned long)address, (unsigned long)*offset,
                 right < 0 ? "that it stays " : "",
                 right < 0 ? 0x5EEDul : (unsigned long)(address - objects[right].address));
    return right;
}

static void check_list(void)
{
    struct lab_object o[OBJECTS];
    uint64_t at = (uint64_t)(which_below(2) ? 0xFFFF8000 : 0x7F00) << 32, unused;
    const uint32_t first = which_below(OBJECTS);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        at += which_below(2) ? 0 : which_below(200);
        o[(first + 5 * i) % OBJECTS] =
            (struct lab_object){.name = "an object of the check", .address = at, .bytes = 1 + which_below(300)};
        at += o[(first + 5 * i) % OBJECTS].bytes;
    }
    for (uint32_t i = 0; i < OBJECTS; i++) {
        const uint64_t places[] = {0, o[i].bytes - 1, o[i].bytes, UINT64_MAX, which_below((uint32_t)o[i].bytes)};
        for (uint32_t j = 0; j < sizeof places / sizeof places[0]; j++)
            (void)which_judge_object(o, OBJECTS, o[i].address + places[j], &unused);
    }
}

void which_check_objects(void)
{
    uint64_t unused;
    for (uint32_t i = 0; i < LISTS; i++)
        check_list();
    (void)which_judge_object(NULL, 0, 1, &unused);
    lab_pass("objects", "%u lists of %u objects", LISTS, OBJECTS);
}
