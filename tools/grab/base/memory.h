/* SPDX-License-Identifier: MIT */
/* Arrays that grow. Without memory the program ends. */
#pragma once

#include <stddef.h>

/* The array, with room for one item more than `count` at least. */
void *grab_grow(void *items, size_t count, size_t *room, size_t size);

/* The place of one more item. */
#define GRAB_ADD(items, count, room)                                                                                   \
    ((items) = grab_grow(items, count, &(room), sizeof(*(items))), (void *)&(items)[(count)++])
