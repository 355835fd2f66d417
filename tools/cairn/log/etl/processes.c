/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/processes.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/event_walk.h"

const struct cairn_owner *cairn_owner_of(const struct cairn_owners *owners, uint32_t id)
{
    const uint32_t position = cairn_map_find(&owners->by_id, id);
    return position ? &owners->list.items[position - 1] : NULL;
}

static void note(struct cairn_owners *owners, uint32_t id, const struct cairn_rundown *r, int64_t time)
{
    const uint32_t position = cairn_map_find(&owners->by_id, id);
    struct cairn_owner *o = position ? &owners->list.items[position - 1] : NULL;
    if (o && ((r->ends && (o->name[0] || o->pid != r->pid)) || (!r->ends && time < o->time)))
        return; /* that it goes says nothing new but a name that is missing */
    if (!o) {
        cairn_map_add(&owners->by_id, id, (uint32_t)owners->list.count);
        o = CAIRN_ADD(owners->list);
        o->id = id;
    }
    o->pid = r->pid;
    o->time = time;
    if (r->name[0])
        memcpy(o->name, r->name, sizeof(o->name));
}

void cairn_processes_read(struct cairn_processes *all, const struct cairn_log *log)
{
    struct cairn_walk walk;
    struct cairn_event e;
    struct cairn_rundown r;
    for (uint32_t c = 0; c < log->cpus; c++)
        for (cairn_walk_init(&walk, log, c); cairn_walk_next(&walk, &e);) {
            cairn_rundown_read(&r, &e);
            if (r.kind == CAIRN_RUNDOWN_PROCESS && r.pid)
                note(&all->processes, r.pid, &r, e.time);
            else if (r.kind == CAIRN_RUNDOWN_THREAD && r.tid)
                note(&all->threads, r.tid, &r, e.time);
        }
}

void cairn_processes_free(struct cairn_processes *all)
{
    free(all->processes.list.items);
    free(all->threads.list.items);
    cairn_map_free(&all->processes.by_id);
    cairn_map_free(&all->threads.by_id);
}
