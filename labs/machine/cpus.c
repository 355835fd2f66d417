/* SPDX-License-Identifier: MIT */
/* Work on every processor at once (labs/check.h). */
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "labs/check.h"
#include "labs/machine/machine.h"

#define PRIORITY 8

static void (*work_of_cpu)(uint32_t cpu);

static void enter(void *unused)
{
    (void)unused;
    (void)lab_wrmsr(IA32_PERF_GLOBAL_CTRL, 0); /* RESET, or the firmware, may leave counters on */
    work_of_cpu(kcpu_this()->arch.index);
}

uint32_t lab_on_each_cpu(void (*work)(uint32_t cpu))
{
    struct kthread *thread[MAX_CPUS];
    work_of_cpu = work;
    for (uint32_t cpu = 0; cpu < kcpu_count; cpu++) {
        const struct kthread_params params = {
            .name = "lab", .priority = PRIORITY, .affinity = kthread_affinity(cpu), .entry = enter};
        int e;
        while ((e = kthread_create(&thread[cpu], &params)) == -EINVAL)
            kthread_sleep(1, KWAIT_DELAY_EXECUTION); /* this processor has not come to its first thread yet */
        if (e)
            lab_fail("memory", "Give the machine more memory.", "./run-qemu.sh --help", "no memory for a thread");
    }
    for (uint32_t cpu = 0; cpu < kcpu_count; cpu++)
        (void)kthread_join(thread[cpu], KWAIT_FOREVER, NULL);
    return kcpu_count;
}
