/* SPDX-License-Identifier: MIT */
/*
 * Writes a golden dump to standard output: the real trace/ code, driven by a scripted machine (script.h), with the text
 * streams a kernel writes and console lines between the frames. The same arguments give the same bytes.
 *
 *     make_golden KIND [SWITCHES [CPUS [SEED]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "kernel/line8/line8.h"
#include "tests/golden/make/script.h"
#include "tests/golden/make/streams.h"
#include "trace/frames.h"
#include "trace/live/live_buffers.h"
#include "trace/packed/pack.h"
#include "trace/sessions/filetime.h"
#include "trace/truth/truth_frames.h"

enum { COMPACT = 1, FULL = 2 }; /* what session 1 writes of switches */

static const struct kind {
    const char *name, *what;
    uint32_t switches, cpus, events, buffer_bytes, buffers, restart, threads;
    bool circular, ds, hw, drops, panic, truth, words, log, sessions, locks, live, told, old, eight_bit;
    enum script_bts bts;
    enum script_arch arch;
} kinds[] = {
    {"small", "compact, DS, every record form", 112, 2, COMPACT, 16384, 4, .ds = true, .truth = true},
    {"line8", "the same, 8-bit lines", 112, 2, COMPACT, 16384, 4, .ds = true, .truth = true, .eight_bit = true},
    {"old", "the same, with a DS area of 60H bytes", 112, 2, COMPACT, 16384, 4, .ds = true, .truth = true, .old = true},
    {"full", "0524H beside 0525H", 150, 2, COMPACT | FULL, 16384, 6, .ds = true, .truth = true},
    {"nods", "ds=off", 300, 2, COMPACT, 8192, 4, .truth = true},
    {"circular", "circular, overwritten", 400, 2, COMPACT | FULL, 4096, 6, .circular = true, .ds = true, .truth = true},
    {"lost", "too few buffers, records dropped", 500, 2, COMPACT | FULL, 4096, 3, .ds = true, .drops = true,
     .truth = true},
    {"panic", "frozen by a panic", 120, 2, COMPACT, 8192, 4, .ds = true, .panic = true},
    {"bts", "branch records, interrupts at the threshold", 60, 2, COMPACT, 16384, 4, .ds = true, .truth = true,
     .bts = SCRIPT_BTS_INTERRUPT},
    {"ring", "branch records, circular buffer", 50, 2, COMPACT, 16384, 4, .ds = true, .truth = true,
     .bts = SCRIPT_BTS_CIRCULAR},
    {"hw", "as of a processor, but made up: none was there", 160, 2, COMPACT, 16384, 4, .ds = true, .hw = true,
     .drops = true, .truth = true, .bts = SCRIPT_BTS_CIRCULAR},
    {"life", "the model's own log, records dropped", 100, 2, COMPACT, 16384, 4, .ds = true, .drops = true,
     .truth = true, .words = true, .log = true},
    {"sessions", "four sessions of three clocks, restarts", 300, 2, COMPACT, 8192, 40, .ds = true, .truth = true,
     .words = true, .sessions = true, .restart = 20},
    {"locks", "spin locks, sampled, the sampling changes", 120, 2, COMPACT, 16384, 6, .truth = true, .locks = true},
    {"live", "buffers that left while it ran, too few", 600, 2, COMPACT | FULL, 4096, 4, .ds = true, .truth = true,
     .live = true},
    {"told", "who is there, comes and goes; interrupts", 160, 2, COMPACT, 8192, 8, .truth = true, .told = true},
    {"arch", "architectural PEBS: registers and counters, the model's log, records dropped", 100, 2, COMPACT, 16384, 4,
     .ds = true, .drops = true, .truth = true, .words = true, .log = true, .arch = SCRIPT_ARCH_WHOLE},
    {"fragments", "architectural PEBS: records in fragments, larger than an event", 60, 2, COMPACT | FULL, 32768, 4,
     .ds = true, .truth = true, .words = true, .arch = SCRIPT_ARCH_FRAGMENTS},
    {"large", "as many switches as you like", 200000, 4, COMPACT, 65536, 8192, .ds = true, .truth = true},
    {"crowd", "as many, with spin locks and gaps", 200000, 2, COMPACT, 4096, 4, .ds = true, .locks = true,
     .live = true},
    {"wide", "many CPUs and threads", 6000, 64, COMPACT, 4096, 1024, .ds = true, .truth = true,
     .threads = SCRIPT_MOST_THREADS},
};

static void write_console(void *context, const char *data, size_t size)
{
    unsigned *frames = context;
    fwrite(data, 1, size, stdout);
    if (++*frames % 16 == 0)
        fputs("cairn: dump: still at it\r\n", stdout);
}

static void machine(struct trace_dump *d, const struct kind *k, const struct script *s)
{
    const enum cairn_stream m = CAIRN_STREAM_MACHINE;
    const char *backend = !k->ds ? "off" : k->hw ? "hw" : "soft";
    stream_text(d, m, "kernel.version=golden");
    stream_text(d, m, "kernel.build_id=00112233445566778899aabbccddeeff00112233");
    stream_text(d, m, "kernel.base=0xffffffff80000000");
    stream_text(d, m, "kernel.size=131072");
    stream_text(d, m, "loader.version=golden");
    stream_text(d, m, "firmware.vendor=script");
    stream_text(d, m, "firmware.revision=0x10000");
    stream_text(d, m, "boot.time=2026-11-21T02:10:59Z");
    stream_text(d, m, "machine.hypervisor=TCGTCGTCGTCG");
    stream_text(d, m, "machine.emulated=1");
    stream_text(d, m, "machine.cpus=%u", k->cpus);
    stream_text(d, m, "machine.cpus_left_out=0");
    stream_text(d, m, "machine.memory_bytes=134217728");
    stream_text(d, m, "machine.memory_left_out=0");
    stream_text(d, m, "machine.features=nx smep smap umip");
    stream_text(d, m, "machine.tsc_hz=%llu", U(SCRIPT_TSC_HZ));
    stream_text(d, m, "machine.time_source=script");
    stream_text(d, m, "memory.0=0x0 0x8000000 conventional-7");
    stream_text(d, m, "option.ds=%s", backend);
    if (k->log)
        stream_text(d, m, "option.ds.log=1");
    if (k->locks) {
        stream_text(d, m, "option.spinlock.spin_threshold=%u", script_sampling[0].spin_threshold);
        stream_text(d, m, "option.spinlock.contention_sample_rate=%u", script_sampling[0].contention_sample_rate);
        stream_text(d, m, "option.spinlock.acquire_sample_rate=%u", script_sampling[0].acquire_sample_rate);
        stream_text(d, m, "option.spinlock.hold_threshold=%u", script_sampling[0].hold_threshold);
        stream_text(d, m, "option.spinlock.every=0");
    }
    stream_text(d, m, "option.truth=%u", k->truth);
    stream_text(d, m, "option.workload=script");
    for (uint32_t c = 0; c < k->cpus; c++) {
        stream_text(d, m, "cpu.%u.apic_id=%u", c, c);
        stream_text(d, m, "cpu.%u.cpuid.00000000.00000000=00000016 756e6547 6c65746e 49656e69", c);
        stream_text(d, m, "cpu.%u.cpuid.00000001.00000000=000606a6 00010800 80000001 078bfbff", c);
        stream_text(d, m, "cpu.%u.msr.1A0=0x1", c);
        stream_text(d, m, "cpu.%u.microcode=0x0", c);
    }
    stream_text(d, m, "ds.backend=%s", backend);
    stream_text(d, m, "ds.reason=%s", k->ds ? "scripted: no processor was asked." : "ds=off was asked for.");
    if (k->ds) {
        stream_text(d, m, "ds.emulated=%u", !k->hw);
        for (uint32_t c = 0; c < k->cpus; c++) {
            stream_text(d, m, "ds.detect.%s.%u.0=CPUID.01H:EDX.DS[21]|0x1|ok|the Debug Store is there", backend, c);
            stream_text(d, m, "ds.detect.%s.%u.1=IA32_MISC_ENABLE|0x1|ok|PEBS is available", backend, c);
            if (k->arch)
                stream_text(d, m, "ds.detect.%s.%u.2=CPUID.23H.4:EBX groups|0x60020378|ok|groups of records", backend,
                            c);
            if (!k->hw)
                stream_text(d, m, "ds.detect.hw.%u.0=CPUID.01H:EDX.DS[21]|0x0|no|no Debug Store", c);
            stream_text(d, m, "ds.cpu.%u.counters=%s", c, k->arch ? "0 1 32" : "0");
            stream_text(d, m, "ds.cpu.%u.area=0x%llx", c, U(0xFFFF800000200000 + c * 0x1000));
            stream_text(d, m, "ds.cpu.%u.buffer=0x%llx", c,
                        U(k->arch ? 0xFFFF800000000000 + s->cpu[c].physical : s->cpu[c].base));
            if (k->arch)
                stream_text(d, m, "ds.cpu.%u.buffer.physical=0x%llx", c, U(s->cpu[c].physical));
            stream_text(d, m, "ds.cpu.%u.buffer_bytes=%u", c, k->arch ? s->buffer_bytes : 4096);
        }
        stream_text(d, m, "ds.format=%u", k->arch ? DS_FORMAT_ARCH : 4);
        stream_text(d, m, "ds.baseline=%u", !k->arch);
        stream_text(d, m, "ds.record_bytes=%u", s->record_bytes);
        stream_text(d, m, "ds.records=%u", SCRIPT_RECORDS);
        stream_text(d, m, "ds.threshold=%u", SCRIPT_THRESHOLD);
        stream_text(d, m, "ds.area_form=%s", k->old || k->arch ? "60H" : "A0H");
        if (k->arch)
            stream_text(d, m, "ds.policy.arch_fragments=%s|do records come in fragments?",
                        k->arch == SCRIPT_ARCH_FRAGMENTS ? "null" : "none");
        stream_text(d, m, "ds.data_cfg=%s", k->arch ? "0x0" : "0x2");
        if (k->arch) {
            stream_text(d, m, "ds.arch_groups=0x%llx", U(script_arch_groups(k->arch)));
            stream_text(d, m, "ds.pebs=architectural");
            stream_text(d, m, "ds.store=bts");
        }
        stream_text(d, m, "ds.scope=thread");
        if (k->bts) {
            stream_text(d, m, "ds.bts=%s", k->bts == SCRIPT_BTS_CIRCULAR ? "circular" : "interrupt");
            stream_text(d, m, "ds.bts.records=%u", SCRIPT_BTS_RECORDS);
            for (uint32_t c = 0; c < k->cpus; c++)
                stream_text(d, m, "ds.cpu.%u.bts.buffer=0x%llx", c, U(s->cpu[c].bts_base));
        }
        for (unsigned i = 0; k->arch && script_arch_events[i]; i++)
            stream_text(d, m, "ds.event.%u=%s", i, script_arch_events[i]);
        if (!k->arch)
            stream_text(d, m, "ds.event.0=INST_RETIRED.ANY_P:%u:uk", SCRIPT_PERIOD);
    }
    stream_text(d, m, "workload.name=script");
}

static void symbols(struct trace_dump *d, const struct script *s)
{
    for (unsigned i = 0; i < script_symbol_count; i++)
        stream_text(d, CAIRN_STREAM_SYMBOLS, "%016llx %x %s", U(script_symbols[i].address), script_symbols[i].size,
                    script_symbols[i].name);
    for (unsigned i = 0; s->options.locks && i < SCRIPT_LOCK_SYMBOLS; i++)
        stream_text(d, CAIRN_STREAM_SYMBOLS, "%016llx %x %s", U(script_lock_symbols[i].address),
                    script_lock_symbols[i].size, script_lock_symbols[i].name);
}

static void names(struct trace_dump *d, const struct script *s)
{
    for (uint32_t c = 0; c < s->options.cpus; c++)
        stream_text(d, CAIRN_STREAM_NAMES, "0 0 i idle/%u", c);
    for (uint32_t i = 1; i <= s->options.threads; i++)
        stream_text(d, CAIRN_STREAM_NAMES, "%u %d %s %s", s->thread[i].tid, s->thread[i].base,
                    s->thread[i].sampled ? "s" : "-", s->thread[i].name);
}

static uint64_t truth_switches(const struct script_cpu *cpu)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < cpu->truth_count; i++)
        n += cpu->truth[i].sw.kind == CAIRN_TRUTH_SWITCH;
    return n;
}

/* The sender of a live dump: now and then it has time for a frame. */
struct sender {
    struct trace_dump dump;
    const struct kind *kind;
    struct script *script;
    struct trace_session *session;
    uint32_t frames, again;
};

#define SENDER_EVERY 10u /* switches between two frames */
#define SENDER_BREAK 3u  /* the frame into whose line text comes */

static void send_frame(void *context, const char *line, size_t size)
{
    struct sender *s = context;
    if ((line[1] & ~CAIRN_PACKED) == CAIRN_STREAM_TRACE && ++s->frames == SENDER_BREAK) {
        fwrite(line, 1, size / 2, stdout);
        fputs("\r\ncairn: a text in the middle of a line\r\n", stdout);
        s->again++;
    }
    fwrite(line, 1, size, stdout);
}

static void sender_turn(void *context, uint32_t n)
{
    struct sender *s = context;
    struct trace_live live;
    if (n == 0) { /* before anything can be full */
        stream_text(&s->dump, CAIRN_STREAM_HEADER, "cairn.format=%u", CAIRN_FORMAT_LIVE);
        stream_text(&s->dump, CAIRN_STREAM_HEADER, "dump.cause=live");
        stream_text(&s->dump, CAIRN_STREAM_HEADER, "dump.tsc=%llu", U(SCRIPT_TSC_START));
        machine(&s->dump, s->kind, s->script);
        symbols(&s->dump, s->script);
        stream_session(&s->dump, trace_session_config(s->session), s->kind->ds, true, SCRIPT_TICK_US);
        trace_dump_flush(&s->dump);
    }
    if (n % SENDER_EVERY || !trace_live_next(s->session, &live))
        return;
    uint32_t end = trace_dump_part(&s->dump, live.header, live.cpu_buffer, 1, live.sent);
    trace_dump_flush(&s->dump);
    trace_live_sent(s->session, live.slot, end);
    if (end == live.header->offset)
        trace_live_release(s->session, live.slot);
}

static void summary(struct trace_dump *d, const struct kind *k, const struct script *s, const struct sender *sender)
{
    const enum cairn_stream e = CAIRN_STREAM_END;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (s->sessions[i])
            stream_counts(d, s->sessions[i]);
    for (uint32_t c = 0; c < k->cpus; c++) {
        const struct script_cpu *cpu = &s->cpu[c];
        if (k->hw && cpu->lost_unknown)
            stream_text(d, e, "end.cpu.%u.ds=%llu %llu %llu unknown 0", c, U(cpu->all_records), U(cpu->drains),
                        U(cpu->pmis));
        else if (k->ds)
            stream_text(d, e, "end.cpu.%u.ds=%llu %llu %llu %llu 0", c, U(cpu->all_records), U(cpu->drains),
                        U(cpu->pmis), U(cpu->all_lost));
        if (k->hw && cpu->bts_lost_unknown)
            stream_text(d, e, "end.cpu.%u.bts=%llu %llu unknown", c, U(cpu->all_branches), U(cpu->bts_drains));
        else if (k->bts)
            stream_text(d, e, "end.cpu.%u.bts=%llu %llu %llu", c, U(cpu->all_branches), U(cpu->bts_drains),
                        U(cpu->all_bts_lost));
        if (k->log)
            stream_text(d, e, "end.cpu.%u.log=%u", c, cpu->entries);
        if (k->locks)
            stream_text(d, e, "end.cpu.%u.locks=%llu %llu %llu %llu %llu", c, U(cpu->locks.counts.contended),
                        U(cpu->locks.counts.uncontended), U(cpu->locks.released), U(cpu->locks.events),
                        U(cpu->locks.untracked));
        stream_text(d, e, "end.cpu.%u.ticks=%llu", c,
                    U((s->stop_tsc - s->start_tsc) / (SCRIPT_TSC_HZ / 1000000 * SCRIPT_TICK_US)));
        if (k->truth)
            stream_text(d, e, "end.cpu.%u.truth=%llu %llu 0", c, U(truth_switches(cpu)),
                        U(cpu->truth_count - truth_switches(cpu)));
    }
    if (k->live) {
        stream_text(d, e, "end.live.frames=%u", sender->frames);
        stream_text(d, e, "end.live.again=%u", sender->again);
    }
    stream_text(d, e, "end.hook.count=%u", s->options.switches);
    stream_text(d, e, "end.hook.min=400");
    stream_text(d, e, "end.hook.median=620");
    stream_text(d, e, "end.hook.p99=2900");
    stream_text(d, e, "end.hook.emulated=1");
    stream_text(d, e, "end.truth=%u", k->truth);
    if (k->panic) {
        stream_text(d, e, "end.verdict=panic");
        stream_text(d, e, "end.panic=page fault at 0x0 in workload_spin");
    } else {
        stream_text(d, e, "end.verdict=pass");
        stream_text(d, e, "end.pass=3");
        stream_text(d, e, "end.fail=0");
        stream_text(d, e, "end.skip=0");
    }
}

static struct trace_pack *pack; /* NULL: nothing is packed */

static struct stream_totals pass(struct trace_dump *d, const struct trace_sink *sink, struct stream_totals told,
                                 const struct kind *k, const struct script *s, const struct sender *sender)
{
    trace_dump_init(d, sink);
    d->encode = k->eight_bit ? kline8_encode : NULL;
    if (pack)
        trace_dump_pack(d, pack);
    d->frames = sender->dump.frames; /* 0 unless it is live: what is out */
    d->bytes = sender->dump.bytes;
    d->raw_bytes = sender->dump.raw_bytes;
    stream_header(d, &told, k->live, k->panic ? "panic" : "end");
    if (!k->live)
        machine(d, k, s);
    names(d, s);
    if (!k->live)
        symbols(d, s);
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++) {
        if (s->sessions[i] && !k->live)
            stream_session(d, trace_session_config(s->sessions[i]), k->ds, k->live, SCRIPT_TICK_US);
        if (s->sessions[i])
            stream_lives(d, trace_session_config(s->sessions[i]), s->start_tsc, s->stop_tsc);
    }
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (s->sessions[i])
            trace_dump_session(d, s->sessions[i], (uint16_t)(i + 1));
    summary(d, k, s, sender);
    for (uint32_t c = 0; c < k->cpus; c++)
        trace_dump_truth(d, (uint16_t)c, 0, s->cpu[c].truth, s->cpu[c].truth_count);
    trace_dump_flush(d);
    stream_text(d, CAIRN_STREAM_LAST, "dump.frames=%u", d->frames + 1);
    trace_dump_flush(d);
    return (struct stream_totals){d->frames, d->bytes, d->raw_bytes};
}

static struct trace_session *make_session(const struct kind *k, struct trace_clocks *clocks, uint32_t number,
                                          enum trace_clock_type clock, unsigned events)
{
    struct trace_session *session;
    if (trace_clocks_init(clocks, SCRIPT_TSC_HZ, SCRIPT_TSC_START, trace_filetime(2026, 11, 21, 2, 10, 59),
                          SCRIPT_TICK_US))
        abort();
    struct trace_config config = {
        .number = number,
        .cpus = k->cpus,
        .circular = k->circular,
        .live = k->live,
        .buffer_bytes = k->buffer_bytes,
        .buffers = k->buffers,
        .clock = clocks->clock[clock - 1],
        .tick_units = clocks->tick_units[clock - 1],
    };
    trace_group_add(&config.masks, PERF_CONTEXT_SWITCH);
    if (events & COMPACT)
        trace_group_add(&config.masks, PERF_COMPACT_CSWITCH);
    if (events == (COMPACT | FULL))
        trace_group_add(&config.masks, PERF_CAIRN_BOTH_CSWITCH);
    if (k->locks)
        trace_group_add(&config.masks, PERF_SPINLOCK);
    if (k->told) {
        trace_group_add(&config.masks, PERF_PROC_THREAD | PERF_LOADER);
        trace_group_add(&config.masks, PERF_INTERRUPT);
        trace_group_add(&config.masks, PERF_PROFILE);
    }
    size_t size = trace_session_bytes(&config);
    void *memory = size ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
    if (!memory || trace_session_init(&session, &config, memory, size)) {
        fprintf(stderr, "make_golden: no memory, or an impossible configuration\n");
        exit(1);
    }
    return session;
}

int main(int argc, char **argv)
{
    static const char packed[] = "packed-";
    struct kind k = {0};
    if (argc > 1 && strncmp(argv[1], packed, sizeof(packed) - 1) == 0) {
        static struct trace_pack room;
        pack = &room;
        argv[1] += sizeof(packed) - 1;
    }
    for (unsigned i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            k = kinds[i];
    if (!k.name) {
        fprintf(stderr, "usage: make_golden [packed-]KIND [SWITCHES [CPUS [SEED]]]\n");
        for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            fprintf(stderr, "  %-10s %s\n", kinds[i].name, kinds[i].what);
        return 2;
    }
    if (argc > 2)
        k.switches = (uint32_t)strtoul(argv[2], NULL, 0);
    if (argc > 3)
        k.cpus = (uint32_t)strtoul(argv[3], NULL, 0);
    uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 0) : UINT64_C(0x9E3779B97F4A7C15);
    if (k.cpus < 1 || k.cpus > SCRIPT_CPUS || seed == 0) {
        fprintf(stderr, "make_golden: CPUS is 1 to %u, SEED not 0\n", SCRIPT_CPUS);
        return 2;
    }

    struct trace_clocks clocks;
    struct trace_session *sessions[TRACE_MAX_SESSIONS] = {make_session(&k, &clocks, 1, TRACE_CLOCK_QPC, k.events)};
    if (k.sessions) {
        sessions[1] = make_session(&k, &clocks, 2, TRACE_CLOCK_SYSTEM, FULL);
        sessions[2] = make_session(&k, &clocks, 3, TRACE_CLOCK_TSC, COMPACT | FULL);
        sessions[3] = make_session(&k, &clocks, 4, TRACE_CLOCK_QPC, COMPACT);
    }
    struct script *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);
    struct trace_dump *dump = malloc(sizeof(*dump));
    if (!s || !dump) {
        fprintf(stderr, "make_golden: no memory\n");
        return 1;
    }
    static struct sender sender;
    struct trace_sink live_sink = {send_frame, &sender};
    sender.kind = &k;
    sender.script = s;
    sender.session = sessions[0];
    trace_dump_init(&sender.dump, &live_sink);
    if (pack)
        trace_dump_pack(&sender.dump, pack);
    printf("Cairn golden: %s: %s\r\nPASS: golden: scripted machine up\r\n", k.name, k.what);
    const struct script_options options = {.cpus = k.cpus,
                                           .threads = k.threads ? k.threads : SCRIPT_THREADS,
                                           .switches = k.switches,
                                           .ds = k.ds,
                                           .hw = k.hw,
                                           .drops = k.drops,
                                           .old = k.old,
                                           .panic = k.panic,
                                           .truth = k.truth,
                                           .words = k.words,
                                           .log = k.log,
                                           .locks = k.locks,
                                           .told = k.told,
                                           .bts = k.bts,
                                           .arch = k.arch,
                                           .restart = k.restart,
                                           .seed = seed,
                                           .turn = k.live ? sender_turn : NULL,
                                           .context = &sender};
    script_run(s, &options, &clocks, sessions);

    unsigned frames = 0;
    struct trace_sink sink = {write_console, &frames};
    struct stream_totals counted = pass(dump, NULL, (struct stream_totals){0}, &k, s, &sender);
    printf("cairn: dump: %u frames, %llu bytes follow\r\n", counted.frames - sender.dump.frames,
           U(counted.bytes - sender.dump.bytes));
    struct stream_totals written = pass(dump, &sink, counted, &k, s, &sender);
    if (written.frames != counted.frames || written.bytes != counted.bytes || written.raw != counted.raw) {
        fprintf(stderr, "make_golden: the counting pass and the writing pass differ\n");
        return 1;
    }
    printf("cairn: dump: done\r\n%s\r\n",
           k.panic ? "PANIC: page fault at 0x0 in workload_spin" : "SUMMARY: 3 passed, 0 failed, 0 skipped");
    script_free(s);
    free(dump);
    free(s);
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        free(sessions[i]); /* it lies at the start of its memory */
    return 0;
}
