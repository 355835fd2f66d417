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

/* Only the controller and the `start` it calls touch these. */
static struct member {
    struct member *next;
    struct kthread *thread;
} * members;          /* newest first */
static struct block { /* a page */
    struct block *next;
    uint64_t used; /* bytes, with this header; what follows is 16-byte aligned */
} * blocks;

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
    if (bytes > KWORKLOAD_ALLOC_MAX)
        return NULL;
    if (!blocks || blocks->used + bytes > ARCH_PAGE_SIZE) {
        struct block *b = kmem_pages_alloc(1);
        if (!b)
            return NULL;
        b->next = blocks;
        b->used = sizeof *b;
        blocks = b;
    }
    void *memory = (char *)blocks + blocks->used;
    blocks->used += (bytes + 15) & ~(size_t)15;
    return memory;
}
_Static_assert(sizeof(struct block) + KWORKLOAD_ALLOC_MAX == ARCH_PAGE_SIZE, "a block");

int kworkload_add(const char *name, uint32_t number,
                  int (*create)(struct kthread **thread, const char *name, const void *what), const void *what)
{
    char text[KTHREAD_NAME];
    snprintf(text, sizeof text, "%s/%u", name, number);
    struct member *m = kworkload_alloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    int e = create(&m->thread, text, what);
    if (e)
        return e;
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
    for (; members; members = members->next) {
        char name[KTHREAD_NAME];
        int code;
        memcpy(name, members->thread->name, sizeof name);
        kthread_join(members->thread, KWAIT_FOREVER, &code);
        if (code)
            kreport(KREPORT_FAIL, "workload", "%s ended with code 0x%x", name, (unsigned)code);
    }
    while (blocks) {
        struct block *b = blocks;
        blocks = b->next;
        kmem_pages_free(b, 1);
    }
}
