/* SPDX-License-Identifier: MIT */
/* Checks the model's log: it is whole where nothing is lost, and each record is as its entry says. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/model_log.h"
#include "tools/pebs/pebs.h"
#include "trace/wire/model_log.h"

struct walk { /* along one CPU's entries, and the records beside them */
    struct cairn_check *check;
    const struct cairn_cpu *cpu;
    int n;
    bool whole;    /* no entry may be missing */
    bool gap;      /* entries are missing since the last that stored a record */
    size_t record; /* of the drain at hand */
    struct cairn_group group;
    struct cairn_logged_walk entries;
};

#define FAIL(w, time, ...) cairn_fail((w)->check, CAIRN_RULE_LOG, (w)->n, time, __VA_ARGS__)

static void check_gap(struct walk *w, size_t i)
{
    const uint32_t missing = w->entries.missing;
    w->gap |= missing != 0;
    if (missing && w->whole)
        FAIL(w, NULL, "%" PRIu32 " %s missing before the one at place %zu, but no event is lost", missing,
             cairn_plural(missing, "entry is", "entries are"), i);
}

static bool before(const struct cairn_record *r, uint32_t epoch, uint64_t index)
{
    return r->epoch < epoch || (r->epoch == epoch && r->index < index);
}

static void compare(struct walk *w, const struct cairn_record *r, const struct cairn_logged *e,
                    const struct cairn_model_action *stored)
{
    uint64_t v;
    if (stored->after - stored->before != r->size)
        FAIL(w, &e->time, "a record of %" PRIu32 " bytes, but PebsIndex moves by %" PRIu64, r->size,
             stored->after - stored->before);
    if (r->ip != (r->after ? e->head.next_ip : e->head.ip))
        FAIL(w, &e->time, "the record names 0x%" PRIx64 ", but its entry names another instruction", r->ip);
    if (cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_RIP, &v) && v != e->head.next_ip)
        FAIL(w, &e->time, "the record continues at 0x%" PRIx64 ", but its entry elsewhere", v);
    if (cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_COUNTERS, &v) &&
        v != cairn_counters_unpack(stored->counters))
        FAIL(w, &e->time, "record and entry name different counters");
    if (cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_TSC, &v) && v != e->head.tsc)
        FAIL(w, &e->time, "record and entry have different times");
}

/* The record at hand. NULL: there is none any more. */
static const struct cairn_record *record_at(struct walk *w)
{
    while (w->record >= w->group.records.count) {
        if (!cairn_group_next(&w->group))
            return NULL;
        w->record = 0;
    }
    return &w->group.records.items[w->record];
}

/* Records that come before `epoch` and `index` are without an entry. */
static void pass_records(struct walk *w, uint32_t epoch, uint64_t index)
{
    const struct cairn_record *r;
    for (; (r = record_at(w)) != NULL && before(r, epoch, index); w->record++)
        if (!w->gap && r->index != CAIRN_NO_INDEX)
            FAIL(w, &r->time, "no entry describes the record at 0x%" PRIx64 " of epoch %" PRIu32, r->address, r->epoch);
}

static void check_stored(struct walk *w, const struct cairn_logged *e, const struct cairn_model_action *stored)
{
    pass_records(w, e->head.epoch, stored->before);
    const struct cairn_record *r = record_at(w);
    if (r && r->epoch == e->head.epoch && r->index == stored->before) {
        w->check->compared[CAIRN_RULE_LOG]++;
        compare(w, r, e, stored);
        w->record++;
    } else if (w->whole && !w->check->log->panic) { /* a panic leaves records in buffers it could not drain */
        FAIL(w, &e->time, "an entry describes a record at 0x%" PRIx64 ", but there is none", stored->before);
    }
    w->gap = false;
}

static void check_entries(struct walk *w)
{
    struct cairn_logged e;
    size_t i = 0;
    for (; cairn_logged_walk_next(&w->entries, &e); i++) {
        w->check->compared[CAIRN_RULE_LOG]++;
        check_gap(w, i);
        for (unsigned a = 0; a < e.head.actions; a++) {
            struct cairn_model_action action = cairn_logged_action(&e, a);
            if (action.kind == CAIRN_MODEL_STORED)
                check_stored(w, &e, &action);
        }
    }
    check_gap(w, i);
    if (w->whole)
        pass_records(w, UINT32_MAX, UINT64_MAX);
}

void cairn_check_log(struct cairn_check *check, uint32_t n)
{
    const struct cairn_cpu_end *end = &check->log->cpu[n].end;
    if (!check->log->cpu[n].log_entries && !end->log)
        return;
    struct walk *w = cairn_alloc(sizeof(*w));
    *w = (struct walk){.check = check, .cpu = &check->log->cpu[n], .n = (int)n};
    w->whole = check->whole && !check->log->session.circular && end->events_known && !end->events[CAIRN_LOST];
    cairn_group_init(&w->group, check->log, n);
    cairn_logged_walk_init(&w->entries, check->log, n);
    check_entries(w);
    cairn_group_free(&w->group);
    free(w);
}
