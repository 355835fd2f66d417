/* SPDX-License-Identifier: MIT */
#include "tests/unit/ds_bench.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER (DS_BENCH_BASE + 0x1000)

uint64_t *ds_bench_word(struct ds_bench *b, uint64_t address)
{
    uint64_t offset = address - DS_BENCH_BASE;
    return address % 8 == 0 && offset / 8 < DS_BENCH_WORDS ? &b->memory[offset / 8] : NULL;
}

static bool read64(void *context, uint64_t address, uint64_t *value)
{
    uint64_t *word = ds_bench_word(context, address);
    if (word)
        *value = *word;
    return word;
}

static bool write64(void *context, uint64_t address, uint64_t value)
{
    uint64_t *word = ds_bench_word(context, address);
    if (word)
        *word = value;
    return word;
}

static void registers(void *context, struct ds_model_registers *out)
{
    *out = ((struct ds_bench *)context)->registers;
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    struct ds_bench *b = context;
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

uint64_t *ds_bench_area(struct ds_bench *b, uint64_t offset)
{
    return ds_bench_word(b, DS_BENCH_BASE + offset);
}

uint64_t ds_bench_index(struct ds_bench *b)
{
    return *ds_bench_area(b, 0x28) - BUFFER;
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

void ds_bench_init(struct ds_bench *b, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   uint64_t maximum, uint64_t threshold)
{
    memset(b, 0, sizeof *b);
    const struct ds_model_host host = {read64, write64, registers, raise_pmi, recorded, b};
    ds_model_init(&b->model, preset, policy, &host);
    *ds_bench_area(b, 0x20) = BUFFER;
    *ds_bench_area(b, 0x28) = BUFFER;
    *ds_bench_area(b, 0x30) = BUFFER + maximum;
    *ds_bench_area(b, 0x38) = BUFFER + threshold;
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
    ds_bench_write(b, IA32_DS_AREA, DS_BENCH_BASE);
    ds_model_lvtpc_write(&b->model, 0xEE);
    /* every register its own value, so that a swapped pair shows */
    uint64_t *r = (uint64_t *)&b->registers;
    for (size_t i = 0; i < sizeof b->registers / 8; i++)
        r[i] = UINT64_C(0x1111000000000000) * (i % 15 + 1) + i;
}

void ds_bench_pebs_counter(struct ds_bench *b, unsigned i, uint64_t select, uint64_t start, uint64_t reset)
{
    *ds_bench_area(b, 0x40 + 8 * i) = reset;
    ds_bench_write(b, IA32_A_PMC0 + i, start & b->model.counter_mask);
    ds_bench_write(b, IA32_PERFEVTSEL0 + i, select | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN);
    ds_bench_write(b, IA32_PEBS_ENABLE, ds_bench_read(b, IA32_PEBS_ENABLE) | DS_BIT(i));
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, ds_bench_read(b, IA32_PERF_GLOBAL_CTRL) | DS_BIT(i));
}

void ds_bench_step(struct ds_bench *b, unsigned n, unsigned events)
{
    while (n--)
        if (ds_model_retire(&b->model, 1u << DS_MODEL_INSTRUCTION | (n ? 0 : events), 0))
            abort();
}
