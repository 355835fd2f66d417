/* SPDX-License-Identifier: MIT */
/*
 * The inside of a trace session; for trace/ and its tests.
 *
 * A session is one block of memory: this structure, the CPUs, the slots, the buffers. A slot describes a buffer. CPUs
 * take buffers by tickets 0, 1, 2, ...: ticket T means slot T modulo the number of slots. In sequential mode a ticket
 * beyond the last slot means the pool is used up for good. In circular mode it means the oldest buffer there is, since
 * its slot was filled longest ago; slots some CPU is writing to are passed over.
 *
 * Exactness at any instruction. A CPU may be stopped anywhere by a panic, and trace_session_freeze must still find
 * whole events and exact counts. So each step takes effect by one store:
 *   - an event counts from the store of trace_cpu.used, a compact record from that of trace_ccswap.used;
 *   - a buffer is complete from the store of its slot's state (TAKEN -> FULL) on;
 *   - what a CPU wrote into closed buffers is kept twice; trace_cpu.current tells which of the two is valid, and which
 *     slot is being filled, in one word.
 * What was written into the buffer being filled (`fill`) is counted after the event counts, so freeze counts it again
 * from the bytes. What circular mode overwrote is written minus present, so no moment exists in which it is in neither.
 */
#pragma once

#include "trace/trace.h"

struct trace_tally { /* what buffers hold */
    uint64_t buffers, events, compact, full;
};

/* State of a slot: 0 empty; else ticket + 1 in the upper bits and one of these in the lower two. */
enum { TRACE_SLOT_TAKEN = 1, TRACE_SLOT_FULL = 2, TRACE_SLOT_PHASE = 3 };

struct trace_slot {
    uint64_t state;      /* atomic: the only word CPUs contend for */
    uint32_t cpu;        /* this and the rest: the taker's, valid in FULL */
    uint32_t cpu_buffer; /* ordinal on that CPU */
    struct trace_tally tally;
};

struct trace_cpu {
    struct trace_ccswap compact; /* first: container of the encoder's call-back */

    uint8_t *buffer;             /* the buffer of `current` */
    uint64_t used;               /* its bytes that count */
    int64_t last_event;          /* time of this CPU's last event: the next is never before it */
    const volatile uint64_t *pebs_index;
    struct trace_session *session;
    uint64_t current;            /* (slot + 1) << 1 | which of `closed` is valid; slot + 1 == 0: no buffer */
    uint64_t taken;              /* state its slot had when this CPU took it */
    uint32_t index, buffer_bytes;
    bool on;
    struct trace_tally fill;
    struct trace_tally closed[2];

    uint64_t batches[CCSWAP_CLOSE_REASONS];
    uint64_t full_tried, other_tried;
    uint64_t events_lost, compact_lost, full_lost;
} __attribute__((aligned(64)));

struct trace_session {
    struct trace_config config;
    uint64_t next_ticket __attribute__((aligned(64))); /* atomic */
    struct trace_cpu *cpu __attribute__((aligned(64)));
    struct trace_slot *slot;
    uint8_t *buffers;
    uint32_t *order; /* of the dump: slots by sequence number */
    uint32_t full;   /* entries of `order` */
};

/* One 0524H event. trace_ccswap_switch's counterpart; both are trace_switch without its clock. */
void trace_full_switch(struct trace_cpu *cpu, const struct trace_switch *sw, int64_t time);
