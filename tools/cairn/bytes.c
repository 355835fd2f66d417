/* SPDX-License-Identifier: MIT */
#include "tools/cairn/bytes.h"

#include <stdio.h>
#include <stdlib.h>

static _Noreturn void no_memory(void)
{
    fputs("cairn: out of memory\n", stderr);
    exit(3);
}

void *cairn_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    size_t wanted = *room + *room / 2 + 16;
    void *grown = reallocarray(array, wanted, size);
    if (!grown)
        no_memory();
    *room = wanted;
    return grown;
}

void *cairn_alloc(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        no_memory();
    return memory;
}
