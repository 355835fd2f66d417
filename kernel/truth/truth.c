/* SPDX-License-Identifier: MIT */
#include "kernel/truth/truth.h"

#include <stddef.h>

#include "kernel/cpu.h"
#include "kernel/lib/string.h"
#include "kernel/tracepoint/witness.h"
#include "trace/frames.h"
#include "trace/truth/truth_frames.h"

struct chunk {
    struct chunk *next;
    uint32_t used, reserved;
    uint8_t records[KTRUTH_CHUNK_RECORDS][CAIRN_TRUTH_BYTES];
};
_Static_assert(sizeof(struct chunk) <= KTRUTH_CHUNK, "truth chunk");

static struct truth_cpu {
    struct chunk *first, *last;
    uint64_t lost;
} cpus[MAX_CPUS];
bool ktruth_kept;
static uint8_t *pool;
static uint32_t pool_chunks;
static uint32_t pool_next; /* first chunk not handed out */

void ktruth_init(void *memory, uint32_t chunks)
{
    pool = memory;
    pool_chunks = chunks;
    ktruth_kept = true;
}

const void *kwitness_memory(void)
{
    return pool;
}

static bool grow(struct truth_cpu *t)
{
    uint32_t i = __atomic_fetch_add(&pool_next, 1, __ATOMIC_RELAXED);
    if (i >= pool_chunks) {
        __atomic_fetch_sub(&pool_next, 1, __ATOMIC_RELAXED);
        return false;
    }
    struct chunk *c = (struct chunk *)(pool + (size_t)i * KTRUTH_CHUNK);
    c->next = NULL;
    c->used = 0;
    if (t->last)
        t->last->next = c;
    else
        t->first = c;
    t->last = c;
    return true;
}

void ktruth_write(uint32_t cpu, const void *record)
{
    struct truth_cpu *t = &cpus[cpu];
    if ((!t->last || t->last->used == KTRUTH_CHUNK_RECORDS) && !grow(t)) {
        t->lost++;
        return;
    }
    struct chunk *c = t->last;
    memcpy(c->records[c->used], record, CAIRN_TRUTH_BYTES);
    /* It counts from this store on: a CPU that a panic stops before it has not written the record. */
    __atomic_store_n(&c->used, c->used + 1, __ATOMIC_RELEASE);
}

struct ktruth_counts ktruth_counts(uint32_t cpu)
{
    struct ktruth_counts counts = {.lost = cpus[cpu].lost};
    for (const struct chunk *c = cpus[cpu].first; c; c = c->next)
        for (uint32_t i = 0; i < c->used; i++)
            if (c->records[i][0] == CAIRN_TRUTH_SWITCH)
                counts.switches++;
            else
                counts.records++;
    return counts;
}

void ktruth_dump(struct trace_dump *dump)
{
    for (uint32_t cpu = 0; cpu < kcpu_count; cpu++) {
        uint32_t first = 0;
        for (const struct chunk *c = cpus[cpu].first; c; c = c->next) {
            trace_dump_truth(dump, (uint16_t)cpu, first, c->records, c->used);
            first += c->used;
        }
    }
}
