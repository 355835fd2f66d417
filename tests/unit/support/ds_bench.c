/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/ds_bench.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER     (DS_BENCH_BASE + 0x1000)
#define BTS_BUFFER (DS_BENCH_BASE + 0x7000)

const struct ds_model_preset *ds_bench_icelake(void)
{
    return ds_model_preset("icelake");
}

const struct ds_model_preset *ds_bench_skylake(void)
{
    return ds_model_preset("skylake");
}

const struct ds_model_preset *ds_bench_of_format(unsigned format)
{
    static const char *const name[] = {"penryn", "nehalem", "haswell", "skylake", "icelake", "arrowlake", "lunarlake"};
    return ds_model_preset(name[format]);
}

uint64_t *ds_bench_word(struct ds_bench *b, uint64_t address)
{
    uint64_t offset = address - DS_BENCH_BASE;
    return address % 8 == 0 && offset / 8 < DS_BENCH_WORDS ? &b->memory[offset / 8] : NULL;
}

static uint64_t *mapped(struct ds_bench *b, uint64_t address, uint32_t size)
{
    bool whole = size && size % 8 == 0 && ds_bench_word(b, address + size - 8);
    return ++b->accesses == b->missing || !whole ? NULL : ds_bench_word(b, address);
}

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    uint64_t *words = mapped(context, address, size);
    if (words)
        memcpy(to, words, size);
    return words;
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    uint64_t *words = mapped(context, address, size);
    if (words)
        memcpy(words, from, size);
    return words;
}

uint64_t *ds_bench_physical(struct ds_bench *b, uint64_t offset)
{
    return offset % 8 == 0 && offset / 8 < DS_BENCH_PHYSICAL_WORDS ? &b->physical[offset / 8] : NULL;
}

static uint64_t *there(struct ds_bench *b, uint64_t address, uint32_t size)
{
    const uint64_t offset = address - DS_BENCH_PHYSICAL;
    bool whole = size && size % 8 == 0 && ds_bench_physical(b, offset + size - 8);
    return ++b->accesses == b->missing || !whole ? NULL : ds_bench_physical(b, offset);
}

static bool read_physical(void *context, uint64_t address, void *to, uint32_t size)
{
    uint64_t *words = there(context, address, size);
    if (words)
        memcpy(to, words, size);
    return words;
}

static bool write_physical(void *context, uint64_t address, const void *from, uint32_t size)
{
    uint64_t *words = there(context, address, size);
    if (words)
        memcpy(words, from, size);
    return words;
}

static void registers(void *context, struct ds_model_registers *out)
{
    *out = ((struct ds_bench *)context)->registers;
}

static void xmm(void *context, struct ds_pebs_xmm *out)
{
    *out = ((struct ds_bench *)context)->xmm;
}

static void page_fault(void *context, uint64_t address, bool write)
{
    struct ds_bench *b = context;
    b->page_faults++;
    b->faulted = address;
    b->fault_write = write;
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    struct ds_bench *b = context;
    b->pmi_status[b->pmis % 64] = b->model.global_status;
    b->pmi[b->pmis++ % 64] = lvtpc;
    if (b->handler_unmasks)
        ds_model_lvtpc_write(&b->model, lvtpc);
}

static void recorded(void *context, const struct ds_model_record *record)
{
    struct ds_bench *b = context;
    b->stored += record->stored;
    b->dropped += !record->stored;
}

uint64_t ds_bench_buffer(void)
{
    return BUFFER;
}

uint64_t ds_bench_word_at(struct ds_bench *b, uint64_t offset)
{
    return *ds_bench_word(b, BUFFER + offset);
}

uint64_t ds_bench_bts_buffer(void)
{
    return BTS_BUFFER;
}

uint64_t ds_bench_bts_index(struct ds_bench *b)
{
    return *ds_bench_area(b, 0x08) - BTS_BUFFER;
}

uint64_t *ds_bench_area(struct ds_bench *b, uint64_t offset)
{
    return ds_bench_word(b, DS_BENCH_BASE + offset);
}

void ds_bench_write(struct ds_bench *b, uint32_t msr, uint64_t value)
{
    if (ds_model_wrmsr(&b->model, msr, value))
        abort();
}

uint64_t ds_bench_read(struct ds_bench *b, uint32_t msr)
{
    uint64_t value;
    if (ds_model_rdmsr(&b->model, msr, &value))
        abort();
    return value;
}

uint64_t ds_bench_index(struct ds_bench *b)
{
    if (b->model.preset->format == DS_FORMAT_ARCH)
        return ia32_pebs_index_wr(ds_bench_read(b, IA32_PEBS_INDEX));
    return *ds_bench_area(b, 0x28) - BUFFER;
}

void ds_bench_init(struct ds_bench *b, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   uint64_t maximum, uint64_t threshold)
{
    struct ds_model_policy every = policy ? *policy : (struct ds_model_policy){0};
    every.unlisted = DS_MODEL_UNLISTED_RECORD;
    ds_bench_init_listed(b, preset, &every, maximum, threshold);
}

void ds_bench_init_listed(struct ds_bench *b, const struct ds_model_preset *preset,
                          const struct ds_model_policy *policy, uint64_t maximum, uint64_t threshold)
{
    memset(b, 0, sizeof *b);
    const struct ds_model_host host = {.read = read_memory,
                                       .write = write_memory,
                                       .read_physical = read_physical,
                                       .write_physical = write_physical,
                                       .registers = registers,
                                       .xmm = xmm,
                                       .raise_pmi = raise_pmi,
                                       .page_fault = page_fault,
                                       .recorded = recorded,
                                       .context = b};
    ds_model_init(&b->model, preset, policy, &host);
    *ds_bench_area(b, 0x20) = BUFFER;
    *ds_bench_area(b, 0x28) = BUFFER;
    *ds_bench_area(b, 0x30) = BUFFER + maximum;
    *ds_bench_area(b, 0x38) = BUFFER + threshold;
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
    if (preset->ds)
        ds_bench_write(b, IA32_DS_AREA, DS_BENCH_BASE);
    if (preset->format == DS_FORMAT_ARCH)
        ds_bench_arch(b, 0, threshold);
    ds_model_lvtpc_write(&b->model, 0xEE);
    /* every register its own value, so that a swapped pair shows */
    uint64_t *r = (uint64_t *)&b->registers;
    for (size_t i = 0; i < offsetof(struct ds_model_registers, compatibility) / 8; i++)
        r[i] = UINT64_C(0x1111000000000000) * (i % 15 + 1) + i;
    for (unsigned i = 0; i < 32; i++)
        b->xmm.xmm[i / 2][i % 2] = UINT64_C(0x2220000000000000) + i;
}

void ds_bench_arch(struct ds_bench *b, unsigned size, uint64_t threshold)
{
    ds_bench_write(b, IA32_PEBS_BASE, DS_BENCH_PHYSICAL | size);
    ds_bench_write(b, IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN | ia32_pebs_index(0, (uint32_t)threshold));
}

void ds_bench_bts(struct ds_bench *b, uint64_t maximum, uint64_t threshold, uint64_t debugctl)
{
    *ds_bench_area(b, 0x00) = BTS_BUFFER;
    *ds_bench_area(b, 0x08) = BTS_BUFFER;
    *ds_bench_area(b, 0x10) = BTS_BUFFER + maximum;
    *ds_bench_area(b, 0x18) = BTS_BUFFER + threshold;
    ds_bench_write(b, IA32_DEBUGCTL, debugctl);
}

void ds_bench_pebs_counter(struct ds_bench *b, unsigned i, uint64_t select, uint64_t start, uint64_t reset)
{
    const bool arch = b->model.preset->format == DS_FORMAT_ARCH;
    *ds_bench_area(b, 0x40 + 8 * i) = reset;
    ds_bench_write(b, (b->model.preset->full_width_writes ? IA32_A_PMC0 : IA32_PMC0) + i,
                   start & b->model.counter_mask);
    ds_bench_write(b, IA32_PERFEVTSEL0 + i, select | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN);
    if (arch)
        ds_bench_write(b, IA32_PMC_GP0_CFG_C + IA32_PMC_STEP * i, IA32_PMC_CFG_C_EN | (uint32_t)reset);
    else
        ds_bench_write(b, IA32_PEBS_ENABLE, ds_bench_read(b, IA32_PEBS_ENABLE) | DS_BIT(i));
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, ds_bench_read(b, IA32_PERF_GLOBAL_CTRL) | DS_BIT(i));
}

int ds_bench_retire(struct ds_bench *b, uint64_t events, unsigned cpl)
{
    return ds_model_retire(&b->model, &(struct ds_model_retired){.events = events, .cpl = cpl});
}

void ds_bench_step(struct ds_bench *b, unsigned n, uint64_t events)
{
    while (n--)
        if (ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION) | (n ? 0 : events), 0))
            abort();
}

void ds_bench_branch(struct ds_bench *b, unsigned i, unsigned cpl)
{
    const struct ds_model_branch branch = {.from = 0x1000 + i, .to = 0x2000 + i, .prediction = DS_MODEL_PREDICTED};
    const struct ds_model_retired retired = {
        .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_BRANCH_TAKEN),
        .cpl = cpl,
        .branch = &branch,
    };
    if (ds_model_retire(&b->model, &retired))
        abort();
}
