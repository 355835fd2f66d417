/* SPDX-License-Identifier: MIT */
/*
 * The trace session: per-CPU ETW buffers, events, loss. Knows no scheduler types, takes no lock, asks for no memory:
 * kernel/recording/debug_store.c gives it all it needs. What happens reaches it through trace/hub.h. Also compiled on
 * the host (tests, bench).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/limits.h"
#include "trace/ccswap.h"
#include "trace/clock.h"
#include "trace/wire/format.h"
#include "trace/groups.h"
#include "trace/pmc_items.h"

#define TRACE_MAX_SESSIONS 8u

struct trace_config {
    uint32_t number; /* 1..TRACE_MAX_SESSIONS: LoggerId of its buffers, its bit in the hub */
    uint32_t cpus;
    struct perfinfo_groupmask masks; /* what it writes, until it is told otherwise */
    bool circular;                   /* else sequential: full means lost */
    bool live;                       /* sequential, but buffers come back while it runs: trace/live_buffers.h */
    uint32_t buffer_bytes;           /* multiple of 8, 4096..1 MiB */
    uint32_t buffers;                /* at least cpus; circular: at least cpus + 1 */
    struct trace_clock clock;
    uint64_t tick_units;  /* one timer tick in session clock units: batches older than 500 of them are written out */
    struct trace_pmc pmc; /* until trace_session_set_pmc */
};

/* Counters of one CPU. tried == written + lost for events always, and for switches while no batch is open: those in an
 * open batch are tried and neither of the others. */
struct trace_counts {
    uint64_t events_tried, events_written, events_lost;
    uint64_t switches_tried, switches_written, switches_lost; /* one written as 0525H and as 0524H counts twice */
    uint64_t compact_tried, compact_written, compact_lost;    /* switches by form of event */
    uint64_t full_tried, full_written, full_lost;
    uint64_t batches[CCSWAP_CLOSE_REASONS]; /* batches closed, by reason */
    uint64_t buffers_begun;
    uint64_t buffers_lost; /* so many more would have held the events that were lost (sequential mode) */
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
    int8_t old_priority, old_base, new_priority;
    uint8_t old_ideal_processor;
};

/* One piece of an event's payload. */
struct trace_part {
    const void *data;
    uint32_t size;
};
/* As `size`: `data` is a TSC value of 8 bytes, which each session gets in units of its own clock. */
#define TRACE_PART_TIME 0x80000000u

/* What a SYSTEM_TRACE_HEADER says besides. */
struct trace_system {
    uint32_t thread_id, process_id, kernel_time, user_time;
};

struct trace_session; /* trace/session_inside.h: private, but its size is needed by the one who allocates it */
struct trace_cpu;     /* one CPU's part of it */

/* Bytes of memory a session with this configuration needs (session, per-CPU state and buffers), 0 where a field is out
 * of its range. */
size_t trace_session_bytes(const struct trace_config *config);

/* Lays a session out in `memory` (64-byte aligned, at least trace_session_bytes). It runs on no CPU yet. 0, -EINVAL,
 * -ENOMEM (too small). */
int trace_session_init(struct trace_session **session, const struct trace_config *config, void *memory, size_t size);

const struct trace_config *trace_session_config(const struct trace_session *session);
/* Other PMC items: what a CPU it runs on makes of it from its next trace_hub_start or trace_hub_change on. */
void trace_session_set_pmc(struct trace_session *session, const struct trace_pmc *pmc);
struct trace_cpu *trace_session_cpu(struct trace_session *session, uint32_t cpu);

/* Whether it runs on this CPU: from trace_hub_start to trace_hub_stop or a panic's end. Any CPU. */
bool trace_cpu_on(const struct trace_cpu *cpu);

/* Any CPU; exact once the session stands still there. */
void trace_cpu_counts(const struct trace_cpu *cpu, struct trace_counts *out);

/* What circular mode overwrote, or trace_live_release took out of a live session; exact, once every CPU is stopped. */
struct trace_overwritten {
    uint64_t buffers, events, compact, full;
};
void trace_session_overwritten(const struct trace_session *session, struct trace_overwritten *out);

/* The buffers that hold something, in the order they were begun (sequence_number, unique but not without gaps: circular
 * mode, and a live session, pass over buffers in use), for the dump. Returns the number;
 * buffer `i` by trace_session_buffer: its header is complete, `cpu_buffer` is its ordinal on its CPU. All CPUs stopped
 * or frozen. */
uint32_t trace_session_buffers(struct trace_session *session);
const struct wmi_buffer_header *trace_session_buffer(const struct trace_session *session, uint32_t i,
                                                     uint32_t *cpu_buffer);
/* Its first bytes that are out already: trace_live_sent. */
uint32_t trace_session_sent(const struct trace_session *session, uint32_t i);
