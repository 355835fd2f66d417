/* SPDX-License-Identifier: MIT */
/*
 * The model against a second implementation written another way (ds_naive.h). Random programs for every preset:
 * counters, events, rings, periods, record groups, buffers, policies, branches, interrupts, drains. Both must agree
 * after every single instruction, in every word of the record it wrote and in the status each PMI found.
 *
 * Each preset gets CAIRN_STEPS instructions, a million by default; `make test` does with fewer (tests/run.py).
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "tests/unit/model/property/random.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"
#include "tests/unit/support/ds_naive.h"

enum { GP = DS_NAIVE_GP, COUNTERS = DS_NAIVE_COUNTERS, PROGRAM = PROPERTY_PROGRAM };

static bool coin(void)
{
    return random_below(2);
}

/* Event codes by generation, as a person would look them up. */
struct naive_code {
    uint32_t code;
    int event;
    bool pmc1_precise; /* counts on PMC1 only, with precise distribution */
    bool listed;       /* as one that PEBS records, before format 4 */
};
#define NAIVE_CYCLES                                                                                                   \
    {                                                                                                                  \
        0x3C, DS_MODEL_INSTRUCTION, false, false                                                                       \
    }
#define NAIVE_BRANCHES                                                                                                 \
    {                                                                                                                  \
        0xC4, DS_MODEL_BRANCH, false, false                                                                            \
    }
#define NAIVE_ANY_P                                                                                                    \
    {                                                                                                                  \
        0xC0, DS_MODEL_INSTRUCTION, false, false                                                                       \
    }
static const struct naive_code core2[] = {
    NAIVE_CYCLES,
    NAIVE_BRANCHES,
    {0xC0, DS_MODEL_INSTRUCTION, false, true},
    {0xC0, DS_MODEL_INSTRUCTION, false, true}, /* twice: no other has records, on one counter */
    {0x1C0, DS_MODEL_LOAD, false, false},
    {0x40C4, -1, false, false},
};
static const struct naive_code nehalem[] = {
    {0xC0, DS_MODEL_INSTRUCTION, false, true}, NAIVE_CYCLES,
    {0xC4, DS_MODEL_BRANCH, false, true},      {0x1C0, DS_MODEL_INSTRUCTION, false, true},
    {0x10B, DS_MODEL_LOAD, false, true},       {0x20B, DS_MODEL_STORE, false, true},
};
static const struct naive_code sandybridge[] = {
    NAIVE_ANY_P,
    NAIVE_BRANCHES,
    {0x4C4, DS_MODEL_BRANCH, false, true},
    {0x81D0, DS_MODEL_LOAD_OR_PREFETCH, false, true},
    {0x82D0, DS_MODEL_STORE, false, true},
    {0x1C0, DS_MODEL_INSTRUCTION, true, true},
};
static const struct naive_code icelake[] = {
    NAIVE_ANY_P,
    NAIVE_CYCLES,
    NAIVE_BRANCHES,
    {0x81D0, DS_MODEL_LOAD_OR_PREFETCH, false, false},
    {0x82D0, DS_MODEL_STORE, false, false},
    {0x40C4, DS_MODEL_FAR_BRANCH, false, false},
};
static const struct naive_code lioncove[] = {
    NAIVE_ANY_P,
    NAIVE_CYCLES,
    {0x80C4, DS_MODEL_NEAR_INDIRECT, false, false},
    {0x81D0, DS_MODEL_LOAD, false, false},
    {0x84D0, DS_MODEL_PREFETCH, false, false},
    {0x10C4, DS_MODEL_CONDITIONAL_NOT_TAKEN, false, false},
};
enum { CODES = 6 };

static const struct machine {
    const char *name;
    int format, gp, fixed, pebs_gp, pebs_fixed, width;
    int precise;  /* counter with precise distribution whatever it counts; -1: none */
    int no_any_p; /* from format 4 on: counter without records of C0H; -1: none */
    const struct naive_code *codes;
} machines[] = {
    {"penryn", 0, 2, 3, 1, 0, 40, -1, -1, core2},
    {"nehalem", 1, 4, 3, 4, 0, 48, -1, -1, nehalem},
    {"sandybridge", 1, 4, 3, 4, 0, 48, -1, -1, sandybridge},
    {"haswell", 2, 4, 3, 4, 0, 48, -1, -1, sandybridge},
    {"skylake", 3, 4, 3, 4, 0, 48, -1, -1, sandybridge},
    {"icelake", 4, 8, 4, 8, 4, 48, GP, -1, icelake},
    {"sapphirerapids", 4, 8, 4, 8, 4, 48, 0, 0, icelake},
    {"arrowlake", 5, 10, 4, 10, 4, 48, 0, -1, lioncove},
    {"lunarlake", 6, 10, 4, 10, 4, 48, 0, -1, lioncove},
};

static struct ds_bench bench, *b = &bench;
static struct ds_naive naive, *n = &naive;

static bool on_counter(const struct machine *machine, int c)
{
    return c < GP ? c < machine->gp : c - GP < machine->fixed;
}

static void random_groups(const struct machine *machine)
{
    if (machine->format < 4)
        return;
    n->memory = coin();
    n->gpr = coin();
    n->xmm = random_below(4) == 0;
    n->lbr_group = random_below(3) == 0;
    n->lbr_entries = 1 + random_below(36);
    n->data_cfg = (n->memory ? 1 : 0) + (n->gpr ? 2 : 0) + (n->xmm ? 4 : 0) + (n->lbr_group ? 8 : 0) +
                  ((uint64_t)(n->lbr_entries - 1) << 24);
    if (machine->format >= 6) {
        n->counter_group = coin();
        n->metrics_group = coin();
        n->data_cfg += (n->counter_group ? 16 : 0) + (n->metrics_group ? 32 : 0);
        for (int c = 0; c < COUNTERS; c++)
            if (on_counter(machine, c) && coin()) {
                n->shown[c] = true;
                n->data_cfg += c < GP ? DS_BIT(32 + c) : DS_BIT(48 + c - GP);
            }
        n->perf_metrics = random_below(1000000);
        ds_bench_write(b, MSR_PERF_METRICS, n->perf_metrics);
    }
    ds_bench_write(b, MSR_PEBS_DATA_CFG, n->data_cfg);
}

static uint64_t *reset_word(const struct machine *machine, int c)
{
    uint64_t fixed = machine->format >= 5 ? 0x140 : 0x80;
    return ds_bench_area(b, c < GP ? 0x40 + 8 * (uint64_t)c : fixed + 8 * (uint64_t)(c - GP));
}

static void set_reset(const struct machine *machine, int c)
{
    struct ds_naive_counter *k = &n->counter[c];
    k->reset = 1 + random_below(k->precise && n->policy.pdist_minimum ? 200 : 20);
    if (c < GP ? c < machine->pebs_gp : c - GP < machine->pebs_fixed)
        *reset_word(machine, c) = (uint64_t)-k->reset; /* width is the model's affair */
}

static void counters_on(void)
{
    uint64_t global = 0;
    for (int c = 0; c < COUNTERS; c++)
        global |= n->counter[c].enabled ? ds_naive_bit(c) : 0;
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, global);
    n->counters_off = false;
}

/* At most 20 below 0, so that the low 32 bits are enough. */
static void write_counter(int c)
{
    n->counter[c].left = 1 + random_below(20);
    n->counter[c].armed = false;
    ds_bench_write(b, c < GP ? IA32_PMC0 + (uint32_t)c : IA32_FIXED_CTR0 + (uint32_t)(c - GP), ds_naive_value(n, c));
}

static uint64_t pebs_enable; /* IA32_PEBS_ENABLE, unless n->pebs_off */

static void random_counters(const struct machine *machine)
{
    uint64_t pebs = 0, fixed_ctrl = 0;
    for (int c = 0; c < COUNTERS; c++) {
        struct ds_naive_counter *k = &n->counter[c];
        if (!on_counter(machine, c))
            continue;
        const struct naive_code *code = &machine->codes[random_below(CODES)];
        const bool asked = (c < GP ? c < machine->pebs_gp : c - GP < machine->pebs_fixed) && random_below(3) != 0;
        *k = (struct ds_naive_counter){
            .exists = true,
            .enabled = random_below(3) != 0,
            .pebs = asked && (n->policy.unlisted == DS_MODEL_UNLISTED_RECORD ||
                              (machine->format < 4 ? code->listed : code->code != 0xC0 || c != machine->no_any_p) ||
                              (machine->codes == sandybridge && n->policy.unlisted == DS_MODEL_UNLISTED_BY_GENERATION)),
            .interrupts = random_below(4) == 0,
            .adaptive = machine->format >= 4 && random_below(3) != 0,
            .ring = {coin(), coin()},
            .event = c >= GP                        ? DS_MODEL_INSTRUCTION
                     : code->pmc1_precise && c != 1 ? -1
                                                    : code->event,
            .by = c == GP + 3 ? ds_model_preset(machine->name)->slots : 1,
            .precise = c == machine->precise || (c == 1 && code->pmc1_precise),
        };
        set_reset(machine, c);
        write_counter(c);
        if (c >= GP) {
            unsigned i = (unsigned)(c - GP);
            fixed_ctrl |= ((uint64_t)(k->ring[0] | k->ring[1] << 1 | k->interrupts << 3) | (uint64_t)k->adaptive << 32)
                          << 4 * i;
        } else {
            ds_bench_write(b, IA32_PERFEVTSEL0 + (uint32_t)c,
                           code->code | (k->ring[0] ? IA32_PERFEVTSEL_OS : 0) | (k->ring[1] ? IA32_PERFEVTSEL_USR : 0) |
                               (k->interrupts ? IA32_PERFEVTSEL_INT : 0) | IA32_PERFEVTSEL_EN |
                               (k->adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0));
        }
        pebs |= asked ? ds_naive_bit(c) : 0;
    }
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, fixed_ctrl);
    if (machine->format > 0 && machine->format < 4)
        pebs |= (uint64_t)random_below(16) << 32; /* load latency, not the fixed counters */
    pebs_enable = pebs;
    ds_bench_write(b, IA32_PEBS_ENABLE, pebs);
    n->pebs_off = false;
    counters_on();
}

static uint64_t random_debugctl(void)
{
    bool lbr = n->lbr = coin();
    if (b->model.preset->arch_lbr) { /* whose bit in DEBUGCTL means nothing */
        ds_bench_write(b, IA32_LBR_CTL, IA32_LBR_CTL_OS | IA32_LBR_CTL_USR | IA32_LBR_CTL_BRANCHES | lbr);
        lbr = coin();
    }
    n->tr = random_below(4) != 0;
    n->bts = random_below(4) != 0;
    n->btint = coin();
    n->off[0] = random_below(4) == 0;
    n->off[1] = random_below(4) == 0;
    n->freezes[0] = random_below(4) == 0;
    n->freezes[1] = random_below(4) == 0;
    return (n->freezes[0] ? 0x800 : 0) + (n->freezes[1] ? 0x1000 : 0) + (lbr ? 1 : 0) + (n->tr ? 0x40 : 0) +
           (n->bts ? 0x80 : 0) + (n->btint ? 0x100 : 0) + (n->off[0] ? 0x200 : 0) + (n->off[1] ? 0x400 : 0);
}

static void random_setup(const struct machine *machine)
{
    memset(n, 0, sizeof *n);
    n->format = machine->format;
    n->whole_turn = 1LL << machine->width;
    n->policy = (struct ds_model_policy){
        .fit = (uint8_t)random_below(3),
        .drop_keeps_overflow = coin(),
        .bts_full_wraps = coin(),
        .bts_sets_ovf_buf = coin(),
        .masked_pmi_lost = coin(),
        .bystander_swapped = coin(),
        .pdist_minimum = coin(),
        .unlisted = (uint8_t)random_below(3),
    };
    n->predicts = machine->format > 0;
    n->freezes_by_status = machine->format >= 3;
    ds_bench_init_listed(b, ds_model_preset(machine->name), &n->policy, 0, 0);
    b->handler_unmasks = n->handler_unmasks = coin();
    random_groups(machine);
    static const long fixed_size[] = {144, 176, 192, 200};
    long size = machine->format < 4 ? fixed_size[machine->format] : (long)ds_pebs_adaptive_size(n->data_cfg);
    n->room = (long)random_below(12) * size + (long)random_below(2);
    n->threshold = (long)random_below(14) * size;
    *ds_bench_area(b, 0x30) += (uint64_t)n->room;
    *ds_bench_area(b, 0x38) += (uint64_t)n->threshold;
    n->bts_room = (long)random_below(12) * 24 + (long)random_below(2);
    n->bts_threshold = (long)random_below(14) * 24;
    ds_bench_bts(b, (uint64_t)n->bts_room, (uint64_t)n->bts_threshold, random_debugctl());
    random_counters(machine);
}

/* Software's side, at random moments, on both. */
static void random_software(const struct machine *machine)
{
    int c;
    switch (random_below(60)) {
    case 0: /* drain */
        *ds_bench_area(b, 0x28) = ds_bench_buffer();
        n->used = 0;
        break;
    case 1:
        *ds_bench_area(b, 0x08) = ds_bench_bts_buffer();
        n->bts_used = 0;
        break;
    case 2: /* unmask */
        ds_model_lvtpc_write(&b->model, 0xEE);
        n->masked = false;
        if (n->latched || n->branch_latched) {
            n->latched = n->branch_latched = false;
            ds_naive_pmi(n);
        }
        break;
    case 3: /* acknowledge */
        ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
        n->buffer_status = false;
        ds_naive_acknowledged(n);
        break;
    case 7: /* thaw */
    case 8:
        if (n->freezes_by_status) {
            ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(58) | DS_BIT(59));
            ds_naive_acknowledged(n);
        }
        n->frozen[0] = n->frozen[1] = false;
        counters_on();
        break;
    case 4: /* another period from the next record on */
        c = (int)random_below(COUNTERS);
        if (n->counter[c].exists)
            set_reset(machine, c);
        break;
    case 9: /* an overflow acknowledged, whatever comes of it */
        c = (int)random_below(COUNTERS);
        if (n->counter[c].exists) {
            ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, ds_naive_bit(c));
            n->counter[c].overflowed = false;
            ds_naive_acknowledged(n);
        }
        break;
    case 10: /* a counter set anew, armed or not */
        c = (int)random_below(COUNTERS);
        if (n->counter[c].exists)
            write_counter(c);
        break;
    case 5:
        ds_bench_write(b, IA32_DEBUGCTL, random_debugctl());
        break;
    case 6: /* PEBS off or on again: what was armed stays so */
        n->pebs_off = random_below(4) == 0;
        ds_bench_write(b, IA32_PEBS_ENABLE, n->pebs_off ? 0 : pebs_enable);
        break;
    default:
        break;
    }
}

static const char *difference(void)
{
    static char text[64];
    for (int c = 0; c < COUNTERS; c++)
        if (n->counter[c].exists && b->model.value[__builtin_ctzll(ds_naive_bit(c))] != ds_naive_value(n, c)) {
            snprintf(text, sizeof text, "counter %d", c);
            return text;
        }
    if (ds_bench_read(b, IA32_PERF_GLOBAL_STATUS) != ds_naive_status(n))
        return "GLOBAL_STATUS";
    if (ds_bench_index(b) != (uint64_t)n->used || b->stored != n->stored || b->dropped != n->dropped)
        return "the PEBS index";
    if (b->model.swallowed != n->swallowed)
        return "samples swallowed";
    if (b->pmis != n->pmis || !(b->model.lvtpc & LVTPC_MASKED) != !n->masked)
        return "PMIs";
    if (n->pmis && b->pmi_status[(b->pmis - 1) % 64] != n->pmi_status)
        return "the status at the PMI";
    if (ds_bench_bts_index(b) != (uint64_t)n->bts_used || b->model.bts_records != n->bts_stored ||
        b->model.bts_dropped != n->bts_dropped)
        return "the BTS index";
    const uint64_t *record = ds_bench_word(b, ds_bench_buffer() + ds_bench_index(b) - n->words * 8);
    for (unsigned i = 0; i < n->words; i++)
        if (record[i] != n->image[i]) {
            snprintf(text, sizeof text, "word %u of the record", i);
            return text;
        }
    for (long i = 0; i < DS_NAIVE_BTS_SLOTS; i++) {
        const uint64_t *slot = ds_bench_word(b, ds_bench_bts_buffer() + 24 * (uint64_t)i);
        if (slot[0] != n->slot[i].from || slot[1] != n->slot[i].to ||
            slot[2] != (n->slot[i].prediction == DS_MODEL_PREDICTED && n->predicts ? 16 : 0))
            return "a branch record";
    }
    return NULL;
}

static void random_programs(void **state)
{
    const struct machine *machine = *state;
    const unsigned programs = property_programs();
    unsigned records = 0, drops = 0, pmis = 0, branches = 0, branch_drops = 0;
    for (unsigned program = 0; program < programs; program++) {
        random_seed(program + 1);
        random_setup(machine);
        for (unsigned i = 0; i < PROGRAM; i++) {
            struct ds_naive_step step;
            bool interrupt = random_below(50) == 0;
            random_step(&step);
            n->words = 0;
            if (property_model_step(&b->model, &step, interrupt))
                fail_msg("program %u, instruction %u: memory fault", program, i);
            if (interrupt)
                ds_naive_interrupt(n, &step);
            else
                ds_naive_instruction(n, &step, b);
            random_software(machine);
            n->words = ds_bench_index(b) ? n->words : 0; /* drained since */
            const char *what = difference();
            if (what)
                fail_msg("program %u, instruction %u: the two disagree about %s", program, i, what);
        }
        records += n->stored;
        drops += n->dropped;
        pmis += n->pmis;
        branches += n->bts_stored;
        branch_drops += n->bts_dropped;
    }
    print_message("%s: %u instructions, %u records, %u dropped, %u interrupts, %u branches, %u dropped\n",
                  machine->name, programs * PROGRAM, records, drops, pmis, branches, branch_drops);
    if (records <= programs || drops <= programs || pmis <= programs || branches <= programs ||
        branch_drops <= programs)
        fail_msg("the two agree, but too little has happened to show it: give CAIRN_STEPS= more than %u",
                 programs * PROGRAM);
}

int main(void)
{
    enum { MACHINES = sizeof machines / sizeof machines[0] };
    struct CMUnitTest tests[MACHINES];
    for (size_t i = 0; i < MACHINES; i++)
        tests[i] = (struct CMUnitTest){machines[i].name, random_programs, NULL, NULL, (void *)&machines[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
