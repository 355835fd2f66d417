/* SPDX-License-Identifier: MIT */
/* Mutant 1: once a CPU a switch is traced with a wrong thread. */
#include "kernel/cpu.h"
#include "trace/hub.h"

void __real_trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw);
void __wrap_trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw);

void __wrap_trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw)
{
    struct trace_switch wrong = *sw;
    if (kcpu_this()->switches == 100)
        wrong.old_tid = wrong.old_tid ? wrong.old_tid + 4 : 8;
    __real_trace_hub_switch(hub, &wrong);
}
