/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/clock.h"

#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "tools/grab/base/memory.h"

#define TRIES 32 /* the one with the smallest window is kept: an interrupt makes it large */

uint64_t grab_clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t read_tsc(void)
{
    _mm_lfence();
    const uint64_t tsc = __rdtsc();
    _mm_lfence();
    return tsc;
}

void grab_clock_take(struct grab_clock *c)
{
    struct grab_pair best = {.window = UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = read_tsc(), time = grab_clock_now(), after = read_tsc();
        if (after - before < best.window)
            best = (struct grab_pair){before + (after - before) / 2, time, after - before};
    }
    if (c->count && (best.time <= c->pairs[c->count - 1].time || best.tsc <= c->pairs[c->count - 1].tsc))
        return;
    *(struct grab_pair *)GRAB_ADD(c->pairs, c->count, c->room) = best;
}

static uint64_t between(const struct grab_pair *a, const struct grab_pair *b, uint64_t time)
{
    const __int128 cycles = (__int128)(b->tsc - a->tsc) * (int64_t)(time - a->time);
    return a->tsc + (uint64_t)(int64_t)(cycles / (int64_t)(b->time - a->time));
}

uint64_t grab_clock_tsc(const struct grab_clock *c, uint64_t time)
{
    size_t low = 0, high = c->count - 2; /* the line that begins at one of these */
    while (low < high) {
        const size_t middle = (low + high + 1) / 2;
        if (c->pairs[middle].time <= time)
            low = middle;
        else
            high = middle - 1;
    }
    return between(&c->pairs[low], &c->pairs[low + 1], time);
}

uint64_t grab_clock_hz(const struct grab_clock *c)
{
    const struct grab_pair *first = &c->pairs[0], *last = &c->pairs[c->count - 1];
    return (uint64_t)((unsigned __int128)(last->tsc - first->tsc) * 1000000000u / (last->time - first->time));
}

uint64_t grab_clock_error(const struct grab_clock *c)
{
    uint64_t window = 0, off = 0;
    for (size_t i = 0; i < c->count; i++) {
        window = c->pairs[i].window > window ? c->pairs[i].window : window;
        if (!i || i + 1 == c->count)
            continue;
        const uint64_t line = between(&c->pairs[i - 1], &c->pairs[i + 1], c->pairs[i].time), tsc = c->pairs[i].tsc;
        const uint64_t distance = line > tsc ? line - tsc : tsc - line;
        off = distance > off ? distance : off;
    }
    return (uint64_t)((unsigned __int128)(window / 2 + off) * 1000000000u / grab_clock_hz(c)) + 1;
}

void grab_clock_free(struct grab_clock *c)
{
    free(c->pairs);
    *c = (struct grab_clock){0};
}
