/* SPDX-License-Identifier: MIT */
/* What ran, by a profile's samples: where a trace has no switches, they are all that tells. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/command/stat.h"
#include "tools/cairn/log/etl/processes.h"
#include "tools/cairn/log/etl/samples.h"
#include "tools/cairn/log/event_walk.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/filter.h"

struct process {
    uint32_t pid; /* CAIRN_NO_TID: nothing tells */
    uint64_t samples, kernel;
};

struct sums {
    struct {
        struct process *items;
        size_t count, room;
    } processes; /* at the positions of `by_pid` until they are sorted */
    struct cairn_map by_pid;
    uint64_t all, idle;
};

static void count(struct sums *s, const struct cairn_sample *sample, uint8_t pointer)
{
    s->all++;
    if (!sample->tid) {
        s->idle++;
        return;
    }
    const uint32_t known = cairn_map_find(&s->by_pid, sample->pid);
    if (!known) {
        cairn_map_add(&s->by_pid, sample->pid, (uint32_t)s->processes.count);
        CAIRN_ADD(s->processes)->pid = sample->pid;
    }
    struct process *p = &s->processes.items[known ? known - 1 : s->processes.count - 1];
    p->samples++;
    p->kernel += sample->ip >> (8 * pointer - 1) & 1;
}

static void count_all(struct sums *s, const struct cairn_samples *samples, const struct cairn_log *log)
{
    struct cairn_walk *walk = cairn_alloc(sizeof(*walk));
    struct cairn_event e;
    struct cairn_live live;
    struct cairn_sample sample;
    for (uint32_t c = 0; c < log->cpus; c++)
        for (cairn_walk_init(walk, log, c); cairn_filter_cpu(c) && cairn_walk_next(walk, &e);)
            if (cairn_live_of(&e, &live) && cairn_samples_take(samples, c, &live, &sample) &&
                cairn_filter_time(e.time) && (!cairn_filter_by_thread() || cairn_filter_thread(sample.tid)))
                count(s, &sample, live.pointer);
    free(walk);
}

static int by_samples(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void print_process(const struct process *p, const struct cairn_processes *names, uint64_t busy)
{
    const struct cairn_owner *o = p->pid == CAIRN_NO_TID ? NULL : cairn_owner_of(&names->processes, p->pid);
    const char *known = o && o->name[0] ? o->name : "process";
    char name[CAIRN_SHOWN] = "unknown process", number[16];
    const int size = snprintf(number, sizeof(number), ":%" PRIu32, p->pid);
    if (p->pid != CAIRN_NO_TID)
        snprintf(name, sizeof(name), "%s%s", CAIRN_CUT(cairn_slice_of(known), 28 - size), number);
    printf("  %-*s %8.2f %% %12" PRIu64 " %12.2f %%\n", cairn_fill(name, 28), name, cairn_percent(p->samples, busy),
           p->samples, cairn_percent(p->kernel, p->samples));
}

void cairn_stat_samples(const struct cairn_log *log, size_t most)
{
    struct cairn_samples samples = {.log = log, .kind = cairn_samples_kind(log)}; /* their stacks are not looked at */
    struct cairn_processes names = {0};
    struct sums s = {.all = 0};
    if (samples.kind == CAIRN_LIVE_KINDS)
        return;
    count_all(&s, &samples, log);
    cairn_processes_read(&names, log);
    if (s.processes.count)
        qsort(s.processes.items, s.processes.count, sizeof(*s.processes.items), by_samples);
    printf("\n%sprocesses by %-15s   of not idle      samples  in the kernel%s\n", cairn_stat_heading(),
           cairn_samples_name(samples.kind, 2), cairn_stat_plain());
    for (size_t i = 0; i < s.processes.count && i < most; i++)
        print_process(&s.processes.items[i], &names, s.all - s.idle);
    if (s.processes.count > most)
        printf("  and %zu more (--top N)\n", s.processes.count - most);
    printf("  %-28s %23" PRIu64 "   %.2f %% of all\n", "idle", s.idle, cairn_percent(s.idle, s.all));
    cairn_processes_free(&names);
    cairn_map_free(&s.by_pid);
    free(s.processes.items);
}
