/* SPDX-License-Identifier: MIT */
/*
 * What tracing costs a spin lock: `bench-locks off|sampled|written N` takes and lets go of a free one N times, for
 * callgrind to count. Linked with the kernel's own objects: GS base points at a struct kcpu, as it does there.
 */
#include <asm/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ds/ds.h"
#include "kernel/lock/spinlock.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/sched/cross_call.h"
#include "kernel/thread.h"
#include "trace/hub.h"

uintptr_t __stack_chk_guard = 0x5CA1AB1E00FACADEu; /* the kernel's objects want these */
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    abort();
}

_Noreturn void kpanic(const char *format, ...)
{
    (void)format;
    abort();
}

bool ds_counting(const struct ds_cpu *ds)
{
    return ds != NULL; /* as there, where ds=off */
}

void ds_pause(struct ds_cpu *ds)
{
    (void)ds;
    abort();
}

void ds_resume(struct ds_cpu *ds)
{
    (void)ds;
    abort();
}

void kcross_call_all(kcross_call_function function, void *argument)
{
    (void)function, (void)argument;
    abort();
}

static struct kcpu cpu;
static struct kthread thread;
static struct trace_hub_cpu hub;

/* A session that takes spin locks, without end. */
static struct trace_session *start_session(void)
{
    struct trace_clocks clocks;
    struct trace_session *session;
    const struct trace_hub_pebs pebs = {0};
    if (trace_clocks_init(&clocks, UINT64_C(2500000000), 0, 0, 1000))
        abort();
    struct trace_config config = {.number = 1,
                                  .cpus = 1,
                                  .circular = true,
                                  .buffer_bytes = 65536,
                                  .buffers = 4,
                                  .clock = clocks.clock[TRACE_CLOCK_QPC - 1],
                                  .tick_units = clocks.tick_units[TRACE_CLOCK_QPC - 1]};
    trace_group_add(&config.masks, PERF_SPINLOCK);
    size_t size = trace_session_bytes(&config);
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory || trace_session_init(&session, &config, memory, size))
        abort();
    trace_hub_init(&hub, 0, &clocks);
    if (trace_hub_act(&hub, session, CAIRN_SESSION_START, &config.masks, &pebs, arch_rdtsc()))
        abort();
    return session;
}

void bench_acquire(struct kspinlock *lock);
__attribute__((noinline)) void bench_acquire(struct kspinlock *lock)
{
    kspin_lock(lock);
}

void bench_release(struct kspinlock *lock);
__attribute__((noinline)) void bench_release(struct kspinlock *lock)
{
    kspin_unlock(lock);
}

int main(int argc, char **argv)
{
    static struct kspinlock lock = KSPINLOCK("bench");
    bool off = argc == 3 && strcmp(argv[1], "off") == 0, sampled = argc == 3 && strcmp(argv[1], "sampled") == 0;
    bool written = argc == 3 && strcmp(argv[1], "written") == 0;
    if (!off && !sampled && !written) {
        fprintf(stderr, "usage: bench-locks off|sampled|written N\n");
        return 2;
    }
    unsigned long n = strtoul(argv[2], NULL, 0);
    cpu = (struct kcpu){.arch.self = &cpu.arch, .current = &thread, .trace = &hub};
    if (syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu)) {
        perror("arch_prctl");
        return 1;
    }
    struct trace_session *session = start_session();
    klock_trace_init(&(struct trace_spinlock_sampling){1, UINT32_MAX, 1, 0, written});
    if (!off)
        klock_trace_update();
    for (unsigned long i = 0; i < n; i++) {
        bench_acquire(&lock);
        bench_release(&lock);
    }
    memset(&hub.wanted, 0, sizeof hub.wanted);
    klock_trace_update();
    struct klock_trace_counts c = klock_trace_counts(0);
    if (c.released != (off ? 0 : n) || c.events != (written ? n : 0)) {
        fprintf(stderr, "bench-locks: %lu released, %lu events\n", (unsigned long)c.released, (unsigned long)c.events);
        return 1;
    }
    free(session); /* it lies at the start of its memory */
    return 0;
}
