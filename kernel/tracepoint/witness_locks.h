/* SPDX-License-Identifier: MIT */
/* Like kernel/tracepoint/witness.h, but for spin locks. */
#pragma once

#include "kernel/cpu.h"
#include "trace/wire/format.h"
#include "trace/wire/spinlock.h"

/* A spin lock that a session wants was acquired: the TSC and this CPU's interrupts before the first query, and how many
 * queries came after it; or it was released to `caller`, at `irql` and in a context of WMI_SPINLOCK_EXECUTE_... */
void kwitness_acquired(const struct kcpu *cpu, const void *lock, enum spinlock_mode mode, uint64_t query_tsc,
                       uint32_t interrupts, uint32_t spins, uint64_t tsc);
void kwitness_released(const struct kcpu *cpu, const void *lock, const void *caller, uint8_t irql, uint8_t context,
                       uint64_t tsc);
