/* SPDX-License-Identifier: MIT */
#include "tests/golden/make/streams.h"

#include <stdarg.h>
#include <stdio.h>

#include "trace/session_inside.h"
#include "trace/sessions/group_names.h"

void stream_text(struct trace_dump *d, enum cairn_stream stream, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    trace_dump_line(d, stream, line, (size_t)n);
}

void stream_header(struct trace_dump *d, const struct stream_totals *t, bool live, const char *cause)
{
    stream_text(d, CAIRN_STREAM_HEADER, "cairn.format=%u", live ? CAIRN_FORMAT_LIVE : CAIRN_FORMAT_VERSION);
    stream_text(d, CAIRN_STREAM_HEADER, "dump.frames=%010u", t->frames);
    stream_text(d, CAIRN_STREAM_HEADER, "dump.bytes=%012llu", U(t->bytes));
    stream_text(d, CAIRN_STREAM_HEADER, "dump.raw=%012llu", U(t->raw));
    stream_text(d, CAIRN_STREAM_HEADER, "dump.cause=%s", cause);
    if (d->encode)
        stream_text(d, CAIRN_STREAM_HEADER, "dump.line=8bit");
}

void stream_session(struct trace_dump *d, const struct trace_config *c, bool ds, bool tells_live, uint32_t tick_us)
{
    const enum cairn_stream l = CAIRN_STREAM_SESSION;
    static const char *const events[] = {"", "compact", "full", "compact+full"};
    const uint32_t *m = c->masks.masks;
    char groups[TRACE_GROUPS_TEXT], p[16];
    trace_groups_show(&c->masks, groups);
    snprintf(p, sizeof(p), "session.%u", c->number);
    stream_text(d, l, "%s.events=%s", p, events[trace_group_compact(&c->masks) | trace_group_full(&c->masks) << 1]);
    stream_text(d, l, "%s.mode=%s", p, c->circular ? "circular" : "sequential");
    stream_text(d, l, "%s.clock=%u", p, c->clock.type);
    stream_text(d, l, "%s.clock_hz=%llu", p, U(trace_clock_hz(&c->clock)));
    stream_text(d, l, "%s.tsc_hz=%llu", p, U(c->clock.tsc_hz));
    stream_text(d, l, "%s.tsc_base=%llu", p, U(c->clock.base));
    stream_text(d, l, "%s.multiplier=%llu", p, U(c->clock.multiplier));
    stream_text(d, l, "%s.origin=%lld", p, (long long)c->clock.origin);
    stream_text(d, l, "%s.groups=%s", p, groups);
    stream_text(d, l, "%s.masks=%08x %08x %08x %08x %08x %08x %08x %08x", p, m[0], m[1], m[2], m[3], m[4], m[5], m[6],
                m[7]);
    stream_text(d, l, "%s.buffer_bytes=%u", p, c->buffer_bytes);
    stream_text(d, l, "%s.buffers=%u", p, c->buffers);
    stream_text(d, l, "%s.build=%u", p, CCSWAP_BUILD);
    stream_text(d, l, "%s.maximum_wait_reason=%u", p, CCSWAP_MAXIMUM_WAIT_REASON);
    stream_text(d, l, "%s.cpus=%u", p, c->cpus);
    stream_text(d, l, "%s.tick_us=%u", p, tick_us);
    stream_text(d, l, "%s.tick_units=%llu", p, U(c->tick_units));
    stream_text(d, l, "%s.pebs=%u", p, ds);
    if (tells_live)
        stream_text(d, l, "%s.dump=%s", p, c->live ? "live" : "end");
}

void stream_lives(struct trace_dump *d, const struct trace_config *c, uint64_t start_tsc, uint64_t stop_tsc)
{
    stream_text(d, CAIRN_STREAM_SESSION, "session.%u.start_tsc=%llu", c->number, U(start_tsc));
    stream_text(d, CAIRN_STREAM_SESSION, "session.%u.stop_tsc=%llu", c->number, U(stop_tsc));
}

void stream_counts(struct trace_dump *d, struct trace_session *session)
{
    const enum cairn_stream e = CAIRN_STREAM_END;
    const struct trace_config *config = trace_session_config(session);
    struct trace_overwritten over;
    struct trace_counts all = {0}, n;
    char p[24] = "end.";
    if (config->number > 1)
        snprintf(p, sizeof(p), "end.session.%u.", config->number);
    for (uint32_t c = 0; c < config->cpus; c++) {
        trace_cpu_counts(trace_session_cpu(session, c), &n);
        const uint64_t *b = n.batches;
        all.events_tried += n.events_tried;
        all.events_written += n.events_written;
        all.events_lost += n.events_lost;
        all.buffers_lost += n.buffers_lost;
#define THREE(key, what)                                                                                               \
    stream_text(d, e, "%scpu.%u." key "=%llu %llu %llu", p, c, U(n.what##_tried), U(n.what##_written), U(n.what##_lost))
        THREE("events", events);
        THREE("switches", switches);
        THREE("compact", compact);
        THREE("full", full);
        stream_text(d, e, "%scpu.%u.batches=%llu %llu %llu %llu %llu %llu %llu", p, c, U(b[CCSWAP_CLOSE_TIDS]),
                    U(b[CCSWAP_CLOSE_AGE]), U(b[CCSWAP_CLOSE_SPACE]), U(b[CCSWAP_CLOSE_DELTA]), U(b[CCSWAP_CLOSE_STOP]),
                    U(b[CCSWAP_CLOSE_DRAIN]), U(b[CCSWAP_CLOSE_PANIC]));
        stream_text(d, e, "%scpu.%u.buffers=%llu", p, c, U(n.buffers_begun));
        stream_text(d, e, "%scpu.%u.lives=%llu", p, c, U(n.lives));
    }
    trace_session_overwritten(session, &over);
    stream_text(d, e, "%sevents_tried=%llu", p, U(all.events_tried));
    stream_text(d, e, "%sevents_written=%llu", p, U(all.events_written));
    stream_text(d, e, "%sevents_lost=%llu", p, U(all.events_lost));
    stream_text(d, e, "%sbuffers_lost=%llu", p, U(all.buffers_lost));
    const char *how = config->live ? "live" : "overwritten";
    stream_text(d, e, "%s%s.buffers=%llu", p, how, U(over.buffers));
    stream_text(d, e, "%s%s.events=%llu", p, how, U(over.events));
    stream_text(d, e, "%s%s.compact=%llu", p, how, U(over.compact));
    stream_text(d, e, "%s%s.full=%llu", p, how, U(over.full));
}
