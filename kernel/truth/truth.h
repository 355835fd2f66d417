/* SPDX-License-Identifier: MIT */
/*
 * What really happened, recorded outside the sessions (truth=1): uncompressed, on the incoming side of each switch and
 * when each record is stepped. Each CPU takes memory from one pool in chunks, without a lock. What finds no room is
 * counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/wire/truth.h"

struct trace_dump;

extern uint32_t ktruth_wanted; /* the option */
extern bool ktruth_kept;       /* it is, from ktruth_init on */

/* Memory for the truth comes in chunks of KTRUTH_CHUNK bytes. */
#define KTRUTH_CHUNK         65536u
#define KTRUTH_CHUNK_RECORDS ((KTRUTH_CHUNK - 16u) / CAIRN_TRUTH_BYTES)
/* How much memory it gets. 0, or -ENOMEM with one line printed. Boot processor, before recording starts. */
int ktruth_reserve(void);
/* The truth has `chunks` of zeroed memory: it is kept. */
void ktruth_init(void *memory, uint32_t chunks);

/* One record of CAIRN_TRUTH_BYTES, of CPU `cpu`. On that CPU, interrupts off, where the truth is kept. */
void ktruth_write(uint32_t cpu, const void *record);

struct ktruth_counts {
    uint64_t switches, records, lost;
};
/* Counted anew from what is there. */
struct ktruth_counts ktruth_counts(uint32_t cpu);

/* Every CPU's records in order. All CPUs have stopped recording. */
void ktruth_dump(struct trace_dump *dump);

/* The Debug Store's hooks for it (kernel/truth/records.c). */
struct ds_hooks;
void ktruth_hooks(struct ds_hooks *hooks);
/* An instruction of the thread that runs on `cpu` was stepped. */
void ktruth_retired(uint32_t cpu, bool branch);
