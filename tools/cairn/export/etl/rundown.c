/* SPDX-License-Identifier: MIT */
/* What a trace of the NT Kernel Logger has besides its events, made from the log's keys and names: the file's header,
 * the machine, processes, threads and the kernel's image, before and after the events, in Windows' order. */
#include <stdio.h>
#include <stdlib.h>
#include <uchar.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/etl/export.h"
#include "tools/cairn/log/date.h"
#include "trace/groups.h"
#include "trace/rundown/rundown.h"

#define FILE_NAME      "cairn.etl"
#define IDLE_PROCESS   0u
#define KERNEL_PROCESS 4u

static uint64_t number(const struct cairn_log *log, const char *key)
{
    uint64_t v = 0;
    cairn_slice_u64(cairn_key(&log->text, "%s", key), &v);
    return v;
}

static uint64_t session_number(const struct cairn_log *log, const char *key)
{
    uint64_t v;
    return cairn_slice_u64(cairn_session_key(log, key), &v) ? v : 0;
}

static uint32_t build(const struct cairn_log *log)
{
    uint64_t v = session_number(log, "build");
    return v && v <= UINT32_MAX ? (uint32_t)v : CCSWAP_BUILD;
}

/* The build's version of Windows, and that of its kernel's events (0005H). Builds between two of these have those of
 * the first; of 22000 the second is taken from 22621. */
struct etl_windows {
    uint32_t build;
    uint8_t major, minor;
    uint32_t events;
};

static const struct etl_windows *windows(const struct cairn_log *log)
{
    static const struct etl_windows known[] = {
        {7600, 6, 1, 25},   {9200, 6, 2, 42},   {9600, 6, 3, 54},   {10240, 10, 0, ETW_KERNEL_VERSION_10240},
        {14393, 10, 0, 65}, {17763, 10, 0, 70}, {19041, 10, 0, 80}, {22000, 10, 0, 85},
    };
    size_t i = sizeof(known) / sizeof(known[0]) - 1;
    for (uint32_t is = build(log); i && is < known[i].build; i--)
        ;
    return &known[i];
}

/* ---- header ----------------------------------------------------------------------------------------------------- */

static uint32_t clock_type(const struct cairn_log *log)
{
    uint64_t type = session_number(log, "clock");
    return type >= ETL_CLOCK_COUNTER && type <= ETL_CLOCK_CYCLES ? (uint32_t)type : ETL_CLOCK_COUNTER;
}

/* FILETIME. Where the log does not tell what time it was, as if the machine had booted in 1601: that is no date, and
 * the session is as long as it was. */
static int64_t filetime(const struct cairn_log *log, int64_t time)
{
    const struct cairn_wall *w = &log->session.wall;
    const uint64_t hz = log->session.hz ? log->session.hz : TRACE_CLOCK_HZ;
    const __int128 since = ((__int128)time - (w->known ? w->time : w->boot)) * CAIRN_SECOND / (__int128)hz;
    const __int128 at = since + (w->known ? w->filetime : 0);
    return at < 0 ? 0 : at > INT64_MAX ? INT64_MAX : (int64_t)at; /* time stamps are whatever the log says */
}

static struct etl_time_zone time_zone(const struct cairn_log *log)
{
    return (struct etl_time_zone){.bias = -log->session.wall.east / 60, .name = u"UTC"};
}

/* The header's event, for pointers of 8 bytes. */
struct header {
    struct etl_logfile_header head;
    uint64_t timers[2]; /* of clock interrupt, performance counter */
    struct etl_time_zone zone;
    uint8_t padding[4];
    struct etl_logfile_times times;
    char16_t logger[sizeof(ETL_CAIRN_LOGGER)], file[sizeof(FILE_NAME)];
} __attribute__((packed));
_Static_assert(offsetof(struct header, times) == ETL_TIMES_AT(8), "TRACE_LOGFILE_HEADER.BootTime");

void cairn_etl_put_header(struct cairn_etl_export *x)
{
    const struct cairn_log *log = x->log;
    struct cairn_etl_writer *w = &x->writer;
    struct cairn_etl_made *first = &w->buffers.items[0];
    const uint32_t large = 1u << 20;
    struct header h = {.timers = {ETL_TIMER_SOURCE_APIC, ETL_TIMER_SOURCE_TSC},
                       .zone = time_zone(log),
                       .logger = u"" ETL_CAIRN_LOGGER,
                       .file = u"" FILE_NAME};
    h.head = (struct etl_logfile_header){
        .buffer_size = w->buffer_bytes,
        .version = {windows(log)->major, windows(log)->minor, w->buffer_bytes > large ? 2 : 1,
                    w->buffer_bytes > large ? 0 : 5},
        .provider_version = build(log),
        .processors = log->cpus,
        .end_time = filetime(log, x->stop),
        .timer_resolution = (uint32_t)(session_number(log, "tick_us") * 10),
        .log_file_mode = ETL_MODE_SEQUENTIAL | ETL_MODE_SYSTEM_LOGGER,
        .buffers_written = (uint32_t)w->buffers.count,
        .start_buffers = 1,
        .pointer_size = 8,
        .events_lost = (uint32_t)x->events_lost,
        .cpu_mhz = (uint32_t)(number(log, "machine.tsc_hz") / 1000000),
    };
    h.times = (struct etl_logfile_times){
        .boot_time = log->session.wall.known ? filetime(log, log->session.wall.boot) : 0,
        .frequency = (int64_t)(log->session.hz ? log->session.hz : TRACE_CLOCK_HZ),
        .start_time = filetime(log, x->start),
        .clock_type = clock_type(log),
        .buffers_lost = (uint32_t)x->buffers_lost,
    };
    if (first->used == 0)
        cairn_etl_system(w, ETL_HOOK_HEADER, HOOK_VERSION_HEADER, x->start, 0, KERNEL_PROCESS, &h, sizeof(h));
    else
        memcpy(first->bytes + sizeof(struct system_trace_header), &h, sizeof(h));
}

/* The groups that the session was ever told to take; of the last word, which is Cairn's own, none. */
static void add_groups(struct perfinfo_groupmask *groups, const struct cairn_log *log)
{
    for (uint32_t n = 0; n < log->cpus; n++)
        for (size_t i = 0; i < log->cpu[n].acks.count; i++) {
            const struct cairn_ack *ack = &log->cpu[n].acks.items[i];
            for (unsigned w = 0; ack->own && ack->event.what != CAIRN_SESSION_STOP && w < 7; w++)
                groups->masks[w] |= ack->event.masks[w];
        }
}

static struct etw_header_extension make_masks(const struct cairn_etl_export *x, bool on)
{
    const struct cairn_session *s = &x->log->session;
    struct etw_header_extension e = {.version = windows(x->log)->events};
    struct perfinfo_groupmask groups = {0};
    if (on) {
        add_groups(&groups, x->log);
        trace_group_add(&groups, PERF_PROCESS | PERF_THREAD | PERF_LOADER);
        trace_group_add(&groups, PERF_CONTEXT_SWITCH);
        trace_group_add(&groups, PERF_CPU_CONFIG);
        if (s->compact)
            trace_group_add(&groups, PERF_COMPACT_CSWITCH);
        if (x->strict && s->full)
            cairn_etl_group_remove(&groups, PERF_COMPACT_CSWITCH);
    }
    memcpy(e.group_masks, groups.masks, sizeof(e.group_masks));
    return e;
}

static void put_masks(struct cairn_etl_export *x, uint16_t hook, int64_t time, bool on)
{
    const struct etw_header_extension e = make_masks(x, on);
    cairn_etl_perfinfo(&x->writer, hook, HOOK_VERSION_HEADER, time, &e, sizeof(e));
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

static void put(struct cairn_etl_export *x, uint16_t hook, uint8_t version, int64_t time, const struct etw_payload *p)
{
    cairn_etl_system(&x->writer, hook, version, time, 0, KERNEL_PROCESS, p->bytes, p->size);
}

static void put_machine(struct cairn_etl_export *x, int64_t time)
{
    const struct cairn_log *log = x->log;
    struct etw_payload p;
    struct cairn_slice leaf = cairn_key(&log->text, "cpu.0.cpuid.00000001.00000000");
    char words[16];
    snprintf(words, sizeof(words), "%.*s", leaf.size < 8 ? 0 : 8, leaf.at);
    uint32_t signature = (uint32_t)strtoul(words, NULL, 16); /* family, model and stepping as CPUID has them */
    uint32_t family = signature >> 8 & 0xF, model = signature >> 4 & 0xF;
    if (family == 6 || family == 15)
        model |= signature >> 12 & 0xF0;
    family += family == 15 ? signature >> 20 & 0xFF : 0;
    struct etw_cpu_config c = {
        .mhz = (uint32_t)(number(log, "machine.tsc_hz") / 1000000),
        .number_of_processors = log->cpus,
        .mem_size = (uint32_t)(number(log, "machine.memory_bytes") >> 20),
        .page_size = 4096,
        .allocation_granularity = 4096,
        .highest_user_address = UINT64_C(0x00007FFFFFFFFFFF),
        .processor_architecture = ETW_ARCHITECTURE_AMD64,
        .processor_level = (uint16_t)family,
        .processor_revision = (uint16_t)(model << 8 | (signature & 0xF)),
        .nx_enabled = 1,
        .pae_enabled = 1,
    };
    trace_rundown_cpu_config(&p, &c, "CAIRN");
    put(x, HOOK_CPU_CONFIG, HOOK_VERSION_CPU_CONFIG, time, &p);
    trace_rundown_processor_group(&p, log->cpus);
    cairn_etl_perfinfo(&x->writer, HOOK_PROCESSOR_GROUP, HOOK_VERSION_PROCESSOR, time, p.bytes, p.size);
    trace_rundown_processor_numbers(&p, log->cpus);
    cairn_etl_perfinfo(&x->writer, HOOK_PROCESSOR_NUMBER, HOOK_VERSION_PROCESSOR, time, p.bytes, p.size);
}

/* ---- processes, threads, the image ------------------------------------------------------------------------------ */

static void put_process(struct cairn_etl_export *x, uint16_t hook, int64_t time, uint32_t pid, const char *name)
{
    struct etw_payload p;
    const struct etw_process process = {
        .process_id = pid,
        .parent_id = IDLE_PROCESS,
        .session_id = ETW_NO_SESSION,
        .exit_status = pid == IDLE_PROCESS ? 0 : ETW_STILL_RUNNING,
    };
    trace_rundown_process(&p, &process, name);
    cairn_etl_perfinfo(&x->writer, hook, HOOK_VERSION_PROCESS, time, p.bytes, p.size);
    x->processes += hook == HOOK_PROCESS_DC_START;
}

static void put_thread(struct cairn_etl_export *x, uint16_t hook, int64_t time, uint32_t pid, uint64_t affinity,
                       const struct cairn_name *name)
{
    struct etw_payload p;
    const struct etw_thread t = {
        .process_id = pid,
        .thread_id = name->tid,
        .affinity = affinity,
        .base_priority = (int8_t)name->base,
    };
    char text[ETW_NAME_MAX + 1];
    snprintf(text, sizeof(text), "%.*s", CAIRN_SLICE(name->name));
    trace_rundown_thread(&p, &t, text);
    cairn_etl_system(&x->writer, hook, HOOK_VERSION_THREAD, time, name->tid, pid, p.bytes, p.size);
    x->threads += hook == HOOK_THREAD_DC_START;
}

static void put_image(struct cairn_etl_export *x, uint16_t hook, int64_t time)
{
    struct etw_payload p;
    uint64_t base = number(x->log, "kernel.base");
    struct etw_image image = {.image_base = base, .image_size = number(x->log, "kernel.size"), .default_base = base};
    if (!image.image_base || !image.image_size)
        return; /* the machine stream is missing */
    trace_rundown_image(&p, &image, "\\kernel.elf");
    put(x, hook, HOOK_VERSION_IMAGE, time, &p);
    x->images += hook == HOOK_IMAGE_DC_START;
}

/* Each process, then its threads, then its images; one idle thread a CPU, in the process they are of. */
static void put_rundown(struct cairn_etl_export *x, int64_t time, bool start)
{
    const struct cairn_text *text = &x->log->text;
    const uint64_t all = trace_rundown_group(x->log->cpus, 0); /* a mask is of one group */
    uint16_t process = start ? HOOK_PROCESS_DC_START : HOOK_PROCESS_DC_END;
    uint16_t thread = start ? HOOK_THREAD_DC_START : HOOK_THREAD_DC_END;
    uint32_t idle = 0;
    if (!x->has_threads) {
        put_process(x, process, time, IDLE_PROCESS, "Idle");
        for (size_t i = 0; i < text->names.count && idle < MAX_CPUS; i++)
            if (text->names.items[i].tid == 0)
                put_thread(x, thread, time, IDLE_PROCESS, UINT64_C(1) << idle++ % TRACE_GROUP_CPUS,
                           &text->names.items[i]);
        put_process(x, process, time, KERNEL_PROCESS, "Cairn");
        for (size_t i = 0; i < text->names.count; i++)
            if (text->names.items[i].tid)
                put_thread(x, thread, time, KERNEL_PROCESS, all, &text->names.items[i]);
    }
    if (!x->has_images)
        put_image(x, start ? HOOK_IMAGE_DC_START : HOOK_IMAGE_DC_END, time);
}

static void put_complete(struct cairn_etl_export *x, int64_t time)
{
    if (!x->has_complete)
        cairn_etl_perfinfo(&x->writer, HOOK_RUNDOWN_COMPLETE, HOOK_VERSION_HEADER, time, NULL, 0);
}

/* The only one of its kind with a SYSTEM header. */
void cairn_etl_put_extension(struct cairn_etl_export *x)
{
    struct etw_header_extension e = make_masks(x, true);
    if (x->has_extension)
        memcpy(&e, x->extension, sizeof(e));
    if (x->has_extension && x->strict)
        cairn_etl_plain_masks(x, &e);
    cairn_etl_system(&x->writer, HOOK_HEADER_EXTENSION, HOOK_VERSION_HEADER, x->start, 0, KERNEL_PROCESS, &e,
                     sizeof(e));
}

void cairn_etl_put_start(struct cairn_etl_export *x)
{
    put_rundown(x, x->start, true);
    put_complete(x, x->start);
}

void cairn_etl_put_end(struct cairn_etl_export *x)
{
    if (!x->has_config)
        put_machine(x, x->stop);
    if (!x->has_extension)
        put_masks(x, HOOK_GROUP_MASKS_END, x->stop, true);
    put_rundown(x, x->stop, false);
    if (!x->has_extension)
        put_masks(x, HOOK_HEADER_EXTENSION, x->stop, false);
    put_complete(x, x->stop);
}
