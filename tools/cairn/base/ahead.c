/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity */
#include "tools/cairn/base/ahead.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"

#define STAY         2u           /* blocks that the taker may look at */
#define THREAD_STACK (256u << 10) /* a few frames, and little else */
#define HELPERS_MOST 63u

struct cairn_ahead {
    struct cairn_source *const *source;
    uint32_t sources, helpers;
    uint32_t idle;        /* helpers that wait for room */
    bool waiting, over;   /* the taker waits for a block; nobody takes any more */
    pthread_mutex_t lock; /* of all of this, and of the sources' `made` to `ended` */
    pthread_cond_t block, room;
    pthread_t thread[HELPERS_MOST];
};

uint32_t cairn_helpers(void)
{
    cpu_set_t cores;
    const uint32_t count = sched_getaffinity(0, sizeof(cores), &cores) ? 1 : (uint32_t)CPU_COUNT(&cores);
    return count - 1 < HELPERS_MOST ? count - 1 : HELPERS_MOST;
}

static void *block_of(const struct cairn_source *s, uint32_t number)
{
    return s->blocks + (size_t)s->bytes * (number % s->room);
}

/* Its next block; false: there is none. */
static bool make(struct cairn_source *s)
{
    if (!s->ended && s->make(s->context, block_of(s, s->made)))
        s->made++;
    else
        s->ended = true;
    return !s->ended;
}

/* The same while others go on. The lock is held before and after. */
static void make_unlocked(struct cairn_ahead *a, struct cairn_source *s)
{
    s->busy = true;
    pthread_mutex_unlock(&a->lock);
    const bool more = s->make(s->context, block_of(s, s->made));
    pthread_mutex_lock(&a->lock);
    s->made += more;
    s->ended = !more;
    s->busy = false;
    if (a->waiting)
        pthread_cond_signal(&a->block);
}

static uint32_t room_of(const struct cairn_source *s)
{
    return s->busy || s->ended ? 0 : s->room - STAY - (s->made - s->taken);
}

/* A source that has room for a block, NULL: none. The one that is in most need comes first. */
static struct cairn_source *in_need(const struct cairn_ahead *a)
{
    struct cairn_source *found = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < a->sources; i++)
        if (room_of(a->source[i]) > most) {
            found = a->source[i];
            most = room_of(found);
        }
    return found;
}

static void *help(void *ahead)
{
    struct cairn_ahead *a = ahead;
    struct cairn_source *s;
    pthread_mutex_lock(&a->lock);
    while (!a->over) {
        if ((s = in_need(a)) != NULL) {
            make_unlocked(a, s);
            continue;
        }
        a->idle++;
        pthread_cond_wait(&a->room, &a->lock);
        a->idle--;
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct cairn_ahead *cairn_ahead_new(struct cairn_source *const *source, uint32_t sources, uint32_t helpers)
{
    if (!helpers || !sources)
        return NULL;
    struct cairn_ahead *a = cairn_alloc(sizeof(*a));
    pthread_attr_t small;
    a->source = source;
    a->sources = sources;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->block, NULL);
    pthread_cond_init(&a->room, NULL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, THREAD_STACK);
    while (a->helpers < helpers && a->helpers < HELPERS_MOST &&
           pthread_create(&a->thread[a->helpers], &small, help, a) == 0)
        a->helpers++; /* where there is no room for more, the others do the work */
    pthread_attr_destroy(&small);
    return a;
}

void *cairn_ahead_next(struct cairn_ahead *a, struct cairn_source *s)
{
    if (!a)
        return make(s) ? block_of(s, s->taken++) : NULL;
    pthread_mutex_lock(&a->lock);
    while (s->made == s->taken && !s->ended) {
        struct cairn_source *due = s->busy ? in_need(a) : s;
        if (due) {
            make_unlocked(a, due);
            continue;
        }
        a->waiting = true;
        pthread_cond_wait(&a->block, &a->lock);
        a->waiting = false;
    }
    void *block = s->made == s->taken ? NULL : block_of(s, s->taken++);
    /* Waking somebody costs more than making a block: only for several at a time. */
    if (a->idle && 2 * room_of(s) >= s->room)
        pthread_cond_signal(&a->room);
    pthread_mutex_unlock(&a->lock);
    return block;
}

void cairn_ahead_free(struct cairn_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->over = true;
    pthread_cond_broadcast(&a->room);
    pthread_mutex_unlock(&a->lock);
    while (a->helpers)
        pthread_join(a->thread[--a->helpers], NULL);
    pthread_cond_destroy(&a->room);
    pthread_cond_destroy(&a->block);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
