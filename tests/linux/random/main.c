/* SPDX-License-Identifier: MIT */
/*
 * random --seed S --programs N: the programs of seeds S to S + N - 1, each once step by step, once by itself, and once
 * under each of counters, BTS and PEBS. What those say must be what the steps were, and what a program leaves in memory
 * the same each time. Of each program that differs the first difference is shown, with the code around it, of up to ten
 * programs. Ends with 1 if any does, with 2 where it cannot run.
 */
#define _GNU_SOURCE
#include "tests/linux/random/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 64, REPORTS = 10 };

static struct random_machine machine;
static struct random_program program;
static struct random_trace traces[BATCH];
static struct random_told told;
static int file;
static uint64_t steps, branches, records, samples;
static unsigned differences;

/* What varies from program to program in how it is watched. */
static unsigned choice(uint64_t seed, unsigned what, unsigned n)
{
    return (unsigned)((seed * UINT64_C(0x9E3779B97F4A7C15) >> 32) / (1 + 5 * what) % n);
}

static bool report(const struct random_trace *trace, const char *how, const char *what, unsigned at)
{
    printf("seed %llu, %s: %s\n", (unsigned long long)program.seed, how, what);
    if (trace->count)
        random_show(&program, trace, at, 16);
    differences++;
    return false;
}

static pid_t start(uint64_t seed)
{
    random_generate(&program, seed);
    return random_start(&program, file);
}

/* Of what is in memory at the end nothing may differ. */
static const char *did_other_things(const struct random_trace *trace)
{
    static char line[120];
    for (unsigned i = 0; i < sizeof trace->left; i++)
        if (trace->left[i] != program.file[RANDOM_DATA_AT + i]) {
            snprintf(line, sizeof line, "the program has done something else: data + %x is %02x, but %02x", i,
                     program.file[RANDOM_DATA_AT + i], trace->left[i]);
            return line;
        }
    return NULL;
}

static bool stepped(uint64_t seed, struct random_trace *trace)
{
    pid_t child = start(seed);
    const char *bad = child < 0 ? "it does not start" : random_step(&program, child, trace);
    if (bad)
        return report(trace, "single-stepping", bad, trace->count - 1);
    memcpy(trace->left, program.file + RANDOM_DATA_AT, sizeof trace->left);
    steps += trace->count;
    for (unsigned i = 0; i < trace->count; i++)
        branches += trace->steps[i].taken;
    return true;
}

static bool plain(uint64_t seed, struct random_trace *trace)
{
    pid_t child = start(seed);
    const char *bad = child < 0 ? "it does not start" : random_run_counting(&machine, child, NULL, 0, &told);
    if (!bad)
        bad = did_other_things(trace);
    return !bad || report(trace, "running", bad, trace->count - 1);
}

static bool counted(uint64_t seed, struct random_trace *trace)
{
    static const enum random_event events[] = {RANDOM_EVENT_INSTRUCTIONS, RANDOM_EVENT_CONDITIONAL,
                                               RANDOM_EVENT_CALLS,        RANDOM_EVENT_RETURNS,
                                               RANDOM_EVENT_TAKEN,        RANDOM_EVENT_CYCLES};
    const unsigned n = sizeof events / sizeof events[0];
    pid_t child = start(seed);
    const char *bad = child < 0 ? "it does not start" : random_run_counting(&machine, child, events, n, &told);
    if (!bad)
        bad = did_other_things(trace);
    if (!bad)
        bad = random_compare_counts(trace, events, n, &told);
    return !bad || report(trace, "counting", bad, trace->count - 1);
}

static bool branched(uint64_t seed, struct random_trace *trace)
{
    static const enum random_event events[] = {RANDOM_EVENT_PAGE_FAULTS, RANDOM_EVENT_INSTRUCTIONS,
                                               RANDOM_EVENT_BRANCHES, RANDOM_EVENT_FAR};
    const unsigned n = sizeof events / sizeof events[0] - !random_has(&machine, RANDOM_EVENT_FAR);
    const bool ring = choice(seed, 0, 4) == 0;
    pid_t child = start(seed);
    unsigned at = trace->count - 1;
    const char *bad =
        child < 0 ? "it does not start" : random_run_bts(&machine, child, ring ? 1 : 64, ring, events, n, &told);
    if (!bad)
        bad = did_other_things(trace);
    if (!bad)
        bad = random_compare_bts(&machine, trace, &told, ring, told.count[0], &at);
    if (!bad)
        bad = random_compare_counts(trace, events, n, &told);
    if (bad)
        return report(trace, ring ? "BTS in a ring" : "BTS", bad, at);
    records += told.records;
    return true;
}

static bool sampled(uint64_t seed, struct random_trace *trace)
{
    struct random_sampling s = {.event = choice(seed, 1, 2) ? RANDOM_EVENT_INSTRUCTIONS
                                                            : (enum random_event)choice(seed, 2, RANDOM_EVENT_CYCLES),
                                .single = choice(seed, 3, 2)};
    if (!random_has(&machine, s.event))
        s.event = RANDOM_EVENT_BRANCHES;
    const bool instructions = s.event == RANDOM_EVENT_INSTRUCTIONS;
    s.period = 3 + choice(seed, 4, instructions ? 60 : 8);
    s.distance = s.period + !random_precise(&machine, s.event);
    char how[80];
    unsigned at = trace->count - 1;
    snprintf(how, sizeof how, "PEBS of %s, period %llu%s", random_event_names[s.event], (unsigned long long)s.period,
             s.single ? ", one for each interrupt" : "");
    pid_t child = start(seed);
    const char *bad = child < 0 ? "it does not start" : random_run_pebs(&machine, child, &s, &told);
    if (!bad)
        bad = did_other_things(trace);
    if (!bad)
        bad = random_compare_pebs(trace, &s, &told, &at);
    if (bad)
        return report(trace, how, bad, at);
    samples += told.samples;
    return true;
}

/* A program is left out of what comes after its first difference. */
static void batch(uint64_t seed, unsigned n)
{
    static bool (*const ways[])(uint64_t, struct random_trace *) = {stepped, plain, counted, branched, sampled};
    bool good[BATCH];
    memset(good, true, sizeof good);
    for (unsigned w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (unsigned i = 0; i < n && differences < REPORTS; i++)
            good[i] = good[i] && ways[w](seed + i, &traces[i]);
}

static bool write_setting(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
    if (fd >= 0)
        close(fd);
    return done;
}

/* One CPU for all, and no limits to sampling. Nothing runs at a priority of its own: on a busy host the guest's kernel
 * would not get its turn. */
static bool prepare(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return write_setting("/proc/sys/kernel/perf_cpu_time_max_percent", "50") && /* at 0 the other cannot be set */
           write_setting("/proc/sys/kernel/perf_event_max_sample_rate", "100000000") &&
           write_setting("/proc/sys/kernel/perf_cpu_time_max_percent", "0") &&
           sched_setaffinity(0, sizeof one, &one) == 0 && random_hold_event();
}

int main(int argc, char **argv)
{
    uint64_t seed, programs;
    char why[120];
    if (argc != 5 || strcmp(argv[1], "--seed") != 0 || strcmp(argv[3], "--programs") != 0) {
        printf("usage: random --seed S --programs N\n");
        return 2;
    }
    seed = strtoull(argv[2], NULL, 0);
    programs = strtoull(argv[4], NULL, 0);
    if (!random_machine(&machine, why, sizeof why)) {
        printf("%s\n", why);
        return 2;
    }
    file = memfd_create("program", MFD_CLOEXEC);
    if (!prepare() || file < 0 || ftruncate(file, RANDOM_FILE_SIZE) != 0) {
        printf("cannot set up: %s\n", strerror(errno));
        return 2;
    }
    program.file = mmap(NULL, RANDOM_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (program.file == MAP_FAILED) {
        printf("no memory for programs: %s\n", strerror(errno));
        return 2;
    }
    for (uint64_t done = 0; done < programs && differences < REPORTS; done += BATCH)
        batch(seed + done, (unsigned)(programs - done < BATCH ? programs - done : BATCH));
    printf("%llu programs from seed %llu: %llu steps, %llu taken branches; %llu BTS records, %llu PEBS samples\n",
           (unsigned long long)programs, (unsigned long long)seed, (unsigned long long)steps,
           (unsigned long long)branches, (unsigned long long)records, (unsigned long long)samples);
    return differences != 0;
}
