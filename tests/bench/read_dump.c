/* SPDX-License-Identifier: MIT */
/*
 * How fast `cairn` reads: frames found and checked, decoded, indexed, every CPU's switches decoded and merged by time,
 * as each command does before it prints a word. Prints seconds of the clock and of the processor, the least of several
 * rounds, and the peak of private memory of the whole process.
 *
 *     read-dump LOG SWITCHES [ROUNDS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/cairn/frame/input.h"
#include "tools/cairn/model/timeline.h"

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t read_all(const char *path)
{
    static struct cairn_log log;
    struct cairn_input input;
    struct cairn_timeline t;
    const struct cairn_item *item;
    char refusal[CAIRN_REFUSAL];
    uint64_t switches = 0;
    if (cairn_input_open(&input, path) || cairn_log_read(&log, &input, &(struct cairn_choice){0}, refusal) ||
        cairn_log_damaged(&log)) {
        fprintf(stderr, "read-dump: %s cannot be read, or is damaged\n", path);
        exit(1);
    }
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
    const uint64_t expected = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 0) : 7;
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
