/* SPDX-License-Identifier: MIT */
/* Commands: threads, and who runs or waits for each CPU. */
#include "kernel/sched/threads.h"
#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/kernel_commands.h"
#include "kernel/sched/sched.h"

#define MOST 64u

struct row {
    uint32_t tid, cpu;
    uint8_t state, reason;
    int8_t priority, base;
    int32_t quantum;
    char name[KTHREAD_NAME];
};

static struct row row_of(const struct kthread *t)
{
    struct row r = {t->tid, t->cpu, t->state, t->wait_reason, t->priority, t->base_priority, t->quantum, ""};
    memcpy(r.name, t->name, sizeof r.name);
    r.name[sizeof r.name - 1] = '\0';
    return r;
}

/* Before the run others switch meanwhile: under the dispatcher lock. Later they are held, and it may be taken. */
static bool begin(const struct kmonitor *m)
{
    bool on = arch_irq_save();
    if (m->place == KMONITOR_BEFORE_RUN)
        ksched_lock();
    return on;
}

static void finish(const struct kmonitor *m, bool on)
{
    if (m->place == KMONITOR_BEFORE_RUN)
        ksched_unlock();
    arch_irq_restore(on);
}

static void print_row(const struct kmonitor *m, const char *before, const struct row *r)
{
    kmonitor_print(m, "%s%6u  %-23s %2d/%-2d  cpu %-3u  %s%s%s\n", before, r->tid, r->name, r->priority, r->base,
                   r->cpu, kmonitor_state(r->state),
                   r->state == KTHREAD_WAITING || r->state == KTHREAD_READY ? ": " : "",
                   r->state == KTHREAD_WAITING || r->state == KTHREAD_READY ? kmonitor_reason(r->reason) : "");
}

static int threads(struct kmonitor *m, unsigned words, char **word)
{
    static struct row rows[MOST];
    (void)words, (void)word;
    bool on = begin(m);
    uint32_t count = 0;
    for (const struct klist *at = kthread_all.next; at != &kthread_all; at = at->next, count++)
        if (count < MOST)
            rows[count] = row_of(KLIST_ITEM(at, const struct kthread, all_link));
    finish(m, on);
    kmonitor_print(m, "%6s  %-23s %-5s  %-7s  %s\n", "thread", "name", "prio", "where", "state: why");
    for (uint32_t i = 0; i < count && i < MOST; i++)
        print_row(m, "", &rows[i]);
    kmonitor_print(m, "%u thread%s, and an idle thread for each CPU%s\n", count, kmonitor_plural(count),
                   count > MOST ? "; the first 64 are shown" : "");
    return 0;
}

static void show_queue(struct kmonitor *m, uint32_t n)
{
    static struct row rows[MOST];
    struct row current = {0}, standby = {0};
    uint32_t count = 0;
    bool on = begin(m);
    const struct kcpu *cpu = kcpu_table[n];
    if (cpu->current)
        current = row_of(cpu->current);
    const bool next = cpu->standby != NULL;
    if (next)
        standby = row_of(cpu->standby);
    for (int p = KPRIORITIES - 1; p >= 0; p--) {
        const struct klist *list = &cpu->ready.list[p];
        for (const struct klist *at = list->next; at && at != list && count < MOST; at = at->next)
            rows[count++] = row_of(KLIST_ITEM(at, const struct kthread, queue_link));
    }
    finish(m, on);
    kmonitor_print(m, "CPU %u: %lu switches\n", n, (unsigned long)cpu->switches);
    print_row(m, "  runs  ", &current);
    if (next)
        print_row(m, "  next  ", &standby);
    for (uint32_t i = 0; i < count; i++)
        print_row(m, "  ready ", &rows[i]);
}

static int queues(struct kmonitor *m, unsigned words, char **word)
{
    (void)words, (void)word;
    for (uint32_t i = 0; i < kcpu_count; i++)
        show_queue(m, i);
    return 0;
}

const struct kmonitor_command kmonitor_threads[] = {
    {"threads", "", "every thread with its state and why it waits", 0, 0, threads, NULL},
    {"queues", "", "what each CPU runs, and its ready queue", 0, 0, queues, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
