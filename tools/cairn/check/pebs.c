/* SPDX-License-Identifier: MIT */
/* What must hold for PEBS without any truth: each area is as the driver set it up, and each record is one that this
 * processor can have written with this set-up at this time. */
#include <inttypes.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/counters.h"
#include "tools/cairn/model/pebs_memory.h"
#include "tools/cairn/model/timeline.h"
#include "tools/pebs/pebs.h"

#define FAIL(w, rule, time, ...) cairn_fail((w)->check, rule, (int)(w)->n, time, __VA_ARGS__)

/* ---- the area ---------------------------------------------------------------------------------------------------- */

static uint64_t word(const struct cairn_epoch *e, size_t offset)
{
    return cairn_get64(e->area + offset);
}

/* Whether a counter of any width there is begins at `reset` for `period`. */
static bool begins_at(uint64_t reset, uint64_t period)
{
    for (unsigned width = 32; width < 64; width++)
        if (reset == (-period & (DS_BIT(width) - 1)))
            return true;
    return reset == -period;
}

bool cairn_right_reset(const struct cairn_drained *w, const struct cairn_counter *c, uint64_t reset)
{
    if (!c || c->plain)
        return reset == 0;
    bool old = w->later != CAIRN_LATER && begins_at(reset, c->period);
    bool new = w->later != CAIRN_NOT_YET && (!c->later || begins_at(reset, c->later));
    return old || new;
}

static void check_resets(const struct cairn_drained *w, const struct cairn_epoch *e)
{
    const uint32_t first = offsetof(struct ds_area_60, pebs_counter_reset);
    const uint32_t fixed = ds_area_reset(e->format, DS_COUNTER_FIXED);
    for (uint32_t at = first; w->counters.known && !w->grabbed && at < e->area_bytes; at += 8) {
        unsigned n = at < fixed ? (at - first) / 8 : DS_COUNTER_FIXED + (at - fixed) / 8;
        const struct cairn_counter *c = cairn_counters_find(&w->counters, n);
        if (cairn_right_reset(w, c, word(e, at)))
            continue;
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "the reset value of %s%u, 0x%" PRIx64 ", is not that of %s",
             n < DS_COUNTER_FIXED ? "PMC" : "FIXED_CTR", n % DS_COUNTER_FIXED, word(e, at),
             c && !c->plain ? "its period" : "a counter without PEBS, 0");
    }
}

static void check_area(const struct cairn_drained *w, const struct cairn_epoch *e)
{
    const struct cairn_pebs_keys *k = &w->keys;
    uint64_t base = word(e, offsetof(struct ds_area_60, pebs_buffer_base));
    uint64_t index = word(e, offsetof(struct ds_area_60, pebs_index));
    uint64_t maximum = word(e, offsetof(struct ds_area_60, pebs_absolute_maximum));
    uint64_t threshold = word(e, offsetof(struct ds_area_60, pebs_interrupt_threshold));
    const uint64_t bytes = k->record_bytes.is, records = k->threshold.is;
    if (bytes && k->threshold.known && threshold - base != records * bytes)
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "the threshold 0x%" PRIx64 " is not %" PRIu64 " %s above the base",
             threshold, records, cairn_plural(records, "record", "records"));
    else if (threshold > maximum)
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "the threshold 0x%" PRIx64 " is above the maximum 0x%" PRIx64, threshold,
             maximum);
    if (e->lost == CAIRN_DS_LOST_UNKNOWN && bytes && e->record_bytes == index - base &&
        (cairn_log_modelled(w->check->log) || index + bytes <= maximum))
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "the number of lost records is unknown, but %s",
             index + bytes <= maximum ? "the buffer was not full" : "the model counts them");
    check_resets(w, e);
}

/* ---- epochs and their events ------------------------------------------------------------------------------------- */

/* A processor that compares only a record's start with the maximum writes the last record over it, into the slack
 * record of the driver's; the model stops before, unless told otherwise. */
static bool may_overrun(const struct cairn_log *log)
{
    return !cairn_log_modelled(log) || cairn_policy_is(log, "fit", "start_lt");
}

static struct cairn_number ds_number(const struct cairn_text *t, uint32_t cpu, const char *name)
{
    struct cairn_number n = {0};
    n.known = cairn_ds_number(t, cpu, name, &n.is);
    return n;
}

static struct cairn_number cpu_number(const struct cairn_text *t, const char *format, uint32_t cpu)
{
    struct cairn_number n = {0};
    n.known = cairn_slice_u64(cairn_key(t, format, cpu), &n.is);
    return n;
}

static void read_keys(struct cairn_pebs_keys *k, const struct cairn_log *log, uint32_t cpu)
{
    const struct cairn_text *t = &log->text;
    k->format = ds_number(t, cpu, "format");
    k->record_bytes = ds_number(t, cpu, "record_bytes");
    k->records = ds_number(t, cpu, "records");
    k->threshold = ds_number(t, cpu, "threshold");
    k->buffer = cpu_number(t, "ds.cpu.%" PRIu32 ".buffer", cpu);
    k->buffer_bytes = cpu_number(t, "ds.cpu.%" PRIu32 ".buffer_bytes", cpu);
    k->physical = cpu_number(t, "ds.cpu.%" PRIu32 ".buffer.physical", cpu);
    k->groups = ds_number(t, cpu, "arch_groups");
    k->caps.known = cairn_detected(log, cpu, "CPUID.23H.4:EBX groups", &k->caps.is);
    k->late = cpu_number(t, "end.cpu.%" PRIu32 ".late", cpu);
    k->overrun = may_overrun(log) && k->format.is != DS_FORMAT_ARCH ? k->record_bytes.is : 0;
}

void cairn_drained_init(struct cairn_drained *w, struct cairn_check *check, uint32_t cpu)
{
    *w = (struct cairn_drained){.check = check, .n = cpu};
    read_keys(&w->keys, check->log, cpu);
    cairn_counters_read(&w->counters, &check->log->text, cpu);
    w->grabbed = cairn_log_grabbed(check->log);
}

void cairn_drained_epoch(struct cairn_drained *w, const struct cairn_epoch *e)
{
    const struct cairn_number format = w->keys.format;
    if (w->has_last && e->tsc < w->last)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "a drain is earlier than the previous drain");
    if (format.known && e->format != format.is)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "format %u on a CPU of format %" PRIu64, e->format, format.is);
    if (e->reason == CAIRN_DS_PANIC && w->check->whole && !w->check->log->panic)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "drained by a panic, but this dump is not from a panic");
    if (e->format != DS_FORMAT_ARCH)
        check_area(w, e);
    if (e->reason == CAIRN_DS_RECONFIGURE)
        w->later = CAIRN_LATER;
    w->has_last = true;
    w->last = e->tsc;
    w->now = e;
    w->part = 0;
}

void cairn_drained_part(struct cairn_drained *w, const struct cairn_event *event)
{
    const uint8_t *p = event->payload;
    uint8_t format = p[offsetof(struct cairn_ds_records, format)];
    uint32_t part = cairn_get32(p + offsetof(struct cairn_ds_records, part));
    uint32_t epoch = cairn_get32(p + offsetof(struct cairn_ds_records, epoch));
    if (!w->now)
        return;
    if (epoch != w->now->number)
        FAIL(w, CAIRN_RULE_RECORDS, &event->time, "records of epoch %" PRIu32 " after the drain of %" PRIu32, epoch,
             w->now->number);
    if (format != w->now->format)
        FAIL(w, CAIRN_RULE_RECORDS, &event->time, "records of format %u in an epoch of format %u", format,
             w->now->format);
    if (part != w->part)
        FAIL(w, CAIRN_RULE_RECORDS, &event->time, "part %" PRIu32 " of a drain's records, but %" PRIu32 " was expected",
             part, w->part);
    w->part = part + 1;
}

void cairn_drained_hole(struct cairn_drained *w)
{
    w->now = NULL;
    w->last_wr = 0;
    w->later = w->later == CAIRN_NOT_YET ? CAIRN_MAYBE_LATER : w->later;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

struct walk { /* along one CPU's drains, with their records */
    struct cairn_check *check;
    uint32_t n;
    struct cairn_counters counters;
    bool has_groups, has_last;
    uint64_t groups; /* MSR_PEBS_DATA_CFG */
    uint64_t bytes;  /* of a record; 0: not known */
    struct cairn_record last;
};

static void check_order(const struct walk *w, const struct cairn_record *r)
{
    const struct cairn_record *last = &w->last;
    w->check->compared[CAIRN_RULE_RECORDS]++;
    if (w->bytes && r->size != w->bytes && r->format != DS_FORMAT_ARCH)
        FAIL(w, CAIRN_RULE_RECORDS, &r->time, "a record of %" PRIu32 " bytes, not %" PRIu64, r->size, w->bytes);
    if (!w->has_last)
        return;
    if (r->epoch < last->epoch || (r->epoch == last->epoch && r->address < last->address + last->size))
        FAIL(w, CAIRN_RULE_RECORDS, &r->time,
             "out of order: epoch %" PRIu32 " at 0x%" PRIx64 " after epoch %" PRIu32 " at 0x%" PRIx64, r->epoch,
             r->address, last->epoch, last->address);
    if (r->timed && last->timed && r->tsc < last->tsc)
        FAIL(w, CAIRN_RULE_RECORDS, &r->time, "its TSC is earlier than that of the previous record");
}

/* From format 3 on a record names its counters, and only such as write records. */
static void check_counters(const struct walk *w, const struct cairn_record *r)
{
    uint64_t counters;
    if (!cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_COUNTERS, &counters))
        return;
    if (!counters || (w->counters.known && counters & ~w->counters.pebs))
        FAIL(w, CAIRN_RULE_RECORDS, &r->time,
             "epoch %" PRIu32 ", 0x%" PRIx64 ": counters 0x%" PRIx64 " are not among 0x%" PRIx64, r->epoch, r->address,
             counters, w->counters.pebs);
}

/* From format 4 on a record says what it is made of: what was asked for, and as long as that is. Of architectural PEBS:
 * arch.c. */
static void check_groups(const struct walk *w, const struct cairn_record *r)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    if (r->format < 4 || r->format == DS_FORMAT_ARCH)
        return;
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (walk.groups & MSR_PEBS_DATA_CFG_CNTR && cairn_pebs_next(&walk, &f)) /* up to its masks, at least */
        ;
    uint32_t size =
        ds_pebs_adaptive_size(walk.groups | msr_pebs_data_cfg_counters(walk.gp & 0xFFFF, walk.fixed & 0xFF));
    if (size != r->size)
        FAIL(w, CAIRN_RULE_RECORDS, &r->time,
             "epoch %" PRIu32 ", 0x%" PRIx64 ": %" PRIu32 " bytes, but its groups, 0x%" PRIx32 ", have %" PRIu32,
             r->epoch, r->address, r->size, (uint32_t)walk.groups, size);
    if (w->has_groups && walk.groups != (uint32_t)w->groups)
        FAIL(w, CAIRN_RULE_RECORDS, &r->time,
             "epoch %" PRIu32 ", 0x%" PRIx64 ": groups 0x%" PRIx32 ", but MSR_PEBS_DATA_CFG was 0x%" PRIx64, r->epoch,
             r->address, (uint32_t)walk.groups, w->groups);
}

/* `from`, `to`: TSCs of the drains around it. */
static void check_time(const struct walk *w, const struct cairn_record *r, uint64_t from, uint64_t to)
{
    if (!ds_pebs_has_tsc(r->format))
        return;
    if (r->tsc < from)
        FAIL(w, CAIRN_RULE_RECORDS, &r->time,
             "epoch %" PRIu32 ", 0x%" PRIx64 ": TSC %" PRIu64 " is before its epoch, %" PRIu64, r->epoch, r->address,
             r->tsc, from);
    if (r->tsc > to)
        FAIL(w, CAIRN_RULE_RECORDS, &r->time,
             "epoch %" PRIu32 ", 0x%" PRIx64 ": TSC %" PRIu64 " is after its drain, %" PRIu64, r->epoch, r->address,
             r->tsc, to);
}

/* A record lies between the drain before its own, where that is the last that came, and its own. */
static void check_group(struct walk *w, const struct cairn_group *g, uint64_t before)
{
    const struct cairn_epoch *e = g->epochs.count ? g->epochs.items : NULL;
    for (size_t i = 0; i < g->records.count; i++) {
        const struct cairn_record *r = &g->records.items[i];
        const bool own = e && e->number == r->epoch && e->reason != CAIRN_DS_START;
        check_order(w, r);
        check_counters(w, r);
        check_groups(w, r);
        if (r->format == DS_FORMAT_ARCH)
            cairn_check_arch_record(&(struct cairn_reader){w->check, w->n}, r, own ? e : NULL);
        check_time(w, r, own ? before : 0, own ? e->tsc : UINT64_MAX);
        w->last = *r;
        w->has_last = true;
    }
}

void cairn_check_sampled(struct cairn_check *check, uint32_t cpu, const struct cairn_item *item)
{
    for (unsigned rule = 0; rule < CAIRN_BY_RULES; rule++)
        if (item->by[rule].blame == CAIRN_BLAME_UNSAMPLED)
            cairn_fail(check, CAIRN_RULE_RECORDS, (int)cpu, &item->time,
                       "epoch %" PRIu32 ", 0x%" PRIx64
                       ": attribution by %s shows that no sampled thread can have caused it",
                       item->record->epoch, item->record->address, cairn_by_names[rule]);
}

void cairn_check_pebs(struct cairn_check *check, uint32_t cpu)
{
    struct walk w = {.check = check, .n = cpu};
    struct cairn_group g;
    uint64_t before = 0;
    if (!check->log->cpu[cpu].pebs.records)
        return;
    cairn_counters_read(&w.counters, &check->log->text, cpu);
    w.has_groups = cairn_ds_number(&check->log->text, cpu, "data_cfg", &w.groups);
    cairn_ds_number(&check->log->text, cpu, "record_bytes", &w.bytes);
    cairn_group_init(&g, check->log, cpu);
    while (cairn_group_next(&g)) {
        check_group(&w, &g, before);
        before = g.epochs.count ? g.epochs.items[0].tsc : 0;
    }
    cairn_group_free(&g);
}
