/* SPDX-License-Identifier: MIT */
#include "kernel/run.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/end.h"
#include "kernel/console/print.h"
#include "kernel/console/report.h"
#include "kernel/console/serial_port.h"
#include "kernel/cpu.h"
#include "kernel/dump/dump.h"
#include "kernel/dump/verdict.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/memory/stack.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/start.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/workload/workload.h"

/* Sleeps until enough switches happened or the time is up; returns the switches since `before`. */
static uint64_t wait_for_switches(uint64_t before)
{
    uint64_t ticks_a_second = 1000000 / kopt.tick_us, step = ticks_a_second / 100 ? ticks_a_second / 100 : 1;
    uint64_t half = kopt.switches / 2;
    const uint64_t begin = arch_tsc_common();
    uint64_t done, said = UINT64_MAX;
    for (;; kthread_sleep(step, KWAIT_DELAY_EXECUTION)) {
        done = ksched_switches() - before;
        const int64_t cycles = (int64_t)(arch_tsc_common() - begin);
        const uint64_t seconds = cycles < 0 ? 0 : (uint64_t)cycles / arch_tsc_hz();
        if (seconds != said)
            kprint_run(seconds, done);
        said = seconds;
        if (done >= half) { /* a short run may be over by then */
            half = UINT64_MAX;
            kphase_run(KPHASE_HALF, NULL);
        }
        if (done >= kopt.switches || seconds >= kopt.seconds)
            break;
    }
    return done;
}

static void mark(const char *what)
{
    char text[64];
    snprintf(text, sizeof text, "workload %s %s", kopt.workload, what);
    if (kactivity_mark)
        kactivity_mark(text);
}

/* Sends the dump, says what all have reported, and ends. */
static _Noreturn void finish(void)
{
    uint32_t counts[3];
    ksched_stop_ticks();
    kdump("end", NULL);
    if (kserial_there() && arch_serial_dropped())
        kreport(KREPORT_FAIL, "serial", "%lu bytes were not sent: the log is incomplete",
                (unsigned long)arch_serial_dropped());
    kphase_run(KPHASE_DUMPED, NULL);
    kreport_counts(counts);
    kreport_summary();
    kend(counts[KREPORT_FAIL] == 0);
}

/* Recording has ended, or not begun. Where a dump has begun it ends as well: it would be called damaged. */
static _Noreturn void fail(const char *name, const char *line)
{
    kphase_run(KPHASE_RECORDING_ENDS, NULL);
    if (!kdump_begun.any)
        kend_failed(name, line);
    kreport(KREPORT_FAIL, name, "%s", line);
    finish();
}

void krun(void *boot)
{
    static char error[448];

    kphase_run(KPHASE_PROCESSORS, boot);
    if (krecording_init(error, sizeof error) != 0)
        kend_failed("setup", error);
    kprintf("ds: backend %s: %s\n", kds->backend, kds->reason);
    enum kopt_ds chosen = kds->other ? KOPT_DS_SOFT : KOPT_DS_HW;
    for (size_t i = 0; kopt.ds == KOPT_DS_AUTO && kopt_idle(&i, chosen, error, sizeof error);)
        kreport(KREPORT_SKIP, "options", "%s", error);

    kphase_run(KPHASE_READY, boot);
    kphase_run(KPHASE_BEFORE_RUN, boot);
    const uint64_t pages = kmem_pages_live(), threads = kstack_count();
    kphase_run(KPHASE_RECORDING_BEGINS, NULL);
    if (krecording_start(error, sizeof error) != 0)
        fail("setup", error);
    uint64_t first = ksched_switches();
    mark("begins");
    const int e = kworkload_start(kopt.workload, kopt.seed);
    if (e) {
        krecording_stop();
        fail("workload", e == -ENOENT ? "this kernel has none of this name" : "its threads could not be created");
    }
    kprintf("run: workload %s, %lu switches or %u s\n", kopt.workload, (unsigned long)kopt.switches, kopt.seconds);
    kphase_run(KPHASE_RUN_BEGINS, NULL);
    uint64_t done = wait_for_switches(first);
    kprint_status("run: over");
    kphase_run(KPHASE_RUN_OVER, NULL);
    mark("ends");
    kworkload_finish();
    kphase_run(KPHASE_RECORDING_ENDS, NULL);
    krecording_stop();
    kphase_run(KPHASE_RUN_ENDS, NULL);
    const int64_t more_pages = (int64_t)(kmem_pages_live() - pages), more_threads = (int64_t)(kstack_count() - threads);

    if (done >= kopt.switches)
        kreport(KREPORT_PASS, "run", "%lu switches on %u CPUs when it was asked to end", (unsigned long)done,
                kcpu_count);
    else
        kreport(KREPORT_SKIP, "run", "%lu switches of %lu on %u CPUs: the time of option seconds= was up",
                (unsigned long)done, (unsigned long)kopt.switches, kcpu_count);
    kverdict();
    kreport(more_pages || more_threads ? KREPORT_FAIL : KREPORT_PASS, "memory",
            "%ld pages and %ld threads more than before", (long)more_pages, (long)more_threads);
    finish();
}
