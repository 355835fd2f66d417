/* SPDX-License-Identifier: MIT */
/* A thread that stops and starts sessions 2 and up while the workload runs. It spreads its restarts over the middle
 * half of the run, counted in switches. */
#include "kernel/restarts/restarts.h"

#include "kernel/console/report.h"
#include "kernel/control/session.h"
#include "kernel/event/event.h"
#include "kernel/lib/errno.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"
#include "kernel/thread.h"

/* Above all workloads, or it might come too late. */
#define RESTARTER_PRIORITY 16

static struct kthread *restarter;
static uint64_t first_switch;
static uint32_t done, failed;

/* The restarter waits for its next place in the run. At the end of the run, `hurry` ends the wait. */
static struct kevent hurry;

static void wait_until(uint64_t switches)
{
    while (ksched_switches() - first_switch < switches && kevent_wait(&hurry, KWAIT_DELAY_EXECUTION, 1) == -ETIMEDOUT)
        ;
}

/* The session that is restarted next. */
static uint32_t next_of(uint32_t number)
{
    do
        number = number % TRACE_MAX_SESSIONS + 1;
    while (number == 1 || !ksession_find(number));
    return number;
}

static void restart(void *unused)
{
    (void)unused;
    uint32_t number = 1;
    for (uint64_t i = 0; i < krestart_count; i++) {
        number = next_of(number);
        uint64_t begin = kopt.switches / 4 + kopt.switches / 2 * i / krestart_count;
        uint64_t half = kopt.switches / 4 / krestart_count;
        wait_until(begin);
        int e = ksession_stop(number);
        wait_until(begin + half);
        e = ksession_start(number, NULL) ? 1 : e;
        done++;
        failed += e != 0;
    }
}

static void begin(const struct boot_info *unused)
{
    (void)unused;
    static const struct kthread_params params = {.name = "restarter", .priority = RESTARTER_PRIORITY, .entry = restart};
    if (!krestart_count)
        return;
    first_switch = ksched_switches();
    kevent_init(&hurry, true, false);
    if (kthread_create(&restarter, &params) != 0)
        kreport(KREPORT_FAIL, "restarts", "no memory for the thread that would do them");
}

KPHASE(KPHASE_RUN_BEGINS, begin);

/* At the end of the run, the remaining restarts are made at once. */
static void finish(const struct boot_info *unused)
{
    (void)unused;
    if (!restarter)
        return;
    kevent_set(&hurry, KWAIT_INCREMENT);
    kthread_join(restarter, KWAIT_FOREVER, NULL);
    kreport(failed ? KREPORT_FAIL : KREPORT_PASS, "restarts", "%u of sessions 2 and up, %u failed", done, failed);
}
KPHASE(KPHASE_RUN_OVER, finish);
