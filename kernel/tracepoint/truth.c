/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/truth.h"

#include <stddef.h>

#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/memory/mem.h"
#include "kernel/lib/string.h"
#include "trace/frames.h"

#define CHUNK_BYTES   65536u
#define RECORDS_A_SWITCH 16u /* of PEBS, with short periods and several events */
#define CHUNK_RECORDS ((CHUNK_BYTES - 16u) / CAIRN_TRUTH_BYTES)

struct chunk {
    struct chunk *next;
    uint32_t used, reserved;
    uint8_t records[CHUNK_RECORDS][CAIRN_TRUTH_BYTES];
};
_Static_assert(sizeof(struct chunk) <= CHUNK_BYTES, "truth chunk");

struct ktruth_cpu {
    struct chunk *first, *last;
    uint64_t lost;
};

static struct ktruth_cpu cpus[MAX_CPUS];
static uint8_t *pool;
static uint32_t pool_chunks;
static uint32_t pool_next; /* first chunk not handed out */

int ktruth_init(uint64_t switches, uint32_t per_record, bool more)
{
    uint64_t free_chunks = kmem_pages_available() / (CHUNK_BYTES / ARCH_PAGE_SIZE);
    uint64_t chunks = 2 * switches / CHUNK_RECORDS + 2 * kcpu_count + 16;
    uint64_t wish = chunks + RECORDS_A_SWITCH * per_record * switches / CHUNK_RECORDS;
    if (per_record > 1 && chunks < free_chunks / 4)
        chunks = wish < free_chunks / 4 ? wish : free_chunks / 4;
    if (more)
        chunks += free_chunks / 4;
    uint64_t bytes = chunks * CHUNK_BYTES;

    pool = bytes / ARCH_PAGE_SIZE <= kmem_pages_available() ? kmem_pages_alloc(bytes / ARCH_PAGE_SIZE) : NULL;
    if (!pool) {
        kprintf("truth: %lu switches need %lu KiB, %lu KiB are free: lower switches= or give the machine more memory\n",
                (unsigned long)switches, (unsigned long)(bytes / 1024), (unsigned long)(kmem_pages_available() * 4));
        return -ENOMEM;
    }
    pool_chunks = (uint32_t)chunks;
    for (uint32_t i = 0; i < kcpu_count; i++)
        kcpu_table[i]->truth = &cpus[i];
    return 0;
}

const void *ktruth_pool(void)
{
    return pool;
}

static bool grow(struct ktruth_cpu *t)
{
    uint32_t i = __atomic_fetch_add(&pool_next, 1, __ATOMIC_RELAXED);
    if (i >= pool_chunks) {
        __atomic_fetch_sub(&pool_next, 1, __ATOMIC_RELAXED);
        return false;
    }
    struct chunk *c = (struct chunk *)(pool + (size_t)i * CHUNK_BYTES);
    c->next = NULL;
    c->used = 0;
    if (t->last)
        t->last->next = c;
    else
        t->first = c;
    t->last = c;
    return true;
}

void ktruth_write(struct ktruth_cpu *t, const void *record)
{
    if ((!t->last || t->last->used == CHUNK_RECORDS) && !grow(t)) {
        t->lost++;
        return;
    }
    struct chunk *c = t->last;
    memcpy(c->records[c->used], record, CAIRN_TRUTH_BYTES);
    /* It counts from this store on: a CPU that a panic stops before it has not written the record. */
    __atomic_store_n(&c->used, c->used + 1, __ATOMIC_RELEASE);
}

struct ktruth_counts ktruth_counts(const struct ktruth_cpu *t)
{
    struct ktruth_counts counts = { .lost = t->lost };
    for (const struct chunk *c = t->first; c; c = c->next)
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
