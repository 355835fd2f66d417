/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/switches.h"

#include <string.h>

#include "tools/cairn/base/bytes.h"

void cairn_cursor_init(struct cairn_cursor *c, const struct cairn_log *log, uint32_t cpu, bool compact)
{
    cairn_cursor_begin(c, log, &log->cpu[cpu], compact);
}

void cairn_cursor_begin(struct cairn_cursor *c, const struct cairn_log *log, const struct cairn_cpu *cpu, bool compact)
{
    c->log = log;
    c->cpu = cpu;
    c->compact = compact;
    c->next = c->end = NULL;
    c->hole = CAIRN_NO_HOLE;
    c->has_ahead = false;
    c->ahead = 0;
    cairn_cursor_slots(c, &c->own[0], &c->own[1]);
    c->events = c->of[0] = c->of[1] = 0;
    cairn_walk_begin(&c->walk, log, cpu);
}

/* The next event of the cursor's kind. */
static bool next_event(struct cairn_cursor *c)
{
    const uint32_t hook = c->compact ? HOOK_CONTEXTSWAP_BATCH : HOOK_CONTEXTSWAP;
    bool any;
    do {
        any = cairn_walk_next(&c->walk, &c->event);
        if (c->walk.hole != CAIRN_NO_HOLE)
            c->hole = c->walk.hole;
    } while (any && (c->event.hook != hook || !cairn_event_decoded(&c->event)));
    if (any)
        cairn_walk_hold(&c->walk);
    return any;
}

static inline void decode_state(const struct cairn_cursor *c, struct cairn_switch *sw, uint32_t state_wr)
{
    uint32_t most = c->log->session.maximum_wait_reason;
    sw->raw = most == CAIRN_WAIT_REASONS_UNKNOWN;
    sw->state = (uint8_t)(state_wr < most ? KTHREAD_WAITING : state_wr - most);
    sw->reason = (uint8_t)(state_wr < most ? state_wr : 0);
}

static inline void decode_thread(struct cairn_cursor *c, struct cairn_switch *sw, uint32_t slot)
{
    const uint8_t *table = c->event.payload;
    sw->old_tid = cairn_get32(table + offsetof(struct ccswap_buffer, tid_table) + 4 * slot);
    sw->base = (int8_t)table[offsetof(struct ccswap_buffer, thread_base_priority) + slot];
    sw->base_told = slot >= c->slots;
    if (sw->base_told)
        c->slots = slot + 1;
    sw->detailed = true;
}

/* Whether a record of the open batch comes. The index has checked that it ends with one. */
static inline bool has_record(struct cairn_cursor *c)
{
    if (c->next == c->end)
        return false;
    if (c->end - c->next >= (ptrdiff_t)ccswap_record_bytes(*c->next))
        return true;
    cairn_walk_changed(&c->walk);
    c->next = c->end;
    return false;
}

/* One record of a batch; its slot is one of the table, whatever it says. */
static inline void decode_record(struct cairn_cursor *c, struct cairn_switch *sw)
{
    const uint8_t *p = c->next;
    uint32_t delta, low;
    sw->form = *p & CCSWAP_TYPE_MASK;
    switch (sw->form) {
    case CCSWAP_IDLE_SHORT:
        delta = (uint32_t)cairn_get16(p) >> CCSWAP_IDLE_SHORT_DELTA_SHIFT;
        break;
    case CCSWAP_IDLE:
        delta = cairn_get32(p) >> CCSWAP_IDLE_DELTA_SHIFT;
        break;
    case CCSWAP_LITE:
        low = cairn_get32(p);
        delta = low >> CCSWAP_LITE_DELTA_SHIFT;
        decode_thread(c, sw, low >> CCSWAP_LITE_TID_SHIFT & CCSWAP_MASK(CCSWAP_TID_BITS));
        sw->priority = (int8_t)(sw->base + (low >> CCSWAP_LITE_PRIINC_SHIFT & CCSWAP_MASK(CCSWAP_LITE_PRIINC_BITS)));
        decode_state(c, sw, low >> CCSWAP_LITE_STATE_SHIFT & CCSWAP_MASK(CCSWAP_STATE_BITS));
        break;
    default:
        delta = cairn_get32(p) >> CCSWAP_FULL_DELTA_SHIFT;
        low = cairn_get32(p + 4);
        decode_thread(c, sw, low >> CCSWAP_FULL_TID_SHIFT & CCSWAP_MASK(CCSWAP_TID_BITS));
        sw->priority = (int8_t)(low >> CCSWAP_FULL_PRIORITY_SHIFT & CCSWAP_MASK(CCSWAP_PRIORITY_BITS));
        sw->wait = low >> CCSWAP_FULL_WAIT_SHIFT;
        decode_state(c, sw, low >> CCSWAP_FULL_STATE_SHIFT & CCSWAP_MASK(CCSWAP_STATE_BITS));
    }
    c->time = (int64_t)((uint64_t)c->time + delta);
    c->next += ccswap_record_bytes(*p);
    sw->time = c->time;
}

static void decode_event(struct cairn_cursor *c, struct cairn_switch *sw)
{
    const uint8_t *p = c->event.payload;
    sw->form = CAIRN_FORM_EVENT;
    sw->time = c->event.time;
    sw->old_tid = cairn_get32(p + offsetof(struct wmi_contextswap, old_thread_id));
    sw->new_tid = cairn_get32(p + offsetof(struct wmi_contextswap, new_thread_id));
    sw->new_known = true;
    sw->detailed = true;
    sw->state = p[offsetof(struct wmi_contextswap, old_thread_state)];
    sw->reason = p[offsetof(struct wmi_contextswap, old_thread_wait_reason)];
    sw->priority = (int8_t)p[offsetof(struct wmi_contextswap, old_thread_priority)];
    sw->wait = cairn_get32(p + offsetof(struct wmi_contextswap, new_thread_wait_time));
}

/* Opens the next event that has a switch. */
static bool open_event(struct cairn_cursor *c)
{
    do {
        if (!next_event(c))
            return false;
        c->events++;
        if (!c->compact)
            return true;
        c->time = (int64_t)cairn_get64(c->event.payload);
        c->slots = 0;
        c->next = c->event.payload + sizeof(struct ccswap_buffer);
        c->end = c->event.payload + c->event.size;
    } while (!has_record(c));
    return true;
}

bool cairn_cursor_look(struct cairn_cursor *c)
{
    struct cairn_switch *sw = c->slot[c->ahead];
    c->has_ahead = has_record(c) || open_event(c);
    if (!c->has_ahead)
        return false;
    memset(sw, 0, offsetof(struct cairn_switch, event));
    if (c->of[c->ahead] != c->events) {
        sw->event = c->event;
        c->of[c->ahead] = c->events;
    }
    sw->hole = c->hole;
    if (c->compact)
        decode_record(c, sw);
    else
        decode_event(c, sw);
    c->hole = CAIRN_NO_HOLE;
    return true;
}

const struct cairn_switch *cairn_cursor_take(struct cairn_cursor *c)
{
    if (!cairn_cursor_peek(c))
        return NULL;
    struct cairn_switch *sw = c->slot[c->ahead];
    c->ahead = !c->ahead;
    if (cairn_cursor_look(c) && c->compact && c->slot[c->ahead]->hole == CAIRN_NO_HOLE) {
        sw->new_tid = c->slot[c->ahead]->old_tid;
        sw->new_known = true;
    }
    return sw;
}

void cairn_cursor_slots(struct cairn_cursor *c, struct cairn_switch *even, struct cairn_switch *odd)
{
    c->slot[0] = even;
    c->slot[1] = odd;
}

bool cairn_cursor_next(struct cairn_cursor *c, struct cairn_switch *sw)
{
    const struct cairn_switch *next = cairn_cursor_take(c);
    if (next)
        *sw = *next;
    return next;
}

bool cairn_prefers_compact(const struct cairn_log *log)
{
    if (log->session.full)
        return false;
    if (log->session.compact)
        return true;
    uint64_t full = 0; /* the session stream is missing: what is there? */
    for (uint32_t c = 0; c < log->cpus; c++)
        full += log->cpu[c].full;
    return full == 0;
}
