/* SPDX-License-Identifier: MIT */
/* The option table. Also compiled on the host (tools/options, tests). */
#include "kernel/options/row.h"

#include "kernel/lib/limits.h"
#include "kernel/lib/string.h"

static const char debug_store[] = "ds!=off", sampling[] = "ds!=off,pebs!=none";

#define AT(field) &kopt.field, sizeof kopt.field

static char workloads[160]; /* the names of their rows */

static const struct kopt_option table[] = {
    {"ds", "auto",
     "Debug Store backend: hw (CPUID and MSRs), soft (a model, by single-stepping), auto (hw if the processor has it, "
     "else soft) or off",
     AT(ds), WORD, .words = "auto|hw|soft|off"},
    {"pebs", "INST_RETIRED.ANY:5003",
     "events to sample: EVENT:PERIOD[:ldlat=N|:frontend=N][:u|k|uk][:plain][,...]; ldlat is the threshold of load "
     "latency in core cycles; none: no events, only branches, with bts=",
     AT(pebs), TEXT, .needs = debug_store},
    {"pebs.groups", "gpr",
     "record groups beside the basic one: none, or a list of gpr, mem, xmm, lbr (lbr:8: the newest 8 of 32 branches; "
     "architectural PEBS has 8, 16 or all) and counters (format 6, architectural PEBS), such as gpr,lbr:8; formats 0 "
     "to 3 have a fixed layout with registers",
     AT(pebs_groups), TEXT, .needs = sampling},
    {"pebs.records", "64", "size of each CPU's PEBS buffer in records; at most 27 (one page) on processors of format 0",
     AT(pebs_records), NUMBER32, .min = 1, .max = 4096, .needs = sampling},
    {"pebs.threshold", "48", "number of records after which the PMI drains the buffer, at most pebs.records",
     AT(pebs_threshold), NUMBER32, .min = 1, .max = 4096, .needs = sampling},
    {"trace.buffers", "256",
     "trace buffers of a session, for all CPUs together: at least one per CPU, and one more if circular",
     AT(trace_buffers), NUMBER32, .min = 1, .max = 65536},
    {"trace.buffer_kib", "64", "size of a trace buffer in KiB", AT(trace_buffer_kib), NUMBER32, .min = 4, .max = 1024},
    {"workload", "mix", "what the threads do (docs/how-to/workloads.md)", AT(workload), TEXT, .words = workloads},
    {"switches", "20000", "end after this many context switches on all CPUs together", AT(switches), NUMBER64, .min = 1,
     .max = UINT64_C(1000000000)},
    {"seconds", "60", "end after this many seconds at the latest", AT(seconds), NUMBER32, .min = 1, .max = 86400},
    {"seed", "1", "seed of the workload's random numbers", AT(seed), NUMBER64, .min = 0, .max = UINT64_MAX},
    {"tick", "1000", "timer tick in microseconds", AT(tick_us), NUMBER32, .min = 100, .max = 100000},
    {"cpus", "256", "use at most this many CPUs (pebs.cpus= says which CPUs of a hybrid sample)", AT(cpus), NUMBER32,
     .min = 1, .max = MAX_CPUS},
    {"end", "halt", "what to do after all output: halt, reboot, poweroff, or exit (QEMU's debug-exit port)", AT(end),
     WORD, .words = "halt|exit|reboot|poweroff"},
};

void kopt_add_word(char *words, size_t size, const char *word)
{
    const size_t n = strlen(words);
    snprintf(words + n, size - n, "%s%s", n ? "|" : "", word);
}

/* The value of workload= whose name is the first after `name`; NULL: there is none. */
static const struct kopt_workload *next_workload(const char *name)
{
    const struct kopt_workload *const *w, *next = NULL;
    for (ROWS_EACH(kopt_workload, w))
        if (strcmp((*w)->name, name) > 0 && (!next || strcmp((*w)->name, next->name) < 0))
            next = *w;
    return next;
}

/* By their names; then those that are made from other tables. */
static const struct kopt_option *rows[KOPT_ROWS_MAX];
static size_t count;

void kopt_add(const struct kopt_option *option)
{
    if (count < KOPT_ROWS_MAX)
        rows[count++] = option;
}

static void sort(void)
{
    for (size_t n = 1; n < count; n++) {
        const struct kopt_option *option = rows[n];
        size_t at = n;
        for (; at && strcmp(rows[at - 1]->name, option->name) > 0; at--)
            rows[at] = rows[at - 1];
        rows[at] = option;
    }
}

static void add_all(void)
{
    const struct kopt_option *const *row;
    const struct kopt_rows *const *made;
    for (const struct kopt_workload *w = next_workload(""); w; w = next_workload(w->name))
        kopt_add_word(workloads, sizeof workloads, w->name);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        kopt_add(&table[i]);
    for (ROWS_EACH(kopt, row))
        kopt_add(*row);
    sort();
    for (ROWS_EACH(kopt_rows, made))
        (*made)->add();
}

const struct kopt_option *kopt_row_get(size_t i)
{
    if (!count)
        add_all();
    return i < count ? rows[i] : NULL;
}

const struct kopt_option *kopt_row_find(const char *name, size_t size, size_t *i)
{
    const struct kopt_option *o;
    for (*i = 0; (o = kopt_row_get(*i)); ++*i)
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
            break;
    return o;
}

const char *kopt_workload_needs(void)
{
    const struct kopt_workload *const *w;
    for (ROWS_EACH(kopt_workload, w))
        if (strcmp((*w)->name, kopt.workload) == 0)
            return (*w)->needs;
    return NULL;
}
