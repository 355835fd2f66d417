/* SPDX-License-Identifier: MIT */
/* Closes what sessions have open on CPUs that were stopped at any instruction: see trace/session_inside.h. */
#include "trace/postmortem/freeze.h"

#include "trace/session_inside.h"

uint32_t trace_ccswap_records(const void *batch, uint32_t size)
{
    const uint8_t *bytes = batch;
    uint32_t at = sizeof(struct ccswap_buffer), records = 0;
    while (at < size) {
        at += ccswap_record_bytes(bytes[at]);
        records++;
    }
    return records;
}

/* Counts the current buffer from its bytes: the CPU may have been stopped between an event and its count. What caused
 * the panic may have written over them, and over `used`: no offset in the buffer, it becomes the end of the events that
 * had been counted. */
static void recount(struct trace_cpu *cpu)
{
    enum { HEADER = sizeof(struct perfinfo_trace_header) };
    uint64_t at = sizeof(struct wmi_buffer_header), end = cpu->used, most = UINT64_MAX;
    if (end < at || end > cpu->buffer_bytes || end % 8) {
        end = cpu->buffer_bytes;
        most = cpu->fill.events;
    }
    cpu->fill = (struct trace_tally){.buffers = 1};
    while (at < end && cpu->fill.events < most) {
        const struct perfinfo_trace_header *h = (const void *)(cpu->buffer + at);
        uint32_t items = h->marker & PERFINFO_ITEM_PEBS_INDEX ? 8 : 0;
        if (h->size < HEADER + items || WMI_EVENT_ALIGN(h->size) > end - at)
            break;
        cpu->fill.events++;
        if (h->hook_id == HOOK_CONTEXTSWAP)
            cpu->fill.full++;
        else if (h->hook_id == HOOK_CONTEXTSWAP_BATCH)
            cpu->fill.compact += trace_ccswap_records((const uint8_t *)(h + 1) + items, h->size - HEADER - items);
        at += WMI_EVENT_ALIGN(h->size);
    }
    if (most != UINT64_MAX)
        cpu->used = at;
}

/* Completes or undoes what may be half done. */
static void settle_cpu(struct trace_cpu *cpu)
{
    struct trace_slot *slot = trace_cpu_slot(cpu);
    if (!slot)
        return;
    if (slot->state == cpu->taken)
        recount(cpu);
    else /* stopped in close_buffer between its last two stores; another CPU may have the buffer by now */
        cpu->current = ~cpu->current & 1;
}

/* Closes the buffer and completes the counts. No batch is open, settle_cpu has been called. A slot taken by a CPU that
 * had not yet made it its current one stays so: it holds nothing, and nobody reads it. There are enough others: each
 * CPU has taken one at most, and one that closes its buffer gives it back at once. */
static void freeze_cpu(struct trace_cpu *cpu)
{
    trace_cpu_close_buffer(cpu);
    cpu->on = false;
    struct trace_counts now;
    trace_cpu_counts(cpu, &now);
    cpu->events_lost = now.events_tried - now.events_written;
    cpu->compact_lost = now.compact_tried - now.compact_written;
    cpu->full_lost = now.full_tried - now.full_written;
}

static void settle_encoder(struct trace_ccswap *c)
{
    if (c->used == TRACE_CCSWAP_CLOSED)
        return;
    uint32_t records = trace_ccswap_records(c->batch.bytes, (uint32_t)c->used);
    c->batch_start = c->switches - records;
    if (!records) /* stopped between its beginning and its first record */
        c->used = TRACE_CCSWAP_CLOSED;
}

void trace_hub_settle(struct trace_hub_cpu *hub)
{
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (hub->session[i])
            settle_cpu(hub->session[i]);
    for (unsigned t = 0; t < TRACE_CLOCK_TYPES; t++)
        settle_encoder(&hub->encoder[t].compact);
    trace_hub_refresh(hub);
}

void trace_hub_freeze(struct trace_hub_cpu *hub, uint64_t tsc)
{
    trace_hub_settle(hub);
    trace_hub_close_batches(hub, tsc, CCSWAP_CLOSE_PANIC);
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (hub->session[i])
            freeze_cpu(hub->session[i]);
    trace_hub_refresh(hub);
}
