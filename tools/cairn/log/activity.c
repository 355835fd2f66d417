/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/activity.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/printable.h"
#include "tools/cairn/log/etl/etl.h"
#include "trace/pmc/pmc_names.h"
#include "trace/pmc_sources.h"
#include "trace/rundown/rundown.h"
#include "trace/wire/activity.h"

static const struct row {
    uint16_t hook;
    uint8_t version;
    uint32_t least, most; /* bytes of payload, of 64 bits */
    const char *name;
    bool points; /* it has a pointer, */
    uint8_t at;  /* here: of 32 bits it takes 4 bytes, and what is behind it comes the sooner */
} rows[CAIRN_LIVE_KINDS] = {
#define FIXED(type)       sizeof(type), sizeof(type)
#define AT(type, pointer) true, offsetof(type, pointer)
    [CAIRN_LIVE_READY] = {HOOK_READY_THREAD, HOOK_VERSION_READY_THREAD, FIXED(struct etw_ready_thread), "ready thread"},
    [CAIRN_LIVE_PRIORITY] = {HOOK_SET_PRIORITY, HOOK_VERSION_SET_PRIORITY, FIXED(struct etw_priority), "set priority"},
    [CAIRN_LIVE_BASE_PRIORITY] = {HOOK_SET_BASE_PRIORITY, HOOK_VERSION_SET_PRIORITY, FIXED(struct etw_priority),
                                  "set base priority"},
    [CAIRN_LIVE_INTERRUPT] = {HOOK_INTERRUPT, HOOK_VERSION_INTERRUPT, FIXED(struct perfinfo_interrupt), "interrupt",
                              AT(struct perfinfo_interrupt, service_routine)},
    [CAIRN_LIVE_DPC] = {HOOK_DPC, HOOK_VERSION_DPC, FIXED(struct perfinfo_dpc), "DPC",
                        AT(struct perfinfo_dpc, dpc_routine)},
    [CAIRN_LIVE_TIMER_DPC] = {HOOK_TIMER_DPC, HOOK_VERSION_DPC, FIXED(struct perfinfo_dpc), "timer DPC",
                              AT(struct perfinfo_dpc, dpc_routine)},
    [CAIRN_LIVE_PROFILE] = {HOOK_SAMPLED_PROFILE, HOOK_VERSION_SAMPLED_PROFILE, FIXED(struct perfinfo_sampled_profile),
                            "sampled profile", AT(struct perfinfo_sampled_profile, instruction_pointer)},
    [CAIRN_LIVE_PMC] = {HOOK_PMC_INTERRUPT, HOOK_VERSION_PMC_INTERRUPT, FIXED(struct perfinfo_pmc_sample),
                        "PMC interrupt", AT(struct perfinfo_pmc_sample, instruction_pointer)},
    [CAIRN_LIVE_PMC_CONFIG] = {HOOK_PMC_CONFIG, HOOK_VERSION_PMC_CONFIG, sizeof(struct perfinfo_pmc_config), UINT16_MAX,
                               "PMC configuration"},
    [CAIRN_LIVE_MARK] = {HOOK_MARK, HOOK_VERSION_MARK, 1, UINT16_MAX, "mark"},
#define INTERVAL HOOK_VERSION_PROFILE_INTERVAL, sizeof(struct etw_profile_interval) + 2, UINT16_MAX
    [CAIRN_LIVE_INTERVAL] = {HOOK_PROFILE_INTERVAL, INTERVAL, "profile interval"},
    [CAIRN_LIVE_INTERVAL_START] = {HOOK_PROFILE_DC_START, INTERVAL, "profile (rundown)"},
    [CAIRN_LIVE_INTERVAL_END] = {HOOK_PROFILE_DC_END, INTERVAL, "profile (at the end)"},
};

static bool has_system_header(uint8_t kind)
{
    return kind >= CAIRN_LIVE_INTERVAL;
}

uint16_t cairn_live_hook(enum cairn_live_kind kind)
{
    return rows[kind].hook;
}

const char *cairn_live_name(enum cairn_live_kind kind)
{
    return rows[kind].name;
}

/* ---- what has no fixed size ------------------------------------------------------------------------------------- */

/* The UTF-16 text at `at`, up to its 0. Moves `at` behind it; false where it does not end. */
static bool utf16(const uint8_t *p, uint32_t size, uint32_t *at, char *out, size_t room)
{
    if (*at > size)
        return false;
    const uint32_t taken = cairn_printable(out, (uint32_t)room, p + *at, size - *at, 2);
    *at += taken;
    return taken && !cairn_get16(p + *at - 2);
}

/* "InstructionRetired, TotalCycles"; false where the names are not as many as it says, or there is more. */
static bool names(const uint8_t *p, uint32_t size, char *out, size_t room)
{
    uint32_t count = cairn_get32(p + offsetof(struct perfinfo_pmc_config, counters)), at = sizeof(uint32_t);
    char name[64];
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        if (!utf16(p, size, &at, name, sizeof(name)))
            return false;
        if (n < room)
            n += (size_t)snprintf(out + n, room - n, "%s%s", i ? ", " : "", name);
    }
    return at == size;
}

/* "Timer": behind an interval; false where it does not end there. */
static bool source_name(const uint8_t *p, uint32_t size, char *out, size_t room)
{
    uint32_t at = sizeof(struct etw_profile_interval);
    return utf16(p, size, &at, out, room) && at == size;
}

bool cairn_live_pmc_name(const struct cairn_live *l, uint32_t *at, char *out, size_t room)
{
    if (!*at)
        *at = sizeof(struct perfinfo_pmc_config);
    return utf16(l->payload, l->size, at, out, room);
}

/* ---- index ------------------------------------------------------------------------------------------------------ */

static bool has_header_of(const struct cairn_event *e, uint8_t kind)
{
    return has_system_header(kind) ? e->header == ETL_SYSTEM64 || e->header == ETL_SYSTEM32
                                   : e->header == ETL_PERFINFO64 || e->header == ETL_PERFINFO32;
}

/* Which of them it is; CAIRN_LIVE_KINDS: none. */
static uint8_t kind_of(const struct cairn_event *e)
{
    uint8_t kind = 0;
    while (kind < CAIRN_LIVE_KINDS &&
           (!has_header_of(e, kind) || rows[kind].hook != e->hook || rows[kind].version != e->version))
        kind++;
    return kind;
}

bool cairn_live_of(const struct cairn_event *e, struct cairn_live *live)
{
    char text[CAIRN_LIVE_TEXT];
    uint8_t kind = kind_of(e);
    uint32_t less = kind < CAIRN_LIVE_KINDS && rows[kind].points ? 8u - e->pointer : 0;
    if (kind == CAIRN_LIVE_KINDS || e->unknown_items || e->size < rows[kind].least - less ||
        e->size > rows[kind].most - less ||
        (kind == CAIRN_LIVE_PMC_CONFIG && !names(e->payload, e->size, text, sizeof(text))) ||
        (has_system_header(kind) && !source_name(e->payload, e->size, text, sizeof(text))))
        return false;
    *live = (struct cairn_live){
        .payload = e->payload, .time = e->time, .size = (uint16_t)e->size, .kind = kind, .pointer = e->pointer};
    return true;
}

_Static_assert(CAIRN_LIVE_KINDS <= CAIRN_LIVE_MOST, "each kind is counted");

bool cairn_live_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t piece,
                      bool *live)
{
    struct cairn_live l;
    *live = cairn_live_of(e, &l);
    if (!*live)
        return kind_of(e) == CAIRN_LIVE_KINDS;
    l.piece = piece;
    cpu->activity.events[l.kind]++;
    if (l.kind == CAIRN_LIVE_PMC_CONFIG && !cpu->activity.pmc_config.payload) {
        cpu->activity.pmc_config = l;
        cpu->activity.pmc_config.payload = cairn_hold(log, cpu, l.payload, l.size);
    }
    return true;
}

size_t cairn_live_told(const struct cairn_cpu *cpu)
{
    size_t told = 0;
    for (unsigned kind = 0; kind < CAIRN_LIVE_PMC_CONFIG; kind++)
        told += cpu->activity.events[kind];
    return told;
}

/* The payload, `size` bytes of 64 bits. */
static void unpack(void *out, size_t size, const struct cairn_live *l)
{
    const struct row *r = &rows[l->kind];
    if (!r->points || l->pointer == 8) {
        memcpy(out, l->payload, size);
        return;
    }
    uint64_t pointer = cairn_get32(l->payload + r->at);
    memcpy(out, l->payload, r->at);
    memcpy((uint8_t *)out + r->at, &pointer, 8);
    memcpy((uint8_t *)out + r->at + 8, l->payload + r->at + 4, size - r->at - 8);
}

bool cairn_live_sample(const struct cairn_live *l, struct cairn_live_sample *sample)
{
    union {
        struct perfinfo_sampled_profile profile;
        struct perfinfo_pmc_sample pmc;
    } e;
    if (l->kind == CAIRN_LIVE_PROFILE) {
        unpack(&e.profile, sizeof(e.profile), l);
        *sample = (struct cairn_live_sample){e.profile.instruction_pointer, e.profile.thread_id};
    } else if (l->kind == CAIRN_LIVE_PMC) {
        unpack(&e.pmc, sizeof(e.pmc), l);
        *sample = (struct cairn_live_sample){e.pmc.instruction_pointer, e.pmc.thread_id};
    } else {
        return false;
    }
    return true;
}

bool cairn_live_thread(const struct cairn_live *l, uint32_t *tid)
{
    union {
        struct etw_ready_thread ready;
        struct etw_priority priority;
    } e;
    struct cairn_live_sample sample;
    switch ((enum cairn_live_kind)l->kind) {
    case CAIRN_LIVE_READY:
        unpack(&e.ready, sizeof(e.ready), l);
        *tid = e.ready.thread_id;
        return true;
    case CAIRN_LIVE_PRIORITY:
    case CAIRN_LIVE_BASE_PRIORITY:
        unpack(&e.priority, sizeof(e.priority), l);
        *tid = e.priority.thread_id;
        return true;
    default:
        if (!cairn_live_sample(l, &sample))
            return false;
        *tid = sample.tid;
        return true;
    }
}

/* ---- show ------------------------------------------------------------------------------------------------------- */

#define WIDE 40

/* A function by its name; anything else as an address. */
static const char *routine(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t address)
{
    const struct cairn_symbol *s = cairn_find_symbol(&log->text, address);
    if (!s || s->address != address)
        return cairn_show_address(out, log, address, WIDE);
    snprintf(out, CAIRN_SHOWN, "%.*s", (int)s->name.size < WIDE ? (int)s->name.size : WIDE, s->name.at);
    return out;
}

static const char *duration(char out[CAIRN_SHOWN], const struct cairn_log *log, const struct cairn_live *l,
                            uint64_t initial)
{
    uint64_t units = (uint64_t)l->time - initial;
    return (int64_t)units < 0 ? "its end is earlier than its beginning" : cairn_show_span(out, log, units);
}

static void show_ready(char *out, const struct cairn_log *log, const struct cairn_live *l)
{
    struct etw_ready_thread e;
    char thread[CAIRN_SHOWN], boost[32] = "";
    unpack(&e, sizeof(e), l);
    if (e.adjust_increment)
        snprintf(boost, sizeof(boost), ", %+d", e.adjust_increment);
    snprintf(out, CAIRN_LIVE_TEXT, "%s is ready%s%s%s", cairn_show_thread(thread, log, e.thread_id, WIDE),
             e.adjust_reason == ETW_ADJUST_UNWAIT ? ", its wait has ended" : "", boost,
             e.flags & ETW_READY_EXECUTING_DPC ? ", by a DPC" : "");
}

static void show_priority(char *out, const struct cairn_log *log, const struct cairn_live *l)
{
    struct etw_priority e;
    char thread[CAIRN_SHOWN], now[32] = "";
    unpack(&e, sizeof(e), l);
    if (l->kind == CAIRN_LIVE_BASE_PRIORITY)
        snprintf(now, sizeof(now), ", it runs at priority %d", e.dynamic_priority);
    snprintf(out, CAIRN_LIVE_TEXT, "%s of %s: %d, was %d%s",
             l->kind == CAIRN_LIVE_PRIORITY ? "priority" : "base priority",
             cairn_show_thread(thread, log, e.thread_id, WIDE), e.new_priority, e.old_priority, now);
}

static void show_interrupt(char *out, const struct cairn_log *log, const struct cairn_live *l)
{
    struct perfinfo_interrupt e;
    char name[CAIRN_SHOWN], took[CAIRN_SHOWN];
    unpack(&e, sizeof(e), l);
    snprintf(out, CAIRN_LIVE_TEXT, "interrupt %02XH, %s: %s%s", e.vector, routine(name, log, e.service_routine),
             duration(took, log, l, e.initial_time), e.return_value ? "" : ", not its own");
}

static void show_dpc(char *out, const struct cairn_log *log, const struct cairn_live *l)
{
    struct perfinfo_dpc e;
    char name[CAIRN_SHOWN], took[CAIRN_SHOWN];
    unpack(&e, sizeof(e), l);
    snprintf(out, CAIRN_LIVE_TEXT, "%s %s: %s", rows[l->kind].name, routine(name, log, e.dpc_routine),
             duration(took, log, l, e.initial_time));
}

static const char *sampled(char out[CAIRN_SHOWN], const struct cairn_log *log, const struct cairn_live *l, uint32_t tid,
                           uint64_t address)
{
    return cairn_show_address_in(out, log, cairn_process_at(log, tid, l->time), l->time, address, WIDE);
}

static bool has_sample_priority(const struct cairn_log *log)
{
    return !log->etl || log->etl->cairn || log->etl->header.provider_version >= ETL_BUILD_SAMPLE_PRIORITY;
}

static void show_profile(char *out, const struct cairn_log *log, const struct cairn_live *l)
{
    struct perfinfo_sampled_profile e;
    char where[CAIRN_SHOWN], thread[CAIRN_SHOWN], count[32] = "", priority[32] = "";
    unpack(&e, sizeof(e), l);
    if (has_sample_priority(log))
        snprintf(priority, sizeof(priority), ", priority %u", e.flags >> PERFINFO_PROFILE_PRIORITY_SHIFT);
    if (e.count != 1)
        snprintf(count, sizeof(count), ", for %u", e.count);
    snprintf(out, CAIRN_LIVE_TEXT, "timer at %s: %s%s%s%s%s",
             sampled(where, log, l, e.thread_id, e.instruction_pointer),
             cairn_show_thread(thread, log, e.thread_id, WIDE), priority,
             e.flags & PERFINFO_PROFILE_EXECUTING_DPC ? ", in a DPC" : "",
             e.flags & PERFINFO_PROFILE_EXECUTING_ISR ? ", in an interrupt" : "", count);
}

static void show_pmc(char *out, const struct cairn_log *log, const struct cairn_live *l)
{
    struct perfinfo_pmc_sample e;
    char where[CAIRN_SHOWN], thread[CAIRN_SHOWN], source[CAIRN_SHOWN];
    unpack(&e, sizeof(e), l);
    const char *name = trace_pmc_name(e.profile_source);
    struct cairn_slice event = {0};
    if (e.profile_source >= TRACE_PMC_CAIRN_ATOM)
        event = cairn_key(&log->text, "ds.atom.event.%u", e.profile_source - TRACE_PMC_CAIRN_ATOM);
    else if (e.profile_source >= TRACE_PMC_CAIRN)
        event = cairn_key(&log->text, "ds.event.%u", e.profile_source - TRACE_PMC_CAIRN);
    const char *colon = event.size ? memchr(event.at, ':', event.size) : NULL;
    if (name)
        snprintf(source, sizeof(source), "%s", name);
    else if (colon)
        snprintf(source, sizeof(source), "%.*s", (int)(colon - event.at) < 64 ? (int)(colon - event.at) : 64, event.at);
    else
        snprintf(source, sizeof(source), "source %u", e.profile_source);
    snprintf(out, CAIRN_LIVE_TEXT, "%s at %s: %s", source, sampled(where, log, l, e.thread_id, e.instruction_pointer),
             cairn_show_thread(thread, log, e.thread_id, WIDE));
}

static void show_interval(char *out, const struct cairn_live *l)
{
    struct etw_profile_interval e;
    char source[64], was[48] = "";
    memcpy(&e, l->payload, sizeof(e));
    source_name(l->payload, l->size, source, sizeof(source));
    if (e.old_interval != e.new_interval)
        snprintf(was, sizeof(was), ", was %u", e.old_interval);
    snprintf(out, CAIRN_LIVE_TEXT, "%s: %s every %u of 100 ns%s", rows[l->kind].name, source, e.new_interval, was);
}

static void show_mark(char *out, const struct cairn_live *l)
{
    const size_t n = (size_t)snprintf(out, CAIRN_LIVE_TEXT, "mark: ");
    cairn_printable(out + n, (uint32_t)(CAIRN_LIVE_TEXT - n), l->payload, l->size, 1);
}

const char *cairn_live_show(char out[CAIRN_LIVE_TEXT], const struct cairn_log *log, const struct cairn_live *l)
{
    char text[CAIRN_LIVE_TEXT - 64];
    switch ((enum cairn_live_kind)l->kind) {
    case CAIRN_LIVE_READY:
        show_ready(out, log, l);
        break;
    case CAIRN_LIVE_PRIORITY:
    case CAIRN_LIVE_BASE_PRIORITY:
        show_priority(out, log, l);
        break;
    case CAIRN_LIVE_INTERRUPT:
        show_interrupt(out, log, l);
        break;
    case CAIRN_LIVE_DPC:
    case CAIRN_LIVE_TIMER_DPC:
        show_dpc(out, log, l);
        break;
    case CAIRN_LIVE_PROFILE:
        show_profile(out, log, l);
        break;
    case CAIRN_LIVE_PMC:
        show_pmc(out, log, l);
        break;
    case CAIRN_LIVE_PMC_CONFIG:
        names(l->payload, l->size, text, sizeof(text));
        snprintf(out, CAIRN_LIVE_TEXT, "events with counters have these, in this order: %s", text[0] ? text : "none");
        break;
    case CAIRN_LIVE_INTERVAL:
    case CAIRN_LIVE_INTERVAL_START:
    case CAIRN_LIVE_INTERVAL_END:
        show_interval(out, l);
        break;
    default:
        show_mark(out, l);
    }
    return out;
}
