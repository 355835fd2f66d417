/* SPDX-License-Identifier: MIT */
/* Little-endian loads from any address (the host must be little-endian), and growing arrays. If no memory is left, the
 * program ends. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the trace is read as it lies in memory");

static inline uint16_t cairn_get16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint32_t cairn_get32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint64_t cairn_get64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* For whom memory is wanted from now on, to be told where there is none: a command, the name of a log, and words that
 * follow: what to do. All of them stay. */
void cairn_memory_for(const char *command, const char *log, const char *then);
/* Says so, and ends the program with status 3. */
_Noreturn void cairn_out_of_memory(void);

/* Makes room for element `count` (elements of `size` bytes); the array grows by half. Ends the program with status 3
 * where there is no memory: nothing here can go on without, and sizes are bounded by the input's. */
void *cairn_grow(void *array, size_t count, size_t *room, size_t size);
void *cairn_alloc(size_t size); /* zeroed; the same end */

/* Appends one zeroed element and returns it. */
#define CAIRN_ADD(list)                                                                                                \
    ((list).items = cairn_grow((list).items, (list).count, &(list).room, sizeof(*(list).items)),                       \
     memset(&(list).items[(list).count++], 0, sizeof(*(list).items)), &(list).items[(list).count - 1])
