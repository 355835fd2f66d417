/* SPDX-License-Identifier: MIT */
/* The experiments, on a machine whose registers are the model's and whose instructions are a list: what the model has
 * been set to is what they answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "ds/model/model.h"
#include "ds/probe/probe.h"
#include "kernel/errno.h"

#define UNMAPPED UINT64_C(0xFFFFC7FFFFFFF000)
#define SLED     UINT64_C(0x100000) /* addresses of the instructions, one sled behind the other */

static struct {
    struct ds_model model;
    struct ds_caps caps;
    uint64_t ip, next; /* of the instruction that retires */
    uint32_t pmis;
    unsigned before;    /* instructions around the code, every other one a branch */
    uint32_t forbidden; /* MSR that raises #GP */
    bool shadow;        /* NOPs behind divisions are not seen */
    bool late, early;   /* EventingIP is the next instruction's; RIP is the instruction's own */
    bool hides;         /* no overflow shows in GLOBAL_STATUS */
    bool hung;          /* counters went on with a PEBS buffer of more than a page, where that hangs */
    uint64_t time;      /* in quarters of a cycle */
    uint64_t way;       /* of a PMI, in cycles */
    uint64_t due;       /* when the PMI has come that was raised first since the code began; 0: none was */
    bool blind;         /* the last jump is not counted */
    bool disarms;       /* a record disarms counters of branches */
    bool posted;        /* a write to LVTPC, of `lvtpc`, is on its way */
    uint32_t lvtpc;
    bool freed; /* counters have been set free, where they would not count before */
} m;
static _Alignas(4096) uint64_t area[512];
static _Alignas(4096) uint8_t buffer[DS_PROBE_BUFFER];
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
    *out = (struct ds_model_registers){.rip = m.early ? m.ip : m.next, .eventing_ip = m.late ? m.next : m.ip};
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context;
    assert_int_equal(lvtpc, ARCH_VECTOR_PROBE);
    m.due = m.due ? m.due : m.time + 4 * m.way;
    m.pmis++;
}

static void page_fault(void *context, uint64_t address, bool write)
{
    (void)context, (void)write;
    assert_false(mapped(address));
}

static void cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)context, (void)subleaf;
    ds_model_cpuid(&m.model, leaf, out);
}

static int rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    (void)context;
    int e = msr == m.forbidden || ds_model_rdmsr(&m.model, msr, value) ? -EFAULT : 0;
    if (m.hides && msr == IA32_PERF_GLOBAL_STATUS)
        *value &= ~m.model.counters;
    return e;
}

/* What two errata make of counters that go on. */
static void counters_on(uint64_t global_ctrl)
{
    static const uint32_t wanted[] = {0x4300B5, 0x4300D2, 0x4300B1, 0x4300B1};
    bool held = global_ctrl == 0xF;
    for (unsigned i = 0; i < 4; i++)
        held &= m.model.perfevtsel[i] == wanted[i];
    m.freed |= held;
    for (unsigned i = 4; i < 8 && m.caps.errata.one_page_buffer; i++) /* PEBS' words, of a buffer that is mapped */
        m.hung |= area[i] && area[i] - (uint64_t)(uintptr_t)buffer > ARCH_PAGE_SIZE;
}

static int wrmsr(void *context, uint32_t msr, uint64_t value)
{
    (void)context;
    if (msr == IA32_PERF_GLOBAL_CTRL && value)
        counters_on(value);
    return msr == m.forbidden || ds_model_wrmsr(&m.model, msr, value) ? -EFAULT : 0;
}

/* A store to a device: done at the latest when it is read back, or when code runs. */
static void post(void)
{
    if (m.posted)
        ds_model_lvtpc_write(&m.model, m.lvtpc);
    m.posted = false;
}

static uint32_t lvtpc_read(void *context)
{
    (void)context;
    post();
    return m.model.lvtpc;
}

static void lvtpc_write(void *context, uint32_t value)
{
    (void)context;
    m.posted = true;
    m.lvtpc = value;
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
};

static void retire(uint64_t ip, uint64_t next, bool branch)
{
    const struct ds_model_branch b = {.from = ip, .to = next};
    const struct ds_model_retired r = {.events = 1u << DS_MODEL_INSTRUCTION |
                                                 (branch ? 1u << DS_MODEL_BRANCH | 1u << DS_MODEL_BRANCH_TAKEN : 0),
                                       .branch = branch ? &b : NULL};
    m.ip = ip;
    m.next = next;
    const bool last_jump = ip == sleds[DS_PROBE_JUMPS].start + 2 * (DS_PROBE_JUMPS_COUNT - 1);
    if ((!m.freed && m.caps.errata.counters_stuck) || (m.blind && last_jump))
        return;
    static struct ds_model before;
    if (m.disarms)
        before = m.model;
    ds_model_retire(&m.model, &r);
    for (unsigned c = 0; m.disarms && !branch && m.model.records > before.records && c < DS_GP_MAX; c++)
        if (before.armed & DS_BIT(c) && (m.model.perfevtsel[c] & 0xFF) == 0xC4) {
            m.model.value[c] = before.value[c];
            m.model.armed &= ~DS_BIT(c);
            m.model.global_status &= ~DS_BIT(c);
        }
}

/* As on a fast processor: a division takes 10 cycles, anything else a quarter of one. */
static void retire_timed(uint64_t ip, uint64_t next, bool branch, bool slow)
{
    m.time += slow ? 40 : 1;
    retire(ip, next, branch);
}

static uint64_t execute(void *context, enum ds_probe_code code, uint32_t *pmis)
{
    const struct ds_probe_sled *s = &sleds[code];
    const uint64_t records = m.model.records, branches = m.model.bts_records;
    uint64_t ip = s->start;
    (void)context;
    post();
    for (unsigned i = 0; i < m.before; i++)
        retire(0x1000 + i, 0x1001 + i, i % 2);
    const uint64_t start = m.time;
    m.due = 0;
    for (unsigned i = 0; code != DS_PROBE_MIXED && i < s->count; i++, ip += s->bytes)
        retire_timed(ip, ip + s->bytes, code == DS_PROBE_JUMPS, code == DS_PROBE_SLOW);
    for (unsigned i = 0; code == DS_PROBE_MIXED && i < 8 * s->count; i++) {
        uint64_t next = ip + (i % 8 ? 1 : 3);
        if (!(m.shadow && i % 8))
            retire_timed(ip, next, false, i % 8 == 0);
        ip = next;
    }
    for (unsigned i = 0; code == DS_PROBE_JUMPS && i < DS_PROBE_AFTER_JUMPS; i++, ip++)
        retire_timed(ip, ip + 1, false, false);
    retire_timed(ip, 0x2000, true, false); /* RET */
    const uint32_t handled = m.due && m.due <= m.time;
    const uint64_t cycles = (m.time - start) / 4;
    for (unsigned i = 0; i < m.before; i++)
        retire(0x2000 + i, 0x2001 + i, i % 2);
    if (pmis)
        *pmis = handled;
    /* what each thing takes, beside the code itself */
    return cycles + (pmis ? 500 * handled : 0) + 40 * (m.model.records - records) +
           7 * (m.model.bts_records - branches);
}

static uint32_t interrupts(void *context)
{
    uint32_t pmis = m.pmis;
    (void)context;
    m.pmis = 0;
    return pmis;
}

static struct ds_probe_bench bench = {.machine = &machine,
                                      .caps = &m.caps,
                                      .area = area,
                                      .buffer = buffer,
                                      .unmapped = UNMAPPED,
                                      .no_unmapped = "nobody dares",
                                      .vector = ARCH_VECTOR_PROBE,
                                      .execute = execute,
                                      .interrupts = interrupts};
static struct ds_probe_result results[DS_PROBE_ROWS];
static struct ds_probe_cost costs[DS_PROBE_COSTS];

static void set_up(const struct ds_model_preset *preset, const struct ds_model_policy *policy)
{
    const struct ds_model_host host = {.read = read_memory,
                                       .write = write_memory,
                                       .registers = registers,
                                       .raise_pmi = raise_pmi,
                                       .page_fault = page_fault};
    memset(&m, 0, sizeof m);
    memcpy(bench.sled, sleds, sizeof sleds);
    bench.unmapped = UNMAPPED;
    bench.copy = copy;
    bench.driver = bench.driver ? bench.driver : calloc(1, ds_cpu_bytes());
    bench.samples = 5;
    m.before = 14;
    ds_model_init(&m.model, preset, policy, &host);
    ds_detect(&machine, &m.caps);
}

static void probe(void)
{
    char error[160] = "";
    if (ds_probe_all(&bench, results, costs, error, sizeof error))
        fail_msg("%s: %s", m.model.preset->name, error);
    post();
}

static const struct ds_probe_result *result(const char *name)
{
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
        if (strcmp(ds_probe_rows[i].name, name) == 0)
            return &results[i];
    fail_msg("no row %s", name);
    return NULL;
}

/* What of a preset cannot be seen, and why; NULL: it can be. */
static const char *hidden(const struct ds_model_preset *p, const char *policy)
{
    if (strcmp(policy, "bystander") == 0 && p->format == 0)
        return "needs two counters with PEBS, one of them for branches";
    if (strcmp(policy, "eventing_ip") == 0 && p->format < 2)
        return "records of this format have no EventingIP";
    if (strcmp(policy, "rip") == 0 && p->format == 0)
        return "needs two counters with PEBS, one of them for branches";
    if (strncmp(policy, "pdist", 5) == 0 && (p->format == 0 || strcmp(p->name, "nehalem") == 0))
        return "no counter with precise distribution";
    return NULL;
}

/* What the model does, as it has been set. */
static const char *expected(const struct ds_probe_row *row, const struct ds_model_policy *policy)
{
    for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
        if (strcmp(ds_model_policies[i].name, row->name) == 0)
            return ds_model_policy_value(policy, &ds_model_policies[i]);
    return row->model;
}

static void expect(const struct ds_model_preset *p, const struct ds_model_policy *policy)
{
    set_up(p, policy);
    probe();
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++) {
        const struct ds_probe_row *row = &ds_probe_rows[i];
        const char *why = hidden(p, row->name), *does = expected(row, policy);
        if (strcmp(results[i].answer, why ? "" : does) != 0 || (why && strcmp(results[i].evidence, why) != 0))
            fail_msg("%s: %s is %s, answered '%s': %s", p->name, row->name, does, results[i].answer,
                     results[i].evidence);
    }
}

static void policies(void **state) /* each value of each, on each processor */
{
    (void)state;
    for (unsigned n = 0; n < DS_MODEL_PRESETS; n++)
        for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
            for (unsigned v = 0; ds_model_policies[i].values[v]; v++) {
                struct ds_model_policy policy = {0};
                ds_model_policy_set(&policy, ds_model_policies[i].name, ds_model_policies[i].values[v]);
                expect(&ds_model_presets[n], &policy);
            }
}

static void together(void **state) /* all of them at once */
{
    (void)state;
    for (unsigned n = 0; n < DS_MODEL_PRESETS; n++)
        for (unsigned v = 0; v < 3; v++) {
            struct ds_model_policy policy = {0};
            for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
                if (ds_model_policies[i].values[v])
                    ds_model_policy_set(&policy, ds_model_policies[i].name, ds_model_policies[i].values[v]);
            expect(&ds_model_presets[n], &policy);
        }
}

static void shadow(void **state) /* a processor that records slow instructions alone */
{
    (void)state;
    set_up(ds_model_preset("skylake"), NULL);
    m.shadow = true;
    probe();
    assert_string_equal(result("shadow")->answer, "uneven");
    assert_non_null(strstr(result("shadow")->evidence, "of the NOPs behind them 0 0 0 0 0 0 0"));
}

static void addresses(void **state) /* records that have others than the manual says */
{
    (void)state;
    for (unsigned n = 0; n < DS_MODEL_PRESETS; n++)
        for (unsigned before = 0; before <= 32; before += 8) {
            const struct ds_model_preset *p = &ds_model_presets[n];
            set_up(p, NULL);
            m.before = before;
            m.late = m.early = true;
            probe();
            assert_string_equal(result("eventing_ip")->answer, p->format < 2 ? "" : "next");
            assert_string_equal(result("rip")->answer, p->format < 2 ? "" : "eventing");
            set_up(p, NULL);
            m.before = before;
            m.late = true;
            probe();
            assert_string_equal(result("eventing_ip")->answer, p->format < 2 ? "" : "next");
            assert_string_equal(result("rip")->answer, p->format == 0 ? "" : "next");
        }
}

/* What cannot be told from each other: both addresses the instruction's own, and both the next one's of a processor
 * that never records the last jump. */
static void addresses_unknown(void **state)
{
    (void)state;
    for (unsigned n = 0; n < DS_MODEL_PRESETS; n++)
        for (unsigned i = 0; i < 3; i++) {
            const struct ds_model_preset *p = &ds_model_presets[n];
            set_up(p, NULL);
            m.early = i == 0;
            m.blind = i > 0;
            m.late = i == 2;
            probe();
            assert_string_equal(result("eventing_ip")->answer, "");
            assert_string_equal(result("rip")->answer, "");
            if (p->format >= 2)
                assert_non_null(strstr(result("rip")->evidence, "no record has the address of the NOP behind"));
        }
}

/* A record of another counter that disarms one, without reloading it. */
static void bystander_disarmed(void **state)
{
    static const char *const presets[] = {"haswell", "skylake"}; /* a format that reloads it, one that does not */
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        set_up(ds_model_preset(presets[i]), NULL);
        m.disarms = true;
        probe();
        assert_string_equal(result("bystander")->answer, "other");
        assert_non_null(strstr(result("bystander")->evidence, "disarmed, not reloaded; its own never came"));
    }
}

static void hidden_overflow(void **state) /* a processor whose status shows no overflow before the record */
{
    (void)state;
    set_up(ds_model_preset("skylake"), NULL);
    m.hides = true;
    probe();
    assert_string_equal(result("overflow_bit")->answer, "clear");
    set_up(ds_model_preset("skylake"), NULL);
    probe();
    assert_string_equal(result("overflow_bit")->answer, "set");
    assert_non_null(strstr(result("overflow_bit")->evidence, "GLOBAL_STATUS 0x2; behind its record: 0x0"));
}

static const struct ds_probe_cost *cost(const char *name)
{
    for (unsigned i = 0; i < DS_PROBE_COSTS; i++)
        if (strcmp(ds_probe_costs[i].name, name) == 0)
            return &costs[i];
    fail_msg("no cost %s", name);
    return NULL;
}

static void measured(void **state) /* what a record, a branch and an interrupt take: no more, no less */
{
    (void)state;
    for (unsigned n = 0; n < DS_MODEL_PRESETS; n++) {
        const struct ds_model_preset *p = &ds_model_presets[n];
        set_up(p, NULL);
        m.way = 1500;
        probe();
        for (unsigned i = 0; i < DS_PROBE_COSTS; i++) {
            const uint64_t takes = strcmp(ds_probe_costs[i].name, "pmi") == 0   ? 500
                                   : strcmp(ds_probe_costs[i].name, "bts") == 0 ? 7
                                                                                : 40;
            const bool there = !ds_probe_costs[i].groups ||
                               (p->baseline && (p->format >= 6 || strcmp(ds_probe_costs[i].name, "record_counters")));
            if (strcmp(ds_probe_costs[i].name, "drain") == 0)
                continue;
            if (costs[i].samples != (there ? bench.samples : 0) ||
                (there && (costs[i].least != takes || costs[i].median != takes || costs[i].p99 != takes)))
                fail_msg("%s: %s: %u samples, %lu %lu %lu: %s", p->name, ds_probe_costs[i].name, costs[i].samples,
                         costs[i].least, costs[i].median, costs[i].p99, costs[i].reason);
            if (!there)
                assert_string_equal(costs[i].reason, "records of this format have no such group");
        }
        assert_int_equal(cost("drain")->samples, bench.samples); /* what the host takes is the host's */
    }
}

static void late_pmi(void **state) /* one that comes behind the code is no sample of 0 */
{
    (void)state;
    set_up(ds_model_preset("skylake"), NULL);
    m.way = 1000000;
    probe();
    assert_int_equal(cost("pmi")->samples, 0);
    assert_string_equal(cost("pmi")->reason, "none came");
}

/* A processor of two kinds of cores: one CPU of each is asked, and each answers for itself. */
static void kinds(void **state)
{
    (void)state;
    static const struct {
        const char *like;
        uint32_t signature;
    } hybrids[] = {{"sapphirerapids", 0x000B0671}, {"arrowlake", 0x000C0662}};
    static struct ds_caps caps[7];
    for (unsigned h = 0; h < sizeof hybrids / sizeof hybrids[0]; h++) {
        struct ds_model_preset big = *ds_model_preset(hybrids[h].like), small;
        big.signature = hybrids[h].signature;
        big.core_type = CPUID_1AH_EAX_CORE;
        small = big;
        small.core_type = CPUID_1AH_EAX_ATOM;
        small.gp_counters = 6;
        small.fixed_counters = 3;
        small.pebs_counters = UINT64_C(0x70000003F);
        small.perf_metrics = small.load_latency = false;
        const struct ds_model_preset *const cores[] = {&big, &big, &small, &big, &small, &small};
        for (unsigned i = 0; i < 6; i++) {
            set_up(cores[i], NULL);
            caps[i] = m.caps;
        }
        uint32_t cpus[4] = {9, 9, 9, 9};
        assert_int_equal(ds_probe_kinds(caps, 6, cpus, 4), 2);
        assert_true(cpus[0] == 0 && cpus[1] == 2 && cpus[2] == 9);
        assert_int_equal(ds_probe_kinds(caps, 6, cpus, 1), 1);
        assert_int_equal(ds_probe_kinds(caps + 2, 1, cpus, 4), 1);
        caps[6] = caps[0];
        caps[6].pebs = false; /* of one kind, but its PEBS is not usable */
        assert_int_equal(ds_probe_kinds(caps, 7, cpus, 4), 3);
        assert_int_equal(cpus[2], 6);
        for (unsigned k = 0; k < 2; k++) {
            set_up(cores[cpus[k]], NULL);
            assert_int_equal(m.caps.core_type, cores[cpus[k]]->core_type);
            m.model.policy.drop_keeps_overflow = k == 1; /* what they do differs, too */
            probe();
            assert_string_equal(result("drop_reload")->answer, k ? "no" : "yes");
            assert_string_equal(result("fit")->answer, "end_le");
            assert_string_equal(result("bystander")->answer, "by_format");
        }
    }
}

static void sorted(void **state)
{
    (void)state;
    struct ds_probe_cost c;
    uint64_t sample[DS_PROBE_SAMPLES];
    for (unsigned i = 0; i < DS_PROBE_SAMPLES; i++)
        sample[i] = 1 + i * 37 % DS_PROBE_SAMPLES; /* 1 to 64 in disorder */
    ds_probe_cost_of(&c, sample, DS_PROBE_SAMPLES);
    assert_int_equal(c.least, 1);
    assert_int_equal(c.median, 33);
    assert_int_equal(c.p99, 64);
    sample[0] = 9;
    ds_probe_cost_of(&c, sample, 1);
    assert_true(c.samples == 1 && c.least == 9 && c.median == 9 && c.p99 == 9);
    ds_probe_cost_of(&c, sample, 0);
    assert_int_equal(c.samples, 0);
}

static void surroundings(void **state) /* however many instructions there are around the code, within what is allowed */
{
    (void)state;
    static const struct ds_model_policy none;
    for (unsigned before = 0; before <= 32; before++) {
        set_up(ds_model_preset("skylake"), &none);
        m.before = before;
        probe();
        for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
            if (!hidden(m.model.preset, ds_model_policies[i].name))
                assert_string_equal(result(ds_model_policies[i].name)->answer, ds_model_policies[i].values[0]);
    }
}

static void given_back(void **state) /* every register is what it was */
{
    (void)state;
    for (unsigned n = 0; n < DS_MODEL_PRESETS; n++) {
        struct ds_model before;
        set_up(&ds_model_presets[n], NULL);
        ds_model_wrmsr(&m.model, IA32_DS_AREA, 0x1234000);
        ds_model_wrmsr(&m.model, IA32_PERFEVTSEL0, 0x4300C0);
        ds_model_wrmsr(&m.model, IA32_PMC0, 77);
        ds_model_wrmsr(&m.model, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
        ds_model_lvtpc_write(&m.model, 0xEE);
        memcpy(&before, &m.model, sizeof before);
        probe();
        assert_memory_equal(before.value, m.model.value, sizeof before.value);
        assert_memory_equal(before.perfevtsel, m.model.perfevtsel, sizeof before.perfevtsel);
        assert_int_equal(before.ds_area, m.model.ds_area);
        assert_int_equal(before.debugctl, m.model.debugctl);
        assert_int_equal(before.lvtpc, m.model.lvtpc);
        assert_int_equal(before.global_ctrl, m.model.global_ctrl);
        assert_int_equal(m.model.pebs_enable | m.model.global_status | m.model.data_cfg, 0);
    }
}

static void not_tried(void **state)
{
    (void)state;
    set_up(ds_model_preset("icelake"), NULL);
    bench.unmapped = 0;
    probe();
    assert_string_equal(result("unmapped")->answer, "");
    assert_string_equal(result("unmapped")->evidence, "nobody dares");
    assert_int_equal(m.model.lost, 0);
    assert_string_equal(result("fit")->answer, "end_le");
}

/* Where an erratum hangs a processor whose PEBS buffer has more than a page. */
static void one_page(void **state)
{
    (void)state;
    unsigned of_one_page = 0;
    for (unsigned n = 0; n < DS_MODEL_PRESETS; n++) {
        set_up(&ds_model_presets[n], NULL);
        bench.unmapped = 0; /* elsewhere, and only under an emulator */
        of_one_page += m.caps.errata.one_page_buffer;
        probe();
        assert_false(m.hung);
        assert_string_equal(result("fit")->answer, "end_le");
        assert_string_equal(result("threshold_again")->answer, "yes");
        assert_int_equal(cost("drain")->samples, bench.samples);
    }
    assert_int_equal(of_one_page, 1); /* Penryn */
}

static void stuck_counters(void **state) /* processors whose counters do not count before they have been set free */
{
    (void)state;
    set_up(ds_model_preset("nehalem"), NULL);
    assert_true(m.caps.errata.counters_stuck);
    probe();
    assert_true(m.freed);
    assert_string_equal(result("spacing")->answer, "n_plus_1");
    set_up(ds_model_preset("skylake"), NULL);
    probe();
    assert_false(m.freed);
}

static void refused(void **state) /* an MSR that a question needs raises #GP */
{
    (void)state;
    char error[160];
    set_up(ds_model_preset("icelake"), NULL);
    m.forbidden = IA32_PERF_GLOBAL_OVF_CTRL;
    assert_int_equal(ds_probe_all(&bench, results, costs, error, sizeof error), -EFAULT);
    assert_string_equal(error, "MSR 0x390 raises #GP where it is given back");
    assert_string_equal(result("masked_pmi")->answer, "");
    assert_string_equal(result("masked_pmi")->evidence, "MSR 0x390 raises #GP where it is written");
    m.forbidden = IA32_PEBS_ENABLE;
    assert_int_equal(ds_probe_all(&bench, results, costs, error, sizeof error), -EFAULT);
    assert_string_equal(error, "MSR 0x3f1 raises #GP where it is read");
}

static void dead(void **state) /* counters that stand still: nothing is concluded from nothing */
{
    (void)state;
    static const char *const silent[] = {"fit",       "drop_reload",     "masked_pmi",    "bystander", "pdist_minimum",
                                         "unmapped",  "spacing",         "pdist_spacing", "shadow",    "full_signal",
                                         "self_mask", "threshold_again", "eventing_ip",   "rip",       "overflow_bit"};
    set_up(ds_model_preset("icelake"), NULL);
    m.model.counter_mask = UINT64_MAX; /* none comes to its end */
    probe();
    for (unsigned i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        assert_string_equal(result(silent[i])->answer, "");
        assert_string_equal(result(silent[i])->evidence, "counter 1 makes no record of retired instructions");
    }
    assert_string_equal(result("reserved")->answer, "fault");
    assert_string_equal(result("bts_full")->answer, "stop");
    assert_int_equal(cost("record")->samples, 0);
    assert_int_equal(cost("bts")->samples, bench.samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies),
        cmocka_unit_test(together),
        cmocka_unit_test(surroundings),
        cmocka_unit_test(given_back),
        cmocka_unit_test(not_tried),
        cmocka_unit_test(refused),
        cmocka_unit_test(dead),
        cmocka_unit_test(shadow),
        cmocka_unit_test(measured),
        cmocka_unit_test(sorted),
        cmocka_unit_test(addresses),
        cmocka_unit_test(hidden_overflow),
        cmocka_unit_test(kinds),
        cmocka_unit_test(addresses_unknown),
        cmocka_unit_test(bystander_disarmed),
        cmocka_unit_test(late_pmi),
        cmocka_unit_test(one_page),
        cmocka_unit_test(stuck_counters),
    };
    return cmocka_run_group_tests_name("ds_probe", tests, NULL, NULL);
}
