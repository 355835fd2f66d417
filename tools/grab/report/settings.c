/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/report/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/grab/base/machine.h"
#include "tools/grab/report/known.h"

#define EVENTS     2
#define PAUSE_NS   2000000
#define REGISTERS  0xFFu        /* EAX to SP of perf's registers: any of them has the processor record all */
#define FAR        (1ull << 40) /* a period without a record */
#define PREC_DIST  0x1C0u       /* INST_RETIRED.PREC_DIST, before there was a fixed counter for it */
#define FIRST_BASE 4u           /* format with fixed counters in PEBS */

/* ---- where ------------------------------------------------------------------------------------------------------- */

static bool read_number(const char *path, unsigned *number)
{
    FILE *file = fopen(path, "re");
    const bool found = file && fscanf(file, "%u", number) == 1;
    if (file)
        fclose(file);
    return found;
}

int grab_settings_cpu(void)
{
    cpu_set_t may;
    unsigned cpu;
    if (read_number("/sys/bus/event_source/devices/cpu_core/cpus", &cpu))
        return (int)cpu;
    if (sched_getaffinity(0, sizeof may, &may))
        return -1;
    for (cpu = 0; cpu < GRAB_CPUS && !CPU_ISSET(cpu, &may); cpu++) {
    }
    return cpu < GRAB_CPUS ? (int)cpu : -1;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static struct perf_event_attr attributes(bool branches, unsigned precise, uint64_t period, unsigned format)
{
    unsigned core = 0; /* the type of a hybrid's performance cores */
    read_number("/sys/bus/event_source/devices/cpu_core/type", &core);
    struct perf_event_attr a = {.size = sizeof a,
                                .type = PERF_TYPE_HARDWARE,
                                .config = branches ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS : PERF_COUNT_HW_INSTRUCTIONS,
                                .sample_period = period,
                                .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
                                .precise_ip = precise,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    a.config |= (uint64_t)core << 32;
    if (precise == 3 && !branches && format < FIRST_BASE) {
        a.type = PERF_TYPE_RAW;
        a.config = PREC_DIST;
    }
    if (format >= FIRST_BASE) { /* records of older formats always have them */
        a.sample_type |= PERF_SAMPLE_REGS_INTR;
        a.sample_regs_intr = REGISTERS;
    }
    return a;
}

/* Before format 2 records are not of the instruction, which :p does not ask for. */
static unsigned precision(unsigned format)
{
    return format >= 2 ? 2 : 1;
}

static unsigned describe(struct perf_event_attr a[EVENTS], enum grab_setting_number number, unsigned format)
{
    const uint64_t period = grab_settings[number].period;
    switch (number) {
    case GRAB_PRECISE:
    case GRAB_SHORT:
        a[0] = attributes(false, 3, period, format);
        return 1;
    case GRAB_PRECISE_FIRST:
        a[0] = attributes(true, 3, period, format);
        return 1;
    case GRAB_TWO:
        a[0] = attributes(true, precision(format), period, format);
        a[1] = attributes(false, precision(format), grab_settings[number].other, format);
        return 2;
    case GRAB_HISTORY:
        a[0] = attributes(true, precision(format), period, format);
        a[0].sample_type |= PERF_SAMPLE_BRANCH_STACK;
        a[0].branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
        return 1;
    default: /* a counter with precise distribution is taken by another event, where branches:uppp wants it */
        a[0] = attributes(true, precision(format), period, format);
        a[1] = attributes(true, 3, FAR, format);
        return format >= FIRST_BASE ? 2 : 1;
    }
}

static const char *open_events(int files[EVENTS], enum grab_setting_number number, unsigned format, pid_t child)
{
    struct perf_event_attr a[EVENTS];
    const unsigned count = describe(a, number, format);
    for (unsigned i = 0; i < count; i++) {
        files[i] = (int)syscall(SYS_perf_event_open, &a[i], child, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (files[i] < 0 && (i == 0 || number == GRAB_TWO))
            return strerror(errno);
    }
    return NULL;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void execute(int go, unsigned cpu, uint64_t iterations)
{
    uint64_t buffer[2] = {0};
    char nothing;
    if (!grab_machine_go(cpu) || read(go, &nothing, 1) < 0)
        _exit(1);
    grab_known(iterations, buffer);
    _exit(0);
}

static bool follow(pid_t child, struct grab_rings *rings)
{
    const struct timespec pause = {0, PAUSE_NS};
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        nanosleep(&pause, NULL);
        grab_rings_take(rings);
    }
    return status == 0;
}

void grab_settings_run(enum grab_setting_number number, unsigned cpu, unsigned format, struct grab_rings *rings,
                       const struct grab_store *store, struct grab_taken *taken)
{
    int go[2], files[EVENTS] = {-1, -1};
    *taken = (struct grab_taken){.refused = "no process can be made"};
    grab_rings_take(rings);
    taken->first = taken->end = store->cpu[cpu].drain_count;
    if (pipe2(go, O_CLOEXEC))
        return;
    const pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        execute(go[0], cpu, grab_settings[number].iterations);
    }
    close(go[0]);
    if (child > 0)
        taken->refused = open_events(files, number, format, child);
    if (child > 0 && taken->refused)
        kill(child, SIGKILL);
    close(go[1]); /* which lets it go */
    if (child > 0 && !follow(child, rings) && !taken->refused)
        taken->refused = "the program could not run on its CPU";
    for (unsigned i = 0; i < EVENTS; i++)
        if (files[i] >= 0)
            close(files[i]);
    grab_rings_take(rings);
    taken->end = store->cpu[cpu].drain_count;
}
