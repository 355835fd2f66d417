/* SPDX-License-Identifier: MIT */
#include "trace/live/live_buffers.h"

#include "trace/session_inside.h"

/* State of the full slot with the lowest ticket, where that is below `oldest`, the state of `*slot`; else `oldest`. */
static uint64_t find_older(const struct trace_session *session, uint64_t oldest, uint32_t *slot)
{
    for (uint32_t i = 0; i < session->config.buffers; i++) {
        uint64_t state = __atomic_load_n(&session->slot[i].state, __ATOMIC_ACQUIRE);
        if ((state & TRACE_SLOT_PHASE) != TRACE_SLOT_FULL || state >= oldest)
            continue;
        oldest = state;
        *slot = i;
    }
    return oldest;
}

bool trace_live_next(const struct trace_session *session, struct trace_live *live)
{
    uint64_t oldest = UINT64_MAX, before;
    /* A slot may become full behind the look at it, and then one of the same CPU in front of it: so once more, until
     * there is no older one. What was full before the one found was is seen then. */
    do {
        before = oldest;
        oldest = find_older(session, oldest, &live->slot);
    } while (oldest != before);
    if (oldest == UINT64_MAX)
        return false;
    const struct trace_slot *slot = &session->slot[live->slot];
    live->header = (const struct wmi_buffer_header *)(const void *)trace_slot_buffer(session, live->slot);
    live->cpu_buffer = slot->cpu_buffer;
    live->sent = slot->sent;
    return true;
}

void trace_live_sent(struct trace_session *session, uint32_t slot, uint32_t bytes)
{
    __atomic_store_n(&session->slot[slot].sent, bytes, __ATOMIC_RELAXED);
}

/* Empty before it counts as that: who reserves a slot finds one. */
void trace_live_release(struct trace_session *session, uint32_t slot)
{
    __atomic_store_n(&session->slot[slot].state, 0, __ATOMIC_RELEASE);
    __atomic_fetch_add(&session->empty, 1, __ATOMIC_RELEASE);
}

uint32_t trace_live_full(const struct trace_session *session)
{
    uint32_t full = 0;
    for (uint32_t i = 0; i < session->config.buffers; i++)
        full += (__atomic_load_n(&session->slot[i].state, __ATOMIC_RELAXED) & TRACE_SLOT_PHASE) == TRACE_SLOT_FULL;
    return full;
}
