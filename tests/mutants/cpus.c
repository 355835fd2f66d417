/* SPDX-License-Identifier: MIT */
/* Mutant 3: CPUs 0 and 1 write each other's buffers. */
#include "kernel/cpu.h"
#include "trace/hub.h"

void __real_trace_hub_init(struct trace_hub_cpu *hub, uint32_t index, const struct trace_clocks *clocks);
void __wrap_trace_hub_init(struct trace_hub_cpu *hub, uint32_t index, const struct trace_clocks *clocks);

void __wrap_trace_hub_init(struct trace_hub_cpu *hub, uint32_t index, const struct trace_clocks *clocks)
{
    __real_trace_hub_init(hub, kcpu_count > 1 && index < 2 ? 1 - index : index, clocks);
}
