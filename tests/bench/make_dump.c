/* SPDX-License-Identifier: MIT */
/*
 * A dump of workload.h's switches, by the kernel's own code for a trace: what `cairn` is timed on.
 *
 *     make-dump SWITCHES >LOG      of all CPUs together
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/workload.h"
#include "tests/golden/make/streams.h"
#include "trace/hub.h"
#include "trace/session_inside.h"

#define BUFFER_BYTES 65536u
#define TSC_PER_UNIT 250u /* a 2.5 GHz TSC */
#define TSC_HZ       (TRACE_CLOCK_HZ * TSC_PER_UNIT)
#define TICK_US      15625u
#define BYTES_MOST   5u /* of a switch, in the mean */

static void *allocate(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory) {
        perror("make-dump");
        exit(1);
    }
    return memset(memory, 0, (size + 63) / 64 * 64);
}

static struct trace_session *new_session(const struct trace_clocks *clocks, uint64_t switches)
{
    struct trace_session *session;
    struct trace_config config = {
        .number = 1,
        .cpus = WL_CPUS,
        .buffer_bytes = BUFFER_BYTES,
        .buffers = (uint32_t)(switches * BYTES_MOST / BUFFER_BYTES) + 2 * WL_CPUS,
        .clock = clocks->clock[TRACE_CLOCK_QPC - 1],
        .tick_units = clocks->tick_units[TRACE_CLOCK_QPC - 1],
    };
    trace_group_add(&config.masks, PERF_CONTEXT_SWITCH);
    trace_group_add(&config.masks, PERF_COMPACT_CSWITCH);
    size_t size = trace_session_bytes(&config);
    if (!size || trace_session_init(&session, &config, allocate(size), size)) {
        fprintf(stderr, "make-dump: so many switches are more than a session holds\n");
        exit(1);
    }
    return session;
}

/* Returns the TSC behind the last one. */
static uint64_t record(struct trace_hub_cpu *hub, const struct wl *start, uint64_t switches)
{
    struct wl w = *start;
    struct wl_switch e = {0};
    while (switches--) {
        wl_next(&w, &e);
        const struct trace_switch sw = {
            .tsc = (e.ts + 1) * TSC_PER_UNIT,
            .old_tid = e.old_tid,
            .new_tid = e.new_tid,
            .new_wait = e.new_wait,
            .old_state = e.old_state,
            .old_wait_reason = e.old_wr,
            .old_state_wr = (uint8_t)e.pad,
            .old_priority = (int8_t)e.old_prio,
            .old_base = (int8_t)e.old_base,
            .new_priority = (int8_t)e.new_prio,
        };
        trace_hub_switch(&hub[e.cpu], &sw);
    }
    return (e.ts + 2) * TSC_PER_UNIT;
}

static void write_line(void *context, const char *data, size_t size)
{
    (void)context;
    fwrite(data, 1, size, stdout);
}

struct run {
    struct trace_session *session;
    struct wl start;
    uint64_t start_tsc, stop_tsc;
};

static struct stream_totals pass(struct trace_dump *d, const struct trace_sink *sink, struct stream_totals told,
                                 const struct run *run)
{
    const struct trace_config *config = trace_session_config(run->session);
    trace_dump_init(d, sink);
    stream_header(d, &told, false, "end");
    stream_text(d, CAIRN_STREAM_MACHINE, "kernel.version=bench");
    stream_text(d, CAIRN_STREAM_MACHINE, "machine.cpus=%u", WL_CPUS);
    stream_text(d, CAIRN_STREAM_MACHINE, "machine.tsc_hz=%llu", U(TSC_HZ));
    stream_text(d, CAIRN_STREAM_MACHINE, "ds.backend=off");
    stream_text(d, CAIRN_STREAM_MACHINE, "ds.reason=no kernel ran: tests/bench/workload.h.");
    for (unsigned c = 0; c < WL_CPUS; c++)
        stream_text(d, CAIRN_STREAM_NAMES, "0 0 i idle/%u", c);
    for (unsigned i = 1; i <= WL_THREADS; i++)
        stream_text(d, CAIRN_STREAM_NAMES, "%u %d - worker-%u", run->start.tid[i], run->start.base[i], i);
    stream_session(d, config, false, false, TICK_US);
    stream_lives(d, config, run->start_tsc, run->stop_tsc);
    trace_dump_session(d, run->session, 1);
    stream_counts(d, run->session);
    stream_text(d, CAIRN_STREAM_END, "end.verdict=pass");
    trace_dump_flush(d);
    stream_text(d, CAIRN_STREAM_LAST, "dump.frames=%u", d->frames + 1);
    trace_dump_flush(d);
    return (struct stream_totals){d->frames, d->bytes, d->raw_bytes};
}

int main(int argc, char **argv)
{
    const uint64_t switches = argc == 2 ? strtoull(argv[1], NULL, 0) : 0;
    if (!switches || switches > UINT32_MAX) {
        fprintf(stderr, "usage: make-dump SWITCHES >LOG\n");
        return 2;
    }
    struct trace_hub_cpu *hub = allocate(WL_CPUS * sizeof(*hub));
    struct trace_clocks clocks;
    struct trace_hub_pebs pebs = {0};
    static struct trace_dump dump;
    static struct run run;
    wl_init(&run.start);
    run.start_tsc = 0x1234567890u * (uint64_t)TSC_PER_UNIT; /* where workload.h begins */
    if (trace_clocks_init(&clocks, TSC_HZ, 0, 0, TICK_US))
        abort();
    run.session = new_session(&clocks, switches);
    for (uint32_t c = 0; c < WL_CPUS; c++) {
        trace_hub_init(&hub[c], c, &clocks);
        trace_hub_act(&hub[c], run.session, CAIRN_SESSION_START, &trace_session_config(run.session)->masks, &pebs,
                      run.start_tsc);
    }
    run.stop_tsc = record(hub, &run.start, switches);
    for (uint32_t c = 0; c < WL_CPUS; c++)
        trace_hub_act(&hub[c], run.session, CAIRN_SESSION_STOP, NULL, &pebs, run.stop_tsc);
    struct trace_sink sink = {write_line, NULL};
    pass(&dump, &sink, pass(&dump, NULL, (struct stream_totals){0}, &run), &run);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
