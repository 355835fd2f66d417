/* SPDX-License-Identifier: MIT */
/* The machine in a Perfetto trace: system, attributes, clocks, processes and threads. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/export/perfetto/writer.h"
#include "tools/cairn/log/date.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"

#define SESSION_CLOCK 64u /* the first that is only of its sequence */

/* Windows', whose threads are of processes. */
static bool foreign(const struct cairn_output *o)
{
    return o->log->etl && !o->log->own;
}

int32_t cairn_pf_process(const struct cairn_output *o, uint32_t tid)
{
    if (!tid)
        return CAIRN_PF_IDLE_PROCESS;
    if (!foreign(o))
        return CAIRN_PF_KERNEL_PROCESS;
    const struct cairn_owner *owner = cairn_owner_of(&cairn_pf_processes(o)->threads, tid);
    return owner && owner->pid < CAIRN_PF_UNKNOWN ? (int32_t)owner->pid : CAIRN_PF_UNKNOWN;
}

char *cairn_pf_name(const struct cairn_output *o, uint32_t tid, char out[CAIRN_SHOWN])
{
    const struct cairn_name *n = tid ? cairn_find_name(&o->log->text, tid) : NULL;
    if (!tid)
        snprintf(out, CAIRN_SHOWN, "idle");
    else if (n)
        cairn_slice_text(out, CAIRN_SHOWN, n->name);
    return !tid || n ? out : NULL;
}

bool cairn_pf_emulated(const struct cairn_output *o)
{
    return cairn_slice_is(cairn_key(&o->log->text, "ds.emulated"), "1");
}

static void put_attribute(struct cairn_output *o, const char *key, const char *value)
{
    Pf__TraceAttributes__Attribute a = PF__TRACE_ATTRIBUTES__ATTRIBUTE__INIT, *list[] = {&a};
    Pf__TraceAttributes all = PF__TRACE_ATTRIBUTES__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    a.key = (char *)key;
    a.string_value = (char *)value;
    all.n_attribute = 1;
    all.attribute = list;
    p.trace_attributes = &all;
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
}

struct losses { /* told so far */
    struct cairn_output *o;
    unsigned count;
};

static void put_loss(void *to, const char *text)
{
    struct losses *l = to;
    char key[32];
    snprintf(key, sizeof(key), "cairn.loss.%u", ++l->count);
    put_attribute(l->o, key, text);
}

/* What is not in the trace, and why. */
static void put_missing(struct cairn_output *o)
{
    struct losses losses = {.o = o};
    char value[CAIRN_SHOWN], text[CAIRN_SHOWN_END];
    snprintf(value, sizeof(value), "%" PRIu64, (uint64_t)o->log->frames.missing_frames);
    put_attribute(o, "cairn.missing_frames", value);
    snprintf(value, sizeof(value), "%" PRIu64, cairn_damaged_frames(o->log));
    put_attribute(o, "cairn.damaged_frames", value);
    if (cairn_show_bad_end(text, o->log))
        put_attribute(o, "cairn.bad_end", text);
    cairn_tell_losses(o->log, put_loss, &losses);
}

static void put_attributes(struct cairn_output *o)
{
    const struct cairn_text *text = &o->log->text;
    char value[CAIRN_SHOWN];
    if (cairn_has_key(text, "ds.emulated"))
        put_attribute(o, "cairn.debug_store",
                      cairn_pf_emulated(o) ? "emulated: a model in software" : "the processor's");
    if (cairn_out_switches_from(o))
        put_attribute(o, "cairn.switches_from", cairn_out_switches_from(o));
    snprintf(value, sizeof(value), "%" PRIu32, o->log->number);
    put_attribute(o, "cairn.session", value);
    put_missing(o);
    if (cairn_filter_on())
        put_attribute(o, "cairn.only", cairn_filter_text());
}

void cairn_pf_system(struct cairn_output *o)
{
    Pf__SystemInfo i = PF__SYSTEM_INFO__INIT;
    Pf__SystemInfo__Utsname u = PF__SYSTEM_INFO__UTSNAME__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    const struct cairn_text *text = &o->log->text;
    const bool machine = cairn_slice_is(cairn_key(text, "machine.emulated"), "1");
    char version[CAIRN_SHOWN];
    snprintf(version, sizeof(version), "%.*s", CAIRN_SLICE(cairn_key(text, "kernel.version")));
    u.sysname = (char *)CAIRN_PF_SYSTEM;
    u.version = *version ? version : NULL;
    u.machine = (char *)(machine ? "x86_64, emulated" : "x86_64");
    i.utsname = &u;
    i.tracing_service_version = (char *)"cairn " CAIRN_VERSION;
    i.has_num_cpus = true;
    i.num_cpus = o->log->cpus;
    p.system_info = &i;
    p.has_sequence_flags = true;
    p.sequence_flags = PF__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
    put_attributes(o);
}

/* The session's clock, and where the log has a date, what time it was. */
void cairn_pf_clocks(struct cairn_output *o, int64_t time)
{
    const struct cairn_session *s = &o->log->session;
    const uint64_t hz = s->hz ? s->hz : TRACE_CLOCK_HZ;
    const int64_t date = s->wall.known ? cairn_date_at(o->log, time) - CAIRN_UNIX_EPOCH : INT64_MAX;
    Pf__ClockSnapshot__Clock clock[3], *list[3] = {&clock[0], &clock[1], &clock[2]};
    Pf__ClockSnapshot c = PF__CLOCK_SNAPSHOT__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    for (size_t i = 0; i < 3; i++) {
        pf__clock_snapshot__clock__init(&clock[i]);
        clock[i].has_clock_id = clock[i].has_timestamp = true;
    }
    c.clocks = list;
    c.has_primary_trace_clock = true;
    c.primary_trace_clock = PF__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME;
    clock[c.n_clocks].clock_id = PF__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME;
    clock[c.n_clocks++].timestamp = cairn_pf_time(o, time);
    if (1000000000 % hz == 0) { /* a unit of whole nanoseconds: others cannot be told */
        clock[c.n_clocks].clock_id = SESSION_CLOCK;
        clock[c.n_clocks].has_unit_multiplier_ns = true;
        clock[c.n_clocks].unit_multiplier_ns = 1000000000 / hz;
        clock[c.n_clocks++].timestamp = (uint64_t)time;
    }
    if (date < INT64_MAX / 100) {
        clock[c.n_clocks].clock_id = PF__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME;
        clock[c.n_clocks++].timestamp = (uint64_t)date * 100;
    }
    p.clock_snapshot = &c;
    p.has_timestamp = true;
    p.timestamp = clock[0].timestamp;
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
}

static void put_process(struct cairn_output *o, int32_t pid, const char *name)
{
    Pf__ProcessTree__Process one = PF__PROCESS_TREE__PROCESS__INIT, *list[] = {&one};
    Pf__ProcessTree tree = PF__PROCESS_TREE__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    char *names[] = {(char *)name};
    one.has_pid = true;
    one.pid = pid;
    one.n_cmdline = name ? 1 : 0;
    one.cmdline = names;
    tree.n_processes = 1;
    tree.processes = list;
    p.process_tree = &tree;
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
}

static void put_thread(struct cairn_output *o, int32_t pid, int32_t tid, const char *name)
{
    Pf__ProcessTree__Thread one = PF__PROCESS_TREE__THREAD__INIT, *list[] = {&one};
    Pf__ProcessTree tree = PF__PROCESS_TREE__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    one.has_tid = one.has_tgid = true;
    one.tid = tid;
    one.tgid = pid;
    one.name = (char *)name;
    tree.n_threads = 1;
    tree.threads = list;
    p.process_tree = &tree;
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
}

static void put_owners(struct cairn_output *o)
{
    struct cairn_processes *all = cairn_pf_processes(o);
    cairn_processes_read(all, o->log);
    for (size_t i = 0; i < all->processes.list.count; i++) {
        const struct cairn_owner *p = &all->processes.list.items[i];
        if (p->pid < CAIRN_PF_UNKNOWN)
            put_process(o, (int32_t)p->pid, p->name[0] ? p->name : NULL);
    }
}

void cairn_pf_threads(struct cairn_output *o)
{
    const struct cairn_text *text = &o->log->text;
    char name[CAIRN_SHOWN];
    put_process(o, CAIRN_PF_IDLE_PROCESS, "idle");
    if (foreign(o))
        put_owners(o);
    else
        put_process(o, CAIRN_PF_KERNEL_PROCESS, CAIRN_PF_SYSTEM);
    for (size_t i = 0; i < text->names.count; i++) {
        const uint32_t tid = text->names.items[i].tid;
        if (tid)
            put_thread(o, cairn_pf_process(o, tid), (int32_t)tid, cairn_pf_name(o, tid, name));
    }
    put_process(o, CAIRN_PF_UNKNOWN, "[not known]");
    put_thread(o, CAIRN_PF_UNKNOWN, CAIRN_PF_UNKNOWN, CAIRN_PF_UNKNOWN_NAME);
    for (uint8_t i = CAIRN_BLAME_KNOWN + 1; i < CAIRN_BLAMES; i++) {
        snprintf(name, sizeof(name), "[%s]", cairn_blame_why(i));
        put_thread(o, CAIRN_PF_UNKNOWN, cairn_pf_blame_tid(i), name);
    }
}
