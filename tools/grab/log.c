/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/grab/base/error.h"
#include "tools/grab/base/memory.h"
#include "tools/grab/counted.h"
#include "tools/grab/programs.h"
#include "tools/grab/session.h"
#include "tools/grab/threads.h"
#include "tools/pebs/pebs.h"

#define LINE(...)  trace_dump_print(d, CAIRN_STREAM_MACHINE, __VA_ARGS__)
#define PF_KTHREAD 0x200000u
#define NS         UINT64_C(1000000000)

/* ---- machine ----------------------------------------------------------------------------------------------------- */

/* When CLOCK_MONOTONIC was 0, which it is at the boot; by the rate over the whole recording, with which readers count
 * back to it. */
static void dump_boot(struct trace_dump *d, const struct grab_log *log)
{
    const struct grab_pair *first = &log->clock->pairs[0];
    const unsigned __int128 since = (unsigned __int128)first->time * grab_clock_hz(log->clock) / NS;
    struct timespec wall;
    struct tm t;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &wall);
    const uint64_t boot = (uint64_t)wall.tv_sec * NS + (uint64_t)wall.tv_nsec - grab_clock_now();
    const time_t seconds = (time_t)(boot / NS);
    gmtime_r(&seconds, &t);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
    LINE("boot.time=%s.%09" PRIu64 "Z", text, boot % NS);
    LINE("boot.tsc=%" PRIu64, first->tsc - (uint64_t)since);
}

static void dump_skipped(struct trace_dump *d, const struct grab_log *log)
{
    uint64_t drains, switches;
    grab_rings_skipped(log->rings, &drains, &switches);
    if (drains == UINT64_MAX)
        LINE("grab.skipped=unknown");
    else
        LINE("grab.skipped=%" PRIu64 " %" PRIu64, drains, switches);
}

static void dump_throttled(struct trace_dump *d, const struct grab_log *log)
{
    const uint64_t throttled = grab_rings_throttled(log->rings);
    if (throttled == UINT64_MAX)
        LINE("grab.throttled=unknown");
    else
        LINE("grab.throttled=%" PRIu64, throttled);
}

static void dump_machine(struct trace_dump *d, const struct grab_session *s, const struct grab_log *log)
{
    const uint64_t hz = grab_clock_hz(log->clock);
    LINE("kernel.version=Linux %s", log->kernel->release);
    LINE("grab.version=%s", CAIRN_VERSION);
    LINE("grab.source=%s", log->source->text);
    LINE("grab.clock=%" PRIu64 " %zu %" PRIu64 " %" PRIu64, grab_clock_error(log->clock), log->clock->count,
         s->order.moved, (uint64_t)((unsigned __int128)s->order.most * 1000000000u / hz));
    if (s->format == DS_FORMAT_ARCH)
        LINE("grab.index=%" PRIu64 " %" PRIu64 " %" PRIu64, s->index.within, s->index.empty, s->index.unknown);
    dump_skipped(d, log);
    dump_throttled(d, log);
    dump_boot(d, log);
    LINE("machine.hypervisor=%s", log->source->hypervisor);
    LINE("machine.emulated=%d", log->source->emulated);
    LINE("machine.tsc_hz=%" PRIu64, hz);
    LINE("machine.time_source=CLOCK_MONOTONIC, %zu pairs with the TSC", log->clock->count);
    grab_machine_dump(d, log->cpus);
    LINE("workload.name=%s", log->workload);
}

/* ---- Debug Store ------------------------------------------------------------------------------------------------- */

/* MSR_PEBS_DATA_CFG where it was the same at each drain with records. */
static bool same_groups(const struct grab_store *store, uint64_t *groups)
{
    bool any = false;
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        for (size_t i = 0; i < store->cpu[c].drain_count; i++) {
            const struct grab_drain *d = &store->cpu[c].drains[i].head;
            if (!d->bytes || d->kind == GRAB_BTS)
                continue;
            if (any && d->data_cfg != *groups)
                return false;
            *groups = d->data_cfg;
            any = true;
        }
    return any;
}

#define NO_BRANCHES "no event used BTS: -e branches:u -c 1 does"

static void dump_debug_store(struct trace_dump *d, const struct grab_session *s, const struct grab_log *log)
{
    const bool arch = s->format == DS_FORMAT_ARCH;
    const bool branches = grab_session_branches(s);
    uint64_t groups = 0, untold = 0;
    for (unsigned c = 0; c < log->cpus; c++)
        untold += grab_rings_cpu(log->rings, c)->lost_events;
    LINE("ds.backend=hw");
    LINE("ds.reason=%s; read from Linux by cairn grab", log->source->text);
    LINE("ds.emulated=0");
    LINE("ds.format=%u", s->format);
    LINE("ds.record_bytes=%u", s->record_bytes);
    if (arch) {
        LINE("ds.pebs=architectural");
        LINE("ds.store=%s", branches ? "bts" : NO_BRANCHES);
    } else {
        LINE("ds.area_form=%XH", grab_area_bytes(s->format));
    }
    if (!arch && same_groups(log->store, &groups))
        LINE("ds.data_cfg=0x%" PRIx64, groups & ((UINT64_C(1) << 32) - 1));
    grab_counted_dump(d, log->store, log->cpus, untold);
    LINE("ds.bts=%s", branches ? "interrupt" : "off");
    if (!branches)
        LINE("ds.bts.reason=" NO_BRANCHES);
    for (unsigned c = 0; c < log->cpus; c++) {
        const struct grab_one_cpu *cpu = &log->store->cpu[c];
        if (!cpu->drain_count)
            continue;
        const struct grab_buffer b = grab_buffer(cpu->drains, s->format);
        LINE("ds.cpu.%u.buffer%s=0x%" PRIx64, c, arch ? ".physical" : "", b.base);
        LINE("ds.cpu.%u.buffer_bytes=%" PRIu64, c, b.maximum - b.base);
    }
}

/* ---- threads, functions ------------------------------------------------------------------------------------------ */

static void dump_threads(struct trace_dump *d, const struct grab_log *log)
{
    struct grab_threads threads;
    grab_threads_find(&threads, log->store);
    for (unsigned c = 0; c < log->cpus; c++)
        if (log->store->cpu[c].drain_count)
            trace_dump_print(d, CAIRN_STREAM_NAMES, "0 0 i idle/%u", c);
    for (size_t i = 0; i < threads.count; i++)
        trace_dump_print(d, CAIRN_STREAM_NAMES, "%u %d %s %s", threads.items[i].tid, threads.items[i].base,
                         threads.items[i].flags & PF_KTHREAD ? "-" : "u", threads.items[i].comm);
    free(threads.items);
}

static void meet(bool *met, const struct grab_symbols *all, uint64_t address)
{
    const struct grab_symbol *symbol = address >> 63 ? grab_symbols_at(all, address) : NULL;
    if (symbol)
        met[symbol - all->items] = true;
}

/* The instruction that a record names, and its branches. */
static void meet_record(bool *met, const struct grab_symbols *all, const uint8_t *record, uint32_t size,
                        unsigned format)
{
    struct cairn_pebs_branch branch;
    uint64_t ip = 0;
    if (!cairn_pebs_get(format, record, size, CAIRN_PEBS_EVENTING_IP, &ip)) /* before format 2 */
        cairn_pebs_get(format, record, size, CAIRN_PEBS_RIP, &ip);
    meet(met, all, ip);
    for (uint32_t i = 0; cairn_pebs_branch(format, record, size, i, &branch); i++) {
        meet(met, all, branch.from);
        meet(met, all, branch.to);
    }
}

static void meet_drain(bool *met, const struct grab_log *log, const struct grab_drained *d, unsigned format)
{
    const uint8_t *bytes = log->store->records + d->at;
    struct ds_bts_record branch;
    uint32_t size;
    for (uint64_t at = 0; d->head.kind == GRAB_BTS && at + sizeof branch <= d->bytes; at += sizeof branch) {
        memcpy(&branch, bytes + at, sizeof branch);
        meet(met, &log->kernel->symbols, branch.from);
        meet(met, &log->kernel->symbols, branch.to);
    }
    for (uint64_t at = 0; (size = grab_record_bytes(log->store, d, format, at)); at += size)
        meet_record(met, &log->kernel->symbols, bytes + at, size, format);
}

/* Of the kernel's functions those in which a record or one of its branches lies. */
static void dump_functions(struct trace_dump *d, const struct grab_session *s, const struct grab_log *log)
{
    const struct grab_symbols *all = &log->kernel->symbols;
    bool *met = cairn_alloc(all->count * sizeof *met);
    for (unsigned c = 0; c < log->cpus; c++)
        for (size_t i = 0; i < log->store->cpu[c].drain_count; i++)
            meet_drain(met, log, &log->store->cpu[c].drains[i], s->format);
    for (size_t i = 0; i < all->count; i++) {
        size_t next = i;
        if (!met[i])
            continue;
        while (next < all->count && all->items[next].address == all->items[i].address)
            next++;
        const uint64_t bytes = next < all->count ? all->items[next].address - all->items[i].address : 1;
        trace_dump_print(d, CAIRN_STREAM_SYMBOLS, "%" PRIx64 " %" PRIx64 " %s", all->items[i].address, bytes,
                         grab_symbols_name(all, &all->items[i]));
    }
    free(met);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

struct file {
    int file, error;
    uint64_t at;
};

static void write_file(void *context, const char *data, size_t size)
{
    struct file *f = context;
    while (size && !f->error) {
        const ssize_t n = pwrite(f->file, data, size, (off_t)f->at);
        if (n < 0 && errno != EINTR)
            f->error = errno;
        if (n <= 0)
            continue;
        data += n;
        size -= (size_t)n;
        f->at += (uint64_t)n;
    }
}

/* All numbers have a fixed width, so that it can be written last. */
static void dump_header(struct trace_dump *d, uint32_t frames, uint64_t bytes, uint64_t raw)
{
    trace_dump_print(d, CAIRN_STREAM_HEADER, "cairn.format=%u", CAIRN_FORMAT_VERSION);
    trace_dump_print(d, CAIRN_STREAM_HEADER, "dump.line=base64");
    trace_dump_print(d, CAIRN_STREAM_HEADER, "dump.frames=%010u", frames);
    trace_dump_print(d, CAIRN_STREAM_HEADER, "dump.bytes=%012" PRIu64, bytes);
    trace_dump_print(d, CAIRN_STREAM_HEADER, "dump.raw=%012" PRIu64, raw);
    trace_dump_print(d, CAIRN_STREAM_HEADER, "dump.cause=end");
    trace_dump_flush(d);
}

static void dump_all(struct trace_dump *d, const struct grab_session *s, const struct grab_log *log)
{
    dump_machine(d, s, log);
    dump_debug_store(d, s, log);
    dump_threads(d, log);
    grab_programs_dump(d, log->maps, log->store, s->format);
    dump_functions(d, s, log);
    grab_session_dump(d, s, log);
    trace_dump_session(d, s->session, 1);
    grab_session_end(d, s, log);
    trace_dump_flush(d);
}

static void count_drains(struct grab_written *w, const struct grab_one_cpu *c)
{
    for (size_t i = 0; i < c->drain_count; i++) {
        const struct grab_drain *d = &c->drains[i].head;
        w->drains += d->kind != GRAB_START && d->kind != GRAB_BTS && d->bytes;
        w->bts_drains += d->kind == GRAB_BTS && d->bytes;
    }
}

static void sum_up(struct grab_written *w, const struct grab_session *s, const struct grab_log *log)
{
    *w = (struct grab_written){.format = s->format};
    for (unsigned c = 0; c < log->cpus; c++) {
        const struct grab_cpu *cpu = grab_rings_cpu(log->rings, c);
        count_drains(w, &log->store->cpu[c]);
        w->records += s->cpu[c].records;
        w->branches += s->cpu[c].branches;
        w->switches += cpu->switches;
        w->lost_switches += cpu->lost_switches;
        w->lost_events += cpu->lost_events;
        w->lost_bytes += s->cpu[c].lost_bytes + s->cpu[c].lost_bts;
    }
    w->nothing = !w->records && !w->branches && !w->lost_bytes;
}

int grab_log_write(const struct grab_log *log, const char *path, struct grab_written *written)
{
    static struct trace_dump dump;
    struct grab_session session;
    int error = grab_session_make(&session, log);
    if (error)
        return error;
    sum_up(written, &session, log);
    if (written->nothing)
        return 0;
    struct file file = {.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (file.file < 0)
        return errno;
    const struct trace_sink sink = {write_file, &file};
    trace_dump_init(&dump, &sink);
    dump_header(&dump, 0, 0, 0);
    dump_all(&dump, &session, log);
    const uint32_t frames = dump.frames + 1;
    trace_dump_print(&dump, CAIRN_STREAM_LAST, "dump.frames=%010u", frames);
    trace_dump_flush(&dump);
    const uint64_t bytes = dump.bytes, raw = dump.raw_bytes;
    file.at = 0;
    trace_dump_init(&dump, &sink);
    dump_header(&dump, frames, bytes, raw);
    error = close(file.file) ? errno : 0;
    return file.error ? file.error : error;
}
