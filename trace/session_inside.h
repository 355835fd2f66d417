/* SPDX-License-Identifier: MIT */
/*
 * The inside of a trace session, for trace/ and its tests.
 *
 * A session is one block of memory: this structure, the CPUs, the slots, the buffers. Each slot describes one buffer.
 * CPUs take buffers by tickets 0, 1, 2, ...: ticket T means slot T modulo the number of slots. In circular mode that is
 * the oldest buffer; slots that a CPU is writing to are skipped. Else all slots that are not empty are skipped; only in
 * a live session do they become empty again, when somebody has taken out what they held.
 *
 * A panic may stop a CPU at any instruction, and whole events and exact counts must still be found. So each step takes
 * effect by one store:
 *   - an event counts from the store of trace_cpu.used on, a compact record from the store of trace_ccswap.used on;
 *   - how many switches a session has tried to get in batches is either a difference to the encoder's count or a number
 *     of its own: trace_cpu.subscribed says which;
 *   - a buffer is complete from the store of its slot's state (TAKEN -> FULL) on;
 *   - the tally of a CPU's closed buffers is kept twice; trace_cpu.current says in one word which of the two is valid
 *     and which slot is being filled.
 *
 * `fill`, the tally of the buffer being filled, changes after the event counts; then it is counted again from the
 * bytes. What circular mode overwrote is computed as written minus present.
 */
#pragma once

#include "trace/session.h"

struct trace_hub_cpu;

struct trace_tally { /* what buffers hold */
    uint64_t buffers, events, compact, full;
};

/* State of a slot: 0 empty; else ticket + 1 in the upper bits and one of these in the lower two. */
enum { TRACE_SLOT_TAKEN = 1, TRACE_SLOT_FULL = 2, TRACE_SLOT_PHASE = 3 };

struct trace_slot {
    uint64_t state;      /* atomic: the only word CPUs contend for */
    uint32_t cpu;        /* this and the rest: the taker's, valid in FULL */
    uint32_t cpu_buffer; /* ordinal on that CPU */
    uint32_t sent;       /* its first bytes that are out; the one who sends writes it, while it is FULL */
    struct trace_tally tally;
};

struct trace_cpu {
    uint8_t *buffer;                        /* the buffer of `current` */
    uint64_t used;                          /* its bytes that count */
    int64_t last_event;                     /* time of this CPU's last event: the next is never before it */
    const volatile uint64_t *full_index;    /* where 0524H events find their PebsIndex; NULL: they carry none */
    const volatile uint64_t *compact_index; /* likewise 0525H */
    const struct trace_pmc *items;          /* that its events carry besides; NULL: none */
    struct trace_session *session;
    uint64_t current; /* (slot + 1) << 1 | which of `closed` is valid; slot + 1 == 0: no buffer */
    uint64_t taken;   /* state its slot had when this CPU took it */
    uint32_t index, buffer_bytes;
    bool on;
    bool subscribed;                    /* gets the batches of `encoder`; says which of the next two is valid */
    uint64_t skipped;                   /* subscribed: what the encoder has encoded for others */
    uint64_t compact_tried;             /* not subscribed: switches up to now */
    const struct trace_ccswap *encoder; /* this CPU's, of the session's clock */
    struct perfinfo_groupmask masks;
    struct trace_tally fill;
    struct trace_tally closed[2];

    bool gap; /* events were lost since its last buffer */
    uint64_t batches[CCSWAP_CLOSE_REASONS];
    uint64_t full_tried, other_tried;
    uint64_t events_lost, compact_lost, full_lost;
    uint64_t buffers_lost;
    uint32_t lost_room; /* what is left of the last of them */
    uint32_t lives;
} __attribute__((aligned(64)));

struct trace_session {
    struct trace_config config;
    uint64_t next_ticket __attribute__((aligned(64))); /* atomic */
    uint64_t empty;                                    /* atomic; not circular: slots nobody has, or is about to take */
    struct trace_cpu *cpu __attribute__((aligned(64)));
    struct trace_slot *slot;
    uint8_t *buffers;
    uint32_t *order; /* of the dump: slots by sequence number */
    uint32_t full;   /* entries of `order` */
};

uint8_t *trace_slot_buffer(const struct trace_session *session, uint64_t slot);

/* The slot of the buffer a CPU fills; NULL: it has none. */
static inline struct trace_slot *trace_cpu_slot(const struct trace_cpu *cpu)
{
    return cpu->current > 1 ? &cpu->session->slot[(cpu->current >> 1) - 1] : NULL;
}

/* trace/hub.c calls the rest on the CPU concerned, with interrupts off. */

/* On: it takes events. Off: the current buffer is closed, and nothing more is recorded. */
void trace_cpu_set_on(struct trace_cpu *cpu, bool on);
/* Closes its current buffer, if it has one. */
void trace_cpu_close_buffer(struct trace_cpu *cpu);
/* Sets whether it gets the switches that are encoded from now on. No batch is open. */
void trace_cpu_subscribe(struct trace_cpu *cpu, bool subscribed);

/* One closed batch, as the encoder's call-back gets it. */
void trace_cpu_batch(struct trace_cpu *cpu, const struct trace_ccswap *compact, uint32_t size, uint32_t records,
                     int64_t time, enum ccswap_close reason);
/* Writes one 0524H event, the counterpart of trace_ccswap_switch. `counters`: as trace_items_make takes it. */
void trace_full_switch(struct trace_cpu *cpu, const struct trace_switch *sw, int64_t time, const uint64_t *counters);
/* How many bytes of the payload a part makes. */
static inline uint32_t trace_part_bytes(const struct trace_part *part)
{
    return part->size == TRACE_PART_TIME ? sizeof(int64_t) : part->size;
}
/* Writes one event with `size` bytes of payload, in `count` parts; `counters` as above. 0 or -ENOSPC. */
int trace_cpu_event(struct trace_cpu *cpu, uint64_t tsc, const struct trace_system *system, uint16_t hook_id,
                    uint8_t version, const struct trace_part *parts, unsigned count, uint32_t size,
                    const uint64_t *counters);

/* ---- items. Weak: by default no event has any but PebsIndex */

/* Reads the counters, if events of this hook carry some in one of `sessions`, which have items. */
bool trace_items_read(const struct trace_hub_cpu *hub, uint32_t sessions, uint16_t hook_id,
                      uint64_t counters[TRACE_ITEMS_MAX]);
/* The items of an event of this hook: their number. `counters`: NULL: none were read. */
uint32_t trace_items_make(const struct trace_pmc *pmc, uint16_t hook_id, const uint64_t *counters,
                          uint64_t items[TRACE_ITEMS_MAX]);

/* All that the hub knows of its sessions, anew from what each of them says of itself. */
void trace_hub_refresh(struct trace_hub_cpu *hub);
