/* SPDX-License-Identifier: MIT */
/* Passes each switch and each event to the sessions that want it: see hub.h. */
#include "trace/hub.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/session_inside.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- switches and events ---------------------------------------------------------------------------------------- */

static void write_batch(struct trace_ccswap *compact, uint32_t size, uint32_t records, int64_t time,
                        enum ccswap_close reason)
{
    struct trace_hub_encoder *e = (struct trace_hub_encoder *)(void *)compact; /* its first member */
    TRACE_EACH_SESSION(i, e->sessions)
        trace_cpu_batch(e->hub->session[i], compact, size, records, time, reason);
}
_Static_assert(offsetof(struct trace_hub_encoder, compact) == 0, "write_batch");

__attribute__((weak)) bool trace_items_read(const struct trace_hub_cpu *hub, uint32_t sessions, uint16_t hook_id,
                                            uint64_t counters[TRACE_ITEMS_MAX])
{
    (void)hub, (void)sessions, (void)hook_id, (void)counters;
    return false;
}

/* `counters`, with what is read from them, where an event of this hook carries that in one of `sessions`; else NULL. */
static inline const uint64_t *read_for(const struct trace_hub_cpu *hub, uint32_t sessions, uint16_t hook_id,
                                       uint64_t counters[TRACE_ITEMS_MAX])
{
    sessions &= hub->items;
    return sessions && trace_items_read(hub, sessions, hook_id, counters) ? counters : NULL;
}

static __attribute__((noinline)) void switch_several(struct trace_hub_cpu *hub, const struct trace_switch *sw)
{
    for (unsigned i = 0; i < TRACE_CLOCK_TYPES; i++)
        if (hub->encoder[i].sessions)
            trace_ccswap_switch(&hub->encoder[i].compact, sw, trace_clock_units(&hub->clocks.clock[i], sw->tsc));
    uint64_t counters[TRACE_ITEMS_MAX];
    const uint64_t *read = read_for(hub, hub->full, HOOK_CONTEXTSWAP, counters);
    TRACE_EACH_SESSION(i, hub->full) {
        struct trace_cpu *cpu = hub->session[i];
        trace_full_switch(cpu, sw, trace_clock_units(&cpu->session->config.clock, sw->tsc), read);
    }
}

void trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw)
{
    const struct trace_clock *clock = &hub->clocks.clock[TRACE_CLOCK_QPC - 1];
    if (LIKELY(hub->plan == TRACE_HUB_COMPACT))
        trace_ccswap_switch(&hub->encoder[TRACE_CLOCK_QPC - 1].compact, sw, trace_clock_scale(clock, sw->tsc));
    else if (hub->plan)
        switch_several(hub, sw);
}

uint32_t trace_hub_sessions(const struct trace_hub_cpu *hub, uint32_t group)
{
    uint32_t sessions = 0;
    TRACE_EACH_SESSION(i, hub->on)
        if (trace_group_on(&hub->session[i]->masks, group))
            sessions |= 1u << i;
    return sessions;
}

int trace_hub_event_to(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t sessions, const struct trace_system *system,
                       uint16_t hook_id, uint8_t version, const struct trace_part *parts, unsigned count)
{
    uint64_t counters[TRACE_ITEMS_MAX];
    const uint64_t *read = system ? NULL : read_for(hub, sessions, hook_id, counters);
    uint32_t most = CAIRN_EVENT_MAX -
                    (uint32_t)(system ? sizeof(struct system_trace_header) : sizeof(struct perfinfo_trace_header));
    uint32_t size = 0;
    most -= read ? (uint32_t)sizeof(counters) : 0;
    int result = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t bytes = trace_part_bytes(&parts[i]);
        if (bytes > most - size)
            return -E2BIG;
        size += bytes;
    }
    TRACE_EACH_SESSION(i, sessions & hub->on) {
        int e = trace_cpu_event(hub->session[i], tsc, system, hook_id, version, parts, count, size, read);
        result = e ? e : result;
    }
    return result;
}

int trace_hub_event(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t group, uint16_t hook_id, uint8_t version,
                    const struct trace_part *parts, unsigned count)
{
    return trace_hub_event_to(hub, tsc, trace_hub_sessions(hub, group), NULL, hook_id, version, parts, count);
}

static void close_batch(struct trace_hub_cpu *hub, unsigned type, uint64_t tsc, enum ccswap_close reason)
{
    trace_ccswap_close(&hub->encoder[type - 1].compact, trace_clock_units(&hub->clocks.clock[type - 1], tsc), reason);
}

void trace_hub_close_batches(struct trace_hub_cpu *hub, uint64_t tsc, enum ccswap_close reason)
{
    for (unsigned type = 1; type <= TRACE_CLOCK_TYPES; type++)
        close_batch(hub, type, tsc, reason);
}

/* ---- sessions come and go --------------------------------------------------------------------------------------- */

void trace_hub_init(struct trace_hub_cpu *hub, uint32_t index, const struct trace_clocks *clocks)
{
    memset(hub, 0, sizeof(*hub));
    hub->index = index;
    hub->clocks = *clocks;
    for (unsigned i = 0; i < TRACE_CLOCK_TYPES; i++) {
        hub->encoder[i].hub = hub;
        trace_ccswap_init(&hub->encoder[i].compact, clocks->tick_units[i], write_batch);
    }
}

static uint32_t type_of(const struct trace_cpu *cpu)
{
    return cpu->session->config.clock.type;
}

void trace_hub_refresh(struct trace_hub_cpu *hub)
{
    struct perfinfo_groupmask wanted = {0};
    uint32_t on = 0, full = 0, items = 0, subscribers[TRACE_CLOCK_TYPES] = {0};
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++) {
        const struct trace_cpu *cpu = hub->session[i];
        if (!cpu || !cpu->on)
            continue;
        on |= 1u << i;
        for (unsigned m = 0; m < 8; m++)
            wanted.masks[m] |= cpu->masks.masks[m];
        if (cpu->subscribed)
            subscribers[type_of(cpu) - 1] |= 1u << i;
        if (trace_group_full(&cpu->masks))
            full |= 1u << i;
        if (cpu->items)
            items |= 1u << i;
    }
    hub->on = on;
    hub->full = full;
    hub->items = items;
    hub->wanted = wanted;
    hub->plan = TRACE_HUB_NOTHING;
    for (unsigned t = 0; t < TRACE_CLOCK_TYPES; t++) {
        hub->encoder[t].sessions = subscribers[t];
        if (subscribers[t] || full)
            hub->plan = !hub->plan && t == TRACE_CLOCK_QPC - 1 && !full ? TRACE_HUB_COMPACT : TRACE_HUB_SEVERAL;
    }
}

/* Tells every session of this clock, whose open batches have just been closed for it. */
static void acknowledge(struct trace_hub_cpu *hub, const struct trace_cpu *cpu, enum cairn_session_what what,
                        const struct trace_hub_pebs *pebs, uint64_t tsc)
{
    struct cairn_session_event event = {
        .what = (uint8_t)what,
        .session = (uint8_t)cpu->session->config.number,
        .clock = (uint8_t)type_of(cpu),
        .in_epoch = pebs->index && pebs->in_epoch,
        .life = cpu->lives - 1,
        .tsc = tsc,
        .stamps = (cpu->full_index ? CAIRN_STAMP_FULL : 0) | (cpu->compact_index ? CAIRN_STAMP_COMPACT : 0),
        .pebs_index = pebs->index ? *pebs->index : 0,
        .epoch = pebs->index ? pebs->epoch : 0,
    };
    memcpy(event.masks, &cpu->masks, sizeof(event.masks));
    struct trace_part part = {&event, sizeof(event)};
    uint32_t sessions = 0;
    TRACE_EACH_SESSION(i, hub->on)
        if (type_of(hub->session[i]) == type_of(cpu))
            sessions |= 1u << i;
    trace_hub_event_to(hub, tsc, sessions, NULL, HOOK_CAIRN_SESSION, HOOK_VERSION_CAIRN_SESSION, &part, 1);
}

int trace_hub_act(struct trace_hub_cpu *hub, struct trace_session *session, enum cairn_session_what what,
                  const struct perfinfo_groupmask *masks, const struct trace_hub_pebs *pebs, uint64_t tsc)
{
    struct trace_cpu *cpu = trace_session_cpu(session, hub->index), **place = &hub->session[session->config.number - 1];
    const uint32_t type = session->config.clock.type;
    const bool starts = what == CAIRN_SESSION_START;
    if (!cpu || (starts ? *place != NULL : *place != cpu || !cpu->on))
        return -EINVAL;
    close_batch(hub, type, tsc, CCSWAP_CLOSE_STOP);
    if (what == CAIRN_SESSION_STOP) {
        acknowledge(hub, cpu, what, pebs, tsc);
        trace_cpu_subscribe(cpu, false);
        trace_cpu_set_on(cpu, false);
        trace_hub_refresh(hub);
        *place = NULL;
        return 0;
    }
    if (!starts && ((trace_group_compact(masks) && !trace_group_compact(&cpu->masks)) ||
                    (trace_group_full(masks) && !trace_group_full(&cpu->masks))))
        trace_cpu_close_buffer(cpu);
    cpu->masks = *masks;
    cpu->items = session->config.items;
    cpu->full_index = pebs->without & CAIRN_STAMP_FULL ? NULL : pebs->index;
    cpu->compact_index = pebs->without & CAIRN_STAMP_COMPACT ? NULL : pebs->index;
    if (starts) { /* now, as a panic may find it from here on */
        cpu->encoder = &hub->encoder[type - 1].compact;
        *place = cpu;
        trace_cpu_set_on(cpu, true);
    }
    trace_cpu_subscribe(cpu, trace_group_compact(masks));
    trace_hub_refresh(hub);
    acknowledge(hub, cpu, what, pebs, tsc);
    return 0;
}
