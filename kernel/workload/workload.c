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

int kworkload_add(const char *name, uint32_t number,
                  int (*create)(struct kthread **thread, const char *name, const void *what), const void *what)
{
    char text[KTHREAD_NAME];
    snprintf(text, sizeof text, "%s/%u", name, number);
    struct member *m = kmem_alloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    int e = create(&m->thread, text, what);
    if (e) {
        kmem_free(m);
        return e;
    }
    m->next = members;
    members = m;
    return 0;
}

static int create_thread(struct kthread **thread, const char *name, const void *what)
{
    struct kthread_params params = *(const struct kthread_params *)what;
    params.name = name;
    return kthread_create(thread, &params);
}

int kworkload_thread(const char *name, uint32_t number, int priority, uint32_t cpu, void (*entry)(void *),
                     void *argument)
{
    const struct kthread_params params = {.priority = priority,
                                          .flags = KTHREAD_SAMPLED,
                                          .affinity = kthread_affinity(cpu),
                                          .entry = entry,
                                          .argument = argument};
    return kworkload_add(name, number, create_thread, &params);
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
