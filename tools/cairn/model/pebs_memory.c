/* SPDX-License-Identifier: MIT */
/*
 * Sources: SDM vol. 3B, "Load Latency Performance Monitoring Facility" (2016: table 18-24), "TX Abort Information";
 * Linux' arch/x86/events/intel/ds.c for later processors, include/uapi/linux/perf_event.h for Alder Lake's latencies.
 */
#include "tools/cairn/model/pebs_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/events/events.h"
#include "ds/layout.h"
#include "tools/cairn/model/counters.h"
#include "tools/pebs/pebs.h"

void cairn_show_bits(char out[CAIRN_SHOWN], uint64_t value, const char *between, const char *const *names,
                     unsigned count)
{
    int used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        if (names[i] && value >> i & 1)
            used += snprintf(out + used, CAIRN_SHOWN - (size_t)used, "%s%s", used ? between : "", names[i]);
}

/* ---- data source ------------------------------------------------------------------------------------------------- */

#define FROMS   18u
#define FURTHER 14u

struct sources {
    const char *from[FROMS];      /* by bits 3:0, on Lion Cove 7:0; NULL: reserved */
    const char *further[FURTHER]; /* of bits 13:0 those that say something else */
};

static const struct sources nehalem = {
    {"unknown L3 miss", "L1 hit", "pending fill", "L2 hit", "L3 hit, no snoop", "L3 hit, other core clean",
     "L3 hit, other core modified", NULL, "L3 miss, snoop hit", NULL, "local DRAM, shared", "remote DRAM, shared",
     "local DRAM, exclusive", "remote DRAM, exclusive", "I/O", "uncacheable"},
    {NULL},
};
static const struct sources sandybridge = {
    {"unknown L3 miss", "L1 hit", "pending fill", "L2 hit", "L3 hit, no snoop", "L3 hit, snoop miss",
     "L3 hit, snoop hit", "L3 hit, modified", "L3 miss, snoop hit", NULL, "local DRAM, shared", "remote DRAM, shared",
     "local DRAM, exclusive", "remote DRAM, exclusive", "I/O", "uncacheable"},
    {[4] = "STLB miss", [5] = "locked"},
};
#define SKYLAKE_FROM                                                                                                   \
    {                                                                                                                  \
        "unknown L3 miss", "L1 hit", "pending fill", "L2 hit", "L3 hit, no snoop", "L3 hit, snoop miss",               \
            "L3 hit, snoop hit", "L3 hit, modified", "local L4 or PMEM", "remote L4 or PMEM", "local DRAM",            \
            "remote DRAM", "remote cache, forwarded", "remote cache, modified", "I/O", "uncacheable"                   \
    }
static const struct sources skylake = {SKYLAKE_FROM, {[4] = "STLB miss", [5] = "locked"}};
static const struct sources goldencove = {
    SKYLAKE_FROM,
    {[4] = "STLB miss", [5] = "locked", [6] = "blocked on data", [7] = "blocked on address"},
};

static const struct sources lioncove = {
    {"unknown L3 miss", "L1 hit", "L1 hit", "pending fill", NULL, "L2 hit", "pending L2 fill", NULL, "L3 hit", NULL,
     NULL, NULL, "L3 hit, forwarded", "L3 hit, modified", NULL, "L3 miss, modified", "memory-side cache", "local DRAM"},
    {[10] = "STLB miss", [11] = "locked", [12] = "blocked on data", [13] = "blocked on address"},
};
static const struct sources gracemont = {
    {"unknown L3 miss", "L1 hit", "pending fill", "L2 hit", "L3 hit, no snoop", "L3 hit, snoop hit", "L3 hit, modified",
     "L3 hit, modified", "L3 hit, forwarded", NULL, "local DRAM, shared", "remote DRAM, shared",
     "local DRAM, exclusive", "remote DRAM, exclusive", "I/O", "uncacheable"},
    {[4] = "locked", [5] = "STLB miss", [6] = "blocked on data"},
};
static const struct sources crestmont = {
    {"unknown L3 miss", "L1 hit", "pending fill", "L2 hit", "L3 hit, no snoop", "L3 hit, snoop miss",
     "L3 hit, snoop hit", "L3 hit, forwarded", "L3 hit, modified", NULL, "local DRAM", "remote DRAM",
     "remote, forwarded", "remote, modified", "I/O", "uncacheable"},
    {[5] = "locked", [6] = "STLB miss", [7] = "blocked on data"},
};

bool cairn_detected(const struct cairn_log *log, uint32_t cpu, const char *name, uint64_t *value)
{
    const struct cairn_text *t = &log->text;
    const char *backend = cairn_log_modelled(log) ? "soft" : "hw";
    const uint32_t size = (uint32_t)strlen(name);
    for (unsigned i = 0; cairn_has_key(t, "ds.detect.%s.%" PRIu32 ".%u", backend, cpu, i); i++) {
        struct cairn_slice s = cairn_key(t, "ds.detect.%s.%" PRIu32 ".%u", backend, cpu, i);
        if (s.size <= size || memcmp(s.at, name, size) != 0 || s.at[size] != '|')
            continue;
        s = (struct cairn_slice){s.at + size + 1, s.size - size - 1};
        const char *end = memchr(s.at, '|', s.size);
        s.size = end ? (uint32_t)(end - s.at) : s.size;
        return cairn_slice_u64(s, value);
    }
    return false;
}

/* CPUID.01H:EAX and CPUID.1AH:EAX, 0 where the log does not tell. */
static void core_of(const struct cairn_log *log, uint32_t cpu, uint32_t *signature, uint32_t *core_type)
{
    uint64_t value = 0, type = 0;
    cairn_detected(log, cpu, "CPUID.01H:EAX family and model", &value);
    if (!cairn_log_modelled(log))
        cairn_slice_u64(cairn_key(&log->text, "cpu.%" PRIu32 ".core_type", cpu), &type);
    *signature = (uint32_t)value;
    *core_type = (uint32_t)type << 24;
}

/* The table for a processor's loads, or stores; NULL: none is documented, or known here. */
static const struct sources *sources_of(const struct cairn_log *log, uint32_t cpu, bool stores)
{
    uint32_t signature, core_type;
    core_of(log, cpu, &signature, &core_type);
    switch (ds_generation(signature, core_type)) {
    case DS_GENERATION_NEHALEM:
        return &nehalem;
    case DS_GENERATION_SANDYBRIDGE:
    case DS_GENERATION_IVYBRIDGE:
    case DS_GENERATION_HASWELL:
        return &sandybridge;
    case DS_GENERATION_SKYLAKE:
    case DS_GENERATION_ICELAKE:
        return &skylake;
    case DS_GENERATION_GOLDENCOVE:
    case DS_GENERATION_REDWOODCOVE:
        return stores ? &skylake : &goldencove; /* stores are not blocked */
    case DS_GENERATION_LIONCOVE:
    case DS_GENERATION_COUGARCOVE:
        return &lioncove;
    case DS_GENERATION_GRACEMONT:
        return &gracemont;
    case DS_GENERATION_CRESTMONT:
    case DS_GENERATION_SKYMONT:
    case DS_GENERATION_DARKMONT:
        return &crestmont;
    default:
        return NULL;
    }
}

static bool is_load_latency(const struct cairn_counter *c)
{
    return c && (cairn_slice_is(c->event, "MEM_TRANS_RETIRED.LOAD_LATENCY") ||
                 cairn_slice_is(c->event, "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD"));
}

static bool is_store_sample(const struct cairn_counter *c)
{
    return c && cairn_slice_is(c->event, "MEM_TRANS_RETIRED.STORE_SAMPLE");
}

/* Whether each counter that the record is of counts such an event. */
static bool is_of(bool (*is)(const struct cairn_counter *c), const struct cairn_log *log, uint32_t cpu,
                  const struct cairn_record *r)
{
    struct cairn_counters on;
    uint64_t bits = 0;
    cairn_counters_read(&on, &log->text, cpu);
    if (!cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_COUNTERS, &bits))
        cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_STATUS, &bits);
    bits &= on.pebs;
    for (unsigned n = 0; n < DS_COUNTER_NUMBERS; n++)
        if (bits >> n & 1 && !is(cairn_counters_find(&on, n)))
            return false;
    return bits;
}

/* NULL: what the word of this record means is not known. */
static const struct sources *sources_for(const struct cairn_log *log, uint32_t cpu, const struct cairn_record *record,
                                         bool *stores)
{
    *stores = is_of(is_store_sample, log, cpu, record);
    return *stores || is_of(is_load_latency, log, cpu, record) ? sources_of(log, cpu, *stores) : NULL;
}

static const char *from_of(const struct sources *s, uint64_t source)
{
    const unsigned at = source & (s == &lioncove ? 0xFF : 0xF);
    return at < FROMS && s->from[at] ? s->from[at] : "reserved";
}

const char *cairn_show_source(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t cpu,
                              const struct cairn_record *record, uint64_t source)
{
    bool stores;
    const struct sources *s = sources_for(log, cpu, record, &stores);
    const char *unless = "";
    char further[CAIRN_SHOWN];
    out[0] = '\0';
    if (!s && !cairn_ds_event(&log->text, cpu, 0).size) { /* nobody knows what was counted */
        s = sources_of(log, cpu, false);
        unless = "if of load latency: ";
    }
    if (!s)
        return out;
    cairn_show_bits(further, source, ", ", s->further, FURTHER);
    snprintf(out, CAIRN_SHOWN, "%s%.40s%s%.60s", unless, from_of(s, source), *further ? ", " : "", further);
    return out;
}

bool cairn_data_source_read(struct cairn_data_source *out, const struct cairn_log *log, uint32_t cpu,
                            const struct cairn_record *record, uint64_t source)
{
    bool stores;
    const struct sources *s = sources_for(log, cpu, record, &stores);
    if (!s)
        return false;
    *out = (struct cairn_data_source){.from = from_of(s, source), .store = stores};
    for (unsigned i = 0; i < FURTHER; i++) {
        const bool set = source >> i & 1;
        if (!s->further[i])
            continue;
        out->tells_tlb = true;
        out->stlb_miss |= set && strcmp(s->further[i], "STLB miss") == 0;
        out->locked |= set && strcmp(s->further[i], "locked") == 0;
        out->blocked_on_data |= set && strcmp(s->further[i], "blocked on data") == 0;
        out->blocked_on_address |= set && strcmp(s->further[i], "blocked on address") == 0;
    }
    return true;
}

/* ---- latencies, transaction -------------------------------------------------------------------------------------- */

const char *cairn_show_latency(char out[CAIRN_SHOWN], uint64_t latency, bool adaptive)
{
    if (adaptive && latency >> 32) /* before Alder Lake there is nothing above bit 31 */
        snprintf(out, CAIRN_SHOWN, "%u core cycles, cache %u", (unsigned)(latency & 0xFFFF),
                 (unsigned)(latency >> 32 & 0xFFFF));
    else
        snprintf(out, CAIRN_SHOWN, "%" PRIu64 " core cycles", latency);
    return out;
}

/* Linux keeps events that want the latency off FIXED_CTR0 on Meteor Lake; of Granite Rapids, the same core: inferred.
 */
static bool without_retire_latency(const struct cairn_log *log, uint32_t cpu, uint64_t counters)
{
    uint32_t signature, core_type;
    core_of(log, cpu, &signature, &core_type);
    return counters & DS_BIT(DS_COUNTER_FIXED) && ds_generation(signature, core_type) == DS_GENERATION_REDWOODCOVE;
}

bool cairn_retire_latency(const struct cairn_log *log, uint32_t cpu, uint64_t head, uint64_t counters,
                          unsigned *latency)
{
    uint64_t there = 0;
    if (!cairn_detected(log, cpu, DS_TEST_TIMING, &there) || !there || without_retire_latency(log, cpu, counters))
        return false;
    *latency = ds_pebs_head_latency(head);
    return true;
}

const char *cairn_show_retire_latency(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t cpu, uint64_t head,
                                      uint64_t counters)
{
    const unsigned latency = ds_pebs_head_latency(head);
    uint64_t there = 0;
    out[0] = '\0';
    if (!cairn_detected(log, cpu, DS_TEST_TIMING, &there)) {
        if (latency)
            snprintf(out, CAIRN_SHOWN, "bits 47:32 = %u: meaning unknown", latency);
        return out;
    }
    if (!there && latency)
        snprintf(out, CAIRN_SHOWN, "bits 47:32 = %u: no retire latency, PERF_CAPABILITIES[17] is 0", latency);
    else if (there && without_retire_latency(log, cpu, counters))
        snprintf(out, CAIRN_SHOWN, "no retire latency: not of FIXED_CTR0 on this core");
    else if (there)
        snprintf(out, CAIRN_SHOWN, "retire latency %u", latency);
    return out;
}

const char *cairn_show_transaction(char out[CAIRN_SHOWN], uint64_t tx)
{
    static const char *const names[] = {"HLE abort",      "RTM abort", "by an instruction", "not by an instruction",
                                        "may be retried", "conflict",  "capacity (write)",  "capacity (read)"};
    char bits[CAIRN_SHOWN];
    cairn_show_bits(bits, tx >> 32, ", ", names, sizeof(names) / sizeof(names[0]));
    snprintf(out, CAIRN_SHOWN, "%" PRIu32 " cycles%s%.100s", (uint32_t)tx, *bits ? ", " : "", bits);
    return out;
}
