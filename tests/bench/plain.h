/* SPDX-License-Identifier: MIT */
/* The least that reading switches can be: batches that lie in memory are decoded record by record, and merged by time.
 * No file, no frames, no checks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/limits.h"
#include "trace/wire/format.h"

struct plain_switch {
    int64_t time;
    uint32_t old_tid, new_tid, wait;
    uint8_t form, state, priority, cpu;
};

struct plain_cpu {
    uint8_t *batches; /* each with its size in front, 4 bytes; 8 bytes more than they need lie behind */
    size_t size, room;
    /* where it is */
    const uint8_t *at, *next, *end, *batch;
    struct plain_switch now, ahead;
    uint64_t time;
    int more;
};

struct plain {
    struct plain_cpu cpu[MAX_CPUS];
    uint32_t cpus;
};

void plain_add(struct plain_cpu *cpu, const uint8_t *batch, uint32_t size);
/* Reads all of it, in the order of time. Returns how many switches there are; `sum` of something of each. */
uint64_t plain_read(struct plain *plain, uint64_t *sum);
