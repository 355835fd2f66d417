/* SPDX-License-Identifier: MIT */
#include "kernel/workload/workload.h"

#include "arch/arch.h"
#include "kernel/console/report.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/thread.h"
#include "kernel/user/user.h"
#include "kernel/workload/parts.h"

/* What kworkload_finish gives back, newest first. Only the controller and the `start` it calls touch these lists. */
struct member {
    struct member *next;
    struct kthread *thread;
};
struct block {
    struct block *next;
    uint64_t pad; /* what follows is 16-byte aligned */
};
static struct member *members;
static struct block *blocks;

static bool stopping;

bool kworkload_stopping(void)
{
    return __atomic_load_n(&stopping, __ATOMIC_RELAXED);
}

static void ask_to_stop(bool stop)
{
    __atomic_store_n(&stopping, stop, __ATOMIC_RELAXED);
    kuser_ask_to_stop(stop);
}

void *kworkload_alloc(size_t bytes)
{
    if (bytes > KHEAP_MAX - sizeof(struct block))
        return NULL;
    struct block *b = kmem_alloc(sizeof *b + bytes);
    if (!b)
        return NULL;
    b->next = blocks;
    blocks = b;
    return b + 1;
}

/* What `e` says has been created: kworkload_finish joins it. */
static int remember(struct member *m, int e)
{
    if (e) {
        kmem_free(m);
        return e;
    }
    m->next = members;
    members = m;
    return 0;
}

int kworkload_thread(const char *name, uint32_t number, int priority, uint32_t cpu, void (*entry)(void *),
                     void *argument)
{
    char text[KTHREAD_NAME];
    snprintf(text, sizeof text, "%s/%u", name, number);
    struct member *m = kmem_alloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    struct kthread_params params = {.name = text,
                                    .priority = priority,
                                    .flags = KTHREAD_SAMPLED,
                                    .affinity = kthread_affinity(cpu),
                                    .entry = entry,
                                    .argument = argument};
    return remember(m, kthread_create(&m->thread, &params));
}

int kworkload_program(const char *name, uint32_t number, int priority, user_program *program, uint64_t first,
                      uint64_t second, struct kevent *event, uint32_t events)
{
    char text[KTHREAD_NAME];
    snprintf(text, sizeof text, "%s/%u", name, number);
    struct member *m = kmem_alloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    return remember(m,
                    kuser_create(&m->thread, text, priority, KTHREAD_ANY_CPU, program, first, second, event, events));
}

int kworkload_start(const char *name, uint64_t seed)
{
    const struct kworkload *const *row;
    int e = -ENOENT;
    ask_to_stop(false);
    for (ROWS_EACH(kworkload, row))
        if (strcmp((*row)->name, name) == 0)
            e = (*row)->start(seed);
    if (e)
        kworkload_finish();
    return e;
}

void kworkload_finish(void)
{
    ask_to_stop(true);
    while (members) {
        struct member *m = members;
        members = m->next;
        char name[KTHREAD_NAME];
        int code;
        memcpy(name, m->thread->name, sizeof name);
        kthread_join(m->thread, KWAIT_FOREVER, &code);
        if (code)
            kreport(KREPORT_FAIL, "workload", "%s ended with code 0x%x", name, (unsigned)code);
        kmem_free(m);
    }
    while (blocks) {
        struct block *b = blocks;
        blocks = b->next;
        kmem_free(b);
    }
}
