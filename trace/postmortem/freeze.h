/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/hub.h"

/* Switches in the `size` bytes of one batch of the compact encoder (header included), counted record by record. */
uint32_t trace_ccswap_records(const void *batch, uint32_t size);

/* After this call any CPU may write events for this CPU. All other CPUs must be stopped. It may be called again. */
void trace_hub_settle(struct trace_hub_cpu *hub);

/* Closes what every session has open on this CPU. Any CPU may call it; all others must be stopped. Half-written events
 * are left out and counted as lost. Safe wherever the CPU was stopped. */
void trace_hub_freeze(struct trace_hub_cpu *hub, uint64_t tsc);
