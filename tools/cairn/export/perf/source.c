/* SPDX-License-Identifier: MIT */
/*
 * What Linux makes of a data source (arch/x86/events/intel/ds.c), by the meaning that pebs_memory.c has of the
 * processor's encoding.
 */
#include "tools/cairn/export/perf/source.h"

#include <string.h>

#include "tools/cairn/model/pebs_memory.h"

#define AT(shift, value) ((uint64_t)(value) << (shift))
#define OP(value)        AT(0, value)
#define LEVEL(value)     AT(5, value)
#define SNOOP(value)     AT(19, value)
#define LOCK(value)      AT(24, value)
#define TLB(value)       AT(26, value)
#define NUMBER(value)    AT(33, value)
#define REMOTE           AT(37, 1)
#define FORWARDED        AT(38, 1)
#define BLOCKED(value)   AT(40, value)

enum { NOT_AVAILABLE = 1 };
enum { OP_LOAD = 2, OP_STORE = 4 };
enum { HIT = 2, L1 = 8, LFB = 0x10, L2 = 0x20, L3 = 0x40, LOCAL_RAM = 0x80, REMOTE_RAM = 0x100, REMOTE_CACHE = 0x400 };
enum { IO = 0x1000, UNCACHED = 0x2000 };
enum { SNOOP_NONE = 2, SNOOP_HIT = 4, SNOOP_MISS = 8, SNOOP_MODIFIED = 0x10 };
enum { LOCKED = 2, BLOCKED_DATA = 2, BLOCKED_ADDRESS = 4 };
enum { TLB_L1_L2_HIT = 2 | 8 | 0x10, TLB_L2_MISS = 4 | 0x10 };
enum {
    NUMBER_L1 = 1,
    NUMBER_L2,
    NUMBER_L3,
    NUMBER_L4,
    NUMBER_ANY_CACHE = 0xB,
    NUMBER_LFB,
    NUMBER_RAM,
    NUMBER_NONE = 0xF
};

#define CACHE(level) (LEVEL(HIT | (level)) | NUMBER(NUMBER_##level))
#define RAM          (LEVEL(HIT | LOCAL_RAM) | NUMBER(NUMBER_RAM))
#define FAR_RAM      (LEVEL(HIT | REMOTE_RAM) | NUMBER(NUMBER_RAM) | REMOTE)
#define FAR_CACHE    (LEVEL(HIT | REMOTE_CACHE) | NUMBER(NUMBER_L3) | REMOTE)

static const struct {
    const char *from;
    uint64_t is;
} sources[] = {
    {"L1 hit", CACHE(L1) | SNOOP(SNOOP_NONE)},
    {"pending fill", CACHE(LFB) | SNOOP(SNOOP_NONE)},
    {"pending L2 fill", CACHE(LFB) | SNOOP(SNOOP_NONE)},
    {"L2 hit", CACHE(L2) | SNOOP(SNOOP_NONE)},
    {"L3 hit", CACHE(L3) | SNOOP(SNOOP_NONE)},
    {"L3 hit, no snoop", CACHE(L3) | SNOOP(SNOOP_NONE)},
    {"L3 hit, snoop miss", CACHE(L3) | SNOOP(SNOOP_MISS)},
    {"L3 hit, other core clean", CACHE(L3) | SNOOP(SNOOP_HIT)},
    {"L3 hit, snoop hit", CACHE(L3) | SNOOP(SNOOP_HIT)},
    {"L3 hit, other core modified", CACHE(L3) | SNOOP(SNOOP_MODIFIED)},
    {"L3 hit, modified", CACHE(L3) | SNOOP(SNOOP_MODIFIED)},
    {"L3 hit, forwarded", CACHE(L3) | FORWARDED},
    {"unknown L3 miss", CACHE(L3) | SNOOP(NOT_AVAILABLE)},
    {"L3 miss, snoop hit", FAR_CACHE | SNOOP(SNOOP_HIT)},
    {"L3 miss, modified", FAR_CACHE | SNOOP(SNOOP_MODIFIED)},
    {"local DRAM", RAM | SNOOP(SNOOP_HIT)},
    {"local DRAM, shared", RAM | SNOOP(SNOOP_HIT)},
    {"local DRAM, exclusive", RAM | SNOOP(SNOOP_NONE | SNOOP_MISS)},
    {"remote DRAM", FAR_RAM | SNOOP(SNOOP_NONE)},
    {"remote DRAM, shared", FAR_RAM | SNOOP(SNOOP_HIT)},
    {"remote DRAM, exclusive", FAR_RAM | SNOOP(SNOOP_NONE | SNOOP_MISS)},
    {"local L4 or PMEM", LEVEL(HIT) | NUMBER(NUMBER_L4) | SNOOP(SNOOP_HIT)},
    {"memory-side cache", LEVEL(HIT) | NUMBER(NUMBER_L4) | SNOOP(SNOOP_NONE)},
    {"remote L4 or PMEM", LEVEL(HIT) | NUMBER(NUMBER_L4) | REMOTE | SNOOP(SNOOP_HIT)},
    {"remote cache, forwarded", LEVEL(HIT) | NUMBER(NUMBER_ANY_CACHE) | REMOTE | FORWARDED},
    {"remote, forwarded", LEVEL(HIT) | NUMBER(NUMBER_ANY_CACHE) | REMOTE | FORWARDED},
    {"remote cache, modified", LEVEL(HIT) | NUMBER(NUMBER_ANY_CACHE) | REMOTE | SNOOP(SNOOP_MODIFIED)},
    {"remote, modified", LEVEL(HIT) | NUMBER(NUMBER_ANY_CACHE) | REMOTE | SNOOP(SNOOP_MODIFIED)},
    {"I/O", LEVEL(HIT | IO) | NUMBER(NUMBER_NONE) | SNOOP(SNOOP_NONE)},
    {"uncacheable", LEVEL(HIT | UNCACHED) | NUMBER(NUMBER_NONE) | SNOOP(SNOOP_NONE)},
};

static const uint64_t nothing = OP(NOT_AVAILABLE) | LEVEL(NOT_AVAILABLE) | SNOOP(NOT_AVAILABLE) | LOCK(NOT_AVAILABLE) |
                                TLB(NOT_AVAILABLE) | NUMBER(NUMBER_NONE) | BLOCKED(NOT_AVAILABLE);

uint64_t cairn_perf_source(const struct cairn_log *log, const struct cairn_item *item, bool there, uint64_t word)
{
    struct cairn_data_source s;
    if (!there || !cairn_data_source_read(&s, log, item->cpu, item->record, word))
        return nothing;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (strcmp(sources[i].from, s.from) != 0)
            continue;
        const uint64_t blocked = (s.blocked_on_data ? BLOCKED_DATA : 0) | (s.blocked_on_address ? BLOCKED_ADDRESS : 0);
        return sources[i].is | OP(s.store ? OP_STORE : OP_LOAD) |
               (s.tells_tlb ? TLB(s.stlb_miss ? TLB_L2_MISS : TLB_L1_L2_HIT) | LOCK(s.locked ? LOCKED : 0)
                            : TLB(NOT_AVAILABLE) | LOCK(NOT_AVAILABLE)) |
               BLOCKED(blocked ? blocked : NOT_AVAILABLE);
    }
    return nothing;
}
