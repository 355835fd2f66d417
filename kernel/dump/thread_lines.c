/* SPDX-License-Identifier: MIT */
/* The dump's lines about threads. */
#include "kernel/dump_section.h"
#include "kernel/sched/threads.h"
#include "trace/frames.h"

static void name(void *context, const struct kthread_record *n)
{
    struct trace_dump *d = context;
    const char *flags = n->flags & KTHREAD_IDLE      ? "i"
                        : n->flags & KTHREAD_USER    ? "u"
                        : n->flags & KTHREAD_SAMPLED ? "s"
                                                     : "-";
    trace_dump_print(d, CAIRN_STREAM_NAMES, "%u %d %s %s", n->tid, n->base_priority, flags, n->name);
}

/* Every thread that existed. */
static void kdump_threads(struct trace_dump *d)
{
    kthread_for_each(name, d);
}
KDUMP_SECTION(KDUMP_THREADS, KDUMP_END | KDUMP_REST, kdump_threads);
