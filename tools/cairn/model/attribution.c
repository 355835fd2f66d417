/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/truth_stream.h"

const char *const cairn_by_names[] = {[CAIRN_BY_TIME] = "time", [CAIRN_BY_INDEX] = "index", NULL};

static const struct {
    enum cairn_certainty certainty;
    const char *text, *why;
} blames[CAIRN_BLAMES] = {
    [CAIRN_BLAME_KNOWN] = {CAIRN_ATTRIBUTED, "known", ""},
    [CAIRN_BLAME_SAME_UNIT] = {CAIRN_AMBIGUOUS, "ambiguous: same clock unit", "same clock unit"},
    [CAIRN_BLAME_BATCH] = {CAIRN_AMBIGUOUS, "ambiguous: several in batch", "several threads"},
    [CAIRN_BLAME_LOSS] = {CAIRN_AMBIGUOUS, "ambiguous: switches missing", "switches lost"},
    [CAIRN_BLAME_LAST] = {CAIRN_UNKNOWN, "unknown: after last switch", "last switch"},
    [CAIRN_BLAME_NO_TIME] = {CAIRN_UNKNOWN, "unknown: record has no time", "no time"},
    [CAIRN_BLAME_NO_STAMP] = {CAIRN_UNKNOWN, "unknown: no index stamp", "no stamp"},
    [CAIRN_BLAME_UNSAMPLED] = {CAIRN_UNKNOWN, "unknown: none was sampled", "none sampled"},
};

const char *cairn_blame_text(enum cairn_blame blame)
{
    return blames[blame].text;
}

const char *cairn_blame_why(enum cairn_blame blame)
{
    return blames[blame].why;
}

enum cairn_certainty cairn_blame_certainty(enum cairn_blame blame)
{
    return blames[blame].certainty;
}

bool cairn_only_sampled(const struct cairn_log *log)
{
    return cairn_slice_is(cairn_key(&log->text, "ds.scope"), "thread");
}

bool cairn_is_sampled(const struct cairn_log *log, uint32_t tid)
{
    const struct cairn_name *name = cairn_find_name(&log->text, tid);
    return tid && (!name || (name->flag != 'i' && name->flag != '-'));
}

/* ---- the rule of the index --------------------------------------------------------------------------------------- */

/* Whether thread `tid` can have caused a record: not, where only sampled threads are counted and it is none. */
static bool suspect(const struct cairn_stamps *s, uint32_t tid)
{
    return !s->only_sampled || cairn_is_sampled(s->log, tid);
}

#define NOBODY UINT32_MAX /* no suspect yet */

/* One more thread that ran within a span. */
static void accuse(const struct cairn_stamps *s, struct cairn_span *span, uint32_t tid)
{
    if (span->who.blame != CAIRN_BLAME_KNOWN || !suspect(s, tid))
        return;
    if (span->who.tid == NOBODY)
        span->who.tid = tid;
    else if (span->who.tid != tid)
        span->who.blame = CAIRN_BLAME_BATCH;
}

/* Who ran at the end of the spans that wait for it: `tid`, or `blame` tells why that is not known. */
static void settle(struct cairn_stamps *s, enum cairn_blame blame, uint32_t tid)
{
    for (; s->waiting < s->spans.count; s->waiting++) {
        struct cairn_span *span = &s->spans.items[s->waiting];
        if (blame == CAIRN_BLAME_KNOWN)
            accuse(s, span, tid);
        else if (span->who.blame == CAIRN_BLAME_KNOWN)
            span->who.blame =
                (uint8_t)(blame == CAIRN_BLAME_LAST && span->who.tid != NOBODY ? CAIRN_BLAME_BATCH : blame);
        if (span->who.blame == CAIRN_BLAME_KNOWN && span->who.tid == NOBODY)
            span->who.blame = CAIRN_BLAME_UNSAMPLED;
    }
}

static struct cairn_span *add_span(struct cairn_stamps *s, uint64_t end)
{
    struct cairn_span *span = CAIRN_ADD(s->spans);
    span->end = end;
    span->who = (struct cairn_verdict){s->hole, NOBODY};
    s->hole = CAIRN_BLAME_KNOWN;
    return span;
}

/* The spans whose epoch is still open are of `epoch`; of none (a part of the log is missing that would tell): gone. */
static void place(struct cairn_stamps *s, bool known, uint32_t epoch)
{
    if (!known)
        s->spans.count = s->unplaced;
    for (; s->unplaced < s->spans.count; s->unplaced++)
        s->spans.items[s->unplaced].epoch = epoch;
    if (s->waiting > s->spans.count)
        s->waiting = s->spans.count;
}

/* Stamps are missing, as `blame` tells. */
static void meet_hole(struct cairn_stamps *s, enum cairn_blame blame)
{
    settle(s, blame, 0);
    place(s, s->epoch_known, s->epoch);
    s->epoch_known = false;
    s->came_known = false;
    s->hole = (uint8_t)blame;
}

/* All that left in this batch, and who left first in the next: that one ran when this one was closed. */
static void read_batch(struct cairn_stamps *s, const struct cairn_event *e)
{
    const uint8_t *table = e->payload + offsetof(struct ccswap_buffer, tid_table), *end = e->payload + e->size;
    const uint8_t *first = e->payload + sizeof(struct ccswap_buffer);
    bool idle_first = first == end || (*first & CCSWAP_TYPE_MASK) < CCSWAP_LITE;
    settle(s, CAIRN_BLAME_KNOWN, idle_first ? 0 : cairn_get32(table));
    struct cairn_span *span = add_span(s, e->pebs_index);
    for (unsigned i = 0; i < CCSWAP_TIDS && cairn_get32(table + 4 * i); i++)
        accuse(s, span, cairn_get32(table + 4 * i));
    for (const uint8_t *p = first; p < end; p += ccswap_record_bytes(*p)) /* the idle thread is not in the table */
        if ((*p & CCSWAP_TYPE_MASK) < CCSWAP_LITE)
            accuse(s, span, 0);
}

static void read_switch(struct cairn_stamps *s, const struct cairn_event *e)
{
    uint32_t old = cairn_get32(e->payload + offsetof(struct wmi_contextswap, old_thread_id));
    settle(s, CAIRN_BLAME_KNOWN, old);
    add_span(s, e->pebs_index)->who.tid = old;
    s->waiting = s->spans.count;
    s->came = cairn_get32(e->payload + offsetof(struct wmi_contextswap, new_thread_id));
    s->came_known = true;
}

/* No batch spans a drain, and it is written behind the last stamp of its epoch. */
static void read_drain(struct cairn_stamps *s, const struct cairn_event *e)
{
    uint32_t number = cairn_get32(e->payload + offsetof(struct cairn_ds_epoch, epoch));
    bool starts = e->payload[offsetof(struct cairn_ds_epoch, reason)] == CAIRN_DS_START;
    if (!starts) { /* what was recorded after the last stamp */
        struct cairn_span *rest = add_span(s, UINT64_MAX);
        if (s->came_known) {
            rest->who.tid = s->came;
            s->waiting = s->spans.count;
        }
    }
    place(s, !starts, number);
    s->epoch_known = true;
    s->epoch = starts ? number : number + 1;
    s->hole = CAIRN_BLAME_KNOWN;
}

/* The session comes, or takes switches again, or stamps them again: what lies below PebsIndex is of threads it does not
 * know. */
static void read_start(struct cairn_stamps *s, const struct cairn_event *e)
{
    if (!s->hole)
        return;
    add_span(s, cairn_get64(e->payload + offsetof(struct cairn_session_event, pebs_index)));
    s->waiting = s->spans.count;
    s->epoch_known = true;
    s->epoch = cairn_get32(e->payload + offsetof(struct cairn_session_event, epoch));
}

/* What the session takes from here on: with these masks perhaps no such switches, and who runs is not known. */
static void read_masks(struct cairn_stamps *s, const struct cairn_event *e)
{
    struct cairn_session_event ack;
    struct perfinfo_groupmask masks;
    memcpy(&ack, e->payload, sizeof(ack));
    memcpy(&masks, ack.masks, sizeof(masks));
    if (ack.session != s->log->number || ack.what == CAIRN_SESSION_STOP)
        return;
    s->unstamped = !(ack.stamps & (s->compact ? CAIRN_STAMP_COMPACT : CAIRN_STAMP_FULL));
    if (!(s->compact ? trace_group_compact(&masks) : trace_group_full(&masks)))
        meet_hole(s, CAIRN_BLAME_LOSS);
    else if (ack.pebs_index || ack.in_epoch) /* architectural PEBS counts from 0 */
        read_start(s, e);
}

static void read_event(struct cairn_stamps *s, const struct cairn_event *e)
{
    if (e->hook == (s->compact ? HOOK_CONTEXTSWAP_BATCH : HOOK_CONTEXTSWAP)) {
        if (!e->has_pebs_index || !cairn_event_decoded(e)) /* it is the stamp that is missing, or who ran */
            meet_hole(s, s->unstamped ? CAIRN_BLAME_NO_STAMP : CAIRN_BLAME_LOSS);
        else if (s->compact)
            read_batch(s, e);
        else
            read_switch(s, e);
    } else if (cairn_drains_begins(e)) {
        read_drain(s, e);
    } else if (e->hook == HOOK_CAIRN_SESSION && cairn_event_decoded(e)) {
        read_masks(s, e);
    }
}

void cairn_stamps_init(struct cairn_stamps *s, const struct cairn_log *log, uint32_t cpu, bool compact)
{
    memset(s, 0, offsetof(struct cairn_stamps, walk));
    s->log = log;
    s->compact = compact;
    s->only_sampled = cairn_only_sampled(log);
    s->epoch_known = true; /* they count from 0 */
    s->ended = !log->cpu[cpu].pebs.records;
    cairn_walk_init(&s->walk, log, cpu);
}

/* Whether all spans of the epochs up to `number` are there, and know who ran at their end. */
static bool told(const struct cairn_stamps *s, uint32_t number)
{
    return s->unplaced && s->waiting >= s->unplaced && s->spans.items[s->unplaced - 1].epoch >= number &&
           s->epoch_known && s->epoch > number;
}

void cairn_stamps_read(struct cairn_stamps *s, uint32_t from, uint32_t to)
{
    struct cairn_event e;
    size_t gone = 0;
    while (gone < s->unplaced && gone < s->waiting && s->spans.items[gone].epoch < from)
        gone++;
    if (gone) {
        s->spans.count -= gone;
        s->unplaced -= gone;
        s->waiting -= gone;
        memmove(s->spans.items, s->spans.items + gone, s->spans.count * sizeof(*s->spans.items));
    }
    while (!s->ended && !told(s, to)) {
        s->ended = !cairn_walk_next(&s->walk, &e);
        if (s->walk.hole != CAIRN_NO_HOLE)
            meet_hole(s, CAIRN_BLAME_LOSS);
        if (!s->ended)
            read_event(s, &e);
        if (!s->ended)
            continue;
        settle(s, CAIRN_BLAME_LAST, 0);
        place(s, s->epoch_known, s->epoch);
    }
}

struct cairn_verdict cairn_stamps_find(const struct cairn_stamps *s, uint32_t epoch, uint64_t index)
{
    const struct cairn_spans *spans = &s->spans;
    size_t low = 0, high = s->unplaced; /* the first span that ends above the record */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct cairn_span *span = &spans->items[middle];
        if (span->epoch < epoch || (span->epoch == epoch && span->end <= index))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->unplaced || spans->items[low].epoch != epoch)
        return (struct cairn_verdict){.blame = CAIRN_BLAME_NO_STAMP};
    return spans->items[low].who;
}

void cairn_stamps_free(struct cairn_stamps *s)
{
    free(s->spans.items);
}

/* ---- what really happened ---------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct cairn_culprit *x = a, *y = b;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

void cairn_culprits_read(struct cairn_culprits *culprits, const struct cairn_log *log, uint32_t cpu)
{
    struct cairn_truth truth;
    const uint8_t *record;
    *culprits = (struct cairn_culprits){0};
    cairn_truth_init(&truth, log, cpu);
    while ((record = cairn_truth_next(&truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_PEBS))) != NULL) {
        struct cairn_truth_pebs t;
        memcpy(&t, record, sizeof(t));
        if (t.stored)
            *CAIRN_ADD(*culprits) = (struct cairn_culprit){t.address, t.epoch, t.tid};
    }
    if (culprits->count)
        qsort(culprits->items, culprits->count, sizeof(*culprits->items), by_place);
}

bool cairn_culprits_find(const struct cairn_culprits *culprits, uint32_t epoch, uint64_t address, uint32_t *tid)
{
    const struct cairn_culprit wanted = {.address = address, .epoch = epoch};
    const struct cairn_culprit *found =
        culprits->count ? bsearch(&wanted, culprits->items, culprits->count, sizeof(wanted), by_place) : NULL;
    if (found)
        *tid = found->tid;
    return found;
}

void cairn_culprits_free(struct cairn_culprits *culprits)
{
    free(culprits->items);
    *culprits = (struct cairn_culprits){0};
}
