/* SPDX-License-Identifier: MIT */
/* A PebsIndex that the processor does not keep in memory: it is read before a batch is stamped. */
#pragma once

#include "trace/hub.h"

/* Call this before any session runs. From then on `refresh` updates this CPU's PebsIndex (struct trace_hub_pebs) before
 * a batch is stamped. All CPUs use the same function. Whoever reports a switch or an acknowledgement of a session
 * updates the index first. */
void trace_hub_refresh_index(struct trace_hub_cpu *hub, void (*refresh)(uint32_t cpu));
