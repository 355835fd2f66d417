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

struct ktruth_cpu;
struct trace_dump;

/* Memory for the truth comes in chunks of KTRUTH_CHUNK bytes. */
#define KTRUTH_CHUNK         65536u
#define KTRUTH_CHUNK_RECORDS ((KTRUTH_CHUNK - 16u) / CAIRN_TRUTH_BYTES)
/* The truth has `chunks` of zeroed memory. Sets kcpu->truth of every CPU. Boot processor, before recording starts. */
void ktruth_init(void *memory, uint32_t chunks);

/* Where the records lie; NULL: truth=0. */
const void *ktruth_pool(void);

/* One record of CAIRN_TRUTH_BYTES. On the CPU concerned, interrupts off. */
void ktruth_write(struct ktruth_cpu *truth, const void *record);

struct ktruth_counts {
    uint64_t switches, records, lost;
};
/* Counted anew from what is there. */
struct ktruth_counts ktruth_counts(const struct ktruth_cpu *truth);

/* Every CPU's records in order. All CPUs have stopped recording. */
void ktruth_dump(struct trace_dump *dump);
