/* SPDX-License-Identifier: MIT */
#include "host_make.h"

#include <string.h>

#include "labs/host/random.h"

/* Appends a word, and returns its value. */
static uint64_t put(struct made *m, uint64_t word)
{
    memcpy(m->bytes + m->size, &word, 8);
    m->size += 8;
    return word;
}

static uint64_t any(struct made *m)
{
    return put(m, lab_random());
}

static void memory(struct made *m)
{
    m->is.has |= HAS_MEMORY;
    m->is.data_address = any(m);
    m->is.data_source = any(m);
    m->is.latency = any(m);
}

static void registers(struct made *m, const uint8_t order[8])
{
    m->is.has |= HAS_GPR;
    m->is.rflags = any(m);
    m->is.rip = any(m);
    for (unsigned i = 0; i < 16; i++)
        m->is.gpr[i < 8 ? order[i] : i] = any(m);
}

void make_fixed(struct made *m, unsigned format)
{
    static const uint8_t order[8] = {0, 3, 1, 2, 6, 7, 5, 4}; /* RAX RBX RCX RDX RSI RDI RBP RSP */
    memset(m, 0, sizeof *m);
    m->format = format;
    registers(m, order);
    m->is.has |= format < 3 ? HAS_STATUS : HAS_COUNTERS;
    *(format < 3 ? &m->is.status : &m->is.counters) = any(m);
    memory(m);
    if (format >= 2) {
        m->is.has |= HAS_EVENTING_IP | HAS_TX;
        m->is.eventing_ip = any(m);
        m->is.tx = any(m);
    }
    if (format >= 3) {
        m->is.has |= HAS_TSC;
        m->is.tsc = any(m);
    }
    m->need = m->size;
}

static void values(struct made *m, uint32_t groups, uint32_t gp, uint32_t fixed)
{
    const bool counters = groups & MSR_PEBS_DATA_CFG_CNTR, metrics = groups & MSR_PEBS_DATA_CFG_METRICS;
    m->is.has |= (counters ? HAS_VALUES : 0) | (metrics ? HAS_METRICS : 0);
    m->is.gp_mask = counters ? gp : 0;
    m->is.fixed_mask = counters ? fixed : 0;
    put(m, m->is.gp_mask | (uint64_t)m->is.fixed_mask << 32);
    put(m, metrics ? DS_PEBS_CNTR_METRICS : 0);
    for (unsigned i = 0; i < 32; i++)
        if (m->is.gp_mask >> i & 1)
            m->is.gp[i] = any(m);
    for (unsigned i = 0; i < 32; i++)
        if (m->is.fixed_mask >> i & 1)
            m->is.fixed[i] = any(m);
    if (metrics) {
        m->is.slots = any(m);
        m->is.metrics = any(m);
    }
}

void make_adaptive(struct made *m, unsigned format, uint32_t groups, uint32_t gp, uint32_t fixed, uint32_t more,
                   uint32_t latency)
{
    static const uint8_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    memset(m, 0, sizeof *m);
    m->format = format;
    m->is.has = HAS_EVENTING_IP | HAS_COUNTERS | HAS_TSC;
    put(m, 0); /* the head, when the size is known */
    m->is.eventing_ip = any(m);
    m->is.counters = any(m);
    m->is.tsc = any(m);
    if (groups & MSR_PEBS_DATA_CFG_MEMINFO) {
        memory(m);
        m->is.has |= HAS_TX;
        m->is.tx = any(m);
    }
    if (groups & MSR_PEBS_DATA_CFG_GPR)
        registers(m, order);
    if (groups & MSR_PEBS_DATA_CFG_XMM) {
        m->is.has |= HAS_XMM;
        for (unsigned i = 0; i < 32; i++)
            m->is.xmm[i / 2][i % 2] = any(m);
    }
    if (groups & MSR_PEBS_DATA_CFG_LBR) {
        m->is.has |= HAS_LBR;
        m->is.branches = msr_pebs_data_cfg_lbr_entries(groups);
        for (unsigned i = 0; i < m->is.branches; i++) {
            m->is.lbr[i].from = any(m);
            m->is.lbr[i].to = any(m);
            m->is.lbr[i].info = any(m);
        }
    }
    if (groups & (MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS))
        values(m, groups, gp, fixed);
    m->need = m->size;
    while (more >= 8) {
        any(m);
        more -= 8;
    }
    const uint64_t head = ds_pebs_head(groups, m->size) | (uint64_t)latency << 32;
    memcpy(m->bytes, &head, 8);
}

void make_any(struct made *m, unsigned format)
{
    const uint64_t lot = lab_random(), masks = lab_random();
    const uint32_t known = format >= 6 ? 0x3F : 0xF, entries = lot & 1 ? 32 : (lot >> 1) % 256 + 1;
    if (format < 4) {
        make_fixed(m, format);
        return;
    }
    const uint32_t groups = (uint32_t)(lot >> 16 & known) | (uint32_t)msr_pebs_data_cfg_entries(entries);
    make_adaptive(m, format, groups, (uint32_t)masks, (uint32_t)(masks >> 32), 0, 0);
}
