/* SPDX-License-Identifier: MIT */
#include "trace/pebs23/hub_index.h"

static void (*refresh_index)(uint32_t cpu);
static void (*write_batch)(struct trace_ccswap *compact, uint32_t size, uint32_t records, int64_t time,
                           enum ccswap_close reason);

static void write_refreshed(struct trace_ccswap *compact, uint32_t size, uint32_t records, int64_t time,
                            enum ccswap_close reason)
{
    refresh_index(((struct trace_hub_encoder *)(void *)compact)->hub->index);
    write_batch(compact, size, records, time, reason);
}

void trace_hub_refresh_index(struct trace_hub_cpu *hub, void (*refresh)(uint32_t cpu))
{
    refresh_index = refresh;
    for (unsigned i = 0; i < TRACE_CLOCK_TYPES; i++) {
        if (hub->encoder[i].compact.write != write_refreshed)
            write_batch = hub->encoder[i].compact.write;
        hub->encoder[i].compact.write = write_refreshed;
    }
}
