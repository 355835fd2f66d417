/* SPDX-License-Identifier: MIT */
/*
 * If the processor was QEMU with the plugin qemu-ds, compares its records with those that the plugin wrote to its own
 * file: each is there, with the same bytes and in the same order, and there are no others. Epochs are the kernel's, so
 * the plugin does not know them. Records may be missing from the log only where something is missing from the log.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "ds/layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/bts.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/plugin_truth.h"
#include "tools/pebs/pebs.h"

#define TRIES 1000u /* records that are not found; the rest of them would take too long */

struct walk {
    struct cairn_check *check;
    const struct cairn_plugin *plugin;
    const struct cairn_plugin_cpu *truth;
    const struct cairn_cpu *cpu;
    int n;
    uint64_t base, maximum;  /* of the session's PEBS buffer */
    uint64_t start;          /* TSC of the session's begin; 0: not known */
    uint64_t stop;           /* TSC of its end, behind which others may use PEBS; 0: not known, or nobody does */
    size_t next;             /* of the truth's records, or branches */
    uint64_t missing, bytes; /* bytes: of missing records */
};

/* Whether the log tells what of this CPU's is not in it. */
static bool told(const struct walk *w)
{
    uint64_t skipped[2];
    return w->check->whole && !w->check->log->panic && !cairn_part_of_run(w->check->log, (uint32_t)w->n) &&
           !cairn_grab_skipped(w->check->log, skipped);
}

/* Whether all that this CPU wrote must be in the log. */
static bool whole(const struct walk *w)
{
    return told(w) && !w->cpu->holes.count;
}

/* ---- PEBS -------------------------------------------------------------------------------------------------------- */

/* The first word that differs, or CAIRN_NO_WORD. */
#define CAIRN_NO_WORD UINT32_MAX
static uint32_t differs(const struct walk *w, const struct cairn_plugin_record *t, const struct cairn_record *r)
{
    uint32_t words = r->size / 8 < t->words ? r->size / 8 : t->words;
    for (uint32_t i = 0; i < words; i++)
        if (cairn_get64(r->at + 8u * i) != w->plugin->words.items[t->first + i])
            return i;
    return t->words * 8 == r->size ? CAIRN_NO_WORD : words;
}

/* Whether it lies in the buffer of the session, or (dropped) at its end. That is one for the whole run; the kernel has
 * others at times, and tries PEBS in this one before the session begins. */
static bool of_session(const struct walk *w, const struct cairn_plugin_record *t)
{
    if (t->tsc && (t->tsc < w->start || (w->stop && t->tsc > w->stop))) /* 0: unknown */
        return false;
    return t->address >= w->base && t->address <= w->maximum;
}

/* What the plugin says apart from the record's words. */
static void compare_fields(const struct walk *w, const struct cairn_record *r, const struct cairn_plugin_record *t)
{
    const struct {
        enum cairn_pebs_what what;
        const char *name;
        uint64_t truth;
    } fields[] = {{CAIRN_PEBS_EVENTING_IP, "the instruction", t->ip},
                  {CAIRN_PEBS_RIP, "the place where it continued", t->next},
                  {CAIRN_PEBS_RFLAGS, "RFLAGS", t->flags},
                  {CAIRN_PEBS_COUNTERS, "the counters", t->counters},
                  {CAIRN_PEBS_TSC, "the TSC", t->tsc}};
    uint64_t value;
    w->check->compared[CAIRN_RULE_TRUTH_RECORDS]++;
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (cairn_pebs_get(r->format, r->at, r->size, fields[i].what, &value) && value != fields[i].truth)
            cairn_fail(w->check, CAIRN_RULE_TRUTH_RECORDS, w->n, &r->time,
                       "epoch %" PRIu32 ", 0x%" PRIx64 ": %s is 0x%" PRIx64 ", in truth 0x%" PRIx64, r->epoch,
                       r->address, fields[i].name, value, fields[i].truth);
}

static void fail_word(const struct walk *w, const struct cairn_record *r, const struct cairn_plugin_record *t,
                      uint32_t word)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f = {.name = "its size"};
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    for (uint32_t i = 0; i <= word && cairn_pebs_next(&walk, &f); i++)
        ;
    if (word * 8 >= r->size || word >= t->words)
        cairn_fail(w->check, CAIRN_RULE_TRUTH_WORDS, w->n, &r->time,
                   "epoch %" PRIu32 ", 0x%" PRIx64 ": %" PRIu32 " bytes, in truth %" PRIu32, r->epoch, r->address,
                   r->size, t->words * 8);
    else
        cairn_fail(w->check, CAIRN_RULE_TRUTH_WORDS, w->n, &r->time,
                   "epoch %" PRIu32 ", 0x%" PRIx64 ": %s is 0x%" PRIx64 ", in truth 0x%" PRIx64, r->epoch, r->address,
                   f.name, cairn_get64(r->at + 8u * word), w->plugin->words.items[t->first + word]);
}

/* Those of the truth up to record `end` are missing. */
static void miss(struct walk *w, size_t end)
{
    for (; w->next < end; w->next++) {
        const struct cairn_plugin_record *t = &w->truth->records.items[w->next];
        if (!t->words || !of_session(w, t))
            continue;
        w->missing++;
        w->bytes += t->words * UINT64_C(8);
    }
}

/* The record of the truth it is; those before it are missing. NULL: none. */
static const struct cairn_plugin_record *find(struct walk *w, const struct cairn_record *r)
{
    for (size_t i = w->next; i < w->truth->records.count; i++) {
        const struct cairn_plugin_record *t = &w->truth->records.items[i];
        if (t->words && t->address == r->address && differs(w, t, r) == CAIRN_NO_WORD) {
            miss(w, i);
            w->next = i + 1;
            return t;
        }
    }
    return NULL;
}

/* It is not in the truth as it is. If the next of the session lies where it does, that is the one. */
static void fail_record(struct walk *w, const struct cairn_record *r)
{
    size_t i = w->next;
    const struct cairn_plugin_record *t = w->truth->records.items;
    while (i < w->truth->records.count && !(t[i].words && of_session(w, &t[i])))
        i++;
    if (i < w->truth->records.count && t[i].address == r->address) {
        fail_word(w, r, &t[i], differs(w, &t[i], r));
        w->next = i + 1;
    } else
        cairn_fail(w->check, CAIRN_RULE_TRUTH_RECORDS, w->n, &r->time,
                   "epoch %" PRIu32 ", 0x%" PRIx64 ": the plugin's truth does not have this record", r->epoch,
                   r->address);
}

static int by_place(const void *a, const void *b)
{
    const struct cairn_record *x = a, *y = b;
    return x->epoch != y->epoch ? (x->epoch > y->epoch) - (x->epoch < y->epoch)
                                : (x->address > y->address) - (x->address < y->address);
}

/* What the plugin dropped: the kernel knows that of a buffer that was full it knows nothing, and else that none was. */
static void check_dropped(const struct walk *w)
{
    uint64_t dropped = 0;
    if (w->cpu->pebs.drains.dropped.unknown)
        return;
    for (size_t i = 0; i < w->truth->records.count; i++)
        dropped += !w->truth->records.items[i].words && of_session(w, &w->truth->records.items[i]);
    if (dropped && whole(w))
        cairn_fail(w->check, CAIRN_RULE_TRUTH_RECORDS, w->n, NULL,
                   "%" PRIu64 " %s dropped in truth, but the drains report no loss", dropped,
                   cairn_plural(dropped, "record", "records"));
}

/* What cairn grab counted as lost, number `which` of its counts, is what is missing; or (`more`) more than that. */
static void check_lost(const struct walk *w, enum cairn_rule rule, unsigned which, uint64_t bytes, bool more)
{
    uint64_t lost[4];
    if (!told(w) || !cairn_slice_numbers(cairn_key(&w->check->log->text, "end.cpu.%d.grab", w->n), lost, 4))
        return;
    w->check->compared[rule]++;
    if (more ? lost[which] < bytes : lost[which] != bytes)
        cairn_fail(w->check, rule, w->n, NULL,
                   "%" PRIu64 " bytes of the plugin's truth are not in the trace, but %" PRIu64 " were counted as lost",
                   bytes, lost[which]);
}

/* Where the buffer lies, and from when on, by the first drain. Under cairn grab a CPU has an end of its own. */
static void find_buffer(struct walk *w)
{
    struct cairn_group g;
    const struct cairn_epoch *e;
    cairn_group_init(&g, w->check->log, (uint32_t)w->n);
    for (bool first = true; (e = cairn_group_drain(&g)) != NULL; first = false) {
        const struct cairn_buffer b = cairn_epoch_buffer(e);
        w->base = first ? b.base : w->base;
        w->maximum = first ? b.maximum : w->maximum;
        w->start = !first ? w->start : e->reason == CAIRN_DS_START ? e->tsc : 0;
        w->stop = w->stop && e->reason == CAIRN_DS_STOP ? e->tsc : w->stop;
    }
    cairn_group_free(&g);
}

static void check_records(struct walk *w)
{
    struct cairn_group g;
    unsigned tries = 0;
    find_buffer(w);
    cairn_group_init(&g, w->check->log, (uint32_t)w->n);
    while (cairn_group_next(&g)) {
        if (g.records.count)
            qsort(g.records.items, g.records.count, sizeof(*g.records.items), by_place);
        for (size_t i = 0; i < g.records.count && tries < TRIES; i++) {
            const struct cairn_record *r = &g.records.items[i];
            const struct cairn_plugin_record *t = find(w, r);
            if (t) {
                compare_fields(w, r, t);
                w->check->compared[CAIRN_RULE_TRUTH_WORDS] += t->words;
            } else {
                fail_record(w, r);
                tries++;
            }
        }
    }
    cairn_group_free(&g);
    miss(w, w->truth->records.count);
    check_lost(w, CAIRN_RULE_TRUTH_RECORDS, 1, w->bytes, false);
    if (w->missing && whole(w))
        cairn_fail(w->check, CAIRN_RULE_TRUTH_RECORDS, w->n, NULL,
                   "%" PRIu64 " %s of the plugin's truth missing from the trace, although nothing was lost", w->missing,
                   cairn_plural(w->missing, "record", "records"));
}

/* ---- BTS --------------------------------------------------------------------------------------------------------- */

/* Whether the truth from `at` on is that drain. */
static bool equal(const struct walk *w, const struct cairn_bts_group *g, size_t at)
{
    struct cairn_branch b;
    uint32_t i = 0;
    for (; at + i < w->truth->branches.count && cairn_bts_record(g, i, &b); i++)
        if (b.from != w->truth->branches.items[at + i].from || b.to != w->truth->branches.items[at + i].to)
            return false;
    return !cairn_bts_record(g, i, &b);
}

/* Whether `records` branches of the truth, from `at` on, may be a drain of the session: it ends in it, and may have
 * some from before it. */
static bool may_be(const struct walk *w, size_t at, size_t records)
{
    if (!records)
        return true;
    const struct cairn_plugin_branch *first = &w->truth->branches.items[at], *last = first + records - 1;
    return (!last->tsc || last->tsc >= w->start) && (!w->stop || first->tsc <= w->stop);
}

/* In a Linux others may use BTS before and behind the session, with the same program, too. What is missing is known in
 * between. */
static void check_branches(struct walk *w)
{
    const bool grabbed = cairn_log_grabbed(w->check->log);
    unsigned tries = 0;
    bool overwrites = false, full = false;
    struct cairn_bts_group *g = cairn_alloc(sizeof(*g));
    const struct cairn_bts_drain *d;
    cairn_bts_group_init(g, w->check->log, (uint32_t)w->n);
    while (tries < TRIES && (d = cairn_bts_group_next(g)) != NULL) {
        const size_t records = d->bytes_seen / CAIRN_BTS_BYTES;
        size_t at = w->next;
        overwrites |= !d->interrupting;
        full |= d->lost == CAIRN_DS_LOST_UNKNOWN;
        while (at + records <= w->truth->branches.count && !(may_be(w, at, records) && equal(w, g, at)))
            at++;
        if (at + records <= w->truth->branches.count) {
            w->check->compared[CAIRN_RULE_TRUTH_BRANCHES] += records;
            w->missing += grabbed && !w->next ? 0 : at - w->next;
            w->next = at + records;
        } else {
            cairn_fail(w->check, CAIRN_RULE_TRUTH_BRANCHES, w->n, &d->time,
                       "epoch %" PRIu32 ": the plugin's truth does not have its %zu branches in this order", d->number,
                       records);
            tries++;
        }
    }
    cairn_bts_group_free(g);
    free(g);
    w->missing += grabbed ? 0 : w->truth->branches.count - w->next;
    check_lost(w, CAIRN_RULE_TRUTH_BRANCHES, 3, w->missing * CAIRN_BTS_BYTES, true);
    if (w->truth->totals[QDS_TRUTH_BRANCHES_DROPPED] && !full && whole(w))
        cairn_fail(w->check, CAIRN_RULE_TRUTH_BRANCHES, w->n, NULL,
                   "%" PRIu64 " %s dropped in truth, but the drains report no loss",
                   w->truth->totals[QDS_TRUTH_BRANCHES_DROPPED],
                   cairn_plural(w->truth->totals[QDS_TRUTH_BRANCHES_DROPPED], "branch", "branches"));
    if (w->missing && !overwrites && whole(w))
        cairn_fail(w->check, CAIRN_RULE_TRUTH_BRANCHES, w->n, NULL,
                   "%" PRIu64 " %s of the plugin's truth missing from the trace, although nothing was lost", w->missing,
                   cairn_plural(w->missing, "branch", "branches"));
}

/* A CPU without one drain, where others have some. */
static void check_absent(const struct walk *w, enum cairn_rule rule, uint64_t records)
{
    if (records && (w->n >= (int)w->check->log->cpus || whole(w)))
        cairn_fail(w->check, rule, w->n, NULL, "%" PRIu64 " %s of the plugin's truth, but the trace has no drain",
                   records, cairn_plural(records, "record", "records"));
}

void cairn_check_plugin(struct cairn_check *check)
{
    bool pebs = false, bts = false;
    for (uint32_t n = 0; n < check->log->cpus; n++) {
        pebs |= check->log->cpu[n].pebs.epochs != 0;
        bts |= check->log->cpu[n].bts.epochs != 0;
    }
    for (uint32_t n = 0; n < MAX_CPUS; n++) {
        struct walk w = {
            .check = check,
            .plugin = check->plugin,
            .truth = &check->plugin->cpu[n],
            .cpu = &check->log->cpu[n],
            .n = (int)n,
        };
        if (cairn_log_grabbed(check->log))
            cairn_slice_u64(cairn_session_key(check->log, "stop_tsc"), &w.stop);
        if (w.cpu->pebs.epochs) {
            check_records(&w);
            check_dropped(&w);
        } else if (pebs)
            check_absent(&w, CAIRN_RULE_TRUTH_RECORDS, w.truth->totals[QDS_TRUTH_RECORDS]);
        w.next = w.missing = w.start = 0;
        if (cairn_log_grabbed(check->log))
            cairn_slice_u64(cairn_session_key(check->log, "start_tsc"), &w.start);
        if (w.cpu->bts.epochs)
            check_branches(&w);
        else if (bts && !cairn_log_grabbed(check->log))
            check_absent(&w, CAIRN_RULE_TRUTH_BRANCHES, w.truth->totals[QDS_TRUTH_BRANCHES]);
    }
}
