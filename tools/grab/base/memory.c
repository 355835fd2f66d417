/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/memory.h"

#include <stdlib.h>

#include "tools/grab/base/error.h"

void *grab_grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room ? *room * 2 : 64;
    items = reallocarray(items, *room, size);
    if (!items) {
        grab_error("not enough memory for the records; record for a shorter time, or with a longer period");
        exit(GRAB_BAD);
    }
    return items;
}
