/* SPDX-License-Identifier: MIT */
/* Workloads: what the threads of a run do. docs/how-to/workloads.md shows how to write one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/rows.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"

/* ---- for the run's controller; a thread */
/* Starts the workload of this name, one of option workload=. 0, -ENOMEM or -ENOENT (nothing is left running). */
int kworkload_start(const char *name, uint64_t seed);
/* Asks its threads to stop, joins them, frees what they shared. */
void kworkload_finish(void);

/* ---- for workloads */
struct kworkload {
    const char *name;
    /* Creates the threads. 0, or what kworkload_thread or kworkload_alloc failed with. */
    int (*start)(uint64_t seed);
};

ROWS(kworkload, const struct kworkload);

/* A workload. Each is also a line KOPT_WORKLOAD (kernel/options/row.h) of its folder's options.c. At file scope. */
#define KWORKLOAD(word, begin)                                                                                         \
    static const struct kworkload kworkload_##word = {.name = #word, .start = (begin)};                                \
    ROWS_ADD(kworkload, kworkload_##word)

/* Creates a sampled thread, called NAME/NUMBER, that kworkload_finish will join. `cpu`: the only one it may run on, or
 * KTHREAD_ANY_CPU. 0, -EINVAL, -ENOMEM. */
int kworkload_thread(const char *name, uint32_t number, int priority, uint32_t cpu, void (*entry)(void *),
                     void *argument);
/* The same for a thread that `create` creates, of `what`: 0, or what it failed with. */
int kworkload_add(const char *name, uint32_t number,
                  int (*create)(struct kthread **thread, const char *name, const void *what), const void *what);
/* Zeroed memory that kworkload_finish frees after the threads have ended, 16-byte aligned; NULL for more bytes than
 * that. */
#define KWORKLOAD_ALLOC_MAX 4080u
void *kworkload_alloc(size_t bytes);

/* Every loop of a workload looks here, every wait ends within KWORKLOAD_PATIENCE ticks (at night within eight times
 * that: kernel/workload/parts.h): so a run always ends. */
#define KWORKLOAD_PATIENCE 100u
bool kworkload_stopping(void);
