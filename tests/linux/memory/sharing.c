/* SPDX-License-Identifier: MIT */
/*
 * False sharing: two threads, each on a processor of its own, add to a word of their own so many times. Both words are
 * in the line `shared`, or, with "apart" as the second argument, in a line each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

_Alignas(64) volatile unsigned long shared[16];
static unsigned long times;
static unsigned distance = 1; /* in words */
static atomic_uint arrived;

static void *work(void *argument)
{
    const unsigned cpu = argument != NULL;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    arrived++;
    while (arrived < 2)
        sched_yield();
    volatile unsigned long *own = &shared[cpu * distance];
    for (unsigned long i = 0; i < times; i++)
        ++*own;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;
    times = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    if (argc > 2 && strcmp(argv[2], "apart") == 0)
        distance = 8;
    pthread_create(&other, NULL, work, (void *)1);
    work(NULL);
    pthread_join(other, NULL);
    return shared[0] == times && shared[distance] == times ? 0 : 1;
}
