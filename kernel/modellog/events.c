/* SPDX-License-Identifier: MIT */
#include "kernel/cpu.h"
#include "kernel/modellog/modellog.h"
#include "trace/hub.h"

void kmodellog_write(void *context, uint32_t index, const struct cairn_model_entry *entry,
                     const struct cairn_model_action *actions)
{
    (void)context;
    struct trace_hub_cpu *trace = kcpu_table[index]->trace;
    struct trace_part parts[] = {{entry, sizeof *entry}, {actions, entry->actions * (uint32_t)sizeof *actions}};
    if (trace_hub_on(trace))
        trace_hub_event(trace, entry->tsc, 0, HOOK_CAIRN_MODEL, HOOK_VERSION_CAIRN_MODEL, parts, 2);
}
