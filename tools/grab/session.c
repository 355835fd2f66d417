/* SPDX-License-Identifier: MIT */
#include "tools/grab/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ds/pebs23_layout.h"
#include "tools/grab/threads.h"
#include "trace/hub.h"
#include "trace/session_inside.h"
#include "trace/sessions/group_names.h"
#include "trace/wire/bts.h"

#define BUFFER_BYTES 65536u
#define RECORDS_MOST                                                                                                   \
    (CAIRN_EVENT_MAX - (uint32_t)sizeof(struct perfinfo_trace_header) - (uint32_t)sizeof(struct cairn_ds_records))
/* Of whole records. */
#define BRANCHES_MOST                                                                                                  \
    ((CAIRN_EVENT_MAX - (uint32_t)sizeof(struct perfinfo_trace_header) - (uint32_t)sizeof(struct cairn_bts_records)) / \
     (uint32_t)sizeof(struct ds_bts_record) * (uint32_t)sizeof(struct ds_bts_record))

/* ---- the session ------------------------------------------------------------------------------------------------- */

static uint32_t tick_us(void)
{
    struct timespec tick; /* of the coarse clock: what a timer tick takes */
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    const long us = tick.tv_nsec / 1000;
    return us > 0 ? (uint32_t)us : 1;
}

/* At most so often something is missing on a CPU, where a buffer ends early: before a drain or switch, within a drain,
 * or behind the last drain of PEBS, drain of BTS, and switch. */
static uint64_t gaps_of(const struct grab_one_cpu *c)
{
    uint64_t gaps = 3, due[2] = {0}, switches = 0, drains = 0, index = 0;
    size_t next = 0;
    for (size_t i = 0; i <= c->drain_count; i++) {
        const struct grab_drained *d = i < c->drain_count ? &c->drains[i] : NULL;
        for (; i && next < c->switch_count && (!d || grab_before(&c->switches[next], d)); next++) {
            const struct grab_switch *s = &c->switches[next].s;
            gaps += (s->number != switches) + (s->drains != drains || s->index < index);
            switches = s->number + 1;
            drains = s->drains;
            index = s->index;
        }
        if (!d || d->head.kind == GRAB_START)
            continue;
        uint64_t *number = &due[d->head.kind == GRAB_BTS];
        gaps += (d->head.number != *number) + (d->bytes != d->head.bytes);
        *number = d->head.number + 1;
        index = d->head.kind == GRAB_BTS ? index : 0;
        drains = due[0];
    }
    return gaps;
}

/* More than enough for all events: what is not used costs no memory. */
static uint32_t buffers_for(const struct grab_store *store, uint32_t cpus)
{
    uint64_t bytes = store->size + store->size / 4, gaps = 0;
    for (unsigned c = 0; c < cpus; c++) {
        bytes += 2048 * store->cpu[c].drain_count + 256 * store->cpu[c].switch_count + 2 * BUFFER_BYTES;
        gaps += gaps_of(&store->cpu[c]);
    }
    return (uint32_t)(bytes / (BUFFER_BYTES / 2) + 2 * cpus + gaps);
}

static int open_session(struct grab_session *s, const struct grab_log *log)
{
    struct trace_config config = {.number = 1,
                                  .cpus = log->cpus,
                                  .live = true, /* in such a session a gap is where it is */
                                  .buffer_bytes = BUFFER_BYTES,
                                  .buffers = buffers_for(log->store, log->cpus)};
    const struct grab_clock *c = log->clock;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    if (trace_clocks_init(&s->clocks, grab_clock_hz(c), c->pairs[0].tsc, 0, tick_us()))
        return ERANGE;
    trace_group_add_switches(&config.masks, true);
    if (log->full == GRAB_FULL_ALWAYS || (log->full == GRAB_FULL_AUTO && !ds_pebs_has_tsc(s->format)))
        trace_group_add_switches(&config.masks, false);
    config.clock = s->clocks.clock[TRACE_CLOCK_QPC - 1];
    config.tick_units = s->clocks.tick_units[TRACE_CLOCK_QPC - 1];
    const size_t size = trace_session_bytes(&config);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!size || memory == MAP_FAILED)
        return ENOMEM;
    return trace_session_init(&s->session, &config, memory, size) ? EINVAL : 0;
}

/* ---- one CPU ----------------------------------------------------------------------------------------------------- */

struct play {
    struct grab_session *s;
    const struct grab_log *log;
    const struct grab_one_cpu *from;
    struct grab_cpu_counts *counts;
    struct trace_hub_cpu *hub;
    struct trace_cpu *cpu;
    unsigned number;
    volatile uint64_t index; /* PebsIndex, for the stamps */
    uint64_t base;           /* that it is counted from: 0, or of architectural PEBS */
    uint64_t tsc;            /* of the last event */
    uint64_t drains;         /* due next */
    uint64_t bts_drains;     /* likewise */
    uint64_t switches;
};

/* Events are missing here: `switches` of them, which would have been in one event at least, or a part of a drain. */
static void lose(struct play *p, uint64_t switches)
{
    struct trace_ccswap *compact = &p->hub->encoder[TRACE_CLOCK_QPC - 1].compact;
    trace_hub_close_batches(p->hub, p->tsc, CCSWAP_CLOSE_STOP);
    compact->switches += switches;
    p->cpu->compact_lost += switches;
    if (trace_group_full(&p->cpu->masks)) {
        p->cpu->full_tried += switches;
        p->cpu->full_lost += switches;
        p->cpu->events_lost += switches;
    }
    p->cpu->other_tried++;
    p->cpu->events_lost++;
    trace_cpu_close_buffer(p->cpu);
    p->cpu->gap = true;
}

static void put_switch(struct play *p, const struct grab_switched *s)
{
    const struct trace_switch sw = grab_switch_of(s);
    const uint64_t index = p->counts->unstamped ? p->index : s->s.index - p->base;
    if (s->s.drains != p->drains || index < p->index) { /* one is missing, or skipped */
        p->counts->lost_unknown = true;
        p->drains = s->s.drains;
        lose(p, 0);
    }
    if (s->s.number != p->switches)
        lose(p, s->s.number - p->switches);
    p->switches = s->s.number + 1;
    p->index = index;
    p->tsc = s->tsc;
    trace_hub_switch(p->hub, &sw);
}

static void event(struct play *p, uint16_t hook, const void *head, uint32_t head_bytes, const void *rest,
                  uint32_t bytes)
{
    const struct trace_part parts[] = {{head, head_bytes}, {rest, bytes}};
    const uint8_t version = hook == HOOK_CAIRN_DS ? HOOK_VERSION_CAIRN_DS : HOOK_VERSION_CAIRN_BTS;
    trace_hub_event(p->hub, p->tsc, 0, hook, version, parts, 2);
}

/* What goes into one event: whole records, or a part of one that is larger than an event. */
struct part {
    uint64_t at, bytes, left; /* left: of a record that this event does not end */
    uint64_t records;         /* so far */
    uint32_t number;
    bool continues; /* it begins within a record */
};

/* The part behind this one. The first is behind all zeros. False: there is none. */
static bool next_part(const struct play *p, const struct grab_drained *d, struct part *part)
{
    const uint64_t room = RECORDS_MOST / 16 * 16;
    uint32_t size;
    part->number += part->bytes != 0;
    part->at += part->bytes;
    part->continues = part->left != 0;
    part->bytes = part->left < room ? part->left : room;
    part->left -= part->bytes;
    if (part->bytes)
        return true;
    while ((size = grab_record_bytes(p->log->store, d, p->s->format, part->at + part->bytes)) &&
           (part->bytes + size <= RECORDS_MOST || !part->bytes)) {
        part->records++;
        part->bytes += size;
    }
    if (part->bytes > RECORDS_MOST) {
        part->left = part->bytes - room;
        part->bytes = room;
    }
    return part->bytes != 0;
}

/* Whether the processor may have dropped records: it says so, or there was no room for one more. */
static bool was_full(const struct play *p, const struct grab_drained *d)
{
    const struct grab_buffer b = grab_buffer(d, p->s->format);
    const uint32_t next = p->s->record_bytes ? p->s->record_bytes : ds_pebs_fixed_size(p->s->format);
    return p->s->format == DS_FORMAT_ARCH ? b.full : b.index + next > b.maximum;
}

static uint8_t reason_of(const struct grab_drained *d)
{
    return d->head.kind == GRAB_START  ? CAIRN_DS_START
           : d->head.kind == GRAB_STOP ? CAIRN_DS_STOP
           : d->head.interrupt         ? CAIRN_DS_THRESHOLD
                                       : CAIRN_DS_SOFTWARE;
}

static void put_drain(struct play *p, const struct grab_drained *d)
{
    const bool start = d->head.kind == GRAB_START;
    const uint64_t base = grab_buffer(d, p->s->format).base;
    struct part all = {0}, part = {0};
    if (!start && d->head.number != p->drains) { /* some are missing */
        p->counts->lost_unknown = true;
        lose(p, 0);
    }
    while (next_part(p, d, &all))
        ;
    const bool whole = all.at == d->head.bytes, full = !start && d->head.bytes && was_full(p, d);
    p->tsc = d->tsc;
    p->index = grab_buffer(d, p->s->format).index - p->base;
    trace_hub_close_batches(p->hub, d->tsc, CCSWAP_CLOSE_DRAIN);
    struct cairn_ds_epoch epoch = {.kind = CAIRN_DS_EPOCH,
                                   .reason = reason_of(d),
                                   .format = (uint8_t)p->s->format,
                                   .epoch = (uint32_t)d->head.number,
                                   .tsc = d->tsc,
                                   .lost = full ? CAIRN_DS_LOST_UNKNOWN : 0,
                                   .record_bytes = (uint32_t)d->head.bytes,
                                   .record_events = all.number + !whole};
    event(p, HOOK_CAIRN_DS, &epoch, sizeof epoch, d->head.area, grab_area_bytes(p->s->format));
    while (next_part(p, d, &part)) {
        const struct cairn_ds_records head = {.kind = CAIRN_DS_RECORDS,
                                              .format = (uint8_t)p->s->format,
                                              .continues = part.continues,
                                              .epoch = (uint32_t)d->head.number,
                                              .address = base + part.at,
                                              .bytes = (uint32_t)part.bytes,
                                              .part = part.number};
        event(p, HOOK_CAIRN_DS, &head, sizeof head, p->log->store->records + d->at + part.at, (uint32_t)part.bytes);
    }
    if (!whole)
        lose(p, 0);
    if (!start)
        p->drains = d->head.number + 1;
    p->counts->drains += !start;
    p->counts->records += all.records;
    p->counts->interrupts += d->head.interrupt;
    p->counts->lost_bytes += d->bytes - all.at; /* of a record that is not whole */
    p->counts->lost_unknown |= full;
    p->index = d->head.kind == GRAB_STOP ? p->index : base - p->base;
}

/* Its area has the records' own base: those of another thread may lie in front of them. */
static struct cairn_bts_epoch bts_epoch(const struct grab_drained *d, uint8_t reason)
{
    const struct ds_area_60 area = grab_area(d);
    return (struct cairn_bts_epoch){
        .kind = CAIRN_BTS_EPOCH,
        .reason = reason,
        .interrupting = 1,
        .epoch = (uint32_t)d->head.number,
        .tsc = d->tsc,
        .area = {d->head.first, area.bts_index, area.bts_absolute_maximum, area.bts_interrupt_threshold},
        .tid = d->head.tid,
    };
}

/* The first epoch begins where recording does. */
static void start_bts(struct play *p, const struct grab_drained *start, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (start[i].head.kind == GRAB_BTS) {
            struct cairn_bts_epoch epoch = bts_epoch(&start[i], CAIRN_DS_START);
            epoch.area[0] = epoch.area[1] = grab_area(&start[i]).bts_buffer_base;
            epoch.epoch = epoch.tid = 0;
            epoch.tsc = start->tsc;
            event(p, HOOK_CAIRN_BTS, &epoch, sizeof epoch, NULL, 0);
            return;
        }
}

static void put_bts(struct play *p, const struct grab_drained *d)
{
    const struct ds_area_60 area = grab_area(d);
    const bool due = area.bts_index >= area.bts_interrupt_threshold;
    const bool full = area.bts_index + sizeof(struct ds_bts_record) > area.bts_absolute_maximum;
    const uint64_t bytes = d->bytes - d->bytes % sizeof(struct ds_bts_record);
    struct cairn_bts_epoch epoch = bts_epoch(d, due ? CAIRN_DS_THRESHOLD : CAIRN_DS_SOFTWARE);
    if (d->head.number != p->bts_drains) {
        p->counts->bts_lost_unknown = true;
        lose(p, 0);
    }
    p->tsc = d->tsc;
    epoch.lost = full ? CAIRN_DS_LOST_UNKNOWN : 0;
    epoch.record_bytes = (uint32_t)d->head.bytes;
    epoch.record_events = (uint32_t)((d->head.bytes + BRANCHES_MOST - 1) / BRANCHES_MOST);
    event(p, HOOK_CAIRN_BTS, &epoch, sizeof epoch, NULL, 0);
    struct cairn_bts_records head = {.kind = CAIRN_BTS_RECORDS, .epoch = epoch.epoch};
    for (uint64_t at = 0; at < bytes; at += head.bytes, head.part++) {
        head.address = d->head.first + at;
        head.bytes = bytes - at < BRANCHES_MOST ? (uint32_t)(bytes - at) : BRANCHES_MOST;
        event(p, HOOK_CAIRN_BTS, &head, sizeof head, p->log->store->records + d->at + at, head.bytes);
    }
    if (bytes != d->head.bytes)
        lose(p, 0);
    p->bts_drains = d->head.number + 1;
    p->counts->bts_drains++;
    p->counts->branches += bytes / sizeof(struct ds_bts_record);
    p->counts->lost_bts += d->bytes - bytes; /* of a record that is not whole */
    p->counts->bts_lost_unknown |= full;
}

/* What lies between the first event and the last. Without a START the CPU was not online. */
static void play_cpu(struct play *p, const struct perfinfo_groupmask *masks)
{
    const struct grab_one_cpu *c = p->from;
    const struct grab_drained *d = c->drains, *end = c->drains + c->drain_count;
    if (!c->drain_count || d->head.kind != GRAB_START)
        return;
    const struct grab_buffer b = grab_buffer(d, p->s->format);
    const bool in_use = b.index != b.base;
    p->tsc = d->tsc;
    p->base = p->s->format == DS_FORMAT_ARCH ? b.base : 0;
    p->index = b.index - p->base;
    struct trace_hub_pebs pebs = {.index = &p->index, .in_epoch = in_use};
    pebs.without = p->counts->unstamped ? CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT : 0;
    p->s->stamped |= !p->counts->unstamped;
    trace_hub_act(p->hub, p->s->session, CAIRN_SESSION_START, masks, &pebs, d->tsc);
    p->cpu = trace_session_cpu(p->s->session, p->number);
    if (!in_use)
        put_drain(p, d);
    start_bts(p, d, c->drain_count);
    size_t next = 0;
    for (d++; d <= end; d++) {
        for (; next < c->switch_count && (d == end || grab_before(&c->switches[next], d)); next++)
            put_switch(p, &c->switches[next]);
        if (d < end && d->head.kind == GRAB_BTS)
            put_bts(p, d);
        else if (d < end)
            put_drain(p, d);
    }
    const struct grab_cpu *all = grab_rings_cpu(p->log->rings, p->number);
    p->counts->lost_bytes += all->lost_bytes;
    p->counts->lost_bts += all->lost_bts;
    if (all->drains != p->drains) { /* those that nothing came behind, or the STOP */
        p->counts->lost_unknown = true;
        lose(p, 0);
    }
    if (all->bts_drains != p->bts_drains) {
        p->counts->bts_lost_unknown = true;
        lose(p, 0);
    }
    if (all->switches != p->switches)
        lose(p, all->switches - p->switches);
    pebs.epoch = (uint32_t)p->drains;
    pebs.in_epoch = end[-1].head.kind != GRAB_STOP;
    trace_hub_act(p->hub, p->s->session, CAIRN_SESSION_STOP, masks, &pebs, p->tsc);
    p->s->start_tsc = p->s->start_tsc && p->s->start_tsc < c->drains->tsc ? p->s->start_tsc : c->drains->tsc;
    p->s->stop_tsc = p->tsc > p->s->stop_tsc ? p->tsc : p->s->stop_tsc;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* The size that every record has. */
static uint32_t find_size(const struct grab_session *s, const struct grab_store *store)
{
    uint32_t all = 0, size;
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        for (size_t i = 0; i < store->cpu[c].drain_count; i++) {
            const struct grab_drained *d = &store->cpu[c].drains[i];
            for (uint64_t at = 0; (size = grab_record_bytes(store, d, s->format, at)); at += size)
                if (all && all != size)
                    return 0;
                else
                    all = size;
        }
    return all;
}

bool grab_session_branches(const struct grab_session *s)
{
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        if (s->cpu[c].bts_drains)
            return true;
    return false;
}

int grab_session_make(struct grab_session *s, const struct grab_log *log)
{
    uint64_t skipped, switches;
    *s = (struct grab_session){.format = grab_format(log->store)};
    const int error = open_session(s, log);
    if (error)
        return error;
    grab_rings_skipped(log->rings, &skipped, &switches);
    for (unsigned c = 0; s->format == DS_FORMAT_ARCH && c < log->cpus; c++)
        s->cpu[c].unstamped =
            !grab_index_find(&log->store->cpu[c], skipped | switches ? NULL : grab_rings_cpu(log->rings, c), &s->index);
    grab_order(log->store, log->clock, s->format, grab_clock_hz(log->clock) * tick_us() / 1000000, &s->order);
    s->record_bytes = find_size(s, log->store);
    struct trace_hub_cpu *hub = aligned_alloc(64, sizeof *hub);
    if (!hub)
        return ENOMEM;
    for (unsigned c = 0; c < log->cpus; c++) {
        struct play play = {.s = s, .log = log, .from = &log->store->cpu[c], .hub = hub, .number = c};
        play.counts = &s->cpu[c];
        play.counts->lost_unknown = play.counts->bts_lost_unknown = skipped != 0;
        trace_hub_init(hub, c, &s->clocks);
        play_cpu(&play, &trace_session_config(s->session)->masks);
    }
    free(hub);
    return 0;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

void grab_session_dump(struct trace_dump *d, const struct grab_session *s, const struct grab_log *log)
{
    const struct trace_config *c = trace_session_config(s->session);
    char groups[TRACE_GROUPS_TEXT];
    const uint32_t *m = c->masks.masks;
    trace_groups_show(&c->masks, groups);
#define LINE(...) trace_dump_print(d, CAIRN_STREAM_SESSION, "session.1." __VA_ARGS__)
    LINE("events=%s", trace_group_full(&c->masks) ? "compact+full" : "compact");
    LINE("mode=sequential");
    LINE("dump=live");
    LINE("clock=%u", c->clock.type);
    LINE("clock_hz=%lu", (unsigned long)trace_clock_hz(&c->clock));
    LINE("tsc_hz=%lu", (unsigned long)c->clock.tsc_hz);
    LINE("tsc_base=%lu", (unsigned long)c->clock.base);
    LINE("multiplier=%lu", (unsigned long)c->clock.multiplier);
    LINE("origin=%ld", (long)c->clock.origin);
    LINE("groups=%s", groups);
    LINE("masks=%08x %08x %08x %08x %08x %08x %08x %08x", m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]);
    LINE("buffer_bytes=%u", c->buffer_bytes);
    LINE("buffers=%u", c->buffers);
    LINE("build=%u", CCSWAP_BUILD);
    LINE("maximum_wait_reason=%u", CCSWAP_MAXIMUM_WAIT_REASON);
    LINE("cpus=%u", log->cpus);
    LINE("tick_us=%u", tick_us());
    LINE("tick_units=%lu", (unsigned long)c->tick_units);
    LINE("pebs=%d", s->stamped);
    if (s->format == DS_FORMAT_ARCH) {
        LINE("pebs.index=offset");
        LINE("debug_store=%s", grab_session_branches(s) ? "bts" : "none");
    }
    LINE("lives=1");
    LINE("start_tsc=%lu", (unsigned long)s->start_tsc);
    LINE("stop_tsc=%lu", (unsigned long)s->stop_tsc);
#undef LINE
}

#define LINE(...) trace_dump_print(d, CAIRN_STREAM_END, "end." __VA_ARGS__)

static void end_cpu(struct trace_dump *d, const struct grab_session *s, const struct grab_log *log, unsigned n)
{
    const struct grab_cpu_counts *counts = &s->cpu[n];
    const struct grab_cpu *all = grab_rings_cpu(log->rings, n);
    struct trace_counts c;
    trace_cpu_counts(trace_session_cpu(s->session, n), &c);
    LINE("cpu.%u.events=%lu %lu %lu", n, c.events_tried, c.events_written, c.events_lost);
    LINE("cpu.%u.switches=%lu %lu %lu", n, c.switches_tried, c.switches_written, c.switches_lost);
    LINE("cpu.%u.compact=%lu %lu %lu", n, c.compact_tried, c.compact_written, c.compact_lost);
    LINE("cpu.%u.full=%lu %lu %lu", n, c.full_tried, c.full_written, c.full_lost);
    LINE("cpu.%u.batches=%lu %lu %lu %lu %lu %lu %lu", n, c.batches[0], c.batches[1], c.batches[2], c.batches[3],
         c.batches[4], c.batches[5], c.batches[6]);
    LINE("cpu.%u.buffers=%lu", n, c.buffers_begun);
    LINE("cpu.%u.lives=%lu", n, c.lives);
    if (counts->lost_unknown)
        LINE("cpu.%u.ds=%lu %lu %lu unknown 0", n, counts->records, counts->drains, counts->interrupts);
    else
        LINE("cpu.%u.ds=%lu %lu %lu 0 0", n, counts->records, counts->drains, counts->interrupts);
    if (counts->bts_drains && counts->bts_lost_unknown)
        LINE("cpu.%u.bts=%lu %lu unknown", n, counts->branches, counts->bts_drains);
    else if (counts->bts_drains)
        LINE("cpu.%u.bts=%lu %lu 0", n, counts->branches, counts->bts_drains);
    LINE("cpu.%u.grab=%lu %lu %lu %lu", n, (unsigned long)all->lost_drains, counts->lost_bytes,
         (unsigned long)all->lost_switches, counts->lost_bts);
}

void grab_session_end(struct trace_dump *d, const struct grab_session *s, const struct grab_log *log)
{
    struct trace_counts sum = {0}, c;
    for (unsigned n = 0; n < log->cpus; n++) {
        trace_cpu_counts(trace_session_cpu(s->session, n), &c);
        sum.events_tried += c.events_tried;
        sum.events_written += c.events_written;
        sum.events_lost += c.events_lost;
        end_cpu(d, s, log, n);
    }
    LINE("events_tried=%lu", sum.events_tried);
    LINE("events_written=%lu", sum.events_written);
    LINE("events_lost=%lu", sum.events_lost);
    LINE("buffers_lost=0");
    LINE("live.frames=0");
    LINE("live.buffers=0");
    LINE("live.events=0");
    LINE("live.compact=0");
    LINE("live.full=0");
}
