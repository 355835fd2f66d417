/* SPDX-License-Identifier: MIT */
/*
 * Lab 11: your functions on a log of `cairn grab`, that is on records of a Linux. Reads variables from standard input,
 * as `nm -S` prints them, and prints the lines that cost most. Your code is compiled as for the kernel; its registers
 * are not there. Usage: on-log LOG <VARIABLES
 */
#define _GNU_SOURCE // strcasestr
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/counters.h"

#define SAMPLES 32768u
#define SYMBOLS 65536u
#define REPORT  8u  /* lines */
#define CPUS    32u /* task.h */

/* ---- what the student's code, and objects of the kernel, may call */

uintptr_t __stack_chk_guard = 0x5CA1AB1E00FACADEu;
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    abort();
}

int lab_rdmsr(uint32_t msr, uint64_t *value)
{
    (void)msr, (void)value;
    return -EFAULT;
}

int lab_wrmsr(uint32_t msr, uint64_t value)
{
    (void)msr, (void)value;
    return -EFAULT;
}

void lab_student_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
void lab_student_log(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("| ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* ---- the log and the variables */

static struct lab_access accesses[SAMPLES];
static struct lab_line lines[SAMPLES];
static struct lab_object variables[SYMBOLS];
static uint32_t count, known;
static uint64_t all, every = 1; /* records of the log; of so many one is taken */

_Noreturn static void stop(const char *path, const char *why)
{
    fprintf(stderr, "on-log: %s: %s\n", path, why);
    exit(1);
}

static void read_variables(void)
{
    char type, name[256];
    static char line[1024];
    while (known < SYMBOLS && fgets(line, sizeof line, stdin)) {
        struct lab_object *v = &variables[known];
        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %255s", &v->address, &v->bytes, &type, name) != 4 ||
            !strchr("bBdDrRvV", type))
            continue;
        if (!(v->name = strdup(name)))
            stop(name, "no memory");
        known++;
    }
}

/* The counter whose event's name contains `what`; DS_COUNTER_NUMBERS: none does. */
static unsigned counter_of(const struct cairn_counters *counters, const char *what)
{
    for (unsigned i = 0; counters->known && i < counters->count; i++) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)counters->items[i].event.size, counters->items[i].event.at);
        if (strcasestr(name, what) && !strcasestr(name, "aux")) /* an event beside that of load latency */
            return counters->items[i].number;
    }
    return DS_COUNTER_NUMBERS;
}

static void read_cpu(const struct cairn_log *log, uint32_t cpu, const char *path)
{
    static uint64_t record[DS_PEBS_RECORD_MAX_4 / 8];
    struct cairn_counters counters;
    struct cairn_group group;
    cairn_counters_read(&counters, &log->text, cpu);
    const unsigned loads = counter_of(&counters, "load"), stores = counter_of(&counters, "store");
    cairn_group_init(&group, log, cpu);
    while (cairn_group_next(&group))
        for (size_t i = 0; i < group.records.count; i++) {
            const struct cairn_record *r = &group.records.items[i];
            if (loads == DS_COUNTER_NUMBERS || stores == DS_COUNTER_NUMBERS)
                stop(path, "it must have been recorded with an event of loads and one of stores, as perf c2c does");
            if (r->format < 3 || r->format > 4 || r->size > sizeof record)
                stop(path, "its records are not of formats 3 and 4, which this lab reads");
            if (all++ % every || count == SAMPLES)
                continue;
            memcpy(record, r->at, r->size);
            lab_read_record(r->format, (const uint8_t *)record, loads, stores, &accesses[count]);
            accesses[count++].cpu = cpu;
        }
    cairn_group_free(&group);
}

static void read_log(const char *path)
{
    const struct cairn_choice choice = {0};
    static struct cairn_log log;
    struct cairn_input input;
    char refusal[CAIRN_REFUSAL] = "";
    const int e = cairn_input_open(&input, path);
    if (e)
        stop(path, strerror(-e));
    if (cairn_log_read(&log, &input, &choice, refusal) != 0)
        stop(path, *refusal ? refusal : "not a log of cairn grab");
    if (log.cpus > CPUS)
        fprintf(stderr, "on-log: %s: the records of CPUs from %u on are left out\n", path, CPUS);
    for (unsigned pass = 0; pass < 2; pass++) { /* the first one counts them */
        every = all / SAMPLES + 1;
        all = count = 0;
        for (uint32_t cpu = 0; cpu < log.cpus && cpu < CPUS; cpu++)
            read_cpu(&log, cpu, path);
    }
    cairn_log_free(&log);
    cairn_input_close(&input);
}

/* ---- the report */

/* Who uses the line, at which variable: a row for each address and processor. */
static void show_users(uint64_t line)
{
    for (uint64_t at = line; at < line + LAB_LINE_BYTES; at++)
        for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
            uint32_t loads = 0, stores = 0;
            for (uint32_t i = 0; i < count; i++)
                if (accesses[i].address == at && accesses[i].cpu == cpu) {
                    loads += accesses[i].load;
                    stores += accesses[i].store;
                }
            if (!loads && !stores)
                continue;
            uint64_t offset = 0;
            const int variable = lab_find_object(variables, known, at, &offset);
            printf("    CPU %" PRIu32 ": %" PRIu32 " loads, %" PRIu32 " stores, ", cpu, loads, stores);
            if (variable >= 0 && (uint32_t)variable < known)
                printf("%s+0x%" PRIx64 "\n", variables[variable].name, offset);
            else
                printf("0x%" PRIx64 "\n", at);
        }
}

static void report(void)
{
    static const char *const words[] = {"not shared", "true sharing", "false sharing"};
    const uint32_t found = lab_lines(accesses, count, lines);
    printf("%" PRIu32 " of %" PRIu64 " records, %" PRIu32 " lines, %" PRIu32 " variables\n", count, all, found, known);
    for (uint32_t i = 0; i < found && i < REPORT && i < count; i++) {
        const struct lab_line *l = &lines[i];
        printf("0x%" PRIx64 "  latency %" PRIu64 ", %" PRIu32 " of %" PRIu32 " loads from another core: %s\n",
               l->address, l->latency, l->changed, l->loads, words[lab_shared(accesses, count, l->address) % 3]);
        show_users(l->address);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        stop("LOG", "which one? make lab-log N=11 LOG=my.log PROGRAM=prog");
    read_variables();
    read_log(argv[1]);
    if (!count)
        stop(argv[1], "it has no PEBS records");
    report();
    return 0;
}
