/* SPDX-License-Identifier: MIT */
/* Writes events into per-CPU buffers, and takes buffers from a lock-free pool: see session.h. */
#include "trace/session_inside.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define BUFFER_MIN   4096u
#define BUFFER_MAX   (1024u * 1024u)
#define BUFFERS_MAX  (1024u * 1024u)
#define TICK_MAX     (INT64_MAX / 2 / CCSWAP_BATCH_TICKS)
#define LINE         64u
#define EVENT_HEADER ((uint32_t)sizeof(struct perfinfo_trace_header))

/* ---- layout ---------------------------------------------------------------------------------------------------- */

static size_t align_line(size_t n)
{
    return (n + LINE - 1) & ~(size_t)(LINE - 1);
}

static bool config_valid(const struct trace_config *c)
{
    return c->number >= 1 && c->number <= TRACE_MAX_SESSIONS && c->cpus >= 1 && c->cpus <= MAX_CPUS &&
           c->buffer_bytes % 8 == 0 && c->buffer_bytes >= BUFFER_MIN && c->buffer_bytes <= BUFFER_MAX &&
           c->buffers >= c->cpus + (c->circular ? 1 : 0) && c->buffers <= BUFFERS_MAX && c->clock.multiplier != 0 &&
           !(c->circular && c->live) && c->clock.type >= 1 && c->clock.type <= TRACE_CLOCK_TYPES &&
           c->tick_units >= 1 && c->tick_units <= TICK_MAX;
}

size_t trace_session_bytes(const struct trace_config *c)
{
    if (!config_valid(c))
        return 0;
    return align_line(sizeof(struct trace_session)) + c->cpus * sizeof(struct trace_cpu) +
           align_line(c->buffers * sizeof(struct trace_slot)) + align_line(c->buffers * sizeof(uint32_t)) +
           (size_t)c->buffers * c->buffer_bytes;
}

int trace_session_init(struct trace_session **session, const struct trace_config *config, void *memory, size_t size)
{
    size_t needed = trace_session_bytes(config);
    if (needed == 0 || (uintptr_t)memory % LINE)
        return -EINVAL;
    if (size < needed)
        return -ENOMEM;
    uint8_t *at = memory;
    struct trace_session *s = memory;
    memset(memory, 0, needed - (size_t)config->buffers * config->buffer_bytes);
    s->config = *config;
    s->empty = config->buffers;
    at += align_line(sizeof(*s));
    s->cpu = (struct trace_cpu *)(void *)at;
    at += config->cpus * sizeof(struct trace_cpu);
    s->slot = (struct trace_slot *)(void *)at;
    at += align_line(config->buffers * sizeof(struct trace_slot));
    s->order = (uint32_t *)(void *)at;
    at += align_line(config->buffers * sizeof(uint32_t));
    s->buffers = at;
    for (uint32_t i = 0; i < config->cpus; i++) {
        struct trace_cpu *cpu = &s->cpu[i];
        cpu->session = s;
        cpu->buffer_bytes = config->buffer_bytes;
        cpu->index = i;
        cpu->last_event = INT64_MIN;
    }
    *session = s;
    return 0;
}

const struct trace_config *trace_session_config(const struct trace_session *session)
{
    return &session->config;
}

struct trace_cpu *trace_session_cpu(struct trace_session *session, uint32_t cpu)
{
    return cpu < session->config.cpus ? &session->cpu[cpu] : NULL;
}

/* ---- buffers --------------------------------------------------------------------------------------------------- */

uint8_t *trace_slot_buffer(const struct trace_session *s, uint64_t slot)
{
    return s->buffers + slot * s->config.buffer_bytes;
}

static void publish(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Adds what is in the current buffer to the valid one of `closed`; the sum becomes valid by the store of `current`. */
static void sum_up(struct trace_cpu *cpu)
{
    const struct trace_tally *old = &cpu->closed[cpu->current & 1];
    struct trace_tally *sum = &cpu->closed[~cpu->current & 1];
    sum->buffers = old->buffers + 1;
    sum->events = old->events + cpu->fill.events;
    sum->compact = old->compact + cpu->fill.compact;
    sum->full = old->full + cpu->fill.full;
}

static void close_buffer(struct trace_cpu *cpu)
{
    struct trace_slot *slot = trace_cpu_slot(cpu);
    struct wmi_buffer_header *h = (struct wmi_buffer_header *)(void *)cpu->buffer;
    memset(cpu->buffer + cpu->used, 0xFF, cpu->session->config.buffer_bytes - cpu->used);
    h->saved_offset = h->current_offset = h->offset = (uint32_t)cpu->used;
    h->time_stamp = cpu->last_event;
    h->state = WMI_BUFFER_STATE_FLUSH;
    slot->tally = cpu->fill;
    sum_up(cpu);
    publish(&slot->state, (slot->state & ~(uint64_t)TRACE_SLOT_PHASE) | TRACE_SLOT_FULL);
    publish(&cpu->current, ~cpu->current & 1);
}

/* Takes the slot of one ticket. UINT64_MAX: it is in use; unless circular, that it holds something is enough. So is a
 * buffer of a later ticket: others have gone round the pool since this one was drawn, and the oldest is elsewhere. */
static uint64_t take(struct trace_session *s, uint64_t ticket)
{
    uint64_t i = ticket % s->config.buffers, wanted = (ticket + 1) << 2 | TRACE_SLOT_TAKEN;
    uint64_t state = __atomic_load_n(&s->slot[i].state, __ATOMIC_RELAXED);
    if ((state & TRACE_SLOT_PHASE) == TRACE_SLOT_TAKEN || (state && !s->config.circular) || state > wanted ||
        !__atomic_compare_exchange_n(&s->slot[i].state, &state, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return UINT64_MAX;
    return i;
}

/* One of the empty slots will be this CPU's, whichever that is. */
static bool reserve(struct trace_session *s)
{
    uint64_t empty = __atomic_load_n(&s->empty, __ATOMIC_RELAXED);
    while (empty &&
           !__atomic_compare_exchange_n(&s->empty, &empty, empty - 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        ;
    return empty != 0;
}

static bool open_buffer(struct trace_cpu *cpu)
{
    struct trace_session *s = cpu->session;
    uint64_t slot = UINT64_MAX, ticket = 0;
    if (!s->config.circular && !reserve(s))
        return false;
    /* Circular: this CPU holds no slot and each other one at most one, so at least two are there to be had. Else there
     * is the one reserved. Being passed by others at every one of them, four times round, counts as loss: the caller
     * may be a panic's, which must not wait. */
    for (uint64_t tries = 4 * (uint64_t)s->config.buffers; slot == UINT64_MAX && tries; tries--) {
        ticket = __atomic_fetch_add(&s->next_ticket, 1, __ATOMIC_RELAXED);
        slot = take(s, ticket);
    }
    if (slot == UINT64_MAX) {
        if (!s->config.circular)
            __atomic_fetch_add(&s->empty, 1, __ATOMIC_RELAXED);
        return false;
    }

    uint64_t valid = cpu->current & 1;
    s->slot[slot].cpu = cpu->index;
    s->slot[slot].cpu_buffer = (uint32_t)cpu->closed[valid].buffers;
    s->slot[slot].sent = 0;
    uint8_t *buffer = trace_slot_buffer(s, slot);
    memset(buffer, 0, sizeof(struct wmi_buffer_header));
    struct wmi_buffer_header *h = (struct wmi_buffer_header *)(void *)buffer;
    h->buffer_size = s->config.buffer_bytes;
    h->sequence_number = (int64_t)ticket + 1;
    h->processor_index = (uint16_t)cpu->index;
    h->logger_id = (uint16_t)s->config.number;
    h->buffer_flag = WMI_BUFFER_FLAG_PROC_INDEX | (cpu->gap ? WMI_BUFFER_FLAG_BUFFER_LOST : 0);
    cpu->gap = false;
    cpu->lost_room = 0;
    h->buffer_type = WMI_BUFFER_TYPE_GENERIC;
    cpu->fill = (struct trace_tally){.buffers = 1};
    cpu->used = sizeof(*h);
    cpu->buffer = buffer;
    cpu->taken = (ticket + 1) << 2 | TRACE_SLOT_TAKEN;
    publish(&cpu->current, (slot + 1) << 1 | valid);
    return true;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

/* Copies `size` rounded up to 8 bytes; both ends have that room. The kernel's memcpy is made for being small. */
static inline void copy_words(void *to, const void *from, uint32_t size)
{
    typedef uint64_t word __attribute__((may_alias));
#pragma GCC unroll 8
    for (uint32_t i = 0; i < WMI_EVENT_ALIGN(size) / 8; i++)
        ((word *)to)[i] = ((const word *)from)[i];
}

static inline uint32_t event_bytes(uint32_t payload, bool item)
{
    return EVENT_HEADER + (item ? 8u : 0u) + payload;
}

static inline bool has_room(const struct trace_cpu *cpu, uint32_t payload, bool item)
{
    return cpu->current > 1 && cpu->used + WMI_EVENT_ALIGN(event_bytes(payload, item)) <= cpu->buffer_bytes;
}

/* A new buffer where the current one is too full. False: there is none, and the event is lost. */
static bool make_room(struct trace_cpu *cpu, uint32_t payload, bool item)
{
    if (has_room(cpu, payload, item))
        return true;
    if (cpu->current > 1)
        close_buffer(cpu);
    return open_buffer(cpu);
}

static inline int64_t event_time(struct trace_cpu *cpu, int64_t time)
{
    if (time < cpu->last_event)
        time = cpu->last_event;
    cpu->last_event = time;
    return time;
}

/* Header of an event there is room for, and PEBS index item, unless `index` is NULL; returns where its payload belongs.
 * The event is not there before commit_event. */
static inline uint8_t *begin_event(struct trace_cpu *cpu, int64_t time, uint32_t version, uint16_t hook_id,
                                   uint32_t payload, const volatile uint64_t *index)
{
    uint8_t *event = cpu->buffer + cpu->used;
    struct perfinfo_trace_header *h = (struct perfinfo_trace_header *)(void *)event;
    bool item = index != NULL;
    h->marker = PERFINFO_MARKER64 | (item ? PERFINFO_ITEM_PEBS_INDEX : 0) | version;
    h->size = (uint16_t)event_bytes(payload, item);
    h->hook_id = hook_id;
    h->time_stamp = event_time(cpu, time);
    if (item)
        *(uint64_t *)(void *)(event + EVENT_HEADER) = *index;
    return event + event_bytes(0, item);
}

static uint8_t *begin_system_event(struct trace_cpu *cpu, int64_t time, uint32_t version, uint16_t hook_id,
                                   uint32_t payload, const struct trace_system *system)
{
    struct system_trace_header *h = (struct system_trace_header *)(void *)(cpu->buffer + cpu->used);
    *h = (struct system_trace_header){
        .marker = SYSTEM_MARKER64 | version,
        .size = (uint16_t)(sizeof(*h) + payload),
        .hook_id = hook_id,
        .thread_id = system->thread_id,
        .process_id = system->process_id,
        .time_stamp = event_time(cpu, time),
        .kernel_time = system->kernel_time,
        .user_time = system->user_time,
    };
    return (uint8_t *)(h + 1);
}

static inline void commit_event(struct trace_cpu *cpu, uint32_t payload, bool item)
{
    publish(&cpu->used, cpu->used + WMI_EVENT_ALIGN(event_bytes(payload, item)));
    cpu->fill.events++;
}

/* An event finds no buffer. Where a session never gets a buffer back, the header of the last may still be marked after
 * it was closed; in a live session that buffer may be on its way, or another CPU's, and the next one is marked. */
static void lose(struct trace_cpu *cpu, uint32_t payload, bool item)
{
    uint32_t space = WMI_EVENT_ALIGN(event_bytes(payload, item));
    cpu->events_lost++;
    if (cpu->session->config.circular)
        return;
    if (cpu->lost_room < space) {
        cpu->buffers_lost++;
        cpu->lost_room = cpu->buffer_bytes - (uint32_t)sizeof(struct wmi_buffer_header);
    }
    cpu->lost_room -= space;
    cpu->gap = cpu->session->config.live;
    if (cpu->buffer && !cpu->gap)
        ((struct wmi_buffer_header *)(void *)cpu->buffer)->buffer_flag |= WMI_BUFFER_FLAG_EVENTS_LOST;
}

void trace_cpu_batch(struct trace_cpu *cpu, const struct trace_ccswap *compact, uint32_t size, uint32_t records,
                     int64_t time, enum ccswap_close reason)
{
    const volatile uint64_t *index = cpu->compact_index;
    bool item = index != NULL;
    cpu->batches[reason]++;
    if (!make_room(cpu, size, item)) {
        cpu->compact_lost += records;
        lose(cpu, size, item);
        return;
    }
    uint8_t *payload = begin_event(cpu, time, HOOK_VERSION_CONTEXTSWAP_BATCH, HOOK_CONTEXTSWAP_BATCH, size, index);
    copy_words(payload, compact->batch.bytes, size);
    memset(payload + size, 0, WMI_EVENT_ALIGN(size) - size);
    commit_event(cpu, size, item);
    cpu->fill.compact += records;
}

static inline void fill_contextswap(struct wmi_contextswap *to, const struct trace_switch *sw)
{
    to->new_thread_id = sw->new_tid;
    to->old_thread_id = sw->old_tid;
    to->new_thread_priority = sw->new_priority;
    to->old_thread_priority = sw->old_priority;
    to->previous_cstate = 0;
    to->spare = 0;
    to->old_thread_wait_reason = sw->old_wait_reason;
    to->old_thread_wait_mode = 0;
    to->old_thread_state = sw->old_state;
    to->old_thread_ideal_processor = sw->old_ideal_processor;
    to->new_thread_wait_time = sw->new_wait;
    to->old_thread_remaining_quantum = sw->old_quantum;
}

static inline void write_full(struct trace_cpu *cpu, const struct trace_switch *sw, int64_t time,
                              const volatile uint64_t *index)
{
    struct wmi_contextswap *to = (struct wmi_contextswap *)(void *)begin_event(cpu, time, HOOK_VERSION_CONTEXTSWAP,
                                                                               HOOK_CONTEXTSWAP, sizeof(*to), index);
    fill_contextswap(to, sw);
    commit_event(cpu, sizeof(*to), index != NULL);
    cpu->fill.full++;
}

__attribute__((weak)) uint32_t trace_items_make(const struct trace_pmc *pmc, uint16_t hook_id, const uint64_t *counters,
                                                uint64_t items[TRACE_ITEMS_MAX])
{
    (void)pmc, (void)hook_id, (void)counters, (void)items;
    return 0;
}

/* Apart, so that the common path calls nothing and saves no registers. Items lie behind that of PEBS. */
static __attribute__((noinline)) void write_full_elsewhere(struct trace_cpu *cpu, const struct trace_switch *sw,
                                                           int64_t time, const uint64_t *counters)
{
    const volatile uint64_t *index = cpu->full_index;
    const bool item = index != NULL;
    uint64_t items[TRACE_ITEMS_MAX];
    const uint32_t count = cpu->items ? trace_items_make(cpu->items, HOOK_CONTEXTSWAP, counters, items) : 0;
    const uint32_t size = 8 * count + (uint32_t)sizeof(struct wmi_contextswap);
    if (!make_room(cpu, size, item)) {
        cpu->full_lost++;
        lose(cpu, size, item);
        return;
    }
    uint64_t *to = (uint64_t *)(void *)begin_event(
        cpu, time, HOOK_VERSION_CONTEXTSWAP | count << PERFINFO_ITEM_PMC_SHIFT, HOOK_CONTEXTSWAP, size, index);
    for (uint32_t i = 0; i < count; i++)
        *to++ = items[i];
    fill_contextswap((struct wmi_contextswap *)(void *)to, sw);
    commit_event(cpu, size, item);
    cpu->fill.full++;
}

void trace_full_switch(struct trace_cpu *cpu, const struct trace_switch *sw, int64_t time, const uint64_t *counters)
{
    const volatile uint64_t *index = cpu->full_index;
    cpu->full_tried++;
    if (cpu->items || !has_room(cpu, sizeof(struct wmi_contextswap), true))
        write_full_elsewhere(cpu, sw, time, counters);
    else if (index)
        write_full(cpu, sw, time, index);
    else
        write_full(cpu, sw, time, NULL);
}

int trace_cpu_event(struct trace_cpu *cpu, uint64_t tsc, const struct trace_system *system, uint16_t hook_id,
                    uint8_t version, const struct trace_part *parts, unsigned count, uint32_t size,
                    const uint64_t *counters)
{
    uint64_t items[TRACE_ITEMS_MAX];
    uint32_t n = system || !cpu->items ? 0 : trace_items_make(cpu->items, hook_id, counters, items);
    uint32_t more = system ? (uint32_t)sizeof(struct system_trace_header) - EVENT_HEADER : 8 * n;
    cpu->other_tried++;
    if (!make_room(cpu, size + more, false)) {
        lose(cpu, size + more, false);
        return -ENOSPC;
    }
    const struct trace_clock *clock = &cpu->session->config.clock;
    int64_t time = trace_clock_units(clock, tsc);
    uint8_t *at = system ? begin_system_event(cpu, time, version, hook_id, size, system)
                         : begin_event(cpu, time, version | n << PERFINFO_ITEM_PMC_SHIFT, hook_id, size + more, NULL);
    memcpy(at, items, 8 * n);
    at += 8 * n;
    for (unsigned i = 0; i < count; i++) {
        int64_t units;
        uint64_t part_tsc;
        const void *data = parts[i].data;
        if (parts[i].size == TRACE_PART_TIME) {
            memcpy(&part_tsc, data, sizeof(part_tsc));
            units = trace_clock_units(clock, part_tsc);
            data = &units;
        }
        memcpy(at, data, trace_part_bytes(&parts[i]));
        at += trace_part_bytes(&parts[i]);
    }
    memset(at, 0, WMI_EVENT_ALIGN(size) - size);
    commit_event(cpu, size + more, false);
    return 0;
}

/* ---- recording ------------------------------------------------------------------------------------------------- */

void trace_cpu_close_buffer(struct trace_cpu *cpu)
{
    if (cpu->current > 1)
        close_buffer(cpu);
}

void trace_cpu_set_on(struct trace_cpu *cpu, bool on)
{
    if (on)
        cpu->lives++;
    else
        trace_cpu_close_buffer(cpu);
    __atomic_store_n(&cpu->on, on, __ATOMIC_RELEASE);
}

void trace_cpu_subscribe(struct trace_cpu *cpu, bool subscribed)
{
    if (subscribed == cpu->subscribed)
        return;
    if (subscribed)
        cpu->skipped = cpu->encoder->switches - cpu->compact_tried;
    else
        cpu->compact_tried = cpu->encoder->switches - cpu->skipped;
    __atomic_store_n(&cpu->subscribed, subscribed, __ATOMIC_RELEASE);
}

/* ---- what there is to dump ------------------------------------------------------------------------------------- */

uint32_t trace_session_buffers(struct trace_session *session)
{
    /* Insertion from the end: at most a rotation and a few slots that were passed over are out of place. */
    session->full = 0;
    uint32_t n = session->config.buffers;
    uint64_t first = __atomic_load_n(&session->next_ticket, __ATOMIC_RELAXED) % n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = (uint32_t)((first + i) % n), at = session->full;
        if ((session->slot[slot].state & TRACE_SLOT_PHASE) != TRACE_SLOT_FULL)
            continue;
        for (; at && session->slot[session->order[at - 1]].state > session->slot[slot].state; at--)
            session->order[at] = session->order[at - 1];
        session->order[at] = slot;
        session->full++;
    }
    return session->full;
}

const struct wmi_buffer_header *trace_session_buffer(const struct trace_session *session, uint32_t i,
                                                     uint32_t *cpu_buffer)
{
    if (i >= session->full)
        return NULL;
    uint32_t slot = session->order[i];
    *cpu_buffer = session->slot[slot].cpu_buffer;
    return (const struct wmi_buffer_header *)(const void *)trace_slot_buffer(session, slot);
}

uint32_t trace_session_sent(const struct trace_session *session, uint32_t i)
{
    return session->slot[session->order[i]].sent;
}
