/* SPDX-License-Identifier: MIT */
/* Lab 6: what the log of a boot has of one CPU: its trace, its records, and what really happened. */
#pragma once

#include "task.h"
#include "tools/cairn/log/log.h"

struct real { /* a switch of the truth */
    struct cairn_truth_switch is;
    int64_t time;
    uint32_t epoch;
    bool old_sampled, new_sampled;
};

struct drain { /* that ends epoch i */
    uint64_t tsc, base, index;
};

struct lane {
    struct trace trace;
    struct {
        struct leaving *items;
        size_t count, room;
    } switches;
    struct {
        struct batch *items;
        size_t count, room;
    } batches;
    struct {
        struct sample *items;
        size_t count, room;
    } samples;
    struct {
        uint32_t *items;
        size_t count, room;
    } culprits; /* of each sample: the thread that really caused it */
    struct {
        struct real *items;
        size_t count, room;
    } real;
    struct {
        struct drain *items;
        size_t count, room;
    } drains;
};

void lane_read(struct lane *lane, const struct cairn_log *log, uint32_t cpu);
void lane_free(struct lane *lane);

/* The check's own rule of the index (README.md). */
uint32_t lane_by_index(const struct trace *t, const struct sample *s);
