/* SPDX-License-Identifier: MIT */
/* A PebsIndex that is not in memory: before a batch is stamped, it is read. */
#pragma once

#include "trace/hub.h"

/* Before any session runs: from now on `refresh` makes this CPU's index right (struct trace_hub_pebs) before a batch is
 * stamped; the same one on each CPU. Before a switch and before a session's acknowledgement whoever reports them does.
 */
void trace_hub_refresh_index(struct trace_hub_cpu *hub, void (*refresh)(uint32_t cpu));
