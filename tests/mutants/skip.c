/* SPDX-License-Identifier: MIT */
/* Mutant 2: once a CPU a switch is not traced. */
#include "kernel/cpu.h"
#include "trace/hub.h"

void __real_trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw);
void __wrap_trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw);

void __wrap_trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw)
{
    if (kcpu_this()->switches != 100)
        __real_trace_hub_switch(hub, sw);
}
