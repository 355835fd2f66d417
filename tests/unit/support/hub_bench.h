/* SPDX-License-Identifier: MIT */
/* For tests of trace/hub.h: CPUs and up to eight sessions in one block of memory, with every call written down. */
#pragma once

#include "tests/unit/support/trace_support.h"

#define HUB_CPUS 2u

struct hub_bench {
    uint8_t *memory; /* of all that follows */
    size_t size;
    struct trace_clocks clocks;
    struct trace_hub_cpu *hub; /* [HUB_CPUS] */
    struct trace_session *session[TRACE_MAX_SESSIONS];
    volatile uint64_t pebs_index;
};

/* Sessions 1 to `count`: their clock types in turn 1, 2, 3; those of `circular` (bit i: session i + 1) so. */
void hub_open(struct hub_bench *b, uint32_t count, uint32_t circular, uint32_t buffers, uint32_t buffer_bytes);
void hub_close(struct hub_bench *b);
int hub_start(struct hub_bench *b, uint32_t cpu, uint32_t number, struct perfinfo_groupmask masks, uint64_t tsc);
int hub_change(struct hub_bench *b, uint32_t cpu, uint32_t number, struct perfinfo_groupmask masks, uint64_t tsc);
int hub_stop(struct hub_bench *b, uint32_t cpu, uint32_t number, uint64_t tsc);
struct trace_counts hub_counts(const struct hub_bench *b, uint32_t cpu, uint32_t number);
