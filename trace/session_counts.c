/* SPDX-License-Identifier: MIT */
/* What a session has tried, written and lost on each CPU: see session.h. */
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
