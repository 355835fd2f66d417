/* SPDX-License-Identifier: MIT */
/*
 * For the tests of trace/: a decoder that shares nothing with the encoder. It is written from the description of the
 * bytes (docs/reference/format.md), with numbers instead of format.h's names, slow and plain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/hub.h"
#include "trace/session_inside.h"

struct naive_event {
    uint16_t hook;
    uint8_t version;
    bool has_index;
    uint64_t index;
    int64_t time;
    const uint8_t *payload;
    uint32_t size; /* of the payload */
};

/* The event at `*at` of a buffer; moves `*at` to the next. False at the end; *ok is false where the bytes make no
 * sense. */
bool naive_next(const uint8_t *buffer, uint32_t *at, struct naive_event *event, bool *ok);

/* The same, passing over a session's own acknowledgements. */
bool naive_other(const uint8_t *buffer, uint32_t *at, struct naive_event *event, bool *ok);

#define NAIVE_UNKNOWN 0xFFFFFFFFu

struct naive_record {
    unsigned type; /* 0 idle short, 1 idle, 2 lite, 3 full */
    int64_t time;
    uint32_t tid;
    unsigned state;  /* idle thread: NAIVE_UNKNOWN */
    unsigned reason; /* unless waiting: NAIVE_UNKNOWN */
    int priority;
    uint32_t wait; /* not in full: NAIVE_UNKNOWN */
};

/* Records of one 0525H payload; their number, or -1 where it makes no sense. */
int naive_batch(const uint8_t *payload, uint32_t size, struct naive_record *out, unsigned room);

/* What a session writes of switches, in words of these tests. */
enum box_events { BOX_COMPACT = 1, BOX_FULL = 2 };
struct perfinfo_groupmask box_masks(unsigned events);

/* Hubs and one session. 2.56 GHz TSC, so that one clock unit is 256 cycles exactly, from TSC 0. */
#define BOX_UNIT 256u
struct box {
    struct trace_config config;
    struct trace_clocks clocks;
    struct trace_session *session;
    struct trace_hub_cpu *hub; /* [config.cpus] */
    void *memory;              /* of all of them, the session's first */
    size_t size;
};
void box_open(struct box *box, uint32_t cpus, unsigned events, bool circular, uint32_t buffers, uint32_t buffer_bytes);
/* The same, sequential and live: trace/live/live_buffers.h. */
void box_open_live(struct box *box, uint32_t cpus, unsigned events, uint32_t buffers, uint32_t buffer_bytes);
void box_close(struct box *box);
/* Starts and stops the session on one CPU. */
void box_start(struct box *box, uint32_t cpu, const volatile uint64_t *pebs_index);
void box_stop(struct box *box, uint32_t cpu, uint64_t tsc);
/* As a panic does, on all CPUs. */
void box_freeze(struct trace_hub_cpu *hub, uint32_t cpus, uint64_t tsc);

/* The TSC at a time in clock units. */
#define BOX_TSC(units) ((uint64_t)(units)*BOX_UNIT)
/* The `n`-th of a series of switches that differ in all they say. */
struct trace_switch box_switch_at(uint64_t tsc, uint32_t n);
/* Whether tried == written + lost on each CPU, and written == present + overwritten (or given out live), where what is
 * present is what the naive decoder finds in buffers that hold together. */
bool box_account_holds(struct trace_session *session);

/* xorshift64*, 0..n-1 */
uint32_t test_random(uint64_t *state, uint32_t n);
