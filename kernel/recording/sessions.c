/* SPDX-License-Identifier: MIT */
#include "kernel/recording/sessions.h"

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/tracepoint/drains.h"
#include "kernel/tracepoint/witness.h"

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

static struct ksession sessions[TRACE_MAX_SESSIONS];
static const struct perfinfo_groupmask nothing; /* of a session that does not run */
static struct trace_clocks clocks;
static struct trace_hub_cpu *hubs; /* [kcpu_count] */

__attribute__((weak)) int64_t ksession_filetime(uint64_t tsc)
{
    (void)tsc;
    return 0;
}

int ksession_init(char *error, size_t error_size)
{
    uint64_t now = arch_rdtsc();
    int e = trace_clocks_init(&clocks, arch_tsc_hz(), now, ksession_filetime(now), kopt.tick_us);
    if (e) {
        snprintf(error, error_size, "the TSC runs at %lu Hz, the trace clock needs more than 20 MHz",
                 (unsigned long)arch_tsc_hz());
        return e;
    }
    hubs = kmem_pages_alloc(PAGES(kcpu_count * sizeof *hubs));
    if (!hubs) {
        snprintf(error, error_size, "no memory for the trace of %u CPUs", kcpu_count);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < kcpu_count; i++) {
        trace_hub_init(&hubs[i], i, &clocks);
        kcpu_table[i]->trace = &hubs[i];
    }
    return 0;
}

int ksession_create(const struct ksession_params *p, char *error, size_t error_size)
{
    const struct trace_config config = {
        .number = p->number,
        .cpus = kcpu_count,
        .masks = p->masks,
        .circular = p->circular,
        .live = p->live,
        .buffer_bytes = p->buffer_kib * 1024,
        .buffers = p->buffers,
        .clock = clocks.clock[p->clock - 1],
        .tick_units = clocks.tick_units[p->clock - 1],
        .items = p->items,
    };
    const size_t bytes = trace_session_bytes(&config);
    if (!bytes) {
        snprintf(error, error_size, "session %u: %u trace buffers are too few for %u CPUs: give at least %u", p->number,
                 p->buffers, kcpu_count, kcpu_count + p->circular);
        return -EINVAL;
    }
    void *memory = PAGES(bytes) <= kmem_pages_available() ? kmem_pages_alloc_uncleared(PAGES(bytes)) : NULL;
    if (!memory) {
        snprintf(error, error_size,
                 "session %u: %u trace buffers of %u KiB need %lu KiB, %lu KiB are free: ask for fewer or smaller ones",
                 p->number, p->buffers, p->buffer_kib, (unsigned long)(bytes / 1024),
                 (unsigned long)(kmem_pages_available() * (ARCH_PAGE_SIZE / 1024)));
        return -ENOMEM;
    }
    struct ksession *s = &sessions[p->number - 1];
    *s = (struct ksession){.masks = p->masks};
    return trace_session_init(&s->session, &config, memory, PAGES(bytes) * ARCH_PAGE_SIZE); /* what it asks for is so */
}

struct ksession *ksession_get(uint32_t number)
{
    return number >= 1 && number <= TRACE_MAX_SESSIONS && sessions[number - 1].session ? &sessions[number - 1] : NULL;
}

struct trace_session *ksession_find(uint32_t number)
{
    const struct ksession *s = ksession_get(number);
    return s ? s->session : NULL;
}

struct trace_counts ksession_counts(const struct ksession *s)
{
    struct trace_counts sum = {0}, c;
    uint64_t *to = (uint64_t *)(void *)&sum;
    for (uint32_t cpu = 0; cpu < kcpu_count; cpu++) {
        trace_cpu_counts(trace_session_cpu(s->session, cpu), &c);
        for (size_t i = 0; i < sizeof sum / sizeof *to; i++)
            to[i] += ((const uint64_t *)(const void *)&c)[i];
    }
    return sum;
}

/* ---- on each CPU ------------------------------------------------------------------------------------------------- */

void ksession_act(struct ksession *s, enum cairn_session_what what)
{
    struct kcpu *cpu = kcpu_this();
    ds_refresh_index(cpu->ds);
    struct trace_hub_pebs pebs = {.index = cpu->pebs_stamp, .without = s->without};
    pebs.in_epoch = kdrain_epoch(cpu->arch.index, &pebs.epoch);
    const uint32_t number = trace_session_config(s->session)->number;
    const struct ksession_row *const *row;
    for (ROWS_EACH(ksession, row))
        if ((*row)->before)
            (*row)->before(number, what);
    uint64_t tsc = arch_rdtsc();
    const int e = trace_hub_act(cpu->trace, s->session, what, &s->masks, &pebs, tsc);
    for (ROWS_EACH(ksession, row))
        (*row)->after(number, what);
    /* The account of a switch has PebsIndex, too. */
    ds_stamp_switches(cpu->ds, (kwitness_memory && kwitness_memory()) || trace_hub_full(cpu->trace));
    if (!e && kwitness_session)
        kwitness_session(cpu, s->session, what, (uint32_t)s->lives - 1, &s->masks, tsc);
}

void ksession_tell(void)
{
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (sessions[i].running)
            ksession_act(&sessions[i], CAIRN_SESSION_MASKS);
}

static void act_all(enum cairn_session_what what)
{
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (sessions[i].session)
            ksession_act(&sessions[i], what);
}

static void start_all_here(void *then)
{
    act_all(CAIRN_SESSION_START);
    if ((*(bool (**)(void))then)())
        ksession_tell();
}

static void stop_all_here(void *first)
{
    (*(kcross_call_function *)first)(NULL);
    act_all(CAIRN_SESSION_STOP);
}

/* ---- started and stopped ----------------------------------------------------------------------------------------- */

__attribute__((weak)) void ksession_call(const struct ksession_change *changes, unsigned count,
                                         kcross_call_function function, void *argument)
{
    (void)changes, (void)count;
    kcross_call_all(function, argument);
}

void ksession_note_start(struct ksession *s)
{
    if (!s->start_tsc)
        s->start_tsc = arch_rdtsc();
    s->lives++;
    s->without = 0;
    s->running = true;
}

void ksession_note_stop(struct ksession *s)
{
    s->running = false;
    s->stop_tsc = arch_rdtsc();
}

void ksession_start_all(bool (*then)(void))
{
    struct ksession_change changes[TRACE_MAX_SESSIONS];
    unsigned count = 0;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (sessions[i].session && !sessions[i].running) {
            changes[count++] = (struct ksession_change){i + 1, nothing, sessions[i].masks};
            ksession_note_start(&sessions[i]);
        }
    ksession_call(changes, count, start_all_here, &then);
}

void ksession_stop_all(kcross_call_function first)
{
    struct ksession_change changes[TRACE_MAX_SESSIONS];
    unsigned count = 0;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (sessions[i].running)
            changes[count++] = (struct ksession_change){i + 1, sessions[i].masks, nothing};
    ksession_call(changes, count, stop_all_here, &first);
    while (count)
        ksession_note_stop(&sessions[changes[--count].number - 1]);
}
