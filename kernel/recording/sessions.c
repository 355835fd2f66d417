/* SPDX-License-Identifier: MIT */
#include "kernel/recording/sessions.h"

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/machine.h"
#include "kernel/sched/wait.h"
#include "kernel/tracepoint/drains.h"
#include "kernel/tracepoint/witness.h"

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

/* Everything but `session` under the lock; read without it for dumps. */
static struct slot {
    struct trace_session *session; /* NULL: not made; it lies at the start of its pages */
    size_t pages;
    struct perfinfo_groupmask masks;
    uint32_t without; /* CAIRN_STAMP_...: its switch events that carry no PebsIndex */
    bool running;
    uint64_t lives;
    uint64_t start_tsc, stop_tsc;
} slots[TRACE_MAX_SESSIONS];

static const struct perfinfo_groupmask nothing; /* of a session that does not run */
static struct kmutex lock;
static struct trace_clocks clocks;
static struct trace_hub_cpu *hubs; /* [kcpu_count] */

/* ---- made and unmade --------------------------------------------------------------------------------------------- */

int ksession_init(char *error, size_t error_size)
{
    uint64_t now = arch_rdtsc();
    kmutex_init(&lock);
    int e = trace_clocks_init(&clocks, arch_tsc_hz(), now, kmachine_filetime(now), kopt.tick_us);
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

static void take(void)
{
    kmutex_lock(&lock, KWAIT_EXECUTIVE, KWAIT_FOREVER);
}

static void give(void)
{
    kmutex_unlock(&lock, KWAIT_INCREMENT);
}

/* The slot of a session that is made, or NULL. */
static struct slot *find(uint32_t number)
{
    return number >= 1 && number <= TRACE_MAX_SESSIONS && slots[number - 1].session ? &slots[number - 1] : NULL;
}

static int create(const struct ksession_params *p, char *error, size_t error_size)
{
    if (p->number < 1 || p->number > TRACE_MAX_SESSIONS || p->clock < 1 || p->clock > TRACE_CLOCK_TYPES) {
        snprintf(error, error_size, "session %u: its number is from 1 to %u, its clock type from 1 to %u", p->number,
                 TRACE_MAX_SESSIONS, TRACE_CLOCK_TYPES);
        return -EINVAL;
    }
    if (find(p->number)) {
        snprintf(error, error_size, "session %u: there is one", p->number);
        return -EEXIST;
    }
    struct trace_config config = {
        .number = p->number,
        .cpus = kcpu_count,
        .masks = p->masks,
        .circular = p->circular,
        .live = p->live,
        .buffer_bytes = p->buffer_kib <= UINT32_MAX / 1024 ? p->buffer_kib * 1024 : 0,
        .buffers = p->buffers,
        .clock = clocks.clock[p->clock - 1],
        .tick_units = clocks.tick_units[p->clock - 1],
        .items = p->items,
    };
    size_t bytes = trace_session_bytes(&config);
    if (!bytes && p->buffers < kcpu_count + p->circular) {
        snprintf(error, error_size, "session %u: %u trace buffers are too few for %u CPUs: give at least %u", p->number,
                 p->buffers, kcpu_count, kcpu_count + p->circular);
        return -EINVAL;
    }
    if (!bytes) {
        snprintf(error, error_size, "session %u: %u trace buffers of %u KiB: sizes are from 4 to 1024 KiB", p->number,
                 p->buffers, p->buffer_kib);
        return -EINVAL;
    }
    struct slot *s = &slots[p->number - 1];
    void *memory = PAGES(bytes) <= kmem_pages_available() ? kmem_pages_alloc_uncleared(PAGES(bytes)) : NULL;
    if (!memory) {
        snprintf(error, error_size,
                 "session %u: %u trace buffers of %u KiB need %lu KiB, %lu KiB are free: ask for fewer or smaller ones",
                 p->number, p->buffers, p->buffer_kib, (unsigned long)(bytes / 1024),
                 (unsigned long)(kmem_pages_available() * (ARCH_PAGE_SIZE / 1024)));
        return -ENOMEM;
    }
    *s = (struct slot){.pages = PAGES(bytes), .masks = p->masks};
    return trace_session_init(&s->session, &config, memory, s->pages * ARCH_PAGE_SIZE); /* what it asks for is so */
}

int ksession_create(const struct ksession_params *params, char *error, size_t error_size)
{
    take();
    int e = create(params, error, error_size);
    give();
    return e;
}

int ksession_destroy(uint32_t number)
{
    take();
    struct slot *s = find(number);
    int e = !s ? -ENOENT : s->running || trace_session_config(s->session)->live ? -EBUSY : 0;
    if (!e) {
        void *memory = s->session;
        s->session = NULL;
        kmem_pages_free(memory, s->pages);
    }
    give();
    return e;
}

/* ---- on each CPU ------------------------------------------------------------------------------------------------- */

struct request {
    enum cairn_session_what what;
    struct slot *slot;
};

static struct trace_hub_pebs pebs_here(const struct kcpu *cpu, const struct slot *s)
{
    struct trace_hub_pebs pebs = {.index = cpu->pebs_stamp, .without = s->without};
    pebs.in_epoch = kdrain_epoch(cpu->arch.index, &pebs.epoch);
    return pebs;
}

static void act(struct slot *s, enum cairn_session_what what)
{
    struct kcpu *cpu = kcpu_this();
    ds_refresh_index(cpu->ds);
    const struct trace_hub_pebs pebs = pebs_here(cpu, s);
    const uint32_t number = trace_session_config(s->session)->number;
    const struct ksession_row *const *row;
    int e = -EINVAL;
    for (ROWS_EACH(ksession, row))
        if ((*row)->before)
            (*row)->before(number, what);
    uint64_t tsc = arch_rdtsc();
    switch (what) {
    case CAIRN_SESSION_START:
        e = trace_hub_start(cpu->trace, s->session, &s->masks, &pebs, tsc);
        break;
    case CAIRN_SESSION_MASKS:
        e = trace_hub_change(cpu->trace, s->session, &s->masks, &pebs, tsc);
        break;
    case CAIRN_SESSION_STOP:
        e = trace_hub_stop(cpu->trace, s->session, &pebs, tsc);
        break;
    }
    for (ROWS_EACH(ksession, row))
        (*row)->after(number, what);
    /* The account of a switch has PebsIndex, too. */
    ds_stamp_switches(cpu->ds, kwitness_memory() || trace_hub_full(cpu->trace));
    if (!e)
        kwitness_session(cpu, s->session, what, (uint32_t)s->lives - 1, &s->masks, tsc);
}

static void act_here(void *argument)
{
    const struct request *r = argument;
    act(r->slot, r->what);
}

__attribute__((weak)) void ksession_call(const struct ksession_change *changes, unsigned count,
                                         kcross_call_function function, void *argument)
{
    (void)changes, (void)count;
    kcross_call_all(function, argument);
}

/* Its masks become `new`; without any it stops. */
static void act_everywhere(struct slot *s, enum cairn_session_what what, const struct perfinfo_groupmask *old,
                           const struct perfinfo_groupmask *new)
{
    const struct ksession_change change = {trace_session_config(s->session)->number, *old, *new};
    struct request r = {what, s};
    ksession_call(&change, 1, act_here, &r);
}

/* ---- started, changed, stopped ----------------------------------------------------------------------------------- */

static void note_start(struct slot *s)
{
    if (!s->start_tsc)
        s->start_tsc = arch_rdtsc();
    s->lives++;
    s->without = 0;
    s->running = true;
}

static void note_stop(struct slot *s)
{
    s->running = false;
    s->stop_tsc = arch_rdtsc();
}

int ksession_start(uint32_t number, const struct perfinfo_groupmask *masks)
{
    take();
    struct slot *s = find(number);
    int e = !s ? -ENOENT : s->running ? -EBUSY : 0;
    if (!e) {
        if (masks)
            s->masks = *masks;
        note_start(s);
        act_everywhere(s, CAIRN_SESSION_START, &nothing, &s->masks);
    }
    give();
    return e;
}

int ksession_change(uint32_t number, const struct perfinfo_groupmask *masks)
{
    take();
    struct slot *s = find(number);
    int e = !s ? -ENOENT : !s->running ? -EINVAL : 0;
    if (!e) {
        const struct perfinfo_groupmask old = s->masks;
        s->masks = *masks;
        act_everywhere(s, CAIRN_SESSION_MASKS, &old, &s->masks);
    }
    give();
    return e;
}

int ksession_stop(uint32_t number)
{
    take();
    struct slot *s = find(number);
    int e = !s ? -ENOENT : !s->running ? -EINVAL : 0;
    if (!e) {
        act_everywhere(s, CAIRN_SESSION_STOP, &s->masks, &nothing);
        note_stop(s);
    }
    give();
    return e;
}

int ksession_stamp(uint32_t number, uint32_t on, uint32_t off)
{
    bool pebs = false;
    take(); /* what moves pebs_stamp has it, too */
    for (uint32_t i = 0; i < kcpu_count; i++)
        pebs |= kcpu_table[i]->pebs_stamp != NULL;
    struct slot *s = find(number);
    int e = !s ? -ENOENT : !s->running ? -EINVAL : !pebs ? -ENODEV : 0;
    if (!e) {
        s->without = (s->without & ~on) | off;
        act_everywhere(s, CAIRN_SESSION_MASKS, &s->masks, &s->masks);
    }
    give();
    return e;
}

int ksession_carry(uint32_t number, ksession_choose choose, void *argument)
{
    take();
    struct slot *s = find(number);
    int e = !s ? -ENOENT : !s->running ? -EINVAL : choose(s->session, argument);
    if (!e) /* each CPU makes it its own, as it does other masks */
        act_everywhere(s, CAIRN_SESSION_MASKS, &s->masks, &s->masks);
    give();
    return e;
}

struct move {
    bool (*function)(void *argument);
    void *argument;
};

static void tell_here(bool moved)
{
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS && moved; i++)
        if (slots[i].running)
            act(&slots[i], CAIRN_SESSION_MASKS);
}

static void move_here(void *argument)
{
    const struct move *m = argument;
    tell_here(m->function(m->argument));
}

void ksession_move_pebs(bool (*function)(void *argument), void *argument)
{
    struct move m = {function, argument};
    take();
    kcross_call_here(move_here, &m);
    give();
}

static void start_all_here(void *then)
{
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (slots[i].session)
            act(&slots[i], CAIRN_SESSION_START);
    tell_here((*(bool (**)(void))then)());
}

void ksession_start_all(bool (*then)(void))
{
    take();
    struct ksession_change changes[TRACE_MAX_SESSIONS];
    unsigned count = 0;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (slots[i].session && !slots[i].running) {
            changes[count++] = (struct ksession_change){i + 1, nothing, slots[i].masks};
            note_start(&slots[i]);
        }
    ksession_call(changes, count, start_all_here, &then);
    give();
}

static void stop_all_here(void *first)
{
    (*(kcross_call_function *)first)(NULL);
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (slots[i].session)
            act(&slots[i], CAIRN_SESSION_STOP);
}

void ksession_stop_all(kcross_call_function first)
{
    take();
    struct ksession_change changes[TRACE_MAX_SESSIONS];
    unsigned count = 0;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (slots[i].session && slots[i].running)
            changes[count++] = (struct ksession_change){i + 1, slots[i].masks, nothing};
    ksession_call(changes, count, stop_all_here, &first);
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (slots[i].session && slots[i].running)
            note_stop(&slots[i]);
    give();
}

/* ---- asked ------------------------------------------------------------------------------------------------------- */

static void add_counts(struct trace_counts *sum, const struct trace_counts *c)
{
    uint64_t *to = (uint64_t *)(void *)sum;
    const uint64_t *from = (const uint64_t *)(const void *)c;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

int ksession_query(uint32_t number, struct ksession_info *info)
{
    struct slot *s = find(number);
    if (!s)
        return -ENOENT;
    *info = (struct ksession_info){
        .running = s->running,
        .config = *trace_session_config(s->session),
        .masks = s->masks,
        .stamps = (CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT) & ~s->without,
        .lives = s->lives,
        .start_tsc = s->start_tsc,
        .stop_tsc = s->running ? 0 : s->stop_tsc,
    };
    for (uint32_t i = 0; i < kcpu_count; i++) {
        struct trace_counts c;
        trace_cpu_counts(trace_session_cpu(s->session, i), &c);
        add_counts(&info->sum, &c);
    }
    return 0;
}

int ksession_masks(uint32_t number, struct perfinfo_groupmask *masks)
{
    take();
    struct slot *s = find(number);
    int e = !s ? -ENOENT : !s->running ? -EINVAL : 0;
    if (!e)
        *masks = s->masks;
    give();
    return e;
}

struct trace_session *ksession_find(uint32_t number)
{
    struct slot *s = find(number);
    return s ? s->session : NULL;
}

/* ---- panic ------------------------------------------------------------------------------------------------------- */

void ksession_settle(void)
{
    for (uint32_t i = 0; hubs && i < kcpu_count; i++)
        trace_hub_settle(&hubs[i]);
}

void ksession_freeze(uint64_t tsc)
{
    for (uint32_t i = 0; hubs && i < kcpu_count; i++)
        trace_hub_freeze(&hubs[i], tsc);
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (slots[i].running)
            slots[i].stop_tsc = tsc;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        slots[i].running = false;
}
