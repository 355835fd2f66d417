/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/hub_bench.h"

#include <stdlib.h>
#include <string.h>

static struct trace_config config_of(const struct hub_bench *b, uint32_t number, bool circular, uint32_t buffers,
                                     uint32_t buffer_bytes)
{
    unsigned clock = (number - 1) % TRACE_CLOCK_TYPES;
    return (struct trace_config){.number = number,
                                 .cpus = HUB_CPUS,
                                 .circular = circular,
                                 .buffers = buffers,
                                 .buffer_bytes = buffer_bytes,
                                 .clock = b->clocks.clock[clock],
                                 .tick_units = b->clocks.tick_units[clock]};
}

void hub_open(struct hub_bench *b, uint32_t count, uint32_t circular, uint32_t buffers, uint32_t buffer_bytes)
{
    *b = (struct hub_bench){.pebs_index = 0x1000};
    if (trace_clocks_init(&b->clocks, TRACE_CLOCK_HZ * BOX_UNIT, 0, INT64_C(134000000000000000), 1000))
        abort();
    struct trace_config config = config_of(b, 1, false, buffers, buffer_bytes);
    size_t one = (trace_session_bytes(&config) + 63) / 64 * 64, hubs = HUB_CPUS * sizeof(*b->hub);
    b->size = hubs + count * one;
    b->memory = aligned_alloc(64, b->size);
    if (!b->memory)
        abort();
    memset(b->memory, 0xA5, b->size); /* nothing may count on zeroed memory */
    b->hub = (struct trace_hub_cpu *)(void *)b->memory;
    for (uint32_t c = 0; c < HUB_CPUS; c++)
        trace_hub_init(&b->hub[c], c, &b->clocks);
    for (uint32_t i = 0; i < count; i++) {
        config = config_of(b, i + 1, circular >> i & 1, buffers, buffer_bytes);
        if (trace_session_init(&b->session[i], &config, b->memory + hubs + i * one, one))
            abort();
    }
}

void hub_close(struct hub_bench *b)
{
    free(b->memory);
}

static struct trace_hub_pebs pebs_of(struct hub_bench *b)
{
    return (struct trace_hub_pebs){.index = &b->pebs_index, .epoch = 5};
}

int hub_start(struct hub_bench *b, uint32_t cpu, uint32_t number, struct perfinfo_groupmask masks, uint64_t tsc)
{
    struct trace_hub_pebs pebs = pebs_of(b);
    return trace_hub_act(&b->hub[cpu], b->session[number - 1], CAIRN_SESSION_START, &masks, &pebs, tsc);
}

int hub_change(struct hub_bench *b, uint32_t cpu, uint32_t number, struct perfinfo_groupmask masks, uint64_t tsc)
{
    struct trace_hub_pebs pebs = pebs_of(b);
    return trace_hub_act(&b->hub[cpu], b->session[number - 1], CAIRN_SESSION_MASKS, &masks, &pebs, tsc);
}

int hub_stop(struct hub_bench *b, uint32_t cpu, uint32_t number, uint64_t tsc)
{
    struct trace_hub_pebs pebs = pebs_of(b);
    return trace_hub_act(&b->hub[cpu], b->session[number - 1], CAIRN_SESSION_STOP, NULL, &pebs, tsc);
}

struct trace_counts hub_counts(const struct hub_bench *b, uint32_t cpu, uint32_t number)
{
    struct trace_counts n;
    trace_cpu_counts(trace_session_cpu(b->session[number - 1], cpu), &n);
    return n;
}
