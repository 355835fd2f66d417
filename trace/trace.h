/* SPDX-License-Identifier: MIT */
/*
 * The trace session: per-CPU ETW buffers, context-switch events, loss. Knows no scheduler types, takes no lock, asks
 * for no memory: kernel/session.c gives it all it needs. Also compiled on the host (tests, bench).
 *
 * Unless said otherwise every function that takes a struct trace_cpu runs on that CPU with interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/ccswap.h"
#include "trace/clock.h"
#include "trace/format.h"

#define TRACE_MAX_CPUS 64u

enum trace_events { TRACE_COMPACT = 1, TRACE_FULL = 2 }; /* what a session writes: one or both */

struct trace_config {
    uint32_t cpus;
    uint32_t events;       /* TRACE_COMPACT | TRACE_FULL */
    bool circular;         /* else sequential: full means lost */
    uint32_t buffer_bytes; /* multiple of 8, 4096..1 MiB */
    uint32_t buffers;      /* at least cpus; circular: at least cpus + 1 */
    struct trace_clock clock;
    uint64_t tick_units;   /* one timer tick in session clock units: batches older than 500 of them are written out */
};

/* Counters of one CPU. tried == written + lost for events always, and for switches while no batch is open: those in an
 * open batch are tried and neither of the others. */
struct trace_counts {
    uint64_t events_tried, events_written, events_lost;
    uint64_t switches_tried, switches_written, switches_lost; /* one written as 0525H and as 0524H counts twice */
    uint64_t compact_tried, compact_written, compact_lost;    /* switches by form of event */
    uint64_t full_tried, full_written, full_lost;
    uint64_t batches[CCSWAP_CLOSE_REASONS];                   /* batches closed, by reason */
    uint64_t buffers_begun;
};

/* One context switch as the hook sees it. Times are TSC values; the session converts. */
struct trace_switch {
    uint64_t tsc;
    uint32_t old_tid, new_tid; /* 0: idle thread */
    uint32_t new_wait;         /* timer ticks the incoming thread waited */
    int32_t old_quantum;       /* timer ticks left */
    uint8_t old_state;         /* KTHREAD_STATE */
    uint8_t old_wait_reason;   /* KWAIT_REASON; compact records keep it only for a waiting thread */
    int8_t old_priority, old_base, new_priority;
    uint8_t old_ideal_processor;
};

struct trace_session; /* trace/session.h: private, but its size is needed by the one who allocates it */
struct trace_cpu;

/* Bytes of memory a session with this configuration needs (session, per-CPU state and buffers), 0 where a field is out
 * of its range. */
size_t trace_session_bytes(const struct trace_config *config);

/* Lays a session out in `memory` (64-byte aligned, at least trace_session_bytes). No CPU records yet. 0, -EINVAL,
 * -ENOMEM (too small). */
int trace_session_init(struct trace_session **session, const struct trace_config *config, void *memory, size_t size);

struct trace_cpu *trace_session_cpu(struct trace_session *session, uint32_t cpu);

/* Begins recording on this CPU. `pebs_index` is the PebsIndex word of its DS area, read when a batch is closed or a
 * full event written; NULL: events carry no PEBS index item. */
void trace_cpu_start(struct trace_cpu *cpu, const volatile uint64_t *pebs_index);
/* Closes the open batch and the current buffer; nothing more is recorded on this CPU. */
void trace_cpu_stop(struct trace_cpu *cpu, uint64_t tsc);
bool trace_cpu_on(const struct trace_cpu *cpu);

/* Records one switch. Outgoing side, before the stack switch. */
void trace_switch(struct trace_cpu *cpu, const struct trace_switch *sw);

/* Writes the open batch out (drain, stop). Does nothing without one. */
void trace_close_batch(struct trace_cpu *cpu, uint64_t tsc, enum ccswap_close reason);

/* Writes one event whose payload is the `parts` one after another. 0, or -ENOSPC: lost and counted; or, neither tried
 * nor counted, -E2BIG (over CAIRN_EVENT_MAX with its header) and -EINVAL (nothing is recorded on this CPU). The time
 * stamp is never before that of the CPU's previous event. */
struct trace_part { const void *data; uint32_t size; };
int trace_event(struct trace_cpu *cpu, uint64_t tsc, uint16_t hook_id, uint8_t version,
                const struct trace_part *parts, unsigned count);

void trace_cpu_counts(const struct trace_cpu *cpu, struct trace_counts *out);

/* What circular mode overwrote, exact, once every CPU is stopped. */
struct trace_overwritten { uint64_t buffers, events, compact, full; };
void trace_session_overwritten(const struct trace_session *session, struct trace_overwritten *out);

/* Panic, all other CPUs being stopped: after this, events may be written for any CPU from the one that is left. Once
 * more does no harm. */
void trace_session_settle(struct trace_session *session);

/* Panic: closes what is open on every CPU, from any CPU, all others being stopped. Half-written events are left out and
 * counted as lost. Safe whatever the other CPUs were doing. */
void trace_session_freeze(struct trace_session *session, uint64_t tsc);

/* The buffers that hold something, in the order they were begun (sequence_number, unique but not without gaps: circular
 * mode passes over buffers in use), for the dump. Returns the number;
 * buffer `i` by trace_session_buffer: its header is complete, `cpu_buffer` is its ordinal on its CPU. All CPUs stopped
 * or frozen. */
uint32_t trace_session_buffers(struct trace_session *session);
const struct wmi_buffer_header *trace_session_buffer(const struct trace_session *session, uint32_t i,
                                                     uint32_t *cpu_buffer);
