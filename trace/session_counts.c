/* SPDX-License-Identifier: MIT */
/* What a session has tried, written and lost on each CPU, and how its counts are completed after it was stopped at any
 * instruction: see session.h. */
#include "trace/session_inside.h"

#include "kernel/lib/string.h"

static struct trace_tally written(const struct trace_cpu *cpu)
{
    struct trace_tally t = cpu->closed[cpu->current & 1];
    if (cpu->current > 1) {
        t.buffers++;
        t.events += cpu->fill.events;
        t.compact += cpu->fill.compact;
        t.full += cpu->fill.full;
    }
    return t;
}

/* Switches in the batch that is still open are tried, not yet written. */
void trace_cpu_counts(const struct trace_cpu *cpu, struct trace_counts *out)
{
    struct trace_tally w = written(cpu);
    memset(out, 0, sizeof(*out));
    out->compact_tried = cpu->subscribed ? cpu->encoder->switches - cpu->skipped : cpu->compact_tried;
    out->compact_written = w.compact;
    out->compact_lost = cpu->compact_lost;
    out->full_tried = cpu->full_tried;
    out->full_written = w.full;
    out->full_lost = cpu->full_lost;
    out->switches_tried = out->compact_tried + out->full_tried;
    out->switches_written = out->compact_written + out->full_written;
    out->switches_lost = out->compact_lost + out->full_lost;
    out->events_tried = cpu->full_tried + cpu->other_tried;
    for (unsigned i = 0; i < CCSWAP_CLOSE_REASONS; i++) {
        out->batches[i] = cpu->batches[i];
        out->events_tried += cpu->batches[i];
    }
    out->events_written = w.events;
    out->events_lost = cpu->events_lost;
    out->buffers_begun = w.buffers;
    out->buffers_lost = cpu->buffers_lost;
    out->lives = cpu->lives;
}

void trace_session_overwritten(const struct trace_session *session, struct trace_overwritten *out)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < session->config.cpus; i++) {
        struct trace_tally w = written(&session->cpu[i]);
        out->buffers += w.buffers;
        out->events += w.events;
        out->compact += w.compact;
        out->full += w.full;
    }
    for (uint32_t i = 0; i < session->config.buffers; i++) {
        const struct trace_slot *slot = &session->slot[i];
        if ((slot->state & TRACE_SLOT_PHASE) != TRACE_SLOT_FULL)
            continue;
        out->buffers -= slot->tally.buffers;
        out->events -= slot->tally.events;
        out->compact -= slot->tally.compact;
        out->full -= slot->tally.full;
    }
}

/* ---- panic ----------------------------------------------------------------------------------------------------- */

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

void trace_cpu_settle(struct trace_cpu *cpu)
{
    struct trace_slot *slot = trace_cpu_slot(cpu);
    if (!slot)
        return;
    if (slot->state == cpu->taken)
        recount(cpu);
    else /* stopped in close_buffer between its last two stores; another CPU may have the buffer by now */
        cpu->current = ~cpu->current & 1;
}

/* A slot taken by a CPU that had not yet made it its current one stays so: it holds nothing, and nobody reads it. There
 * are enough others: each CPU has taken one at most, and one that closes its buffer gives it back at once. */
void trace_cpu_freeze(struct trace_cpu *cpu)
{
    trace_cpu_close_buffer(cpu);
    cpu->on = false;
    struct trace_counts now;
    trace_cpu_counts(cpu, &now);
    cpu->events_lost = now.events_tried - now.events_written;
    cpu->compact_lost = now.compact_tried - now.compact_written;
    cpu->full_lost = now.full_tried - now.full_written;
}
