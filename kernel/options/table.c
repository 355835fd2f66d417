/* SPDX-License-Identifier: MIT */
/* The option table. Also compiled on the host (tools/options, tests). */
#include "kernel/options/row.h"

#include "ds/ds.h"
#include "kernel/lib/string.h"

static const char debug_store[] = "ds!=off", sampling[] = "ds!=off,pebs!=none";

#define AT(field) &kopt.field, sizeof kopt.field

#define SESSION_AT(n) AT(session[(n)-1])
#define OTHER_SESSION(n)                                                                                               \
    {                                                                                                                  \
        "session." #n, "off", "an additional session; off: none", SESSION_AT(n), SESSION, 0, 0, NULL, NULL             \
    }

/* Stands for the names of rows. */
static const char workloads[] = "names of rows";

static const struct kopt_option table[] = {
    {"ds", "auto",
     "Debug Store backend: hw (CPUID and MSRs), soft (a model, by single-stepping), auto: hw if the processor has it, "
     "else soft",
     AT(ds), WORD, 0, 0, "auto|hw|soft|off", NULL},
    {"pebs", "INST_RETIRED.ANY:5003",
     "events to sample: EVENT:PERIOD[:ldlat=N|:frontend=N][:u|k|uk][:plain][,...]; ldlat is the threshold of load "
     "latency in core cycles; none: no events, only branches, with bts=",
     AT(pebs), TEXT, 0, 0, NULL, debug_store},
    {"pebs.groups", "gpr",
     "record groups in addition to the basic one, from format 4 on: none, or a list of gpr, mem, xmm, lbr (lbr:8: the "
     "newest 8 of 32 branches; architectural PEBS has 8, 16 or all) and counters (format 6, architectural PEBS), such "
     "as gpr,lbr:8; formats 0 to 3 have one fixed layout, which always has registers",
     AT(pebs_groups), TEXT, 0, 0, NULL, sampling},
    {"pebs.records", "64", "size of each CPU's PEBS buffer in records; at most 27 (one page) on processors of format 0",
     AT(pebs_records), NUMBER32, 1, 4096, NULL, sampling},
    {"pebs.threshold", "48", "number of records after which the PMI drains the buffer, at most pebs.records",
     AT(pebs_threshold), NUMBER32, 1, 4096, NULL, sampling},
    {"session.1", "auto:qpc:sequential",
     "a trace session. GROUPS are event groups joined by '+': auto (compact; or full, if session.pmc puts its "
     "counters on 0524H, or if PEBS records have no TSC, formats 0 to 2, so that only PebsIndex at each switch can "
     "assign them to threads), compact (0525H), full (0524H), both (same as compact+full; the values "
     "0x20000004+0x20000100 mean compact alone, as in Windows), process, thread, loader, dispatcher, priority, "
     "interrupt, dpc, profile, pmc_profile, spinlock, mark, cpu_config, no_sysconfig, none, or a group's value "
     "(0x20000100). CLOCK: qpc (10 MHz), system (100 ns since 1601) or tsc (cycles). MODE: sequential or circular. "
     "KIB, BUFFERS: trace.buffer_kib and trace.buffers of this session",
     SESSION_AT(1), SESSION, 0, 0, NULL, NULL},
    OTHER_SESSION(2),
    OTHER_SESSION(3),
    OTHER_SESSION(4),
    OTHER_SESSION(5),
    OTHER_SESSION(6),
    OTHER_SESSION(7),
    OTHER_SESSION(8),
    {"trace.buffers", "256",
     "trace buffers of a session, for all CPUs together; at least one per CPU, and one more if circular",
     AT(trace_buffers), NUMBER32, 1, 65536, NULL, NULL},
    {"trace.buffer_kib", "64", "size of a trace buffer in KiB", AT(trace_buffer_kib), NUMBER32, 4, 1024, NULL, NULL},
    {"workload", "mix", "what the threads do (docs/how-to/workloads.md)", AT(workload), TEXT, 0, 0, workloads, NULL},
    {"switches", "20000", "end after this many context switches on all CPUs together", AT(switches), NUMBER64, 1,
     UINT64_C(1000000000), NULL, NULL},
    {"seconds", "60", "end after this many seconds at the latest", AT(seconds), NUMBER32, 1, 86400, NULL, NULL},
    {"seed", "1", "seed of the workload's random numbers", AT(seed), NUMBER64, 0, UINT64_MAX, NULL, NULL},
    {"tick", "1000", "timer tick in microseconds", AT(tick_us), NUMBER32, 100, 100000, NULL, NULL},
    {"cpus", "256", "use at most this many CPUs (of a hybrid, which of them sample: pebs.cpus=)", AT(cpus), NUMBER32, 1,
     MAX_CPUS, NULL, NULL},
    {"serial", "auto", kopt_serial_text, AT(serial), SERIAL, 0, 0, NULL, NULL},
    {"end", "halt", "what to do after all output: halt, reboot, poweroff, or exit (QEMU's debug-exit port)", AT(end),
     WORD, 0, 0, "halt|exit|reboot|poweroff", NULL},
};
#define OPTIONS (sizeof table / sizeof table[0])

_Static_assert(OPTIONS <= KOPT_ROWS_MAX, "kernel/options/parse.c has room for each option");

void kopt_add_word(struct kopt_row *r, const char *word)
{
    size_t n = strlen(r->words);
    snprintf(r->words + n, sizeof r->words - n, "%s%s", n ? "|" : "", word);
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

/* All options but those that are made from other tables, by their names. */
static const struct kopt_option *stored[KOPT_ROWS_MAX];
static size_t stored_count;

static void store(const struct kopt_option *option)
{
    size_t at = stored_count++;
    for (; at && strcmp(stored[at - 1]->name, option->name) > 0; at--)
        stored[at] = stored[at - 1];
    stored[at] = option;
}

static void store_all(void)
{
    const struct kopt_option *const *more;
    for (size_t i = 0; i < OPTIONS; i++)
        store(&table[i]);
    for (ROWS_EACH(kopt, more))
        if (stored_count < KOPT_ROWS_MAX)
            store(*more);
}

const struct kopt_option *kopt_row_get(size_t i, struct kopt_row *r)
{
    const struct kopt_rows *const *more;
    if (i >= KOPT_ROWS_MAX)
        return NULL;
    if (!stored_count)
        store_all();
    r->words[0] = '\0';
    const struct kopt_option *o = i < stored_count ? stored[i] : NULL;
    i -= stored_count;
    for (ROWS_EACH(kopt_rows, more)) {
        if (o)
            break;
        o = (*more)->get(&i, r);
    }
    if (!o || o->words != workloads)
        return o;
    r->option = *o;
    for (const struct kopt_workload *w = next_workload(""); w; w = next_workload(w->name))
        kopt_add_word(r, w->name);
    r->option.words = r->words;
    return &r->option;
}

const char *kopt_workload_needs(void)
{
    const struct kopt_workload *const *w;
    for (ROWS_EACH(kopt_workload, w))
        if (strcmp((*w)->name, kopt.workload) == 0)
            return (*w)->needs;
    return NULL;
}

size_t kopt_row_find(const char *name, size_t size)
{
    struct kopt_row row;
    const struct kopt_option *o;
    size_t i = 0;
    for (; (o = kopt_row_get(i, &row)); i++)
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
            break;
    return i;
}
