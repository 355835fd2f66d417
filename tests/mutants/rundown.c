/* SPDX-License-Identifier: MIT */
/* Mutant 7: no session is told that the first thread of all is there when it starts. */
#include "trace/rundown/rundown.h"
#include "trace/hub.h"

#define FIRST_THREAD 8u

int __real_trace_hub_event_to(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t sessions,
                              const struct trace_system *system, uint16_t hook_id, uint8_t version,
                              const struct trace_part *parts, unsigned count);
int __wrap_trace_hub_event_to(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t sessions,
                              const struct trace_system *system, uint16_t hook_id, uint8_t version,
                              const struct trace_part *parts, unsigned count);

int __wrap_trace_hub_event_to(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t sessions,
                              const struct trace_system *system, uint16_t hook_id, uint8_t version,
                              const struct trace_part *parts, unsigned count)
{
    if (hook_id == HOOK_THREAD_DC_START && ((const struct etw_thread *)parts[0].data)->thread_id == FIRST_THREAD)
        return 0;
    return __real_trace_hub_event_to(hub, tsc, sessions, system, hook_id, version, parts, count);
}
