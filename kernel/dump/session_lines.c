/* SPDX-License-Identifier: MIT */
/* The dump's lines about sessions, when they ran, and their buffers. */
#include "kernel/dump/dump.h"
#include "kernel/dump_section.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "trace/frames.h"

#define LINE(...) trace_dump_print(d, CAIRN_STREAM_SESSION, __VA_ARGS__)

/* compact, full, compact+full or none. */
static const char *switches_of(const struct perfinfo_groupmask *masks)
{
    bool compact = trace_group_compact(masks), full = trace_group_full(masks);
    return compact && full ? "compact+full" : compact ? "compact" : full ? "full" : "none";
}

__attribute__((weak)) void kdump_session_more(struct trace_dump *d, const struct trace_config *c)
{
    (void)d, (void)c;
}

/* What does not change while there is a session. */
static void dump_session(struct trace_dump *d, const struct trace_config *c)
{
    const uint32_t *m = c->masks.masks;
    char p[16];
    snprintf(p, sizeof p, "session.%u", c->number);
    LINE("%s.events=%s", p, switches_of(&c->masks));
    LINE("%s.mode=%s", p, c->circular ? "circular" : "sequential");
    LINE("%s.dump=%s", p, c->live ? "live" : "end");
    LINE("%s.clock=%u", p, c->clock.type);
    LINE("%s.clock_hz=%lu", p, (unsigned long)trace_clock_hz(&c->clock));
    LINE("%s.tsc_hz=%lu", p, (unsigned long)c->clock.tsc_hz);
    LINE("%s.tsc_base=%lu", p, (unsigned long)c->clock.base);
    LINE("%s.multiplier=%lu", p, (unsigned long)c->clock.multiplier);
    LINE("%s.origin=%ld", p, (long)c->clock.origin);
    kdump_session_more(d, c);
    LINE("%s.masks=%08x %08x %08x %08x %08x %08x %08x %08x", p, m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]);
    LINE("%s.buffer_bytes=%u", p, c->buffer_bytes);
    LINE("%s.buffers=%u", p, c->buffers);
    LINE("%s.memory=%p", p, (void *)ksession_find(c->number));
    LINE("%s.build=%u", p, CCSWAP_BUILD);
    LINE("%s.maximum_wait_reason=%u", p, CCSWAP_MAXIMUM_WAIT_REASON);
    LINE("%s.cpus=%u", p, c->cpus);
    LINE("%s.tick_us=%u", p, kopt.tick_us);
    LINE("%s.tick_units=%lu", p, (unsigned long)c->tick_units);
    LINE("%s.pebs=%d", p, kds->pebs);
}

/* Sessions that the dump does not name yet. */
static void kdump_sessions(struct trace_dump *d)
{
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (!(kdump_begun.sessions & 1u << (number - 1)) && ksession_find(number))
            dump_session(d, trace_session_config(ksession_find(number)));
}
KDUMP_SECTION(KDUMP_SESSIONS, KDUMP_HEAD | KDUMP_REST, kdump_sessions);

/* When they ran. */
static void kdump_lives(struct trace_dump *d)
{
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        const struct ksession *s = ksession_get(number);
        if (!s)
            continue;
        LINE("session.%u.lives=%lu", number, (unsigned long)s->lives);
        LINE("session.%u.start_tsc=%lu", number, (unsigned long)s->start_tsc);
        LINE("session.%u.stop_tsc=%lu", number, (unsigned long)(s->running ? 0 : s->stop_tsc));
    }
}
KDUMP_SECTION(KDUMP_LIVES, KDUMP_END | KDUMP_REST, kdump_lives);

static void kdump_buffers(struct trace_dump *d)
{
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (ksession_find(number))
            trace_dump_session(d, ksession_find(number), (uint16_t)number);
}
KDUMP_SECTION(KDUMP_BUFFERS, KDUMP_END | KDUMP_REST, kdump_buffers);
