/* SPDX-License-Identifier: MIT */
/* The truth of spin locks. */
#include "kernel/thread.h"
#include "kernel/tracepoint/witness_locks.h"
#include "kernel/truth/truth.h"
#include "trace/wire/spinlock.h"

void kwitness_acquired(const struct kcpu *cpu, const void *lock, enum spinlock_mode mode, uint64_t query_tsc,
                       uint32_t interrupts, uint32_t spins, uint64_t tsc)
{
    if (!ktruth_kept)
        return;
    const struct cairn_truth_acquired t = {
        .kind = CAIRN_TRUTH_ACQUIRED,
        .cpu = (uint8_t)cpu->arch.index,
        .mode = (uint8_t)mode,
        .tid = cpu->current->tid,
        .lock = (uintptr_t)lock,
        .query_tsc = query_tsc,
        .tsc = tsc,
        .spins = spins,
        .interrupts = interrupts,
    };
    ktruth_write(cpu->arch.index, &t);
}

void kwitness_released(const struct kcpu *cpu, const void *lock, const void *caller, uint8_t irql, uint8_t context,
                       uint64_t tsc)
{
    if (!ktruth_kept)
        return;
    const struct cairn_truth_released t = {
        .kind = CAIRN_TRUTH_RELEASED,
        .cpu = (uint8_t)cpu->arch.index,
        .irql = irql,
        .flags = context,
        .tid = cpu->current->tid,
        .lock = (uintptr_t)lock,
        .caller = (uintptr_t)caller,
        .tsc = tsc,
        .interrupts = cpu->interrupts,
    };
    ktruth_write(cpu->arch.index, &t);
}
