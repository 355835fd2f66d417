/* SPDX-License-Identifier: MIT */
/*
 * The hub between the kernel and up to eight trace sessions: one struct trace_hub_cpu for each CPU. The kernel reports
 * each switch and each event once. The hub passes it to every session that runs on this CPU and wants it. Sessions with
 * the same clock type share one compact encoder: a batch is packed once and written to each of them.
 *
 * A session runs on a CPU between two acknowledgements, which are CA10H events in its own buffers. trace_hub_act writes
 * them, and closes the open batches of the session's clock type. So for every session that gets a batch, the whole
 * batch lies within one life of the session and under one set of masks.
 *
 * Unless its comment says otherwise, a function runs on the CPU concerned with interrupts off. None takes a lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/ccswap.h"
#include "trace/clock.h"
#include "trace/groups.h"
#include "trace/session.h"

struct trace_hub_cpu;

struct trace_hub_encoder {       /* of one clock type */
    struct trace_ccswap compact; /* first: container of the encoder's call-back */
    struct trace_hub_cpu *hub;
    uint32_t sessions; /* bit i: session i + 1 runs here and gets the batches */
};

/* The sessions of a set (bit i: session i + 1), lowest first. */
#define TRACE_EACH_SESSION(i, set)                                                                                     \
    for (uint32_t left_ = (set), i; left_ && (i = (uint32_t)__builtin_ctz(left_), 1); left_ &= left_ - 1)

/* What trace_hub_switch calls: nothing, the encoder of the performance counter (nearly always), or several things. */
enum trace_hub_plan { TRACE_HUB_NOTHING, TRACE_HUB_COMPACT, TRACE_HUB_SEVERAL };

/* One CPU's. Private to trace/hub.c but for what the inline functions below read. */
struct trace_hub_cpu {
    uint32_t on;                                   /* bit i: session i + 1 runs here */
    uint32_t full;                                 /* bit i: and takes 0524H */
    uint32_t items;                                /* bit i: and its events carry items beside PebsIndex */
    uint32_t plan;                                 /* enum trace_hub_plan */
    uint32_t index;                                /* the CPU */
    struct perfinfo_groupmask wanted;              /* of those sessions together */
    struct trace_cpu *session[TRACE_MAX_SESSIONS]; /* this CPU's part of each session; NULL: does not run here */
    struct trace_clocks clocks;
    struct trace_hub_encoder encoder[TRACE_CLOCK_TYPES];
} __attribute__((aligned(64)));

/* Prepares a CPU's hub, on which no session runs yet: zeroes it first. On any CPU, before the hub is used. */
void trace_hub_init(struct trace_hub_cpu *hub, uint32_t index, const struct trace_clocks *clocks);

/* Whether any session that runs on this CPU takes every switch by itself (0524H). `hub` may be NULL. */
static inline bool trace_hub_full(const struct trace_hub_cpu *hub)
{
    return hub && hub->full;
}

/* Whether any session runs on this CPU. `hub` may be NULL. */
static inline bool trace_hub_on(const struct trace_hub_cpu *hub)
{
    return hub && hub->on;
}

/* Whether a session that runs on this CPU wants `group` (groups.h; if it has several bits: one of them). If none does,
 * this test is all that a tracepoint costs. `hub` may be NULL: no session yet. From any context of this CPU. */
static inline bool trace_hub_wants(const struct trace_hub_cpu *hub, uint32_t group)
{
    return hub && (hub->wanted.masks[group >> PERF_MASK_SHIFT] & group & PERF_MASK_BITS) != 0;
}

/* Records one switch in every session that takes them. Outgoing side, before the stack switch. */
void trace_hub_switch(struct trace_hub_cpu *hub, const struct trace_switch *sw);

/* Writes one event to every session that runs here and wants `group` (0: to all that run here). The payload is the
 * `parts`, one after another. No event is earlier than the session's last on this CPU. 0; -ENOSPC: some session had no
 * room and counted it as lost; -E2BIG: larger than CAIRN_EVENT_MAX with its header, neither tried nor counted. */
int trace_hub_event(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t group, uint16_t hook_id, uint8_t version,
                    const struct trace_part *parts, unsigned count);

/* The same for those of `sessions` (bit i: session i + 1) that run here, whatever their masks. `system`: the fields of
 * its SYSTEM_TRACE_HEADER; NULL: it has a PERFINFO_TRACE_HEADER. */
int trace_hub_event_to(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t sessions, const struct trace_system *system,
                       uint16_t hook_id, uint8_t version, const struct trace_part *parts, unsigned count);

/* The sessions that run here and want `group` (0: all that run here), as trace_hub_event_to takes them. */
uint32_t trace_hub_sessions(const struct trace_hub_cpu *hub, uint32_t group);

/* Writes out the open batches of all clock types (drain). Does nothing if none is open. */
void trace_hub_close_batches(struct trace_hub_cpu *hub, uint64_t tsc, enum ccswap_close reason);

/* ---- sessions come and go --------------------------------------------------------------------------------------- */

/* PEBS on this CPU when a session is acknowledged, and which of the session's events carry PebsIndex from then on. */
struct trace_hub_pebs {
    const volatile uint64_t *index; /* the DS area's PebsIndex word, or what the driver has in its place, read for the
                                     * items of switch events; NULL: it does not run, and they carry none */
    uint32_t epoch;                 /* the running one, or the next */
    bool in_epoch;                  /* one is running */
    uint32_t without;               /* CAIRN_STAMP_...: switch events that carry none all the same */
};

/* The session starts on this CPU, goes on with other masks, stamps or items, or stops (`masks` are not used): it gets
 * an event that says so, its first or last. If other masks add a form of switch events, it goes on in a new buffer; if
 * it stops, its buffer is closed. 0, or -EINVAL: one with its number runs here, or it has no such CPU; or it does not
 * run here. */
int trace_hub_act(struct trace_hub_cpu *hub, struct trace_session *session, enum cairn_session_what what,
                  const struct perfinfo_groupmask *masks, const struct trace_hub_pebs *pebs, uint64_t tsc);
