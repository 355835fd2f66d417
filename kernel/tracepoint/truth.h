/* SPDX-License-Identifier: MIT */
/*
 * What really happened, recorded outside the sessions (truth=1): uncompressed, on the incoming side of each switch and
 * in the stepping of each record. Per CPU; memory is taken from one pool in chunks, without a lock. What finds no room
 * is counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/wire/truth.h"

struct ktruth_cpu;
struct trace_dump;

/* Room for about `switches` switches and as many PEBS records; with more than one record of the truth for each of those
 * (`per_record`, from 1), for 16 a switch, but no more than a quarter of the free memory for that. With `more`, for
 * branches and what lies between switches, a quarter of the memory that is free besides. Sets kcpu->truth of every CPU.
 * 0, -ENOMEM (one line printed). Boot processor, before recording starts. */
int ktruth_init(uint64_t switches, uint32_t per_record, bool more);

/* Where the records lie; NULL: truth=0. */
const void *ktruth_pool(void);

/* One record of CAIRN_TRUTH_BYTES. On the CPU concerned, interrupts off. */
void ktruth_write(struct ktruth_cpu *truth, const void *record);

struct ktruth_counts { uint64_t switches, records, lost; };
/* Counted anew from what is there. */
struct ktruth_counts ktruth_counts(const struct ktruth_cpu *truth);

/* Every CPU's records in order. All CPUs have stopped recording. */
void ktruth_dump(struct trace_dump *dump);
