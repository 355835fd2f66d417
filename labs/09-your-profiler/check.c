/* SPDX-License-Identifier: MIT */
/* Lab 9: the check: names, periods and error bars; then the program's profile beside the exact one; then stacks. */
#include "labs/check.h"

#include "labs/machine/random.h"
#include "sampling.h"

#define PEBS_SECTION "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\""
#define TASK         "labs/09-your-profiler/task.h"
#define BARS         "labs/09-your-profiler/README.md, \"Error bars\""
#define LOOP_MIN     2u
#define LOOP_MAX     64u

const char lab_title[] = "9 Your profiler";

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    return lab_draw(&state, limit);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void check_name(const struct lab_symbol *table, uint32_t n, uint64_t address, int expected, const char *where)
{
    const int symbol = lab_symbol_of(table, n, address);
    if (symbol != expected)
        lab_fail("symbol",
                 "An address is in a symbol if it is not below the symbol's address, and less than `bytes` above it. "
                 "Between symbols there may be bytes that are in none.",
                 TASK, "the address is %s: lab_symbol_of returns %d; expected %d", where, symbol, expected);
}

static void check_names(void)
{
    struct lab_symbol table[40];
    uint64_t address = 0xFFFFFFFF80000000;
    const uint32_t n = sizeof table / sizeof table[0];
    for (uint32_t i = 0; i < n; i++) {
        table[i] = (struct lab_symbol){.address = address, .bytes = 1 + below(300), .name = "f"};
        address += table[i].bytes + (i % 3 ? 0 : 1 + below(40)); /* a gap after each third one */
    }
    for (uint32_t i = 0; i < n; i++) {
        check_name(table, n, table[i].address, (int)i, "a symbol's first byte");
        check_name(table, n, table[i].address + table[i].bytes - 1, (int)i, "a symbol's last byte");
        if (i % 3 == 0)
            check_name(table, n, table[i].address + table[i].bytes, -1, "the first byte of a gap");
    }
    check_name(table, n, table[0].address - 1, -1, "before the first symbol");
    check_name(table, n, address + 5, -1, "after the last symbol");
    check_name(table, n, 0, -1, "0");
    lab_pass("symbol", "%u symbols, with gaps", n);
}

/* ---- periods ----------------------------------------------------------------------------------------------------- */

static bool shares_a_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a > 1;
}

/* The shortest loop that records `apart` instructions apart do not see evenly; 0: there is none. */
static uint32_t bad_loop(uint64_t apart)
{
    for (uint32_t length = LOOP_MIN; length <= LOOP_MAX; length++)
        if (shares_a_divisor(apart, length))
            return length;
    return 0;
}

static struct loop {
    uint32_t length, samples, met, most; /* instructions that have a sample; samples of the one that has most */
} run_loop(uint32_t length, uint64_t period)
{
    const uint32_t nops = length - LOOP_MORE, turns = 18000 / length;
    const uint64_t begin = (uintptr_t)lab_loop_nops - nops;
    uint32_t hits[LOOP_MAX + 16] = {0};
    struct loop l = {.length = length};
    const uint32_t records = sampling_run(lab_loop, (uint64_t)turns << 16 | nops, period, period);
    for (uint32_t i = 0; i < records; i++) {
        const uint64_t at = sampling_get(i).ip - begin;
        if (at >= sizeof hits / sizeof hits[0])
            continue;
        l.samples++;
        l.met += hits[at]++ == 0;
        if (hits[at] > l.most)
            l.most = hits[at];
    }
    return l;
}

static uint64_t apart(uint64_t period, bool precise)
{
    return period + !precise;
}

/* Runs a loop that the period does not see evenly, so that one sees it. */
static void show_bias(uint64_t about, uint64_t period, bool precise, uint32_t length)
{
    while (length < 12)
        length *= 2;
    if (precise == sampling_precise()) {
        const struct loop l = run_loop(length, period);
        lab_log("a loop of %u instructions, about %lu, period %lu: %u samples on %u of its instructions", length,
                (unsigned long)about, (unsigned long)period, l.samples, l.met);
    }
    if (period != about && !bad_loop(apart(period, !precise)))
        lab_fail("apart",
                 "It is not the period that decides but how far apart the records are. The event after the overflow is "
                 "recorded, which makes one more; with precise distribution it is the overflow's own.",
                 PEBS_SECTION, "lab_period(%lu, %s) is %lu: records come every %lu instructions", (unsigned long)about,
                 precise ? "true" : "false", (unsigned long)period, (unsigned long)apart(period, precise));
    lab_fail("bias",
             "Where the distance of the records and the length of the loop have a common divisor, the samples meet the "
             "same few instructions in each round. Choose a distance that has none with any such loop.",
             PEBS_SECTION, "lab_period(%lu, %s): records come every %lu instructions: too regular for a loop of %u",
             (unsigned long)about, precise ? "true" : "false", (unsigned long)apart(period, precise), length);
}

static void check_period(uint64_t about, bool precise)
{
    const uint64_t period = lab_period(about, precise);
    const uint64_t far = about * 15 / 100;
    if (period < about - far || period > about + far)
        lab_fail("range", "Stay near what is asked for: the period decides how much the samples cost.", TASK,
                 "lab_period(%lu, %s) is %lu; expected at most 15 %% more or less", (unsigned long)about,
                 precise ? "true" : "false", (unsigned long)period);
    const uint32_t length = bad_loop(apart(period, precise));
    if (length)
        show_bias(about, period, precise, length);
}

static void check_periods(void)
{
    for (uint64_t about = 100; about <= 5000; about += 1 + below(40)) {
        check_period(about, sampling_precise());
        check_period(about, !sampling_precise());
    }
    for (uint32_t length = 10; length <= 50; length += 10) {
        const struct loop l = run_loop(length, lab_period(100, sampling_precise()));
        if (l.met != length || l.most > 2 * l.samples / length + 1)
            lab_fail("even", "Each instruction of a loop should get as many samples as any other.", PEBS_SECTION,
                     "a loop of %u instructions: %u samples on %u of them, at most %u on one", length, l.samples, l.met,
                     l.most);
        lab_log("a loop of %2u instructions: %u samples on all of them, at most %u on one", length, l.samples, l.most);
    }
    lab_pass("period", "no loop of %u to %u instructions is seen from one side", LOOP_MIN, LOOP_MAX);
}

/* ---- error bars -------------------------------------------------------------------------------------------------- */

/* Draws samples of a function whose true share is known, many times. */
static void check_share(uint32_t percent, uint32_t all)
{
    enum { RUNS = 400 };
    const uint32_t true_number = all * percent / 100;
    uint32_t inside = 0, width = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        uint32_t seen = 0;
        for (uint32_t i = 0; i < all; i++)
            seen += below(100) < percent;
        const struct lab_interval bars = lab_error_bars(seen, all);
        if (bars.low > seen || bars.high < seen || bars.high > all)
            lab_fail("order", "The error bars are around what has been seen, and within 0 and all samples.", TASK,
                     "%u of %u samples: the bars are %u to %u", seen, all, bars.low, bars.high);
        inside += bars.low <= true_number && true_number <= bars.high;
        width += bars.high - bars.low;
    }
    const uint32_t ideal = lab_square_root(UINT64_C(16) * all * percent * (100 - percent) / 10000);
    if (inside < RUNS * 88 / 100)
        lab_fail("narrow",
                 "The number of samples in a function varies from run to run. If each sample is in it with probability "
                 "p, the standard deviation is the square root of all * p * (1 - p). Two of them make 95 %.",
                 BARS, "a true share of %u %% of %u samples: %u of %u error bars contain it; expected about 380",
                 percent, all, inside, (uint32_t)RUNS);
    if (width > RUNS * (ideal * 3 / 2 + 4))
        lab_fail("wide",
                 "Bars that are too wide say less than you know. In a function with nearly all samples the number "
                 "varies as little as in one with nearly none.",
                 BARS, "a true share of %u %% of %u samples: the error bars are %u wide; about %u are enough", percent,
                 all, width / RUNS, ideal);
}

/* Two standard deviations, rounded up once or twice. */
static bool is_two(uint32_t reach, uint32_t seen, uint32_t all)
{
    const uint64_t least = UINT64_C(4) * seen * (all - seen), most = reach > 3 ? reach - 3 : 0;
    return (uint64_t)reach * reach * all >= least && most * most * all <= least;
}

static void check_reach(uint32_t seen, uint32_t all)
{
    const struct lab_interval bars = lab_error_bars(seen, all);
    if ((bars.low && !is_two(seen - bars.low, seen, all)) || (bars.high < all && !is_two(bars.high - seen, seen, all)))
        lab_fail("reach",
                 "The bars reach two standard deviations to each side, rounded up, but not below 0 or above all.", BARS,
                 "%u of %u samples: the bars are %u to %u; two standard deviations are between %u and %u", seen, all,
                 bars.low, bars.high, lab_square_root(UINT64_C(4) * seen * (all - seen) / all),
                 lab_square_root(UINT64_C(4) * seen * (all - seen) / all) + 1);
}

static void check_error_bars(void)
{
    static const uint8_t percent[] = {8, 25, 50, 75, 92};
    for (unsigned i = 0; i < sizeof percent; i++)
        for (uint32_t all = 100; all <= 1600; all *= 4)
            check_share(percent[i], all);
    for (uint32_t run = 0; run < 200; run++) {
        const uint32_t of = 100 + below(1500);
        check_reach(1 + below(of - 1), of);
    }
    const uint32_t all = 300 + below(300);
    const struct lab_interval none = lab_error_bars(0, all), every = lab_error_bars(all, all);
    if (none.low || none.high < 3 || none.high > 6 || every.high != all || all - every.low < 3 || all - every.low > 6)
        lab_fail("zero",
                 "No sample does not mean that it never ran. A share of which 3 samples are expected is missed once in "
                 "20 runs (the rule of three). The same holds where all samples are in it.",
                 BARS, "0 of %u samples: %u to %u; %u of %u samples: %u to %u", all, none.low, none.high, all, all,
                 every.low, every.high);
    lab_pass("error-bars",
             "15 true shares, 400 runs of each: the bars contain the truth often enough, and are no wider");
}

/* ---- the profile ------------------------------------------------------------------------------------------------- */

static void add(uint32_t of[JOB_SYMBOLS], uint32_t records)
{
    for (uint32_t i = 0; i < records; i++) {
        const int symbol = lab_symbol_of(lab_job_symbols, JOB_SYMBOLS, sampling_get(i).ip);
        if (symbol >= 0)
            of[symbol]++;
    }
}

static uint32_t sum(const uint32_t of[JOB_SYMBOLS])
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < JOB_SYMBOLS; i++)
        all += of[i];
    return all;
}

/* Every second instruction is recorded. Two runs, which begin one instruction apart, record each of them. Returns how
 * many that are. */
static uint32_t check_profile(uint64_t about)
{
    uint32_t exact[JOB_SYMBOLS] = {0}, seen[JOB_SYMBOLS] = {0}, right = 0;
    const uint64_t period = lab_period(about, sampling_precise());
    for (uint64_t first = 1; first <= 2; first++)
        add(exact, sampling_run(lab_job, JOB_ROUNDS, sampling_precise() ? 2 : 1, first));
    add(seen, sampling_run(lab_job, JOB_ROUNDS, period, 1 + lab_seed() % period));
    const uint32_t instructions = sum(exact), all = sum(seen);
    lab_log("%u samples of %u instructions, period %lu; shares in 1/1000:", all, instructions, (unsigned long)period);
    lab_log("  function  exact  yours  error bars");
    for (uint32_t i = 0; i < JOB_SYMBOLS; i++) {
        const struct lab_interval bars = lab_error_bars(seen[i], all);
        const bool in = (uint64_t)bars.low * instructions <= (uint64_t)exact[i] * all &&
                        (uint64_t)exact[i] * all <= (uint64_t)bars.high * instructions;
        lab_log("  %-8s  %5u  %5u  %3u to %3u%s", lab_job_symbols[i].name, exact[i] * 1000 / instructions,
                seen[i] * 1000 / all, bars.low * 1000 / all, bars.high * 1000 / all, in ? "" : "  not the exact share");
        right += in;
    }
    if (right + 1 < JOB_SYMBOLS)
        lab_fail("profile", "Of seven error bars of 95 % one may miss the exact share, but not more.", PEBS_SECTION,
                 "%u of %u error bars contain the exact share", right, JOB_SYMBOLS);
    lab_pass("profile", "%u of %u error bars contain the exact share", right, JOB_SYMBOLS);
    return instructions;
}

void lab_check(void)
{
    state = (2 * lab_seed() - 1) * UINT64_C(0x9E3779B97F4A7C15); /* never 0 */
    sampling_init();
    check_names();
    check_periods();
    check_error_bars();
    check_stacks(check_profile(100));
}
