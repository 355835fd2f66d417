/* SPDX-License-Identifier: MIT */
/*
 * What a memory system of the host's brings: codes of its events, and data source and latency in records.
 *
 * Sources: Intel's lists of events for the codes. Linux' arch/x86/events/intel/ds.c for data sources, which it decodes
 * (pebs_data_source and what goes over it for each processor, precise_store_data, precise_datala_hsw,
 * lnc_latency_data, cmt_latency_data); the same in SDM vol. 3B, "Data Source Encoding for Load Latency Record". There
 * is one socket, so nothing is remote, and no load is blocked by a store.
 */
#include "ds/caps.h"
#include "ds/model/internal.h"

_Static_assert(DS_MODEL_EVENTS < 64, "a bit for each event in 64, and one for none");

/* ---- events ------------------------------------------------------------------------------------------------------ */

static const struct ds_model_event_code common[] = {
    {0x003C, DS_MODEL_CYCLES, 0},
    {0x013C, DS_MODEL_CYCLES, 0},
    {0x4F2E, DS_MODEL_L3_ASKED, 0},  /* LONGEST_LAT_CACHE.REFERENCE */
    {0x412E, DS_MODEL_L3_MISSED, 0}, /* .MISS */
    {0},
};

static const struct ds_model_event_code nehalem[] = {
    {0x100B, DS_MODEL_LOAD_LATENCY, 0},     /* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD */
    {0x020F, DS_MODEL_LOAD_SNOOP_HITM, 0},  /* MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM */
    {0x01CB, DS_MODEL_LOAD_L1_HIT, 0},      /* MEM_LOAD_RETIRED.L1D_HIT */
    {0x02CB, DS_MODEL_LOAD_L2_HIT, 0},      /* .L2_HIT */
    {0x04CB, DS_MODEL_LOAD_SNOOP_NONE, 0},  /* .LLC_UNSHARED_HIT */
    {0x10CB, DS_MODEL_LOAD_L3_MISS, 0},     /* .LLC_MISS */
    {0x40CB, DS_MODEL_LOAD_FILL_BUFFER, 0}, /* .HIT_LFB */
    {0x80CB, DS_MODEL_LOAD_STLB_MISS, 0},   /* .DTLB_MISS */
    {0x0151, DS_MODEL_L1_FILLED, 0},        /* L1D.REPL */
    {0x0208, DS_MODEL_LOAD_WALK, 0},        /* DTLB_LOAD_MISSES.WALK_COMPLETED */
    {0},
};

/* MEM_UOPS_RETIRED or MEM_INST_RETIRED (D0H), MEM_LOAD_(UOPS_)RETIRED (D1H), MEM_LOAD_..._L3_HIT_RETIRED (D2H), and
 * L1D.REPLACEMENT. */
#define LOADS_BY_SOURCE                                                                                                \
    {0x01CD, DS_MODEL_LOAD_LATENCY, 0}, {0x11D0, DS_MODEL_LOAD_STLB_MISS, 0}, {0x12D0, DS_MODEL_STORE_STLB_MISS, 0},   \
        {0x21D0, DS_MODEL_LOAD_LOCKED, 0}, {0x41D0, DS_MODEL_LOAD_SPLIT, 0}, {0x02D1, DS_MODEL_LOAD_L2_HIT, 0},        \
        {0x04D1, DS_MODEL_LOAD_L3_HIT, 0}, {0x20D1, DS_MODEL_LOAD_L3_MISS, 0}, {0x40D1, DS_MODEL_LOAD_FILL_BUFFER, 0}, \
        {0x01D2, DS_MODEL_LOAD_SNOOP_MISS, 0}, {0x02D2, DS_MODEL_LOAD_SNOOP_HIT, 0},                                   \
        {0x04D2, DS_MODEL_LOAD_SNOOP_HITM, 0}, {0x08D2, DS_MODEL_LOAD_SNOOP_NONE, 0},                                  \
    {                                                                                                                  \
        0x0151, DS_MODEL_L1_FILLED, 0                                                                                  \
    }

static const struct ds_model_event_code sandybridge[] = {
    LOADS_BY_SOURCE,
    {0x01D1, DS_MODEL_LOAD_L1_HIT, 0},
    {0x02CD, DS_MODEL_STORE, 0},      /* MEM_TRANS_RETIRED.PRECISE_STORE */
    {0x0108, DS_MODEL_LOAD_WALK, 0},  /* DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK */
    {0x0208, DS_MODEL_LOAD_WALK, 0},  /* .WALK_COMPLETED */
    {0x0149, DS_MODEL_STORE_WALK, 0}, /* DTLB_STORE_MISSES, likewise */
    {0x0249, DS_MODEL_STORE_WALK, 0},
    {0},
};

/* clang-format off */
#define FROM_HASWELL                                                                                                   \
    LOADS_BY_SOURCE, {0x08D1, DS_MODEL_LOAD_L1_MISS, 0}, {0x10D1, DS_MODEL_LOAD_L2_MISS, 0},                           \
    {0x01D3, DS_MODEL_LOAD_L3_MISS, 0} /* MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM */
#define WALKS                                                                                                          \
    {0x0108, DS_MODEL_LOAD_WALK, 0}, {0x0E08, DS_MODEL_LOAD_WALK, 0},                                                  \
    {0x0149, DS_MODEL_STORE_WALK, 0}, {0x0E49, DS_MODEL_STORE_WALK, 0}
/* clang-format on */

static const struct ds_model_event_code haswell[] = {FROM_HASWELL, WALKS, {0x01D1, DS_MODEL_LOAD_L1_HIT, 0}, {0}};

/* And Ice Lake. From here on MEM_LOAD_RETIRED.L1_HIT "includes all SW prefetches and lock instructions regardless of
 * the data source". */
static const struct ds_model_event_code skylake[] = {FROM_HASWELL, WALKS, {0x01D1, DS_MODEL_LOAD_L1_COUNTED, 0}, {0}};

/* Golden Cove and its successors. */
static const struct ds_model_event_code goldencove[] = {
    FROM_HASWELL,
    {0x01D1, DS_MODEL_LOAD_L1_COUNTED, 0},
    {UINT64_C(2) << 40 | 0x01D1, DS_MODEL_LOAD_L1_L2_HIT, 0},  /* not in the lists: LKVS' MEM_LOAD_RETIRED.L1_L2_HIT */
    {UINT64_C(1) << 40 | 0x01D1, DS_MODEL_LOAD_L1_COUNTED, 0}, /* Lion Cove's; 01H is for what is called L0 there */
    {0x0E12, DS_MODEL_LOAD_WALK, 0},
    {0x0E13, DS_MODEL_STORE_WALK, 0},
    {0},
};

static const struct ds_model_event_code efficient[] = {
    {0x05D0, DS_MODEL_LOAD_LATENCY, 0},    /* MEM_UOPS_RETIRED.LOAD_LATENCY */
    {0x11D0, DS_MODEL_LOAD_STLB_MISS, 0},  /* .STLB_MISS_LOADS */
    {0x12D0, DS_MODEL_STORE_STLB_MISS, 0}, /* .STLB_MISS_STORES */
    {0x21D0, DS_MODEL_LOAD_LOCKED, 0},     /* .LOCK_LOADS */
    {0x41D0, DS_MODEL_LOAD_SPLIT, 0},      /* .SPLIT_LOADS */
    {0x01D1, DS_MODEL_LOAD_L1_HIT, 0},     /* MEM_LOAD_UOPS_RETIRED.L1_HIT */
    {0x02D1, DS_MODEL_LOAD_L2_HIT, 0},     /* .L2_HIT */
    {0x1CD1, DS_MODEL_LOAD_L3_HIT, 0},     /* .L3_HIT */
    {UINT64_C(2) << 40 | 0x01D1, DS_MODEL_LOAD_L1_L2_HIT, 0},
    {0x0E08, DS_MODEL_LOAD_WALK, 0},  /* DTLB_LOAD_MISSES.WALK_COMPLETED */
    {0x0E49, DS_MODEL_STORE_WALK, 0}, /* DTLB_STORE_MISSES.WALK_COMPLETED */
    {0},
};

static const struct ds_model_event_code *codes(const struct ds_model_preset *p)
{
    switch (p->generation) {
    case DS_GENERATION_NEHALEM:
        return nehalem;
    case DS_GENERATION_SANDYBRIDGE:
        return sandybridge;
    case DS_GENERATION_HASWELL:
        return haswell;
    case DS_GENERATION_SKYLAKE:
    case DS_GENERATION_ICELAKE:
        return skylake;
    case DS_GENERATION_SKYMONT:
    case DS_GENERATION_DARKMONT:
        return efficient;
    default:
        return goldencove;
    }
}

static bool is_efficient(const struct ds_model_preset *p)
{
    return p->generation == DS_GENERATION_SKYMONT || p->generation == DS_GENERATION_DARKMONT;
}

/* Load latency; MEM_TRANS_RETIRED.STORE_SAMPLE or PRECISE_STORE; MEM_UOPS_RETIRED.STORE_LATENCY. */
static bool has_latency(const struct ds_model_preset *p, const struct ds_model_event_code *e)
{
    return e->event == DS_MODEL_LOAD_LATENCY || e->code == 0x02CD || (e->code == 0x06D0 && is_efficient(p));
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Kinds of encodings. */
enum kind {
    FIRST,  /* Nehalem */
    SECOND, /* Sandy Bridge to Haswell */
    THIRD,  /* Skylake to Golden Cove */
    LION_COVE,
    CRESTMONT, /* and later efficient cores */
    KINDS
};

static enum kind kind(const struct ds_model_preset *p)
{
    if (is_efficient(p))
        return CRESTMONT;
    return p->generation <= DS_GENERATION_NEHALEM       ? FIRST
           : p->generation <= DS_GENERATION_HASWELL     ? SECOND
           : p->generation <= DS_GENERATION_REDWOODCOVE ? THIRD
                                                        : LION_COVE;
}

static const struct {
    uint8_t of[DS_MODEL_SOURCES];
    uint8_t stlb_miss, locked; /* bits; 0: there is none */
} encodings[KINDS] = {
    [FIRST] = {{0, 1, 2, 3, 4, 5, 5, 6, 0xC, 0xF}, 0, 0},
    [SECOND] = {{0, 1, 2, 3, 4, 5, 6, 7, 0xC, 0xF}, 4, 5},
    [THIRD] = {{0, 1, 2, 3, 4, 5, 6, 7, 0xA, 0xF}, 4, 5},
    [LION_COVE] = {{0, 1, 3, 5, 8, 8, 0xC, 0xD, 0x11, 0}, 10, 11},
    [CRESTMONT] = {{0, 1, 2, 3, 4, 5, 6, 8, 0xA, 0xF}, 6, 5},
};

#define STORE_L1_HIT    DS_BIT(0) /* a precise store's, and any other store's where there is no more */
#define STORE_STLB_MISS DS_BIT(4)
#define STORE_LOCKED    DS_BIT(5)

/* Counters of `set` whose records have source and latency: before the baseline, load latency and precise store have
 * enable bits of their own. */
static uint64_t with_latency(const struct ds_model *m, uint64_t set)
{
    set &= m->latencies;
    if (m->preset->baseline || m->preset->pebs23)
        return set;
    return (set & m->loads & m->pebs_enable >> 32) | (m->pebs_enable & IA32_PEBS_ENABLE_PS_EN ? set & m->stores : 0);
}

static uint64_t data_source(const struct ds_model *m, uint64_t set, const struct ds_model_retired *retired)
{
    const bool load = set & m->loads;
    const struct ds_model_access *a = load ? &retired->load : &retired->store;
    if (!(set & (m->loads | m->stores)) || !a->source)
        return 0;
    const uint64_t hit = a->source == DS_MODEL_SOURCE_L1 ? STORE_L1_HIT : 0;
    if (!with_latency(m, set))
        return load || m->preset->format < 2 ? 0 : hit;
    if (!load && m->preset->precise_store)
        return hit | (a->stlb_miss ? STORE_STLB_MISS : 0) | (a->locked ? STORE_LOCKED : 0);
    const enum kind k = kind(m->preset);
    return encodings[k].of[a->source] | (encodings[k].stlb_miss && a->stlb_miss ? DS_BIT(encodings[k].stlb_miss) : 0) |
           (encodings[k].locked && a->locked ? DS_BIT(encodings[k].locked) : 0);
}

/* From Golden Cove on in two parts, of the instruction and of the cache: here they are the same. */
static uint64_t latency(const struct ds_model *m, uint64_t set, const struct ds_model_retired *retired)
{
    const bool load = set & m->loads;
    const uint64_t cycles = load ? retired->load.latency : retired->store.latency;
    if (!with_latency(m, set) || (!load && m->preset->precise_store))
        return 0;
    return m->preset->generation >= DS_GENERATION_GOLDENCOVE ? cycles | cycles << 32 : cycles;
}

const struct ds_model_memory ds_model_memory = {.common = common,
                                                .codes = codes,
                                                .offcore = ds_model_offcore,
                                                .has_latency = has_latency,
                                                .data_source = data_source,
                                                .latency = latency};
