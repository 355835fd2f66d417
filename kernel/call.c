/* SPDX-License-Identifier: MIT */
#include "kernel/call.h"

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/gate.h"

/* One call at a time. `busy` is no spinlock, because a CPU that waits here must still answer the call in progress. */
static struct {
    uint32_t busy;
    uint32_t left; /* CPUs that have not run it yet */
    kcall_function function;
    void *argument;
    uint8_t pending[ARCH_MAX_CPUS]; /* set by the caller, cleared by the CPU that runs it */
} call;

/* Runs the call in progress, where this CPU is asked and has not answered yet. Interrupts off, counting paused. */
static void answer(void)
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
    answer();
}

void kcall_init(void)
{
    arch_irq_set(ARCH_VECTOR_CALL, asked);
}

static void call_cpus(uint64_t cpus, kcall_function function, void *argument)
{
    bool on = kgate_enter();
    uint32_t me = arch_cpu_index(), free = 0;
    while (!__atomic_compare_exchange_n(&call.busy, &free, 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        free = 0;
        answer();
        arch_pause();
    }
    call.function = function;
    call.argument = argument;
    call.left = 0;
    for (uint64_t to_ask = cpus; to_ask; to_ask &= to_ask - 1) {
        uint32_t i = (uint32_t)__builtin_ctzl(to_ask);
        __atomic_fetch_add(&call.left, 1, __ATOMIC_RELAXED); /* only this CPU sees a 0 before it has asked the last */
        __atomic_store_n(&call.pending[i], 1, __ATOMIC_RELEASE);
        if (i != me)
            arch_ipi(i, ARCH_VECTOR_CALL);
    }
    while (__atomic_load_n(&call.left, __ATOMIC_ACQUIRE)) {
        answer();
        arch_pause();
    }
    __atomic_store_n(&call.busy, 0, __ATOMIC_RELEASE);
    kgate_leave(on);
}

void kcall_all(kcall_function function, void *argument)
{
    call_cpus(kcpu_count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << kcpu_count) - 1, function, argument);
}

void kcall_one(uint32_t cpu, kcall_function function, void *argument)
{
    call_cpus(UINT64_C(1) << cpu, function, argument);
}
