/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS of the model against a second implementation (ds_naive_arch.h), as test_property.c does with the
 * Debug Store's. Random programs for each kind of core: registers are written under all their names, at random moments,
 * legal or not. Both must agree after every single instruction, in every register, in every byte of the buffer and in
 * the status each PMI found.
 *
 * Each core gets CAIRN_STEPS instructions, a million by default; `make test` does with fewer (tests/run.py).
 *
 * Longer than 500 lines: of each register, how it is written stands beside how it is compared.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "ds/model/variant/variant.h"
#include "kernel/lib/errno.h"
#include "tests/unit/model/property/random.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"
#include "tests/unit/support/ds_naive_arch.h"

enum { GP = DS_NAIVE_GP, COUNTERS = DS_NAIVE_COUNTERS, PROGRAM = PROPERTY_PROGRAM, CODES = 7 };

static bool coin(void)
{
    return random_below(2);
}
struct naive_code {
    uint64_t code;
    int event;
    uint32_t listed; /* counters on which PEBS is said to record it; 0: all */
};
#define FAR_BRANCH (UINT64_C(1) << 40 | 0x00C4)
static const struct naive_code cougarcove[CODES] = {
    {0xC0, DS_MODEL_INSTRUCTION, 0}, {0x3C, DS_MODEL_INSTRUCTION, 0}, {0xC4, DS_MODEL_BRANCH, 0},
    {0x81D0, DS_MODEL_LOAD, 0},      {0x82D0, DS_MODEL_STORE, 0},     {FAR_BRANCH, DS_MODEL_FAR_BRANCH, 0},
    {0x02CD, DS_MODEL_STORE, 3},
};
static const struct naive_code darkmont[CODES] = {
    {0xC0, DS_MODEL_INSTRUCTION, 0}, {0x3C, DS_MODEL_INSTRUCTION, 0}, {0xC4, DS_MODEL_BRANCH, 0},
    {0x81D0, DS_MODEL_LOAD, 0},      {0x82D0, DS_MODEL_STORE, 0},     {FAR_BRANCH, -1, 0},
    {0x06D0, DS_MODEL_STORE, 0},
};

static const struct core {
    const char *name, *preset;
    bool efficient;
    int gp, fixed;
    uint64_t groups; /* that CFG_C may name: CPUID.23H.4:EBX */
    const struct naive_code *codes;
} cores[] = {
    {"cougarcove", "pantherlake", false, 10, 4, 0x60020378, cougarcove},
    {"darkmont", "pantherlake", true, 8, 3, 0x60020338, darkmont},
    {"clearwaterforest", "clearwaterforest", false, 8, 3, 0x60020338, darkmont},
};

static struct ds_bench bench, *b = &bench;
static struct ds_naive_arch naive, *a = &naive;
static struct ds_naive *const n = &naive.n;
static const struct core *core;
static struct { /* what was written, to be read again */
    uint64_t cfg_a[COUNTERS], cfg_b[COUNTERS], cfg_c[COUNTERS], fixed_ctrl, global;
} kept;

static bool exists(int c)
{
    return c < GP ? c < core->gp : c - GP < core->fixed;
}

static int random_counter(void)
{
    int c;
    do
        c = (int)random_below(COUNTERS);
    while (!exists(c));
    return c;
}

/* ---- registers, by one of their names ---------------------------------------------------------------------------- */

static uint32_t ctr_msr(int c)
{
    if (c >= GP)
        return coin() ? 0x309 + (uint32_t)(c - GP) : 0x1980 + 4 * (uint32_t)(c - GP);
    return coin() ? 0x4C1 + (uint32_t)c : 0x1900 + 4 * (uint32_t)c;
}

static uint32_t cfg_a_msr(int c)
{
    return coin() ? 0x186 + (uint32_t)c : 0x1901 + 4 * (uint32_t)c;
}

static uint32_t cfg_b_msr(int c)
{
    return c < GP ? 0x1902 + 4 * (uint32_t)c : 0x1982 + 4 * (uint32_t)(c - GP);
}

static uint32_t cfg_c_msr(int c)
{
    return c < GP ? 0x1903 + 4 * (uint32_t)c : 0x1983 + 4 * (uint32_t)(c - GP);
}

/* CPUID.23H.2: counters that are reloaded, or that reload. */
static uint64_t acr(int first)
{
    uint32_t r[4];
    ds_model_cpuid(&b->model, 0x23, 2, r);
    return r[first] | (uint64_t)r[first + 1] << 32;
}

static void write_counter(int c)
{
    n->counter[c].left = 1 + random_below(20);
    n->counter[c].armed = false;
    if (c < GP && random_one_in(4)) /* the low 32 bits, sign-extended */
        ds_bench_write(b, IA32_PMC0 + (uint32_t)c, ds_naive_value(n, c) & UINT32_MAX);
    else
        ds_bench_write(b, ctr_msr(c), ds_naive_value(n, c));
}

static void enabled_now(void)
{
    for (int c = 0; c < COUNTERS; c++)
        n->counter[c].enabled = (kept.global & ds_naive_bit(c)) && (c >= GP || (kept.cfg_a[c] >> 22 & 1));
}

static void write_cfg_a(int c)
{
    struct ds_naive_counter *k = &n->counter[c];
    struct ds_naive_arch_counter *k2 = &a->counter[c];
    const struct naive_code *code = &core->codes[random_below(CODES)];
    k->event = code->event;
    k->ring[0] = coin();
    k->ring[1] = coin();
    k->interrupts = random_one_in(4);
    k2->recorded = n->policy.unlisted == DS_MODEL_UNLISTED_RECORD || !code->listed || (code->listed >> c & 1);
    k2->cmask = code->listed || coin() ? 0 : random_one_in(4) ? 2 : 1;
    k2->inverted = random_one_in(4);
    k2->equal = coin();
    k2->edge = random_one_in(4);
    k2->asserted = false;
    kept.cfg_a[c] = code->code | (k->ring[1] ? DS_BIT(16) : 0) | (k->ring[0] ? DS_BIT(17) : 0) |
                    (k2->edge ? DS_BIT(18) : 0) | (k->interrupts ? DS_BIT(20) : 0) |
                    (random_one_in(8) ? 0 : DS_BIT(22)) | (k2->inverted ? DS_BIT(23) : 0) | (uint64_t)k2->cmask << 24 |
                    (k2->equal ? DS_BIT(36) : 0);
    ds_bench_write(b, cfg_a_msr(c), kept.cfg_a[c]);
    enabled_now();
}

static void write_fixed_ctrl(void)
{
    kept.fixed_ctrl = 0;
    for (int i = 0; i < core->fixed; i++) {
        struct ds_naive_counter *k = &n->counter[GP + i];
        k->event = DS_MODEL_INSTRUCTION;
        k->by = i == 3 ? 8 : 1; /* slots */
        k->ring[0] = coin();
        k->ring[1] = coin();
        k->interrupts = random_one_in(4);
        a->counter[GP + i].recorded = true;
        kept.fixed_ctrl |= (uint64_t)(k->ring[0] | k->ring[1] << 1 | k->interrupts << 3) << 4 * i;
    }
    a->metrics_clear = core->fixed == 4 && coin();
    kept.fixed_ctrl |= a->metrics_clear ? DS_BIT(14) : 0;
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, kept.fixed_ctrl);
}

static void write_cfg_b(int c)
{
    if (!(acr(0) & ds_naive_bit(c)))
        return;
    kept.cfg_b[c] = coin() ? 0 : acr(2) & (ds_naive_bit((int)random_below(COUNTERS)) | (coin() ? ds_naive_bit(c) : 0));
    kept.cfg_b[c] |= core->fixed == 4 && random_one_in(4) ? DS_BIT(48) : 0;
    ds_naive_arch_cfg_b(a, c, kept.cfg_b[c]);
    ds_bench_write(b, cfg_b_msr(c), kept.cfg_b[c]);
}

static void write_cfg_c(int c)
{
    uint64_t v = (random_one_in(4) ? 0 : DS_BIT(63)) | (coin() ? DS_BIT(35) : 0);
    for (int i = 36; i < 63; i++)
        v |= random_one_in(3) ? DS_BIT(i) : 0;
    v &= core->groups << 32 | DS_BIT(63);
    uint32_t reload = -(1 + random_below(n->policy.pdist_minimum ? 200 : 20));
    v |= !random_one_in(8) ? reload : random_one_in(4) ? 0x7FFFFFF0 + random_below(16) : 0;
    kept.cfg_c[c] = v;
    ds_naive_arch_cfg_c(a, c, v);
    ds_bench_write(b, cfg_c_msr(c), v);
}

static void write_index(uint64_t v)
{
    ds_naive_arch_index(a, v);
    ds_bench_write(b, IA32_PEBS_INDEX, v);
}

static void random_index(void)
{
    const uint64_t most = (uint64_t)a->size / 16;
    uint64_t threshold = random_below(coin() ? 8 : (uint32_t)most + 20);
    uint64_t at = random_one_in(3) ? random_below((uint32_t)most + 2) : 0;
    write_index(at << 4 | (random_one_in(10) ? DS_BIT(31) : 0) | (random_one_in(10) ? 0 : DS_BIT(32)) |
                threshold << 36);
}

static void random_base(void)
{
    const unsigned size = random_below(3);
    a->size = 4096L << size;
    a->base = n->policy.arch_base_aligned ? (long)random_below(4) * a->size : (long)random_below(12) * 4096;
    ds_bench_write(b, IA32_PEBS_BASE, (DS_BENCH_PHYSICAL + (uint64_t)a->base) | size);
}

static void write_global(void)
{
    kept.global = 0;
    for (int c = 0; c < COUNTERS; c++)
        kept.global |= exists(c) && !random_one_in(4) ? ds_naive_bit(c) : 0;
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, kept.global);
    enabled_now();
}

static void write_metrics(void)
{
    if (core->fixed < 4)
        return;
    n->perf_metrics = random_below(1000000);
    ds_bench_write(b, MSR_PERF_METRICS, n->perf_metrics);
}

static void write_lbr(bool depth)
{
    n->lbr = coin();
    a->lbr_ctl = IA32_LBR_CTL_OS | IA32_LBR_CTL_USR | IA32_LBR_CTL_BRANCHES | n->lbr;
    ds_bench_write(b, IA32_LBR_CTL, a->lbr_ctl);
    if (!depth)
        return;
    a->depth = 8u << random_below(3);
    n->taken = 0;
    ds_bench_write(b, IA32_LBR_DEPTH, a->depth);
}

static uint64_t random_debugctl(void)
{
    n->tr = random_below(4) != 0;
    n->bts = random_below(4) != 0;
    n->btint = coin();
    n->off[0] = random_one_in(4);
    n->off[1] = random_one_in(4);
    n->freezes[0] = random_one_in(4);
    n->freezes[1] = random_one_in(4);
    return (n->freezes[0] ? 0x800 : 0) + (n->freezes[1] ? 0x1000 : 0) + (n->tr ? 0x40 : 0) + (n->bts ? 0x80 : 0) +
           (n->btint ? 0x100 : 0) + (n->off[0] ? 0x200 : 0) + (n->off[1] ? 0x400 : 0);
}

/* One reserved bit, or a register that is not there: refused whole, or by the policy what is legal of it is written. */
static void illegal(void)
{
    static const struct {
        uint32_t msr;
        uint64_t reserved;
    } rows[] = {
        {0x3F5, 0xF800000E7800000F},  {0x1903, 0x1FFDFC8700000000}, {0x1983, 0x1FFDFC8700000000},
        {0x190F, 0x1FFDFC8700000000}, {0x1901, 0xFFFF00E700000000}, {0x1986, ~DS_BIT(48) & ~0x3000003FFUL},
    };
    const size_t r = random_below(sizeof rows / sizeof rows[0]);
    uint64_t value;
    int i;
    do
        i = (int)random_below(64);
    while (!(rows[r].reserved >> i & 1));
    if (ds_model_rdmsr(&b->model, rows[r].msr, &value))
        fail_msg("RDMSR(%x) faults", rows[r].msr);
    const int e = ds_model_wrmsr(&b->model, rows[r].msr, value | DS_BIT(i));
    if (e != (n->policy.reserved_ignored ? 0 : -EFAULT))
        fail_msg("WRMSR(%x) with bit %d: %d", rows[r].msr, i, e);
    if (rows[r].msr == 0x1901 && !e)
        a->counter[0].asserted = false;
}

/* ---- a program --------------------------------------------------------------------------------------------------- */

static void random_setup(void)
{
    struct ds_model_preset preset = *ds_model_preset(core->preset);
    if (core->efficient && !ds_model_efficient(ds_model_preset(core->preset), &preset))
        fail_msg("no hybrid");
    static struct ds_model_preset used;
    used = preset;
    memset(a, 0, sizeof *a);
    memset(&kept, 0, sizeof kept);
    n->whole_turn = 1LL << 48;
    n->policy = (struct ds_model_policy){
        .fit = (uint8_t)random_below(3),
        .drop_keeps_overflow = coin(),
        .bts_full_wraps = coin(),
        .bts_sets_ovf_buf = coin(),
        .masked_pmi_lost = coin(),
        .bystander_swapped = coin(),
        .pdist_minimum = coin(),
        .reserved_ignored = coin(),
        .unlisted = (uint8_t)random_below(3),
        .arch_threshold_gt = coin(),
        .arch_full_disables = coin(),
        .arch_base_aligned = coin(),
        .arch_size_wide = coin(),
        .arch_padding_apart = coin(),
        .arch_overflow = (uint8_t)random_below(3),
        .arch_sets_ovf_buf = coin(),
        .arch_fragments = (uint8_t)random_below(3),
        .arch_record_each = coin(),
    };
    n->predicts = n->freezes_by_status = true;
    ds_bench_init_listed(b, &used, &n->policy, 0, 0);
    b->handler_unmasks = n->handler_unmasks = coin();
    for (int c = 0; c < COUNTERS; c++) {
        n->counter[c].exists = exists(c);
        n->counter[c].precise = c < 2 || c == GP;
        n->counter[c].event = -1;
        n->counter[c].left = n->whole_turn;
    }
    n->bts_room = (long)random_below(12) * 24 + (long)random_below(2);
    n->bts_threshold = (long)random_below(14) * 24;
    ds_bench_bts(b, (uint64_t)n->bts_room, (uint64_t)n->bts_threshold, random_debugctl());
    write_lbr(true);
    write_metrics();
    random_base();
    random_index();
    write_fixed_ctrl();
    for (int c = 0; c < COUNTERS; c++)
        if (exists(c)) {
            write_counter(c);
            if (c < GP)
                write_cfg_a(c);
            write_cfg_b(c);
            write_cfg_c(c);
        }
    write_global();
}

static void clear_status(uint64_t bits)
{
    ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, bits);
    n->arch_status &= !(bits & DS_BIT(54));
    n->buffer_status &= !(bits & DS_BIT(62));
    n->frozen[0] &= !(bits & DS_BIT(58));
    n->frozen[1] &= !(bits & DS_BIT(59));
    for (int c = 0; c < COUNTERS; c++)
        n->counter[c].overflowed &= !(bits & ds_naive_bit(c));
    ds_naive_acknowledged(n);
}

static void set_status(void)
{
    const int c = random_counter();
    const bool other = coin();
    ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, other ? ds_naive_bit(c) : DS_BIT(54));
    n->counter[c].overflowed |= other;
    n->arch_status |= !other;
}

static void software_on_interrupts(void)
{
    switch (random_below(6)) {
    case 0: /* unmask */
        ds_model_lvtpc_write(&b->model, 0xEE);
        n->masked = false;
        if (n->latched || n->branch_latched) {
            n->latched = n->branch_latched = false;
            ds_naive_pmi(n);
        }
        break;
    case 1: /* acknowledge */
        clear_status(DS_BIT(54) | (coin() ? DS_BIT(62) : 0));
        break;
    case 2: /* thaw */
        clear_status(DS_BIT(58) | DS_BIT(59));
        break;
    case 3: /* an overflow acknowledged, whatever comes of it */
        clear_status(ds_naive_bit(random_counter()));
        break;
    case 4:
        set_status();
        break;
    default:
        ds_bench_write(b, IA32_DEBUGCTL, random_debugctl());
        break;
    }
}

static void software_on_buffers(void)
{
    const uint64_t index = ds_naive_arch_index_read(a);
    switch (random_below(6)) {
    case 0: /* drain */
    case 1:
        write_index(index & ~UINT64_C(0x87FFFFF0));
        break;
    case 2: /* PEBS off, and on again: what was armed stays so */
        write_index(index & ~DS_BIT(32));
        write_index(index | DS_BIT(32));
        break;
    case 3:
        random_index();
        break;
    case 4:
        random_base();
        break;
    default:
        *ds_bench_area(b, 0x08) = ds_bench_bts_buffer();
        n->bts_used = 0;
        break;
    }
}

static void software_on_counters(void)
{
    const int c = random_counter();
    switch (random_below(9)) {
    case 0:
        write_counter(c);
        break;
    case 1:
        if (c < GP)
            write_cfg_a(c);
        else
            write_fixed_ctrl();
        break;
    case 2:
        write_cfg_b(c);
        break;
    case 3:
    case 4:
        write_cfg_c(c);
        break;
    case 5:
        write_global();
        break;
    case 6:
        write_metrics();
        break;
    case 7:
        write_lbr(random_one_in(4));
        break;
    default:
        illegal();
        break;
    }
}

static void random_software(void)
{
    switch (random_below(16)) {
    case 0:
        software_on_interrupts();
        break;
    case 1:
        software_on_buffers();
        break;
    case 2:
        software_on_counters();
        break;
    default:
        break;
    }
}

/* ---- both, side by side ------------------------------------------------------------------------------------------ */

static const char *which(const char *what, int c)
{
    static char text[64];
    snprintf(text, sizeof text, "%s of counter %d", what, c);
    return text;
}

/* NULL: the same. */
static const char *differ(const char *what, uint64_t model, uint64_t second)
{
    static char text[96];
    snprintf(text, sizeof text, "%s: %llx, not %llx", what, (unsigned long long)model, (unsigned long long)second);
    return model == second ? NULL : text;
}

static const char *counter_difference(int c)
{
    uint64_t value = 0;
    if (ds_bench_read(b, ctr_msr(c)) != ds_naive_value(n, c))
        return which("the value", c);
    if (c < GP && ds_bench_read(b, cfg_a_msr(c)) != kept.cfg_a[c])
        return which("CFG_A", c);
    if ((acr(0) & ds_naive_bit(c)) && ds_bench_read(b, cfg_b_msr(c)) != kept.cfg_b[c])
        return which("CFG_B", c);
    if (ds_bench_read(b, cfg_c_msr(c)) != kept.cfg_c[c])
        return which("CFG_C", c);
    if (ds_model_rdpmc(&b->model, c < GP ? (uint32_t)c : RDPMC_FIXED | (uint32_t)(c - GP), &value) ||
        value != ds_naive_value(n, c))
        return which("RDPMC", c);
    return NULL;
}

static const char *difference(void)
{
    for (int c = 0; c < COUNTERS; c++)
        if (exists(c)) {
            const char *what = counter_difference(c);
            if (what)
                return what;
        }
    if (ds_bench_read(b, IA32_FIXED_CTR_CTRL) != kept.fixed_ctrl || ds_bench_read(b, 0x38F) != kept.global)
        return "the controls";
    if (core->fixed == 4 && ds_bench_read(b, MSR_PERF_METRICS) != n->perf_metrics)
        return "the metrics";
    const char *what = differ("GLOBAL_STATUS", ds_bench_read(b, IA32_PERF_GLOBAL_STATUS), ds_naive_status(n));
    if (what)
        return what;
    if (b->stored != n->stored || b->dropped != n->dropped || b->model.records != n->stored)
        return "records stored or dropped";
    what = differ("IA32_PEBS_INDEX", ds_bench_read(b, IA32_PEBS_INDEX), ds_naive_arch_index_read(a));
    if (what)
        return what;
    if (b->model.swallowed != n->swallowed)
        return "samples swallowed";
    if (b->pmis != n->pmis || !(b->model.lvtpc & LVTPC_MASKED) != !n->masked)
        return "PMIs";
    if (n->pmis && b->pmi_status[(b->pmis - 1) % 64] != n->pmi_status)
        return "the status at the PMI";
    if (ds_bench_bts_index(b) != (uint64_t)n->bts_used || b->model.bts_records != n->bts_stored ||
        b->model.bts_dropped != n->bts_dropped)
        return "the BTS index";
    for (long i = 0; i < DS_NAIVE_BTS_SLOTS; i++) {
        const uint64_t *slot = ds_bench_word(b, ds_bench_bts_buffer() + 24 * (uint64_t)i);
        if (slot[0] != n->slot[i].from || slot[1] != n->slot[i].to ||
            slot[2] != (n->slot[i].prediction == DS_MODEL_PREDICTED ? 16 : 0))
            return "a branch record";
    }
    return NULL;
}

/* All of physical memory, and nothing beside what the two have written. */
static const char *memory_difference(void)
{
    static char text[64];
    for (uint64_t i = 0; i < DS_NAIVE_ARCH_WORDS; i++)
        if (b->physical[i] != a->physical[i]) {
            snprintf(text, sizeof text, "byte %d of the record", (int)(8 * i) - (int)a->base - (int)a->at);
            return text;
        }
    return NULL;
}

static void random_program(unsigned program)
{
    random_seed(program + 1 + ((uint64_t)(core - cores) << 32)); /* each core has other programs */
    random_setup();
    for (unsigned i = 0; i < PROGRAM; i++) {
        struct ds_naive_step step;
        const bool interrupt = random_one_in(50);
        const unsigned records = n->stored;
        random_step(&step);
        b->registers.compatibility = random_one_in(3);
        if (property_model_step(&b->model, &step, interrupt))
            fail_msg("program %u, instruction %u: memory fault", program, i);
        if (interrupt)
            ds_naive_interrupt(n, &step);
        else
            ds_naive_arch_instruction(a, &step, b);
        const char *what = difference();
        if (!what && (n->stored != records || i == PROGRAM - 1))
            what = memory_difference();
        if (what)
            fail_msg("program %u, instruction %u: the two disagree about %s", program, i, what);
        random_software();
    }
}

static void random_programs(void **state)
{
    core = *state;
    const unsigned programs = property_programs();
    unsigned records = 0, drops = 0, pmis = 0, branches = 0, swallowed = 0;
    for (unsigned program = 0; program < programs; program++) {
        random_program(program);
        records += n->stored;
        drops += n->dropped;
        pmis += n->pmis;
        branches += n->bts_stored;
        swallowed += n->swallowed;
    }
    print_message("%s: %u instructions, %u records, %u dropped, %u samples swallowed, %u interrupts, %u branches\n",
                  core->name, programs * PROGRAM, records, drops, swallowed, pmis, branches);
    if (records <= programs || drops <= programs || pmis <= programs || branches <= programs)
        fail_msg("the two agree, but too little has happened to show it: give CAIRN_STEPS= more than %u",
                 programs * PROGRAM);
}

int main(void)
{
    enum { CORES = sizeof cores / sizeof cores[0] };
    struct CMUnitTest tests[CORES];
    for (size_t i = 0; i < CORES; i++)
        tests[i] = (struct CMUnitTest){cores[i].name, random_programs, NULL, NULL, (void *)(uintptr_t)&cores[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
