/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/modelled/memory_system.h"

#include <stdlib.h>
#include <string.h>

struct qds_memory {
    struct qds_caches *caches;
    struct qds_memory_config config;
    unsigned cores;
    struct qds_core core[];
};

/* One line of an access. */
static void access_line(struct qds_core *k, uint64_t address, bool write, bool exclusive, qds_tlb_walk *walk,
                        void *context, struct qds_access *out)
{
    const struct qds_memory *m = k->memory;
    const uint16_t l1 = m->config.caches.latency[DS_MODEL_SOURCE_L1];
    struct qds_tlb_entry *page;
    uint32_t latency = 0;
    ++k->now;
    const enum qds_tlb_found found = qds_tlb_find(&k->tlb, address, k->now, walk, context, &page);
    enum ds_model_source source = DS_MODEL_SOURCE_UNCACHED;
    if (found == QDS_UNCACHED) {
        latency = m->config.caches.latency[DS_MODEL_SOURCE_MEMORY];
    } else {
        const uint64_t offset = address & ((UINT64_C(1) << QDS_PAGE_SHIFT) - 1);
        const uint64_t line = (page->physical << QDS_PAGE_SHIFT | offset) >> k->line_shift;
        const struct qds_fetched f = qds_caches_access(m->caches, k->index, line, write || exclusive, k->now);
        source = f.source;
        latency = f.latency;
        out->l1_filled += f.l1_filled;
        out->l3_asked += f.l3_asked;
        out->l3_missed += f.l3_missed;
        k->quick[address >> k->line_shift & (QDS_QUICK - 1)] =
            (struct qds_quick){page->physical, qds_caches_modified(line), f.line, page};
    }
    if (found == QDS_WALKED) {
        out->walks++;
        out->said.stlb_miss = true;
        latency += m->config.walk_latency;
    } else if (found == QDS_IN_STLB) {
        latency += m->config.stlb_latency;
    }
    if (source >= out->said.source) {
        out->said.source = (uint8_t)source;
        out->said.latency = (uint16_t)(latency < UINT16_MAX ? latency : UINT16_MAX);
    }
    const uint32_t stall = !write && latency > l1 ? latency - l1 : 0;
    out->stall += stall;
    k->now += stall;
}

void qds_memory_access(struct qds_core *k, uint64_t address, unsigned size, bool write, bool locked, qds_tlb_walk *walk,
                       void *context, struct qds_access *out)
{
    *out = (struct qds_access){.said.locked = locked};
    access_line(k, address, write, locked, walk, context, out);
    const uint64_t last = address + size - 1;
    if ((last ^ address) & ~k->line_mask) {
        out->said.split = true;
        access_line(k, last & ~k->line_mask, write, locked, walk, context, out);
    }
    k->totals.l1_filled += out->l1_filled;
    k->totals.l3_asked += out->l3_asked;
    k->totals.l3_missed += out->l3_missed;
    k->totals.hitm += out->said.source == DS_MODEL_SOURCE_SNOOP_HITM;
    k->totals.walks += out->walks;
    k->totals.stall += out->stall;
}

/* Two lines, of two pages. What is on its way never takes longer than when it was asked for. */
struct qds_access qds_memory_most(const struct qds_memory_config *c)
{
    enum { LINES = 2 };
    uint32_t stall = 0;
    for (unsigned i = 0; i < DS_MODEL_SOURCES; i++)
        if (c->caches.latency[i] > stall)
            stall = c->caches.latency[i];
    stall += c->walk_latency > c->stlb_latency ? c->walk_latency : c->stlb_latency;
    stall -= c->caches.latency[DS_MODEL_SOURCE_L1];
    return (struct qds_access){
        .stall = LINES * stall, .walks = LINES, .l1_filled = LINES, .l3_asked = LINES, .l3_missed = LINES};
}

struct qds_core *qds_memory_core(struct qds_memory *m, unsigned core)
{
    return &m->core[core];
}

struct qds_caches *qds_memory_caches(struct qds_memory *m)
{
    return m->caches;
}

struct qds_memory *qds_memory_new(const struct qds_memory_config *config, unsigned cores)
{
    static struct qds_l1_line no_line;
    static struct qds_tlb_entry no_page = {.page = QDS_NO_PAGE};
    struct qds_memory *m = calloc(1, sizeof *m + cores * sizeof m->core[0]);
    if (!m)
        return NULL;
    m->config = *config;
    m->caches = qds_caches_new(&config->caches, cores);
    bool done = m->caches;
    for (; done && m->cores < cores; m->cores++) {
        struct qds_core *k = &m->core[m->cores];
        const unsigned kind = m->cores >= config->caches.efficient;
        k->memory = m;
        k->index = m->cores;
        k->line_shift = config->line_shift;
        k->line_mask = (UINT64_C(1) << config->line_shift) - 1;
        for (unsigned i = 0; i < QDS_QUICK; i++)
            k->quick[i] = (struct qds_quick){0, 0, &no_line, &no_page};
        done = qds_tlb_new(&k->tlb, config->kind[kind].dtlb, config->kind[kind].stlb);
    }
    if (done)
        return m;
    qds_memory_free(m);
    return NULL;
}

void qds_memory_free(struct qds_memory *m)
{
    for (unsigned i = 0; i < m->cores; i++)
        qds_tlb_free(&m->core[i].tlb);
    if (m->caches)
        qds_caches_free(m->caches);
    free(m);
}
