/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/trace_support.h"
#include "trace/postmortem/freeze.h"

#include <stdlib.h>
#include <string.h>

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | p[bytes];
    return v;
}

bool naive_next(const uint8_t *buffer, uint32_t *at, struct naive_event *event, bool *ok)
{
    uint32_t used = (uint32_t)get(buffer + 0x30, 4);
    *ok = true;
    if (*at == 0)
        *at = 0x48;
    if (*at == used)
        return false;
    *ok = false;
    if (*at + 0x10 > used)
        return false;
    const uint8_t *p = buffer + *at;
    uint32_t marker = (uint32_t)get(p, 4), size = (uint32_t)get(p + 4, 2), items = marker & 0x8000 ? 8 : 0;
    event->has_index = items != 0;
    items += 8 * (marker >> 8 & 7); /* of PMCs */
    if (marker >> 16 != 0xC011 || (marker & 0x7800) || size < 0x10 + items || *at + (size + 7) / 8 * 8 > used)
        return false;
    for (uint32_t pad = size; pad % 8; pad++)
        if (p[pad] != 0)
            return false;
    event->hook = (uint16_t)get(p + 6, 2);
    event->version = (uint8_t)marker;
    event->time = (int64_t)get(p + 8, 8);
    event->index = event->has_index ? get(p + 0x10, 8) : 0;
    event->payload = p + 0x10 + items;
    event->size = size - 0x10 - items;
    *at += (size + 7) / 8 * 8;
    *ok = true;
    return true;
}

bool naive_other(const uint8_t *buffer, uint32_t *at, struct naive_event *event, bool *ok)
{
    bool found;
    do
        found = naive_next(buffer, at, event, ok);
    while (found && event->hook == 0xCA10);
    return found;
}

static void state_of(unsigned v, struct naive_record *r)
{
    r->state = v < 39 ? 5 : v - 39;
    r->reason = v < 39 ? v : NAIVE_UNKNOWN;
}

int naive_batch(const uint8_t *payload, uint32_t size, struct naive_record *out, unsigned room)
{
    if (size < 0x58 || size > 0x400)
        return -1;
    int64_t time = (int64_t)get(payload, 8);
    unsigned n = 0;
    for (uint32_t at = 0x58; at < size; n++) {
        unsigned type = payload[at] & 3, bytes = type == 0 ? 2 : type == 3 ? 8 : 4;
        if (at + bytes > size || n == room)
            return -1;
        uint32_t low = (uint32_t)get(payload + at, bytes == 2 ? 2 : 4);
        uint32_t high = bytes == 8 ? (uint32_t)get(payload + at + 4, 4) : 0;
        struct naive_record *r = &out[n];
        *r =
            (struct naive_record){.type = type, .state = NAIVE_UNKNOWN, .reason = NAIVE_UNKNOWN, .wait = NAIVE_UNKNOWN};
        unsigned slot = 0;
        if (type == 0) {
            time += low >> 2;
        } else if (type == 1) {
            time += low >> 2;
        } else if (type == 2) {
            time += low >> 15;
            slot = low >> 2 & 15;
            r->priority = (int8_t)payload[0x48 + slot] + (int)(low >> 6 & 7);
            state_of(low >> 9 & 63, r);
        } else {
            time += low >> 2;
            slot = high & 15;
            state_of(high >> 4 & 63, r);
            r->priority = (int)(high >> 10 & 31);
            r->wait = high >> 15;
        }
        if (type >= 2) {
            r->tid = (uint32_t)get(payload + 8 + 4 * slot, 4);
            if (r->tid == 0)
                return -1;
        }
        r->time = time;
        at += bytes;
    }
    return (int)n;
}

struct perfinfo_groupmask box_masks(unsigned events)
{
    struct perfinfo_groupmask masks = {0};
    trace_group_add(&masks, PERF_CONTEXT_SWITCH);
    if (events & BOX_COMPACT)
        trace_group_add(&masks, PERF_COMPACT_CSWITCH);
    if (events == (BOX_COMPACT | BOX_FULL))
        trace_group_add(&masks, PERF_CAIRN_BOTH_CSWITCH);
    return masks;
}

static void open_box(struct box *box, const struct trace_config *config)
{
    const uint32_t cpus = config->cpus;
    *box = (struct box){.config = *config};
    if (trace_clocks_init(&box->clocks, TRACE_CLOCK_HZ * BOX_UNIT, 0, 0, 1000))
        abort();
    box->config.clock = box->clocks.clock[0];
    box->config.tick_units = box->clocks.tick_units[0];
    size_t session = (trace_session_bytes(&box->config) + 63) / 64 * 64;
    box->size = session + cpus * sizeof(struct trace_hub_cpu);
    box->memory = aligned_alloc(64, box->size);
    if (!box->memory)
        abort();
    memset(box->memory, 0xA5, box->size); /* nothing may count on zeroed memory */
    if (trace_session_init(&box->session, &box->config, box->memory, session))
        abort();
    box->hub = (struct trace_hub_cpu *)(void *)((uint8_t *)box->memory + session);
    for (uint32_t c = 0; c < cpus; c++)
        trace_hub_init(&box->hub[c], c, &box->clocks);
}

void box_open(struct box *box, uint32_t cpus, unsigned events, bool circular, uint32_t buffers, uint32_t buffer_bytes)
{
    open_box(box, &(struct trace_config){.number = 1,
                                         .cpus = cpus,
                                         .masks = box_masks(events),
                                         .circular = circular,
                                         .buffers = buffers,
                                         .buffer_bytes = buffer_bytes});
}

void box_open_live(struct box *box, uint32_t cpus, unsigned events, uint32_t buffers, uint32_t buffer_bytes)
{
    open_box(box, &(struct trace_config){.number = 1,
                                         .cpus = cpus,
                                         .masks = box_masks(events),
                                         .live = true,
                                         .buffers = buffers,
                                         .buffer_bytes = buffer_bytes});
}

void box_close(struct box *box)
{
    free(box->memory);
}

void box_start(struct box *box, uint32_t cpu, const volatile uint64_t *pebs_index)
{
    struct trace_hub_pebs pebs = {.index = pebs_index};
    if (trace_hub_act(&box->hub[cpu], box->session, CAIRN_SESSION_START, &box->config.masks, &pebs, 0))
        abort();
}

void box_stop(struct box *box, uint32_t cpu, uint64_t tsc)
{
    struct trace_hub_pebs pebs = {0};
    if (trace_hub_act(&box->hub[cpu], box->session, CAIRN_SESSION_STOP, NULL, &pebs, tsc))
        abort();
}

void box_freeze(struct trace_hub_cpu *hub, uint32_t cpus, uint64_t tsc)
{
    for (uint32_t c = 0; c < cpus; c++)
        trace_hub_settle(&hub[c]);
    for (uint32_t c = 0; c < cpus; c++)
        trace_hub_freeze(&hub[c], tsc);
}

uint32_t test_random(uint64_t *state, uint32_t n)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (uint32_t)((x * UINT64_C(0x2545F4914F6CDD1D) >> 32) * n >> 32);
}

struct trace_switch box_switch_at(uint64_t tsc, uint32_t n)
{
    return (struct trace_switch){
        .tsc = tsc,
        .old_tid = n % 3 ? 4 * (1 + n % 11) : 0,
        .new_tid = 4 * (n % 7),
        .new_wait = n % 5 == 0 ? n : 0,
        .old_quantum = (int32_t)(n % 6),
        .old_state = KTHREAD_WAITING,
        .old_wait_reason = (uint8_t)(n % 39),
        .old_state_wr = (uint8_t)(n % 39),
        .old_base = 8,
        .old_priority = (int8_t)(8 + n % 4),
        .new_priority = 9,
        .old_ideal_processor = 1,
    };
}

/* ---- the account ------------------------------------------------------------------------------------------------- */

struct seen {
    uint64_t buffers, events, compact, full;
};

static bool see_buffer(const struct trace_session *s, const struct wmi_buffer_header *h, struct seen *seen)
{
    static struct naive_record records[500];
    struct naive_event e;
    uint32_t at = 0;
    bool ok;
    int64_t last = INT64_MIN;
    seen->buffers++;
    while (naive_next((const uint8_t *)h, &at, &e, &ok)) {
        seen->events++;
        if (e.time < last)
            return false;
        last = e.time;
        if (e.hook == 0x0524) {
            seen->full++;
            if (e.size != 0x18 || e.version != 2)
                return false;
        } else if (e.hook == 0x0525) {
            int n = naive_batch(e.payload, e.size, records, 500);
            if (n <= 0 || e.version != 2 || records[n - 1].time > e.time)
                return false;
            seen->compact += (uint64_t)n;
        }
    }
    for (uint32_t i = h->offset; i < h->buffer_size; i++)
        if (((const uint8_t *)h)[i] != 0xFF)
            return false;
    return ok && h->buffer_size == s->config.buffer_bytes && h->saved_offset == h->offset &&
           h->current_offset == h->offset && h->offset % 8 == 0 && h->state == 3 && h->buffer_type == 0 &&
           (h->buffer_flag & ~(s->config.live ? 4u : 2u)) == 0x20 && h->time_stamp >= last && h->reference_count == 0 &&
           h->clock == 0;
}

static bool see(struct trace_session *s, struct seen *seen)
{
    int64_t last = 0;
    uint32_t count = trace_session_buffers(s), cpu_buffer, next[MAX_CPUS] = {0};
    memset(seen, 0, sizeof(*seen));
    for (uint32_t i = 0; i < count; i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(s, i, &cpu_buffer);
        if (h->sequence_number <= last || !see_buffer(s, h, seen))
            return false;
        last = h->sequence_number;
        if (h->processor_index >= s->config.cpus || cpu_buffer < next[h->processor_index])
            return false;
        next[h->processor_index] = cpu_buffer + 1;
    }
    return trace_session_buffer(s, count, &cpu_buffer) == NULL;
}

bool box_account_holds(struct trace_session *s)
{
    struct seen present;
    struct trace_overwritten over;
    struct trace_tally written = {0};
    if (!see(s, &present))
        return false;
    trace_session_overwritten(s, &over);
    for (uint32_t i = 0; i < s->config.cpus; i++) {
        struct trace_counts n;
        trace_cpu_counts(trace_session_cpu(s, i), &n);
        if (n.events_tried != n.events_written + n.events_lost ||
            n.switches_tried != n.switches_written + n.switches_lost ||
            n.compact_tried != n.compact_written + n.compact_lost || n.full_tried != n.full_written + n.full_lost)
            return false;
        written.buffers += n.buffers_begun;
        written.events += n.events_written;
        written.compact += n.compact_written;
        written.full += n.full_written;
    }
    return written.buffers == present.buffers + over.buffers && written.events == present.events + over.events &&
           written.compact == present.compact + over.compact && written.full == present.full + over.full;
}
