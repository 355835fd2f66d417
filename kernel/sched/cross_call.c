/* SPDX-License-Identifier: MIT */
#include "kernel/sched/cross_call.h"

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/gate.h"
#include "kernel/lib/panic.h"
#include "kernel/lock/spinlock.h"

/* One call at a time. `busy` is no spinlock, because a CPU that waits here must still answer the call in progress. */
static struct {
    uint32_t busy;
    uint32_t left; /* CPUs that have not run it yet */
    kcross_call_function function;
    void *argument;
    uint8_t pending[MAX_CPUS]; /* set by the caller, cleared by the CPU that runs it */
} call;

void kcross_call_answer(void)
{
    uint8_t *pending = &call.pending[arch_cpu_index()];
    if (!__atomic_load_n(pending, __ATOMIC_ACQUIRE))
        return;
    __atomic_store_n(pending, 0, __ATOMIC_RELAXED);
    call.function(call.argument);
    __atomic_fetch_sub(&call.left, 1, __ATOMIC_RELEASE);
}

static void asked(struct arch_trap_frame *frame)
{
    (void)frame;
    kcross_call_answer();
}

void kcross_call_init(void)
{
    arch_irq_set(ARCH_VECTOR_CALL, asked);
}

void kcross_call_all(kcross_call_function function, void *argument)
{
    bool on = kgate_enter();
    uint32_t me = arch_cpu_index(), free = 0;
    while (!__atomic_compare_exchange_n(&call.busy, &free, 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        free = 0;
        kcross_call_answer();
        arch_pause();
    }
    call.function = function;
    call.argument = argument;
    call.left = kcpu_count;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        __atomic_store_n(&call.pending[i], 1, __ATOMIC_RELEASE);
        if (i != me)
            arch_ipi(i, ARCH_VECTOR_CALL);
    }
    for (uint32_t spins = 0, left; (left = __atomic_load_n(&call.left, __ATOMIC_ACQUIRE)); spins++) {
        kcross_call_answer();
        arch_pause();
        if (spins == KSPIN_LIMIT)
            kpanic("call: %u of %u CPUs do not answer", left, kcpu_count);
    }
    __atomic_store_n(&call.busy, 0, __ATOMIC_RELEASE);
    kgate_leave(on);
}
