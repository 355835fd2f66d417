/* SPDX-License-Identifier: MIT */
/*
 * How fast `cairn` reads: frames found and checked, decoded, indexed, every CPU's switches decoded and merged by time,
 * as each command does before it prints a word. Prints seconds of the clock and of the processor, the least of several
 * rounds, and the peak of private memory of the whole process.
 *
 *     read-dump LOG SWITCHES [ROUNDS]
 *     read-dump --plain LOG SWITCHES      seconds that plain.h takes for the batches of the same log
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/plain.h"
#include "tools/cairn/frame/input.h"
#include "tools/cairn/model/timeline.h"

#define ROUNDS 50u /* a few seconds: a host with other guests is quiet for some of them */

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void open_log(struct cairn_log *log, struct cairn_input *input, const char *path)
{
    char refusal[CAIRN_REFUSAL];
    if (cairn_input_open(input, path) || cairn_log_read(log, input, &(struct cairn_choice){0}, refusal) ||
        cairn_log_damaged(log)) {
        fprintf(stderr, "read-dump: %s cannot be read, or is damaged\n", path);
        exit(1);
    }
}

static uint64_t read_all(const char *path)
{
    static struct cairn_log log;
    struct cairn_input input;
    struct cairn_timeline t;
    const struct cairn_item *item;
    uint64_t switches = 0;
    open_log(&log, &input, path);
    cairn_timeline_init(&t, &log, -1, cairn_prefers_compact(&log), CAIRN_BY_FORMAT, false);
    int64_t last = INT64_MIN;
    while ((item = cairn_timeline_next(&t)) != NULL) {
        if (item->time < last) {
            fprintf(stderr, "read-dump: not in the order of time\n");
            exit(1);
        }
        last = item->time;
        switches += item->kind == CAIRN_ITEM_SWITCH;
    }
    cairn_timeline_free(&t);
    cairn_log_free(&log);
    cairn_input_close(&input);
    return switches;
}

static int time_plain(const char *path, uint64_t expected)
{
    static struct cairn_log log;
    static struct plain plain;
    struct cairn_input input;
    struct cairn_walk walk;
    struct cairn_event e;
    uint64_t sum = 0;
    double least = 1e9;
    open_log(&log, &input, path);
    plain.cpus = log.cpus;
    for (uint32_t c = 0; c < log.cpus; c++)
        for (cairn_walk_init(&walk, &log, c); cairn_walk_next(&walk, &e);)
            if (e.hook == HOOK_CONTEXTSWAP_BATCH)
                plain_add(&plain.cpu[c], e.payload, e.size);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const double start = now(CLOCK_PROCESS_CPUTIME_ID);
        if (plain_read(&plain, &sum) != expected) {
            fprintf(stderr, "read-dump: %s has not %" PRIu64 " switches\n", path, expected);
            return 1;
        }
        const double took = now(CLOCK_PROCESS_CPUTIME_ID) - start;
        least = took < least ? took : least;
    }
    printf("%.4f %" PRIu64 "\n", least, sum);
    return 0;
}

/* Kilobytes, as the kernel counts them: what is no file's, at its peak. */
static unsigned long private_peak(void)
{
    char line[128];
    unsigned long peak = 0, files = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f)) {
        sscanf(line, "VmHWM: %lu", &peak);
        sscanf(line, "RssFile: %lu", &files);
    }
    if (f)
        fclose(f);
    return peak > files ? peak - files : 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--plain") == 0)
        return time_plain(argv[2], strtoull(argv[3], NULL, 0));
    const uint64_t expected = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 0) : ROUNDS;
    double least = 1e9, least_cpu = 1e9;
    if (argc < 3) {
        fprintf(stderr, "usage: read-dump LOG SWITCHES [ROUNDS]\n");
        return 2;
    }
    while (rounds--) {
        const double start = now(CLOCK_MONOTONIC), start_cpu = now(CLOCK_PROCESS_CPUTIME_ID);
        if (read_all(argv[1]) != expected) {
            fprintf(stderr, "read-dump: %s has not %" PRIu64 " switches\n", argv[1], expected);
            return 1;
        }
        const double took = now(CLOCK_MONOTONIC) - start, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
        least = took < least ? took : least;
        least_cpu = cpu < least_cpu ? cpu : least_cpu;
    }
    printf("%.4f %.4f %lu\n", least, least_cpu, private_peak());
    return 0;
}
