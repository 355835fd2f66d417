/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/bytes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char *what, *of, *advice;

void cairn_memory_for(const char *command, const char *log, const char *then)
{
    what = command;
    of = log;
    advice = then;
}

_Noreturn void cairn_out_of_memory(void)
{
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&first); /* for good: of threads that decode, one says so, and exit() is for one */
    if (what)
        fprintf(stderr, "cairn %s: %s: out of memory%s\n", what, of, advice);
    else
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
        cairn_out_of_memory();
    *room = wanted;
    return grown;
}

void *cairn_alloc(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        cairn_out_of_memory();
    return memory;
}
