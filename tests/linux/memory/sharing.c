/* SPDX-License-Identifier: MIT */
/*
 * False sharing: two threads, each on a processor of its own, add to a word of their own, eight times in each of so
 * many turns, which they take one after the other. Both words are in the line `shared`, or, with "apart" as the second
 * argument, in a line each. The kernel passes the turns on (pipes), so nothing else of the program is shared. On paper:
 * at each turn the other one has just changed the line.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Alignas(64) volatile unsigned long shared[16];
static unsigned long turns;
static unsigned distance = 1; /* in words */
static int pipes[2][2];       /* by who reads */

static void *work(void *argument)
{
    const unsigned cpu = argument != NULL;
    volatile unsigned long *own = &shared[cpu * distance];
    const unsigned long n = turns;
    cpu_set_t set;
    char token;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (unsigned long i = 0; i < n; i++) {
        while (read(pipes[cpu][0], &token, 1) != 1)
            ; /* to wait would be a context switch, where counters start anew */
        for (unsigned add = 0; add < 8; add++)
            ++*own;
        if (write(pipes[!cpu][1], &token, 1) != 1)
            abort();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;
    turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    if (argc > 2 && strcmp(argv[2], "apart") == 0)
        distance = 8;
    if (pipe2(pipes[0], O_NONBLOCK) || pipe2(pipes[1], O_NONBLOCK) || write(pipes[0][1], "", 1) != 1)
        return 2;
    pthread_create(&other, NULL, work, (void *)1);
    work(NULL);
    pthread_join(other, NULL);
    return shared[0] == 8 * turns && shared[distance] == 8 * turns ? 0 : 1;
}
