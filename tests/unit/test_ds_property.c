/* SPDX-License-Identifier: MIT */
/*
 * The model against a second implementation written another way: per counter a countdown in plain integers, one record
 * as a tuple, no masks, no memory. Random programs, periods, buffers, policies, events and drains; both must agree
 * after every single instruction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/ds_bench.h"

/* ---- the second implementation ----------------------------------------------------------------------------------- */

enum { COUNTERS = 9 }; /* GP 0..7, then fixed 0 */

struct naive_counter {
    bool exists, enabled, pebs, branches, interrupts, precise;
    bool ring[2];
    bool overflowed, armed;
    long long left, reset; /* events until it wraps; a wrapped counter starts again from a whole turn */
};

struct naive {
    struct naive_counter counter[COUNTERS];
    bool status_in_record, reload_all, keep_dropped, latch;
    enum ds_model_fit fit;
    long room, size, used, threshold; /* in bytes */
    bool buffer_status, masked, latched;
    unsigned pmis, stored, dropped;
    uint64_t last_counters; /* of the last record */
};

#define WHOLE_TURN (1LL << 48)

static uint64_t bit_of(int c)
{
    return c == 8 ? DS_BIT(32) : DS_BIT(c);
}

static void naive_pmi(struct naive *n)
{
    if (n->masked) {
        n->latched = n->latch;
    } else {
        n->pmis++;
        n->masked = true;
    }
}

static bool naive_fits(const struct naive *n)
{
    if (n->fit == DS_MODEL_START_LT)
        return n->room - n->used > 0;
    long spare = n->room - n->used - n->size;
    return n->fit == DS_MODEL_END_LE ? spare >= 0 : spare > 0;
}

static void naive_record(struct naive *n, const bool *fires)
{
    uint64_t named = 0;
    for (int c = 0; c < COUNTERS; c++)
        if (n->status_in_record ? n->counter[c].overflowed : fires[c])
            named |= bit_of(c);
    if (n->status_in_record && n->buffer_status)
        named |= DS_BIT(62);
    bool stored = naive_fits(n);
    if (stored) {
        n->used += n->size;
        n->stored++;
        n->last_counters = named;
    } else {
        n->dropped++;
    }
    if (stored || !n->keep_dropped)
        for (int c = 0; c < COUNTERS; c++) {
            struct naive_counter *k = &n->counter[c];
            if (fires[c] || (n->reload_all && k->overflowed && k->pebs)) {
                k->armed = k->overflowed = false;
                k->left = k->reset;
            }
        }
    if (stored && n->used >= n->threshold) {
        n->buffer_status = true;
        naive_pmi(n);
    }
    for (int c = 0; c < COUNTERS; c++)
        if (fires[c] && n->counter[c].interrupts) {
            naive_pmi(n);
            break;
        }
}

static void naive_instruction(struct naive *n, bool branch, int ring)
{
    bool fires[COUNTERS] = {0}, any = false, overflow = false;
    for (int c = 0; c < COUNTERS; c++) {
        struct naive_counter *k = &n->counter[c];
        if (!k->exists || !k->enabled || !k->ring[ring] || (k->branches && !branch))
            continue;
        fires[c] = k->armed;
        if (--k->left == 0) {
            k->left = WHOLE_TURN;
            k->overflowed = true;
            if (k->pebs) {
                k->armed = true;
                fires[c] |= k->precise;
            } else {
                overflow |= k->interrupts;
            }
        }
        any |= fires[c];
    }
    if (any)
        naive_record(n, fires);
    if (overflow)
        naive_pmi(n);
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

static uint64_t seed;
static uint32_t random_below(uint32_t n) /* xorshift64* */
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (uint32_t)((seed * UINT64_C(2685821657736338717)) >> 33) % n;
}
static bool coin(void)
{
    return random_below(2);
}

static struct ds_bench bench, *b = &bench;
static struct naive naive, *n = &naive;

static void random_setup(void)
{
    static struct ds_model_preset preset;
    bool adaptive = coin();
    preset = *ds_model_preset(adaptive ? "icelake" : "skylake");
    if (!adaptive)
        preset.format = (uint8_t)random_below(4);
    preset.pdist = adaptive && coin() ? bit_of((int)random_below(COUNTERS)) : 0;
    const struct ds_model_policy policy = {
        .fit = random_below(3),
        .drop_keeps_overflow = coin(),
        .masked_pmi_latched = coin(),
        .bystander_swapped = coin(),
    };
    bool gpr = adaptive && coin();
    uint32_t size = adaptive ? (gpr ? 176 : 32) : ds_pebs_fixed_size(preset.format);
    uint32_t records = random_below(12), threshold = random_below(14) * size;
    uint32_t room = records * size + random_below(2);
    ds_bench_init(b, &preset, &policy, room, threshold);
    *n = (struct naive){
        .status_in_record = preset.format == 1 || preset.format == 2,
        .reload_all = (preset.format < 3) != policy.bystander_swapped,
        .keep_dropped = policy.drop_keeps_overflow,
        .latch = policy.masked_pmi_latched,
        .fit = policy.fit,
        .room = room,
        .size = size,
        .threshold = threshold,
    };
    if (gpr)
        ds_bench_write(b, MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR);
    uint64_t global = 0, pebs = 0, fixed_ctrl = 0;
    for (int c = 0; c < COUNTERS; c++) {
        struct naive_counter *k = &n->counter[c];
        *k = (struct naive_counter){
            .exists = c < preset.gp_counters || (c == 8 && adaptive),
            .enabled = random_below(3) != 0,
            .pebs = random_below(3) != 0,
            .branches = c != 8 && coin(),
            .interrupts = random_below(4) == 0,
            .precise = preset.pdist & bit_of(c),
            .ring = {coin(), coin()},
            .left = 1 + random_below(20),
            .reset = 1 + random_below(20),
        };
        if (!k->exists)
            continue;
        uint64_t start = (uint64_t)-k->left & b->model.counter_mask;
        *ds_bench_area(b, c == 8 ? 0x80 : 0x40 + 8 * (uint64_t)c) =
            (uint64_t)-k->reset; /* width is the model's affair */
        if (c == 8) {
            ds_bench_write(b, IA32_FIXED_CTR0, start);
            fixed_ctrl = (k->ring[0] ? 1 : 0) | (k->ring[1] ? 2 : 0) | (k->interrupts ? 8 : 0) | (gpr ? DS_BIT(32) : 0);
        } else {
            ds_bench_write(b, IA32_A_PMC0 + (uint32_t)c, start);
            ds_bench_write(b, IA32_PERFEVTSEL0 + (uint32_t)c,
                           (k->branches ? 0xC4 : 0xC0) | (k->ring[0] ? IA32_PERFEVTSEL_OS : 0) |
                               (k->ring[1] ? IA32_PERFEVTSEL_USR : 0) | (k->interrupts ? IA32_PERFEVTSEL_INT : 0) |
                               IA32_PERFEVTSEL_EN | (gpr ? IA32_PERFEVTSEL_ADAPTIVE : 0));
        }
        global |= k->enabled ? bit_of(c) : 0;
        pebs |= k->pebs ? bit_of(c) : 0;
    }
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, fixed_ctrl);
    ds_bench_write(b, IA32_PEBS_ENABLE, pebs);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, global);
}

/* Software's side, at random moments, on both. */
static void random_software(void)
{
    switch (random_below(40)) {
    case 0: /* drain */
        *ds_bench_area(b, 0x28) = ds_bench_buffer();
        n->used = 0;
        break;
    case 1: /* unmask */
        ds_model_lvtpc_write(&b->model, 0xEE);
        n->masked = false;
        if (n->latched) {
            n->latched = false;
            naive_pmi(n);
        }
        break;
    case 2: /* acknowledge */
        ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
        n->buffer_status = false;
        break;
    case 3: { /* another period from the next record on */
        int c = (int)random_below(COUNTERS);
        n->counter[c].reset = 1 + random_below(20);
        *ds_bench_area(b, c == 8 ? 0x80 : 0x40 + 8 * (uint64_t)c) = (uint64_t)-n->counter[c].reset;
        break;
    }
    default:
        break;
    }
}

static void compare(unsigned program, unsigned step)
{
    uint64_t status = n->buffer_status ? IA32_PERF_GLOBAL_STATUS_OVF_BUF : 0;
    bool values = true;
    for (int c = 0; c < COUNTERS; c++) {
        const struct naive_counter *k = &n->counter[c];
        status |= k->overflowed ? bit_of(c) : 0;
        if (k->exists)
            values &= b->model.value[c == 8 ? 32 : c] == ((uint64_t)-k->left & b->model.counter_mask);
    }
    bool same = values && ds_bench_read(b, IA32_PERF_GLOBAL_STATUS) == status &&
                ds_bench_index(b) == (uint64_t)n->used && b->stored == n->stored && b->dropped == n->dropped &&
                b->pmis == n->pmis && !(b->model.lvtpc & LVTPC_MASKED) == !n->masked;
    if (same && n->used && b->model.preset->format) {
        uint64_t last = ds_bench_buffer() + (uint64_t)(n->used - n->size);
        same = *ds_bench_word(b, last + (b->model.preset->format < 4 ? 0x90 : 0x10)) == n->last_counters;
    }
    if (!same)
        fail_msg("program %u, instruction %u: the two disagree", program, step);
}

static void random_programs(void **state)
{
    (void)state;
    unsigned records = 0, drops = 0, pmis = 0;
    for (unsigned program = 0; program < 3000; program++) {
        seed = program + 1;
        random_setup();
        for (unsigned step = 0; step < 400; step++) {
            bool branch = random_below(3) == 0;
            int ring = random_below(4) == 0;
            if (ds_bench_retire(b, 1u << DS_MODEL_INSTRUCTION | (branch ? 1u << DS_MODEL_BRANCH : 0),
                                ring ? 3 : 0))
                fail_msg("program %u, instruction %u: memory fault", program, step);
            naive_instruction(n, branch, ring);
            random_software();
            compare(program, step);
        }
        records += n->stored;
        drops += n->dropped;
        pmis += n->pmis;
    }
    print_message("1200000 instructions, %u records, %u drops, %u interrupts\n", records, drops, pmis);
    assert_true(records > 10000 && drops > 10000 && pmis > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
