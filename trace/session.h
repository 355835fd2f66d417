/* SPDX-License-Identifier: MIT */
/*
 * A trace session: its ETW buffers for each CPU, its events, its counts of loss. It knows no scheduler types, takes no
 * lock and allocates no memory: kernel/recording/sessions.c gives it all that it needs. Switches and events come
 * through trace/hub.h. Tests and benchmarks compile it on the host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/limits.h"
#include "trace/ccswap.h"
#include "trace/clock.h"
#include "trace/groups.h"
#include "trace/wire/format.h"

#define TRACE_MAX_SESSIONS 8u
#define TRACE_ITEMS_MAX    4u /* of an event, beside PebsIndex */

struct trace_pmc; /* private to who defines the two functions of items */

struct trace_config {
    uint32_t number; /* 1..TRACE_MAX_SESSIONS: LoggerId of its buffers, its bit in the hub */
    uint32_t cpus;
    struct perfinfo_groupmask masks; /* what it writes, until it is told otherwise */
    bool circular;                   /* else sequential: full means lost */
    bool live;                       /* sequential, but somebody takes full buffers out while it runs */
    uint32_t buffer_bytes;           /* multiple of 8, 4096..1 MiB */
    uint32_t buffers;                /* at least cpus; circular: at least cpus + 1 */
    struct trace_clock clock;
    uint64_t tick_units; /* one timer tick in session clock units: batches older than 500 of them are written out */
    const struct trace_pmc *items; /* that its events carry beside PebsIndex; NULL: none */
};

/* Counters of one CPU. For events, tried == written + lost always holds. For switches it holds while no batch is open:
 * a switch in an open batch is tried, but neither written nor lost yet. */
struct trace_counts {
    uint64_t events_tried, events_written, events_lost;
    uint64_t switches_tried, switches_written, switches_lost; /* one written as 0525H and as 0524H counts twice */
    uint64_t compact_tried, compact_written, compact_lost;    /* switches by form of event */
    uint64_t full_tried, full_written, full_lost;
    uint64_t batches[CCSWAP_CLOSE_REASONS]; /* batches closed, by reason */
    uint64_t buffers_begun;
    uint64_t buffers_lost; /* sequential mode: how many more buffers would have held the lost events */
    uint64_t lives;        /* times it was started */
};

/* One context switch as the hook sees it. Times are TSC values; the session converts. */
struct trace_switch {
    uint64_t tsc;
    uint32_t old_tid, new_tid; /* 0: idle thread */
    uint32_t new_wait;         /* timer ticks the incoming thread waited */
    int32_t old_quantum;       /* timer ticks left */
    uint8_t old_state;         /* KTHREAD_STATE */
    uint8_t old_wait_reason;   /* KWAIT_REASON; compact records keep it only for a waiting thread */
    uint8_t old_state_wr;      /* both in one: ccswap_state_wr. Compact records have this, 0524H the two above */
    int8_t old_priority, old_base, new_priority;
    uint8_t old_ideal_processor;
};

/* One piece of an event's payload. */
struct trace_part {
    const void *data;
    uint32_t size;
};
/* As `size`: `data` is a TSC value of 8 bytes; each session converts it to units of its own clock. */
#define TRACE_PART_TIME 0x80000000u

/* The further fields of a SYSTEM_TRACE_HEADER. */
struct trace_system {
    uint32_t thread_id, process_id, kernel_time, user_time;
};

struct trace_session; /* private: trace/session_inside.h */
struct trace_cpu;     /* one CPU's part of it */

/* Bytes of memory that a session with this configuration needs (session, per-CPU state and buffers). 0 if a field is
 * out of range. */
size_t trace_session_bytes(const struct trace_config *config);

/* Makes a session in `memory` (64-byte aligned, at least trace_session_bytes). It runs on no CPU yet. 0, -EINVAL, or
 * -ENOMEM (`size` too small). */
int trace_session_init(struct trace_session **session, const struct trace_config *config, void *memory, size_t size);

const struct trace_config *trace_session_config(const struct trace_session *session);
struct trace_cpu *trace_session_cpu(struct trace_session *session, uint32_t cpu);

/* The counters of this CPU. On any CPU; exact while the session records nothing there. */
void trace_cpu_counts(const struct trace_cpu *cpu, struct trace_counts *out);

/* What circular mode overwrote, or somebody took out of a live session. Exact when every CPU is stopped. */
struct trace_overwritten {
    uint64_t buffers, events, compact, full;
};
void trace_session_overwritten(const struct trace_session *session, struct trace_overwritten *out);

/* For the dump: the buffers that hold something, in the order in which they were begun (sequence_number: unique, but
 * with gaps, as circular mode and live sessions skip buffers in use). Returns their number. trace_session_buffer gives
 * buffer `i`: its header is complete, `cpu_buffer` is its number on its CPU. All CPUs are stopped or frozen. */
uint32_t trace_session_buffers(struct trace_session *session);
const struct wmi_buffer_header *trace_session_buffer(const struct trace_session *session, uint32_t i,
                                                     uint32_t *cpu_buffer);
/* How many of its first bytes have been sent already. */
uint32_t trace_session_sent(const struct trace_session *session, uint32_t i);
