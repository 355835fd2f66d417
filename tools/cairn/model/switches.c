/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/switches.h"

#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/event/record.h"

/* ---- one switch -------------------------------------------------------------------------------------------------- */

/* What a batch says that its records do not. */
struct batch {
    const uint8_t *table; /* struct ccswap_buffer */
    const struct cairn_event *event;
    uint64_t time;  /* of the record before */
    uint64_t told;  /* of struct cairn_switch's `told`, what all records with a thread have */
    uint32_t slots; /* of the TidTable, met so far */
    uint32_t cpu;
    const uint16_t *state; /* as in struct cairn_cursor */
};

/* All forms are unpacked alike, and what one does not have is masked. A slot is one of the table, whatever the record
 * says. Who comes is told by the next. */
static inline void decode_record(struct cairn_item *item, struct batch *b, uint64_t v)
{
    const struct cairn_record_form *f = cairn_record_form(v);
    const uint32_t slot = cairn_record_slot(v, f), slots = f->told & (slot + 1);
    const uint8_t base = b->table[offsetof(struct ccswap_buffer, thread_base_priority) + slot];
    const uint64_t told = b->told | (uint64_t)b->state[cairn_record_state(v, f)] << CAIRN_TOLD_STATE |
                          (uint64_t)cairn_record_priority(v, f, base) << CAIRN_TOLD_PRIORITY |
                          (uint64_t)base << CAIRN_TOLD_BASE | (uint64_t)(slots > b->slots) << CAIRN_TOLD_BASE_TOLD;
    struct cairn_switch *sw = &item->sw;
    b->time += cairn_record_delta(v, f);
    b->slots = slots > b->slots ? slots : b->slots;
    item->time = sw->time = (int64_t)b->time;
    item->cpu = b->cpu;
    item->kind = CAIRN_ITEM_SWITCH;
    item->blame = item->rule = item->reserved = 0;
    sw->old_tid = f->told & cairn_get32(b->table + offsetof(struct ccswap_buffer, tid_table) + 4 * slot);
    sw->wait = cairn_record_wait(v, f);
    sw->hole = CAIRN_NO_HOLE;
    sw->told = (told & (uint64_t)(int64_t)(int32_t)f->told) | (v & CCSWAP_TYPE_MASK);
    sw->event = b->event;
}

static void decode_event(struct cairn_item *item, const struct cairn_event *e, uint32_t cpu)
{
    const uint8_t *p = e->payload;
    *item = (struct cairn_item){.time = e->time, .cpu = cpu, .kind = CAIRN_ITEM_SWITCH};
    item->sw = (struct cairn_switch){
        .time = e->time,
        .hole = CAIRN_NO_HOLE,
        .event = e,
        .old_tid = cairn_get32(p + offsetof(struct wmi_contextswap, old_thread_id)),
        .new_tid = cairn_get32(p + offsetof(struct wmi_contextswap, new_thread_id)),
        .wait = cairn_get32(p + offsetof(struct wmi_contextswap, new_thread_wait_time)),
        .form = CAIRN_FORM_EVENT,
        .state = p[offsetof(struct wmi_contextswap, old_thread_state)],
        .reason = p[offsetof(struct wmi_contextswap, old_thread_wait_reason)],
        .priority = (int8_t)p[offsetof(struct wmi_contextswap, old_thread_priority)],
        .detailed = true,
        .new_known = true,
    };
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

struct making {
    struct cairn_block *block;
    struct cairn_item *next, *end;
    const struct cairn_item *quiet; /* NULL: there is none yet */
    uint32_t events, bytes;         /* used of the block */
};

/* Before the first of an event. */
static void take_hole(struct cairn_cursor *c, struct making *m, struct cairn_item *first)
{
    first->sw.hole = c->hole;
    if (!m->quiet && (c->hole != CAIRN_NO_HOLE || first->time < first[-1].time))
        m->quiet = first;
    c->hole = CAIRN_NO_HOLE;
}

/* Records of the open batch. False: it does not end with one, as the index has checked. */
static bool decode_batch(struct cairn_cursor *c, struct making *m)
{
    const uint8_t *p = c->next, *end = c->stop;
    struct batch b = {
        .table = c->event.payload,
        .event = &m->block->event[m->events - 1],
        .time = (uint64_t)c->time,
        .slots = c->slots,
        .state = c->state,
        .told = UINT64_C(1) << CAIRN_TOLD_DETAILED |
                (uint64_t)(c->log->session.maximum_wait_reason == CAIRN_WAIT_REASONS_UNKNOWN) << CAIRN_TOLD_RAW,
        .cpu = c->number,
    };
    struct cairn_item *first = m->next, *item = first;
    bool whole = true;
    for (; p < end && item < m->end; item++) {
        const uint64_t v = cairn_record_load(p, end);
        const unsigned bytes = ccswap_record_bytes(*p);
        if (bytes > end - p) {
            cairn_walk_changed(&c->walk);
            whole = false;
            break;
        }
        p += bytes;
        decode_record(item, &b, v);
        item[-1].sw.new_tid = item->sw.old_tid; /* who came is who leaves now */
        item[-1].sw.new_known = true;
    }
    if (item > first) {
        first[-1].sw.new_known = c->hole == CAIRN_NO_HOLE;
        first[-1].sw.new_tid = first[-1].sw.new_known ? first->sw.old_tid : 0;
        take_hole(c, m, first);
        if (item[-1].time < first->time) /* it wraps around */
            m->quiet = first;
    }
    m->next = item;
    c->next = p;
    c->time = (int64_t)b.time;
    c->slots = b.slots;
    return whole;
}

/* Whether the walk is at what the cursor is for: a batch that is not empty, or a 0524H. */
static bool is_switch(const struct cairn_cursor *c)
{
    const struct cairn_event *e = &c->event;
    return cairn_event_decoded(e) &&
           (c->compact ? e->hook == HOOK_CONTEXTSWAP_BATCH && e->size > sizeof(struct ccswap_buffer)
                       : e->hook == HOOK_CONTEXTSWAP);
}

/* The next of these. */
static bool open_event(struct cairn_cursor *c)
{
    const struct cairn_event *e = &c->event;
    bool any;
    do {
        any = cairn_walk_next(&c->walk, &c->event);
        if (c->walk.hole != CAIRN_NO_HOLE)
            c->hole = c->walk.hole;
    } while (any && !is_switch(c));
    if (!any)
        return false;
    c->time = c->compact ? (int64_t)cairn_get64(e->payload) : e->time;
    c->slots = 0;
    c->next = e->payload + (c->compact ? sizeof(struct ccswap_buffer) : 0);
    c->stop = e->payload + e->size;
    return true;
}

/* Adds the open event to the block. False: with so much in it there is no room for all of it. */
static bool add_event(const struct cairn_cursor *c, struct making *m)
{
    const struct cairn_event *e = &c->event;
    const bool kept = c->cpu->pieces[e->piece].data; /* where it lies */
    const uint32_t bytes = kept ? 0 : e->head + e->size;
    const ptrdiff_t switches = c->compact ? (c->stop - c->next) / 2 : 1;
    if (m->next > m->block->item + 2 &&
        (switches > m->end - m->next || m->events == CAIRN_BLOCK_EVENTS || m->bytes + bytes > CAIRN_BLOCK_BYTES))
        return false;
    struct cairn_event *copy = &m->block->event[m->events++];
    *copy = *e;
    if (!kept) {
        copy->payload = m->block->bytes + m->bytes + e->head;
        memcpy(m->block->bytes + m->bytes, e->payload - e->head, bytes);
        m->bytes += bytes;
    }
    return true;
}

/* Decodes what is open, or the next event. False: there is none, or there is no room for it. */
static bool decode_more(struct cairn_cursor *c, struct making *m)
{
    if (c->next == c->stop && !open_event(c)) {
        c->ended = true;
        return false;
    }
    if (m->next == m->end || !add_event(c, m))
        return false;
    if (c->compact) {
        c->ended = !decode_batch(c, m);
        return !c->ended;
    }
    decode_event(m->next, &m->block->event[m->events - 1], c->number);
    take_hole(c, m, m->next++);
    c->next = c->stop;
    return true;
}

/* All that fit, but the last one: it comes with the next block, when it is known who leaves after it. */
static bool make_block(void *cursor, void *block)
{
    struct cairn_cursor *c = cursor;
    struct cairn_block *b = block;
    struct making m = {.block = b, .next = b->item + 1, .end = b->item + CAIRN_BLOCK_SWITCHES};
    b->item[0] = c->last;
    while (!c->ended && decode_more(c, &m))
        ;
    c->last = m.next[-1];
    b->first = b->item + !c->has_last;
    b->end = m.next - !c->ended;
    b->quiet = m.quiet && m.quiet < b->end ? m.quiet : b->end;
    if (c->compact)
        m.next[-1].sw.new_known = false, m.next[-1].sw.new_tid = 0;
    c->has_last = !c->ended;
    return b->first < b->end;
}

/* ---- the cursor ---------------------------------------------------------------------------------------------------
 */

void cairn_cursor_init(struct cairn_cursor *c, const struct cairn_log *log, uint32_t cpu, bool compact)
{
    cairn_cursor_begin(c, log, &log->cpu[cpu], compact);
    c->number = cpu;
}

void cairn_cursor_begin(struct cairn_cursor *c, const struct cairn_log *log, const struct cairn_cpu *cpu, bool compact)
{
    memset(c, 0, offsetof(struct cairn_cursor, walk));
    c->log = log;
    c->cpu = cpu;
    c->compact = compact;
    c->hole = CAIRN_NO_HOLE;
    for (uint32_t i = 0, most = log->session.maximum_wait_reason; i <= CCSWAP_MASK(CCSWAP_STATE_BITS); i++)
        c->state[i] = (uint16_t)(i < most                      ? KTHREAD_WAITING | i << 8
                                 : i - most == KTHREAD_WAITING ? KTHREAD_WAITING | CAIRN_REASON_UNKNOWN << 8
                                                               : (i - most) & UINT8_MAX);
    c->source = (struct cairn_source){
        .make = make_block, .context = c, .blocks = (char *)c->own, .bytes = sizeof(c->own[0]), .room = 2};
    cairn_walk_begin(&c->walk, log, cpu);
}

void cairn_cursor_share(struct cairn_cursor *c, struct cairn_block *blocks, uint32_t room)
{
    c->source.blocks = (char *)blocks;
    c->source.room = room;
    c->walk.links.kept = NULL; /* one thread's */
}

bool cairn_cursor_more(struct cairn_cursor *c)
{
    const struct cairn_block *block = cairn_ahead_next(c->ahead, &c->source);
    if (!block)
        return false;
    c->item = block->first;
    c->quiet = block->quiet;
    c->end = block->end;
    return true;
}

bool cairn_cursor_next(struct cairn_cursor *c, struct cairn_switch *sw)
{
    const struct cairn_switch *next = cairn_cursor_peek(c);
    if (!next)
        return false;
    *sw = *next;
    c->item++;
    return true;
}

bool cairn_has_switches(const struct cairn_log *log, bool compact)
{
    bool any = compact ? log->session.compact : log->session.full;
    for (uint32_t c = 0; c < log->cpus; c++)
        any |= (compact ? log->cpu[c].switches.compact : log->cpu[c].switches.full) != 0;
    return any;
}

bool cairn_prefers_compact(const struct cairn_log *log)
{
    if (log->session.full)
        return false;
    if (log->session.compact)
        return true;
    uint64_t full = 0; /* the session stream is missing: what is there? */
    for (uint32_t c = 0; c < log->cpus; c++)
        full += log->cpu[c].switches.full;
    return full == 0;
}
