/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/ds/probe/probe_machine.h"
#include "tests/unit/support/cmocka.h"

#include "arch/arch.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/errno.h"

#define UNMAPPED UINT64_C(0xFFFFC7FFFFFFF000)
#define SLED     UINT64_C(0x100000) /* addresses of the instructions, one sled behind the other */

struct probe_fake fake;
static _Alignas(4096) uint64_t area[512];
static _Alignas(DS_PROBE_BUFFER) uint8_t buffer[DS_PROBE_BUFFER];
static uint8_t copy[DS_PROBE_BUFFER / 2];

static bool mapped(uint64_t address)
{
    return address - UNMAPPED >= 4096;
}

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    (void)context;
    if (mapped(address))
        memcpy(to, (const void *)(uintptr_t)address, size);
    return mapped(address);
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    (void)context;
    if (mapped(address))
        memcpy((void *)(uintptr_t)address, from, size);
    return mapped(address);
}

static void registers(void *context, struct ds_model_registers *out)
{
    (void)context;
    *out = (struct ds_model_registers){.rip = fake.early ? fake.ip : fake.next,
                                       .eventing_ip = fake.late ? fake.next : fake.ip};
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context;
    assert_int_equal(lvtpc, ARCH_VECTOR_PROBE);
    fake.due = fake.due ? fake.due : fake.time + 4 * fake.way;
    fake.pmis++;
}

static void page_fault(void *context, uint64_t address, bool write)
{
    (void)context, (void)write;
    assert_false(mapped(address));
}

static void cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)context;
    ds_model_cpuid(&fake.model, leaf, subleaf, out);
    if (leaf == 1 && fake.hypervisor)
        out[2] |= CPUID_01H_ECX_HYPERVISOR;
}

static int rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    (void)context;
    ds_model_late(&fake.model);
    int e = msr == fake.forbidden || ds_model_rdmsr(&fake.model, msr, value) ? -EFAULT : 0;
    if (fake.hides && msr == IA32_PERF_GLOBAL_STATUS)
        *value &= ~fake.model.counters;
    return e;
}

/* Whether errata make records of INST_RETIRED.PREC_DIST wrong. */
static bool wrong(uint64_t period)
{
    const struct ds_errata *e = &fake.caps.errata;
    return ((e->period_64 || e->period_128) && period < 128) || (e->period_64 && period % 64);
}

/* What some errata make of counters that go on. */
static void counters_on(uint64_t global_ctrl)
{
    static const uint32_t wanted[] = {0x4300B5, 0x4300D2, 0x4300B1, 0x4300B1};
    bool held = global_ctrl == 0xF;
    for (unsigned i = 0; i < 4; i++)
        held &= fake.model.perfevtsel[i] == wanted[i];
    fake.freed |= held;
    if (fake.model.pebs & 2 && global_ctrl & 2 && (fake.model.perfevtsel[1] & 0xFFFF) == 0x01C0)
        fake.erroneous |= wrong(fake.first) || wrong(-area[9] & fake.model.counter_mask);
    for (unsigned i = 4; i < 8 && fake.caps.errata.one_page_buffer; i++) /* PEBS' words, of a buffer that is mapped */
        fake.hung |= area[i] && area[i] - (uint64_t)(uintptr_t)buffer > ARCH_PAGE_SIZE;
}

static int wrmsr(void *context, uint32_t msr, uint64_t value)
{
    (void)context;
    ds_model_late(&fake.model);
    if (msr == IA32_PERF_GLOBAL_CTRL && value)
        counters_on(value);
    if (msr == IA32_PMC0 + 1 || msr == IA32_A_PMC0 + 1)
        fake.first = -value & fake.model.counter_mask;
    if (msr == IA32_PEBS_BASE && fake.rounds)
        value &= ~(ia32_pebs_base_bytes(value) - 1) | IA32_PEBS_BASE_SIZE;
    if (msr == fake.forbidden || (msr == IA32_PEBS_BASE && value & fake.base_bits))
        return -EFAULT;
    return ds_model_wrmsr(&fake.model, msr, value) ? -EFAULT : 0;
}

/* A store to a device: done at the latest when it is read back, or when code runs. */
static void post(void)
{
    if (fake.posted)
        ds_model_lvtpc_write(&fake.model, fake.lvtpc);
    fake.posted = false;
}

static uint32_t lvtpc_read(void *context)
{
    (void)context;
    post();
    return fake.model.lvtpc;
}

static void lvtpc_write(void *context, uint32_t value)
{
    (void)context;
    fake.posted = true;
    fake.lvtpc = value;
}

static const struct ds_machine machine = {.backend = "model",
                                          .cpuid = cpuid,
                                          .rdmsr = rdmsr,
                                          .wrmsr = wrmsr,
                                          .lvtpc_read = lvtpc_read,
                                          .lvtpc_write = lvtpc_write};

static const struct ds_probe_sled sleds[DS_PROBE_CODES] = {
    [DS_PROBE_NOPS] = {SLED, DS_PROBE_NOPS_COUNT, 1},
    [DS_PROBE_SLOW] = {2 * SLED, DS_PROBE_SLOW_COUNT, 3},
    [DS_PROBE_JUMPS] = {3 * SLED, DS_PROBE_JUMPS_COUNT, 2},
    [DS_PROBE_MIXED] = {4 * SLED, DS_PROBE_MIXED_COUNT, DS_PROBE_MIXED_BYTES},
    [DS_PROBE_MORE_JUMPS] = {5 * SLED, DS_PROBE_MORE_JUMPS_COUNT, 2},
};

static void retire(uint64_t ip, uint64_t next, bool branch)
{
    const struct ds_model_branch b = {.from = ip, .to = next};
    const struct ds_model_retired r = {.events = DS_BIT(DS_MODEL_INSTRUCTION) |
                                                 (branch ? DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_BRANCH_TAKEN) : 0),
                                       .branch = branch ? &b : NULL};
    fake.ip = ip;
    fake.next = next;
    const bool last_jump = ip == sleds[DS_PROBE_JUMPS].start + 2 * (DS_PROBE_JUMPS_COUNT - 1);
    if ((!fake.freed && fake.caps.errata.counters_stuck) || (fake.blind && last_jump))
        return;
    static struct ds_model before;
    if (fake.disarms)
        before = fake.model;
    ds_model_retire(&fake.model, &r);
    for (unsigned c = 0; fake.disarms && !branch && fake.model.records > before.records && c < DS_GP_MAX; c++)
        if (before.armed & DS_BIT(c) && (fake.model.perfevtsel[c] & 0xFF) == 0xC4) {
            fake.model.value[c] = before.value[c];
            fake.model.armed &= ~DS_BIT(c);
            fake.model.global_status &= ~DS_BIT(c);
        }
}

/* As on a fast processor: a division takes 10 cycles, anything else a quarter of one. */
static void retire_timed(uint64_t ip, uint64_t next, bool branch, bool slow)
{
    fake.time += slow ? 40 : 1;
    retire(ip, next, branch);
}

static uint64_t execute(void *context, enum ds_probe_code code, uint32_t *pmis)
{
    const struct ds_probe_sled *s = &sleds[code];
    uint64_t ip = s->start;
    (void)context;
    post();
    if (fake.no_slots)
        memset(area + 8, 0, sizeof area - 64);
    for (unsigned i = 0; i < fake.before; i++)
        retire(0x1000 + i, 0x1001 + i, i % 2);
    const uint64_t start = fake.time, records = fake.model.records, branches = fake.model.bts_records;
    fake.due = 0;
    retire_timed(0x1800, s->start, true, false); /* the call */
    for (unsigned i = 0; code != DS_PROBE_MIXED && i < s->count; i++, ip += s->bytes)
        retire_timed(ip, ip + s->bytes, code == DS_PROBE_JUMPS || code == DS_PROBE_MORE_JUMPS, code == DS_PROBE_SLOW);
    for (unsigned i = 0; code == DS_PROBE_MIXED && i < 8 * s->count; i++) {
        uint64_t next = ip + (i % 8 ? 1 : 3);
        if (!(fake.shadow && i % 8))
            retire_timed(ip, next, false, i % 8 == 0);
        ip = next;
    }
    for (unsigned i = 0; code == DS_PROBE_JUMPS && i < DS_PROBE_AFTER_JUMPS; i++, ip++)
        retire_timed(ip, ip + 1, false, false);
    retire_timed(ip, 0x2000, true, false); /* RET */
    const uint32_t handled = fake.due && fake.due <= fake.time;
    /* what each thing takes, beside the code itself */
    const uint64_t cycles = (fake.time - start) / 4 + (pmis ? 500 * handled : 0) + 40 * (fake.model.records - records) +
                            7 * (fake.model.bts_records - branches);
    for (unsigned i = 0; i < fake.before; i++)
        retire(0x2000 + i, 0x2001 + i, i % 2);
    if (pmis)
        *pmis = handled;
    if (fake.spills && fake.model.pebs_index & IA32_PEBS_INDEX_FULL)
        buffer[ARCH_PAGE_SIZE] = 1;
    if (!fake.of_groups || fake.model.data_cfg & fake.of_groups)
        *(uint64_t *)buffer -= (uint64_t)fake.fewer << 48;
    return cycles;
}

static uint32_t interrupts(void *context)
{
    uint32_t pmis = fake.pmis;
    (void)context;
    fake.pmis = 0;
    return pmis;
}

struct ds_probe_bench bench = {.machine = &machine,
                               .caps = &fake.caps,
                               .area = area,
                               .buffer = buffer,
                               .unmapped = UNMAPPED,
                               .no_unmapped = "nobody dares",
                               .vector = ARCH_VECTOR_PROBE,
                               .execute = execute,
                               .interrupts = interrupts};
struct ds_probe_result results[DS_PROBE_ROWS];
struct ds_probe_cost costs[DS_PROBE_COSTS];

void set_up(const struct ds_model_preset *preset, const struct ds_model_policy *policy)
{
    const struct ds_model_host host = {.read = read_memory,
                                       .write = write_memory,
                                       .read_physical = read_memory,
                                       .write_physical = write_memory,
                                       .registers = registers,
                                       .raise_pmi = raise_pmi,
                                       .page_fault = page_fault};
    memset(&fake, 0, sizeof fake);
    memcpy(bench.sled, sleds, sizeof sleds);
    bench.unmapped = UNMAPPED;
    bench.copy = copy;
    bench.driver = bench.driver ? bench.driver : calloc(1, ds_cpu_bytes());
    bench.samples = 5;
    fake.before = 14;
    struct ds_model_policy every = policy ? *policy : (struct ds_model_policy){0};
    every.unlisted = DS_MODEL_UNLISTED_RECORD; /* so each question has an answer */
    ds_model_init(&fake.model, preset, &every, &host);
    ds_detect(&machine, &fake.caps);
}

void probe(void)
{
    char error[160] = "";
    if (ds_probe_all(&bench, results, costs, error, sizeof error))
        fail_msg("%s: %s", fake.model.preset->name, error);
    post();
}

const struct ds_probe_result *result(const char *name)
{
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
        if (strcmp(ds_probe_rows[i].name, name) == 0)
            return &results[i];
    fail_msg("no row %s", name);
    return NULL;
}

const struct ds_probe_cost *cost(const char *name)
{
    for (unsigned i = 0; i < DS_PROBE_COSTS; i++)
        if (strcmp(ds_probe_costs[i].name, name) == 0)
            return &costs[i];
    fail_msg("no cost %s", name);
    return NULL;
}
