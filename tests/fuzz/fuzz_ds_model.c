/* SPDX-License-Identifier: MIT */
/*
 * The processor's side of the Debug Store against a hostile guest: any values in any of its MSRs, any bytes in the DS
 * area and in the buffers, pages that come and go meanwhile. Whatever the guest does, the model asks its host for bytes
 * of one page at a time, and its registers hold only what they can hold. The input is a list of what the guest does.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "ds/model/model.h"
#include "ds/model/variant/variant.h"
#include "ds/pebs23_layout.h"
#include "ds/policy/table/table.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/presets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGES  4u /* of memory; every page of 64-bit addresses is one of these */
#define PAGE   4096u
#define EVENTS 40u /* at most, of one retirement's repetitions */

static struct {
    struct ds_model model;
    uint8_t memory[PAGES * PAGE];
    uint64_t missing; /* of 64 pages in turn: not there */
    uint64_t now;
    const uint8_t *data, *end;
} guest;

static uint64_t take(unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes && guest.data < guest.end; i++)
        v |= (uint64_t)*guest.data++ << 8 * i;
    return v;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

static uint8_t *find(uint64_t address, uint32_t size)
{
    assert(size && size <= PAGE - address % PAGE);
    return guest.missing >> address / PAGE % 64 & 1 ? NULL : guest.memory + address % (PAGES * PAGE);
}

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    (void)context;
    const uint8_t *p = find(address, size);
    if (p)
        memcpy(to, p, size);
    return p;
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    (void)context;
    uint8_t *p = find(address, size);
    if (p)
        memcpy(p, from, size);
    return p;
}

static void read_registers(void *context, struct ds_model_registers *out)
{
    (void)context;
    memset(out, 0, sizeof(*out));
    out->tsc = out->rip = ++guest.now;
}

static void take_pmi(void *context, uint32_t lvtpc)
{
    (void)context;
    if (lvtpc & 1) /* a handler that unmasks at once */
        ds_model_lvtpc_write(&guest.model, lvtpc & 0xFF);
}

static void take_page_fault(void *context, uint64_t address, bool write)
{
    (void)context, (void)address, (void)write;
}

static const struct ds_model_host host = {
    .read = read_memory,
    .write = write_memory,
    .read_physical = read_memory,
    .write_physical = write_memory,
    .registers = read_registers,
    .raise_pmi = take_pmi,
    .page_fault = take_page_fault,
};

/* ---- what the guest does ----------------------------------------------------------------------------------------- */

static uint32_t take_msr(void)
{
    static const uint32_t msr[] = {IA32_PERF_GLOBAL_CTRL,
                                   IA32_PERF_GLOBAL_CTRL,
                                   IA32_FIXED_CTR_CTRL,
                                   IA32_PERF_GLOBAL_STATUS,
                                   IA32_PERF_GLOBAL_OVF_CTRL,
                                   IA32_PERF_GLOBAL_STATUS_SET,
                                   IA32_PEBS_ENABLE,
                                   MSR_PEBS_DATA_CFG,
                                   MSR_PEBS_LD_LAT,
                                   MSR_PEBS_FRONTEND,
                                   MSR_OFFCORE_RSP_0,
                                   MSR_OFFCORE_RSP_1,
                                   IA32_DS_AREA,
                                   IA32_DS_AREA,
                                   IA32_DEBUGCTL,
                                   IA32_LBR_CTL,
                                   IA32_LBR_DEPTH,
                                   MSR_LBR_SELECT,
                                   IA32_MISC_ENABLE,
                                   MSR_PERF_METRICS,
                                   IA32_PEBS_BASE,
                                   IA32_PEBS_INDEX};
    static const uint32_t row[] = {IA32_PMC0,         IA32_PERFEVTSEL0, IA32_FIXED_CTR0,          IA32_A_PMC0,
                                   IA32_PMC_GP0_CTR,  IA32_PMC_FX0_CTR, MSR_LASTBRANCH_0_FROM_IP, MSR_LBR_INFO_0,
                                   IA32_LBR_0_FROM_IP};
    const unsigned which = (unsigned)take(1);
    if (which < sizeof(msr) / sizeof(msr[0]))
        return msr[which];
    if (which < 224)
        return row[which / 16 % (sizeof(row) / sizeof(row[0]))] + which % 16;
    return (uint32_t)take(2);
}

static uint64_t take_value(void)
{
    switch (take(1) % 5) {
    case 0:
        return (uint64_t)(int64_t)(int8_t)take(1); /* a counter close to its overflow */
    case 1:
        return UINT64_C(1) << take(1) % 64 | UINT64_C(1) << take(1) % 64;
    case 2:
        return take(2) * 8; /* somewhere in memory */
    case 3:
        return take(4) << 16 | 0x3FF;
    default:
        return take(8);
    }
}

static void retire(void)
{
    uint32_t by[DS_COUNTER_NUMBERS];
    struct ds_model_branch branch = {.from = take(2), .to = take(2), .type = take(1) % (DS_MODEL_OTHER_BRANCH + 1)};
    struct ds_model_access access = {.source = take(1) % DS_MODEL_SOURCES, .latency = (uint16_t)take(2)};
    struct ds_model_retired r = {
        .events = take(8) | 1,
        .cpl = take(1) & 1 ? 3 : 0,
        .load_address = take(2),
        .store_address = take(2),
        .load = access,
        .store = access,
        .retire_latency = (uint16_t)take(1),
    };
    r.events &= guest.model.preset->memory ? DS_BIT(DS_MODEL_EVENTS) - 1 : DS_BIT(DS_MODEL_PLAIN_EVENTS) - 1;
    branch.cpl = r.cpl;
    if (r.events & DS_BIT(DS_MODEL_BRANCH_TAKEN))
        r.branch = &branch;
    for (unsigned i = 0; i < DS_COUNTER_NUMBERS; i++)
        by[i] = 1 + i % 3;
    if (guest.model.preset->memory)
        r.by = by;
    for (uint64_t n = take(1) % EVENTS; n; n--)
        ds_model_retire(&guest.model, &r);
}

static void read_all(void)
{
    uint32_t out[4];
    uint64_t value;
    const uint32_t leaf = (uint32_t)take(1), index = (uint32_t)take(4);
    ds_model_cpuid(&guest.model, leaf, index, out);
    ds_model_rdmsr(&guest.model, index, &value);
    ds_model_rdmsr(&guest.model, take_msr(), &value);
    ds_model_rdpmc(&guest.model, index, &value);
}

static void act(void)
{
    struct ds_model_branch branch = {.from = 1, .to = 2, .type = DS_MODEL_OTHER_BRANCH};
    uint64_t at, value;
    switch (take(1) % 10) {
    case 0:
    case 1:
    case 2:
        at = take_msr();
        ds_model_wrmsr(&guest.model, (uint32_t)at, take_value());
        break;
    case 3:
    case 4:
        at = take(2) % (sizeof(guest.memory) - 8);
        value = take_value();
        memcpy(guest.memory + at, &value, 8);
        break;
    case 5:
        guest.missing = take_value();
        break;
    case 6:
        ds_model_lvtpc_write(&guest.model, (uint32_t)take(4));
        break;
    case 7:
        read_all();
        ds_model_late(&guest.model);
        break;
    case 8:
        branch.cpl = (unsigned)take(1) & 3;
        ds_model_interrupt(&guest.model, &branch, branch.cpl);
        break;
    default:
        retire();
    }
}

static void expect_possible(const struct ds_model *m)
{
    for (unsigned i = 0; i < DS_COUNTER_NUMBERS; i++)
        assert((m->value[i] & ~m->counter_mask) == 0);
    assert((m->armed & ~m->counters) == 0);
    assert((m->pebs & ~m->preset->pebs_counters) == 0);
    assert(m->lbr_depth <= DS_MODEL_LBR_DEPTH && (!m->lbr_depth || m->lbr_tos < m->lbr_depth));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ds_model_policy policy = {0};
    guest.data = data;
    guest.end = data + size;
    guest.now = guest.missing = 0;
    memset(guest.memory, 0, sizeof(guest.memory));
    const struct ds_model_preset *preset = preset_at(take(1) % PRESETS);
    struct ds_model_preset changed = *preset;
    const uint8_t how = (uint8_t)take(1);
    if (how & 1)
        ds_model_efficient(preset, &changed);
    changed.memory = how & 2 ? &ds_model_memory : NULL;
    if (how & 4)
        ds_model_kvm_guest(&changed);
    for (uint64_t bits = take(3), i = 0; i < DS_MODEL_POLICIES; i++)
        if (bits >> i & 1)
            assert(ds_model_policy_set(&policy, ds_model_policies[i].name, ds_model_policies[i].values[1]) == 0);
    ds_model_init(&guest.model, &changed, &policy, &host);
    while (guest.data < guest.end) {
        act();
        expect_possible(&guest.model);
    }
    return 0;
}
