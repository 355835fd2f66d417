/* SPDX-License-Identifier: MIT */
/* Writes the bytes of a PEBS record, which from format 4 on consists of groups. */
#include "ds/caps.h"
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

/* Where the next group of a record goes. */
struct cursor {
    struct ds_model *model;
    uint64_t address;
    bool mapped; /* all of it so far */
};

static void put(struct cursor *at, const void *group, uint32_t size)
{
    at->mapped = at->mapped && ds_model_write(at->model, at->address, group, size);
    at->address += size;
}

/* SDM vol. 3B, "Timed PEBS": from Meteor Lake on. */
bool ds_model_timed(const struct ds_model_preset *p)
{
    return p->generation == DS_GENERATION_LIONCOVE || p->generation == DS_GENERATION_SKYMONT || p->pebs23;
}

uint64_t ds_model_retire_latency(const struct ds_model *m, const struct ds_model_retired *retired)
{
    return m->preset->memory ? retired->retire_latency : 1;
}

uint64_t ds_model_data_source(const struct ds_model *m, uint64_t set, const struct ds_model_retired *retired)
{
    return m->preset->memory ? m->preset->memory->data_source(m, set, retired) : 0;
}

uint64_t ds_model_latency(const struct ds_model *m, uint64_t set, const struct ds_model_retired *retired)
{
    return m->preset->memory ? m->preset->memory->latency(m, set, retired) : 0;
}

/* The data address of the load or store that a counter of `set` has counted, where the generation gives it: from format
 * 2 (Haswell, "DataLA") on; before that with load latency and precise store. */
uint64_t ds_model_data_address(const struct ds_model *m, uint64_t set, const struct ds_model_retired *retired)
{
    if (m->preset->format < 2)
        set &= m->latencies;
    return set & m->loads ? retired->load_address : set & m->stores ? retired->store_address : 0;
}

void ds_model_fill_gpr(struct ds_pebs_gpr *gpr, const struct ds_model_registers *r)
{
    /* clang-format off */
    *gpr = (struct ds_pebs_gpr){
        .rflags = r->rflags, .rip = r->rip,
        .rax = r->rax, .rcx = r->rcx, .rdx = r->rdx, .rbx = r->rbx,
        .rsp = r->rsp, .rbp = r->rbp, .rsi = r->rsi, .rdi = r->rdi,
    };
    /* clang-format on */
    memcpy(gpr->r8_r15, r->r8_r15, sizeof gpr->r8_r15);
}

/* Newest first; entries beyond the history are 0. */
static void put_lbr(struct cursor *at, unsigned entries)
{
    struct ds_pebs_lbr newest[DS_MODEL_LBR_DEPTH];
    for (unsigned i = 0; i < DS_MODEL_LBR_DEPTH; i++)
        newest[i] = ds_model_history(at->model, i);
    for (unsigned n; entries; entries -= n) {
        n = entries < DS_MODEL_LBR_DEPTH ? entries : DS_MODEL_LBR_DEPTH;
        put(at, newest, n * sizeof newest[0]);
        memset(newest, 0, sizeof newest);
    }
}

/* Counters as they stand when the record is written: those that caused it are not reloaded yet. */
static void put_counters(struct cursor *at, uint64_t cfg)
{
    const struct ds_model *m = at->model;
    bool counters = cfg & MSR_PEBS_DATA_CFG_CNTR, metrics = cfg & MSR_PEBS_DATA_CFG_METRICS;
    const struct ds_pebs_cntr head = {
        .gp_mask = counters ? msr_pebs_data_cfg_gp(cfg) : 0,
        .fixed_mask = counters ? msr_pebs_data_cfg_fixed(cfg) : 0,
        .metrics = metrics ? DS_PEBS_CNTR_METRICS : 0,
    };
    put(at, &head, sizeof head);
    uint64_t words[DS_COUNTER_NUMBERS + 2];
    unsigned n = 0;
    for (uint64_t c = head.gp_mask | (uint64_t)head.fixed_mask << DS_COUNTER_FIXED; c; c &= c - 1)
        words[n++] = m->value[__builtin_ctzll(c)];
    if (metrics) {
        words[n++] = m->value[ds_counter_fixed(3)]; /* slots */
        words[n++] = ds_model_metrics(m);
    }
    put(at, words, n * sizeof words[0]);
}

/* One ADAPTIVE counter among those that cause the record gives all of MSR_PEBS_DATA_CFG. */
static uint64_t groups(const struct ds_model *m, uint64_t set)
{
    return set & m->adaptive ? m->data_cfg : 0;
}

static void put_adaptive(struct cursor *at, uint64_t set, const struct ds_model_retired *retired,
                         const struct ds_model_registers *r)
{
    const struct ds_model *m = at->model;
    uint64_t cfg = groups(m, set);
    struct { /* written at once: most records have no more than these */
        struct ds_pebs_basic basic;
        uint8_t others[sizeof(struct ds_pebs_meminfo) + sizeof(struct ds_pebs_gpr)];
    } first;
    uint32_t size = 0;
    first.basic = (struct ds_pebs_basic){
        .head = ds_pebs_head((uint32_t)cfg, ds_pebs_adaptive_size(cfg)) |
                (ds_model_timed(m->preset) ? ds_model_retire_latency(m, retired) << 32 : 0),
        .eventing_ip = r->eventing_ip,
        .counters = set,
        .tsc = r->tsc,
    };
    if (cfg & MSR_PEBS_DATA_CFG_MEMINFO) {
        const struct ds_pebs_meminfo meminfo = {.data_linear_address = ds_model_data_address(m, set, retired),
                                                .data_source = ds_model_data_source(m, set, retired),
                                                .latency = ds_model_latency(m, set, retired)};
        memcpy(first.others, &meminfo, sizeof meminfo);
        size = sizeof meminfo;
    }
    if (cfg & MSR_PEBS_DATA_CFG_GPR) {
        struct ds_pebs_gpr gpr;
        ds_model_fill_gpr(&gpr, r);
        memcpy(first.others + size, &gpr, sizeof gpr);
        size += sizeof gpr;
    }
    put(at, &first, sizeof first.basic + size);
    if (cfg & MSR_PEBS_DATA_CFG_XMM) {
        struct ds_pebs_xmm xmm = {0};
        if (m->host.xmm)
            m->host.xmm(m->host.context, &xmm);
        put(at, &xmm, sizeof xmm);
    }
    if (cfg & MSR_PEBS_DATA_CFG_LBR)
        put_lbr(at, msr_pebs_data_cfg_lbr_entries(cfg));
    if (cfg & (MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS))
        put_counters(at, cfg);
}

uint32_t ds_model_record_size(const struct ds_model *m, uint64_t set)
{
    return m->preset->format < 4 ? ds_pebs_fixed_size(m->preset->format) : ds_pebs_adaptive_size(groups(m, set));
}

bool ds_model_write_record(struct ds_model *m, uint64_t set, const struct ds_model_retired *retired,
                           const struct ds_model_registers *registers, uint64_t address)
{
    struct cursor at = {.model = m, .address = address, .mapped = true};
    if (m->preset->format < 4)
        return ds_model_write_fixed(m, set, retired, registers, address);
    put_adaptive(&at, set, retired, registers);
    return at.mapped;
}
