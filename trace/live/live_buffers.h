/* SPDX-License-Identifier: MIT */
/*
 * Takes buffers out of a live session while it runs: one sender takes the full ones, the oldest first, and gives them
 * back empty. It takes no lock and delays no CPU: a CPU that finds no buffer loses its events, and counts them.
 *
 * On each CPU buffers begin and end in order, so the oldest full buffer of all is also the oldest full one of its CPU:
 * the buffers of each CPU are sent in order. If the sender stops, or a panic stops it, before a buffer is sent
 * completely, the buffer stays full, and trace_session_sent says where the dump at the end continues.
 */
#pragma once

#include "trace/session.h"

struct trace_live {
    const struct wmi_buffer_header *header; /* complete; nobody writes to the buffer before trace_live_release */
    uint32_t cpu_buffer;                    /* its ordinal on its CPU */
    uint32_t slot;
    uint32_t sent; /* its first bytes that are out */
};

/* The oldest full buffer; false: there is none. */
bool trace_live_next(const struct trace_session *session, struct trace_live *live);
/* Notes how many of its bytes have been sent. */
void trace_live_sent(struct trace_session *session, uint32_t slot, uint32_t bytes);
/* Gives the buffer back, empty. */
void trace_live_release(struct trace_session *session, uint32_t slot);
/* How many buffers are full at this moment, including the one that is being sent. Any context. */
uint32_t trace_live_full(const struct trace_session *session);
