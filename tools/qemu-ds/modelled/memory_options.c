/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/modelled/memory_options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB        UINT64_C(1024)
#define LINE_SHIFT 6
#define LATENCIES  10000u
#define WAYS       64u

struct cache {
    uint32_t kib, ways, cycles;
};
struct tlb {
    uint32_t entries, ways, cycles;
};

/*
 * Round figures, as in Intel's optimization manual and as people have measured them; of sizes that differ from model to
 * model, one. What is measured in nanoseconds (memory) is taken at 3 to 4 GHz. Lion Cove's and Cougar Cove's L1 is what
 * they call L0: the level behind it is not modelled. L3 of Sapphire Rapids and Clearwater Forest: not of a whole
 * processor, but a power of 2 near what a few cores have; and all are inclusive here.
 */
static const struct usual {
    const char *preset;
    struct cache l1, l2, l3;
    uint16_t snoop, hitm, ram;
    struct tlb dtlb, stlb;
    uint16_t walk;
} usual[] = {
    {"nehalem", {32, 8, 4}, {256, 8, 10}, {8192, 16, 38}, 60, 75, 190, {64, 4, 0}, {512, 4, 7}, 30},
    {"sandybridge", {32, 8, 4}, {256, 8, 12}, {8192, 16, 28}, 43, 60, 200, {64, 4, 0}, {512, 4, 7}, 30},
    {"haswell", {32, 8, 4}, {256, 8, 12}, {8192, 16, 36}, 43, 60, 220, {64, 4, 0}, {1024, 8, 8}, 30},
    {"skylake", {32, 8, 4}, {256, 4, 12}, {8192, 16, 42}, 50, 70, 230, {64, 4, 0}, {1536, 12, 9}, 30},
    {"icelake", {48, 12, 5}, {512, 8, 13}, {8192, 16, 45}, 55, 75, 240, {64, 4, 0}, {2048, 16, 7}, 30},
    {"sapphirerapids", {48, 12, 5}, {2048, 16, 15}, {32768, 16, 70}, 85, 110, 330, {96, 6, 0}, {2048, 16, 7}, 35},
    {"arrowlake", {48, 12, 4}, {3072, 12, 17}, {24576, 12, 80}, 100, 120, 400, {96, 6, 0}, {2048, 16, 7}, 35},
    {"lunarlake", {48, 12, 4}, {2560, 10, 17}, {12288, 12, 68}, 85, 105, 400, {96, 6, 0}, {2048, 16, 7}, 35},
    {"pantherlake", {48, 12, 4}, {3072, 12, 17}, {12288, 12, 70}, 85, 105, 400, {96, 6, 0}, {2048, 16, 7}, 35},
    {"clearwaterforest", {32, 8, 4}, {4096, 16, 20}, {32768, 16, 100}, 115, 140, 400, {48, 6, 0}, {3072, 6, 7}, 35},
};

static const struct {
    struct cache l1, l2;
    struct tlb dtlb, stlb;
} efficient_core = {{32, 8, 4}, {4096, 16, 19}, {48, 6, 0}, {3072, 6, 7}};

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return -EINVAL;
}

static bool is_power_of_2(uint64_t n)
{
    return n && !(n & (n - 1));
}

static struct qds_cache_size of_cache(struct cache c, unsigned line_shift)
{
    return (struct qds_cache_size){(uint32_t)((c.kib * KIB >> line_shift) / c.ways), c.ways};
}

static struct qds_tlb_size of_tlb(struct tlb t)
{
    return (struct qds_tlb_size){t.entries / t.ways, t.ways};
}

bool qds_memory_preset(const struct ds_model_preset *preset, unsigned efficient, struct qds_memory_config *c)
{
    const struct usual *u = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(usual[i].preset, preset->name) == 0)
            u = &usual[i];
    if (!u)
        return false;
    *c = (struct qds_memory_config){
        .caches = {.kind = {{of_cache(u->l1, LINE_SHIFT), of_cache(u->l2, LINE_SHIFT)},
                            {of_cache(efficient_core.l1, LINE_SHIFT), of_cache(efficient_core.l2, LINE_SHIFT)}},
                   .efficient = efficient,
                   .l3 = of_cache(u->l3, LINE_SHIFT),
                   .latency = {[DS_MODEL_SOURCE_L1] = (uint16_t)u->l1.cycles,
                               [DS_MODEL_SOURCE_L2] = (uint16_t)u->l2.cycles,
                               [DS_MODEL_SOURCE_L3] = (uint16_t)u->l3.cycles,
                               [DS_MODEL_SOURCE_SNOOP_MISS] = u->snoop,
                               [DS_MODEL_SOURCE_SNOOP_HIT] = u->snoop,
                               [DS_MODEL_SOURCE_SNOOP_HITM] = u->hitm,
                               [DS_MODEL_SOURCE_MEMORY] = u->ram}},
        .kind = {{of_tlb(u->dtlb), of_tlb(u->stlb)}, {of_tlb(efficient_core.dtlb), of_tlb(efficient_core.stlb)}},
        .stlb_latency = (uint16_t)u->stlb.cycles,
        .walk_latency = u->walk,
        .line_shift = LINE_SHIFT,
    };
    return true;
}

/* Reads a number from `least` to `most` and `end`. Returns what follows, NULL where they are not there. */
static const char *number(const char *from, char end, uint32_t least, uint32_t most, uint32_t *to)
{
    char *behind;
    const unsigned long n = strtoul(from, &behind, 10);
    if (*from < '0' || *from > '9' || n < least || n > most || *behind != end)
        return NULL;
    *to = (uint32_t)n;
    return behind + (end != '\0');
}

/* The same of a size and '/'. */
static const char *kib(const char *from, uint32_t *to)
{
    const char *at = number(from, 'K', 1, 1u << 20, to);
    if (!at) {
        at = number(from, 'M', 1, 1u << 10, to);
        *to *= 1024;
    }
    return at && *at == '/' ? at + 1 : NULL;
}

static int set_cache(const char *name, const char *value, unsigned line_shift, struct qds_cache_size *to,
                     struct qds_cache_size *too, uint16_t *latency, char *why, size_t size)
{
    struct cache c = {0};
    const char *at = kib(value, &c.kib);
    at = at ? number(at, '/', 1, WAYS, &c.ways) : NULL;
    at = at ? number(at, '\0', 1, LATENCIES, &c.cycles) : NULL;
    if (!at)
        return refuse(why, size, "memory.%s: must be SIZE/WAYS/CYCLES, as in 32K/8/4", name);
    const uint64_t lines = c.kib * KIB >> line_shift;
    if (lines % c.ways || !is_power_of_2(lines / c.ways))
        return refuse(why, size, "memory.%s: the number of sets, SIZE / WAYS / %u, must be a power of 2", name,
                      1u << line_shift);
    *to = *too = of_cache(c, line_shift);
    *latency = (uint16_t)c.cycles;
    return 0;
}

static int set_tlb(const char *name, const char *value, struct qds_tlb_size *to, struct qds_tlb_size *too,
                   uint16_t *latency, char *why, size_t size)
{
    struct tlb t = {0};
    const char *at = number(value, '/', 1, 1u << 16, &t.entries);
    at = at ? number(at, latency ? '/' : '\0', 1, WAYS, &t.ways) : NULL;
    at = at && latency ? number(at, '\0', 1, LATENCIES, &t.cycles) : at;
    if (!at)
        return refuse(why, size, "memory.%s: must be ENTRIES/WAYS%s, as in 64/4%s", name, latency ? "/CYCLES" : "",
                      latency ? "/7" : "");
    if (t.entries % t.ways || !is_power_of_2(t.entries / t.ways))
        return refuse(why, size, "memory.%s: the number of sets, ENTRIES / WAYS, must be a power of 2", name);
    *to = *too = of_tlb(t);
    if (latency)
        *latency = (uint16_t)t.cycles;
    return 0;
}

static int set_latency(const char *name, const char *value, uint16_t *to, uint16_t *too, char *why, size_t size)
{
    uint32_t n;
    if (!number(value, '\0', 1, LATENCIES, &n))
        return refuse(why, size, "memory.%s: must be a number of cycles, from 1 to %u", name, LATENCIES);
    *to = *too = (uint16_t)n;
    return 0;
}

static int set_line(struct qds_memory_config *c, const char *value, char *why, size_t size)
{
    uint32_t bytes;
    if (!number(value, '\0', QDS_LEAST_LINE, 256, &bytes) || !is_power_of_2(bytes))
        return refuse(why, size, "memory.line=%s: must be 16, 32, 64, 128 or 256 bytes", value);
    const unsigned shift = (unsigned)__builtin_ctz(bytes);
    struct qds_cache_size *const all[] = {&c->caches.kind[0].l1, &c->caches.kind[0].l2, &c->caches.kind[1].l1,
                                          &c->caches.kind[1].l2, &c->caches.l3};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const uint64_t sets = (uint64_t)all[i]->sets << c->line_shift >> shift;
        all[i]->sets = sets ? (uint32_t)sets : 1;
    }
    c->line_shift = (uint8_t)shift;
    return 0;
}

int qds_memory_option(struct qds_memory_config *c, const char *name, char *why, size_t size)
{
    uint16_t *latency = c->caches.latency;
    const char *value = strchr(name, '=') + 1;
    char key[16];
    snprintf(key, sizeof key, "%.*s", (int)(value - 1 - name), name);
    if (strcmp(key, "l1") == 0)
        return set_cache(name, value, c->line_shift, &c->caches.kind[0].l1, &c->caches.kind[1].l1,
                         &latency[DS_MODEL_SOURCE_L1], why, size);
    if (strcmp(key, "l2") == 0)
        return set_cache(name, value, c->line_shift, &c->caches.kind[0].l2, &c->caches.kind[1].l2,
                         &latency[DS_MODEL_SOURCE_L2], why, size);
    if (strcmp(key, "l3") == 0)
        return set_cache(name, value, c->line_shift, &c->caches.l3, &c->caches.l3, &latency[DS_MODEL_SOURCE_L3], why,
                         size);
    if (strcmp(key, "snoop") == 0)
        return set_latency(name, value, &latency[DS_MODEL_SOURCE_SNOOP_MISS], &latency[DS_MODEL_SOURCE_SNOOP_HIT], why,
                           size);
    if (strcmp(key, "hitm") == 0)
        return set_latency(name, value, &latency[DS_MODEL_SOURCE_SNOOP_HITM], &latency[DS_MODEL_SOURCE_SNOOP_HITM], why,
                           size);
    if (strcmp(key, "ram") == 0)
        return set_latency(name, value, &latency[DS_MODEL_SOURCE_MEMORY], &latency[DS_MODEL_SOURCE_MEMORY], why, size);
    if (strcmp(key, "walk") == 0)
        return set_latency(name, value, &c->walk_latency, &c->walk_latency, why, size);
    if (strcmp(key, "dtlb") == 0)
        return set_tlb(name, value, &c->kind[0].dtlb, &c->kind[1].dtlb, NULL, why, size);
    if (strcmp(key, "stlb") == 0)
        return set_tlb(name, value, &c->kind[0].stlb, &c->kind[1].stlb, &c->stlb_latency, why, size);
    if (strcmp(key, "line") == 0)
        return set_line(c, value, why, size);
    return refuse(why, size, "memory.%s: not one of line l1 l2 l3 snoop hitm ram dtlb stlb walk", key);
}

unsigned qds_memory_cpi(const char *value)
{
    unsigned units = 0, places = 0;
    bool point = false;
    const char *at = value;
    for (; *at && units < 100000 && places < 3; at++) {
        if (*at == '.' && !point && at > value) {
            point = true;
            continue;
        }
        if (*at < '0' || *at > '9')
            return 0;
        units = units * 10 + (unsigned)(*at - '0');
        places += point;
    }
    for (; places < 2; places++)
        units *= 10;
    return *at || places > 2 || units > 10000 ? 0 : units;
}

/* SDM vol. 2A, CPUID, "Deterministic Cache Parameters Leaf". Leaf 2 has three descriptors: caches are in leaf 4 (FFH),
 * TLBs in leaf 18H (FEH), and prefetching is of 64 bytes (F0H). */
void qds_memory_cpuid(const struct qds_memory_config *c, unsigned kind, unsigned cores, uint32_t leaf, uint32_t subleaf,
                      uint32_t out[4])
{
    enum { DATA = 1, UNIFIED = 3, LEVEL = 5, SELF_INITIALIZING = 1 << 8, SHARING = 14, CORES = 26, WAYS_SHIFT = 22 };
    const struct qds_cache_size size[] = {c->caches.kind[kind].l1, c->caches.kind[kind].l2, c->caches.l3};
    const uint32_t all = (cores > 1 ? 1u << (32 - __builtin_clz(cores - 1)) : 1) - 1;
    memset(out, 0, 4 * sizeof out[0]);
    if (leaf == 2) {
        out[0] = 0x00FEFF01;
        out[1] = 0xF0;
    } else if (subleaf < 3) {
        out[0] = (subleaf ? UNIFIED : DATA) | (subleaf + 1) << LEVEL | SELF_INITIALIZING |
                 (subleaf == 2 ? all : 0) << SHARING | (all < 64 ? all : 63) << CORES;
        out[1] = ((1u << c->line_shift) - 1) | (size[subleaf].ways - 1) << WAYS_SHIFT;
        out[2] = size[subleaf].sets - 1;
        out[3] = subleaf ? 2 : 0; /* inclusive */
    }
}

static unsigned in_kib(struct qds_cache_size c, unsigned line_shift)
{
    return (unsigned)(((uint64_t)c.sets * c.ways << line_shift) / KIB);
}

void qds_memory_describe(const struct qds_memory_config *c, char *to, size_t size)
{
    const uint16_t *latency = c->caches.latency;
    snprintf(to, size,
             "L1 %uK/%u/%u, L2 %uK/%u/%u, L3 %uK/%u/%u, snoop %u, hitm %u, ram %u, dtlb %u/%u, stlb %u/%u/%u, walk %u",
             in_kib(c->caches.kind[0].l1, c->line_shift), c->caches.kind[0].l1.ways, latency[DS_MODEL_SOURCE_L1],
             in_kib(c->caches.kind[0].l2, c->line_shift), c->caches.kind[0].l2.ways, latency[DS_MODEL_SOURCE_L2],
             in_kib(c->caches.l3, c->line_shift), c->caches.l3.ways, latency[DS_MODEL_SOURCE_L3],
             latency[DS_MODEL_SOURCE_SNOOP_HIT], latency[DS_MODEL_SOURCE_SNOOP_HITM], latency[DS_MODEL_SOURCE_MEMORY],
             c->kind[0].dtlb.sets * c->kind[0].dtlb.ways, c->kind[0].dtlb.ways,
             c->kind[0].stlb.sets * c->kind[0].stlb.ways, c->kind[0].stlb.ways, c->stlb_latency, c->walk_latency);
}
