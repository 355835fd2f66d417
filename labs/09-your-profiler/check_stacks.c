/* SPDX-License-Identifier: MIT */
/* Lab 9: lab_stack on stacks that the check has made, then on those of the program; lab_fold on stacks
 * that the check has made, and on what the program gave. */
#include "sampling.h"

#include "labs/check.h"

#define WORDS   512u /* of the made stack: a page */
#define SAMPLES 512u
#define TASK    "labs/09-your-profiler/task.h"
#define PAGE    "docs/explain/ds.md, section 3: a record's registers"

/* ---- stacks that the check has made ------------------------------------------------------------------------------ */

static uint64_t *words; /* every second one looks like a return address, also outside of the stack */

static uint64_t address_of(uint32_t word)
{
    return (uintptr_t)&words[word];
}

static const char *const bounds = "RBP may hold anything. Before you read a frame, both of its words have to be in the "
                                  "stack, and RBP has to be a multiple of 8.";

static const char *const edges = "The stack is from `low` up to but not including `high`. A frame that takes its first "
                                 "two words, or its last two, is in it.";

/* The stack is words 100 to 399. `expected`: how many addresses the walk gives, `ip` among them. */
static void check_made(const char *what, uint64_t rbp, uint32_t expected, const char *name, const char *hint)
{
    uint64_t out[32] = {0}; /* a walk without a limit ends in here, too */
    const uint32_t n = lab_stack(0x1234, rbp, address_of(100), address_of(400), out);
    if (out[LAB_DEPTH] || n > LAB_DEPTH)
        lab_fail("depth", "`out` has room for LAB_DEPTH addresses, the first of which is `ip`.", TASK,
                 "%s: lab_stack has written or returns more than %u addresses", what, LAB_DEPTH);
    if (n > expected && expected > 2)
        lab_fail("bounds", bounds, PAGE, "%s: lab_stack returns %u addresses; expected %u", what, n, expected);
    if (n != expected)
        lab_fail(name, hint, PAGE, "%s: lab_stack returns %u addresses; expected %u", what, n, expected);
    if (out[0] != 0x1234)
        lab_fail("ip", "The innermost address is the sample's own: `ip` comes first.", PAGE,
                 "%s: out[0] is 0x%lx; expected ip, 0x1234", what, (unsigned long)out[0]);
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t *frame = (const uint64_t *)rbp;
        if (out[i] != frame[1])
            lab_fail("return",
                     "RBP points to the caller's RBP. The return address is in the word after it. The next frame is "
                     "where the caller's RBP points.",
                     PAGE, "%s: out[%u] is 0x%lx; expected 0x%lx", what, i, (unsigned long)out[i],
                     (unsigned long)frame[1]);
        rbp = frame[0];
    }
}

static void frame(uint32_t word, uint64_t next)
{
    words[word] = next;
}

static void check_made_stacks(void)
{
    words = lab_memory(WORDS * sizeof *words);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i % 2 ? 0xFFFF000000000001 + i * lab_seed() * 16 : 0;
    frame(120, address_of(160));
    frame(160, address_of(170));
    frame(170, address_of(450));
    frame(450, address_of(460));
    check_made("three frames", address_of(120), 4, "frames",
               "Each frame gives one return address. The walk goes on as long as the caller's RBP is in the stack.");
    check_made("RBP is the address of the stack's first word", address_of(100), 2, "edges", edges);
    check_made("RBP is the address of the stack's last word but one", address_of(398), 2, "edges", edges);
    check_made("RBP is below the stack", address_of(90), 1, "bounds", bounds);
    check_made("RBP is above the stack", address_of(450), 1, "bounds", bounds);
    check_made("RBP is the address of the stack's last word", address_of(399), 1, "bounds", bounds);
    check_made("RBP is no multiple of 8", address_of(120) + 4, 1, "bounds", bounds);
    frame(200, address_of(200));
    check_made("a frame that points to itself", address_of(200), 2, "grows",
               "The stack grows down, so a caller's frame lies above. A frame that does not point upwards ends the "
               "walk, or it might never end.");
    frame(210, address_of(180));
    check_made("a frame that points down", address_of(210), 2, "grows",
               "The stack grows down, so a caller's frame lies above. A frame that does not point upwards ends the "
               "walk, or it might never end.");
    for (uint32_t i = 0; i < 20; i++)
        frame(300 + 4 * i, address_of(304 + 4 * i));
    check_made("twenty frames", address_of(300), LAB_DEPTH, "depth",
               "`out` has room for LAB_DEPTH addresses, the first of which is `ip`.");
    lab_pass("made-stacks", "the walk ends where it should in 10 stacks that the check has made");
}

/* ---- the program's ----------------------------------------------------------------------------------------------- */

static struct { /* as the interrupt has found them */
    uint64_t out[LAB_DEPTH], r12;
    uint32_t depth;
} taken[SAMPLES];
static uint32_t samples;
static struct lab_calls stacks[SAMPLES + 1];
static uint32_t count; /* of stacks; what lies behind them is none of them */

static void take(const struct sample *sample, uint64_t rsp)
{
    if (samples == SAMPLES)
        return;
    taken[samples].depth = lab_stack(sample->ip, sample->rbp, rsp, lab_job_stack + 8, taken[samples].out);
    taken[samples].r12 = sample->r12;
    samples++;
}

/* R12 as the truth: is `calls` the same? */
static bool as_in_r12(const struct lab_calls *calls, uint64_t r12)
{
    for (uint32_t i = 0; i < calls->depth; i++, r12 >>= 8)
        if ((r12 & 0xFF) != calls->symbol[i] + 1u)
            return false;
    return r12 == 0;
}

/* `instructions`: of the program. */
static void check_program(uint64_t period, uint32_t instructions)
{
    uint32_t outside = 0, halfway = 0;
    sampling_run_with_stacks(lab_job, JOB_ROUNDS, period, take);
    for (uint32_t i = 0; i < samples; i++) {
        struct lab_calls calls = {0};
        for (uint32_t j = 0; j < taken[i].depth && j < LAB_DEPTH; j++) {
            const int symbol = lab_symbol_of(lab_job_symbols, JOB_SYMBOLS, taken[i].out[j]);
            if (symbol >= 0)
                calls.symbol[calls.depth++] = (uint8_t)symbol;
        }
        if (lab_symbol_of(lab_job_symbols, JOB_SYMBOLS, taken[i].out[0]) < 0) {
            outside++;
            continue;
        }
        if ((taken[i].r12 & 0xFF) != calls.symbol[0] + 1u) {
            halfway++;
        } else if (!as_in_r12(&calls, taken[i].r12)) {
            lab_fail("calls",
                     "The stacks that the check has made are right. Those of the program are not: what differs?", PAGE,
                     "sample %u: %u functions, the innermost %s; R12, which has a byte for each, is 0x%lx", i,
                     calls.depth, lab_job_symbols[calls.symbol[0]].name, (unsigned long)taken[i].r12);
        }
        stacks[count++] = calls;
    }
    if (count < 50)
        lab_fail("few", "The check itself cannot run here: too few samples have a stack.", PAGE, "%u of %u samples",
                 count, samples);
    lab_pass("stacks", "%u samples with the right callers; not judged: %u within a prologue or epilogue, %u outside",
             count - halfway, halfway, outside);
    lab_log("one sample for each %u instructions of the program, with period %lu:", instructions / count,
            (unsigned long)period);
    lab_log(lab_is_model() ? "the model does not count the interrupts"
                           : "the way back from each interrupt counts, too");
}

/* ---- lab_fold ---------------------------------------------------------------------------------------------------- */

static struct folded lines[SAMPLES];
static uint32_t line_count;

void lab_line(const struct lab_calls *outermost_first, uint32_t of)
{
    if (line_count < SAMPLES)
        lines[line_count++] = (struct folded){*outermost_first, of};
}

/* How many stacks are the line's, read the right way or the wrong way round. */
static uint32_t stacks_of(const struct lab_calls *line, bool turned)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool same = stacks[i].depth == line->depth;
        for (uint32_t j = 0; same && j < line->depth; j++)
            same = stacks[i].symbol[turned ? line->depth - 1 - j : j] == line->symbol[j];
        n += same;
    }
    return n;
}

static bool same_line(const struct lab_calls *a, const struct lab_calls *b)
{
    bool same = a->depth == b->depth;
    for (uint32_t i = 0; same && i < a->depth; i++)
        same = a->symbol[i] == b->symbol[i];
    return same;
}

/* lab_fold of `stacks` gives the right lines. */
static void check_lines(void)
{
    uint32_t all = 0;
    line_count = 0;
    lab_fold(stacks, count);
    if (!line_count)
        lab_fail("fold",
                 "A flame graph needs each different stack once, with its number of samples: call lab_line for each.",
                 TASK, "lab_fold has not called lab_line for %u stacks", count);
    for (uint32_t i = 0; i < line_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (same_line(&lines[i].calls, &lines[j].calls))
                lab_fail("merged", "Stacks that are the same are one line, wherever they are in the list.", TASK,
                         "lines %u and %u are of the same stack", j, i);
    for (uint32_t i = 0; i < line_count; i++) {
        const struct lab_calls *calls = &lines[i].calls;
        const uint32_t expected = calls->depth && calls->depth <= LAB_DEPTH ? stacks_of(calls, true) : 0;
        if (!expected)
            lab_fail("outermost", "A line begins with the outermost function, and a stack with the innermost.", TASK,
                     "line %u is not the stack of a sample%s", i,
                     calls->depth <= LAB_DEPTH && stacks_of(calls, false) ? "; read backwards, it is one" : "");
        if (lines[i].samples != expected)
            lab_fail("samples",
                     "The number of a line is how many of the stacks are the same as it: as deep, and with the same "
                     "function at each depth.",
                     TASK, "line %u has %u samples; expected %u", i, lines[i].samples, expected);
        all += expected;
    }
    if (all != count)
        lab_fail("missing", "Each stack is in one of the lines.", TASK, "the lines have %u of %u samples", all, count);
}

/* The program's own stacks are few: whoever compares only some of the functions sees them apart, too. */
static void check_made_fold(void)
{
    static const struct lab_calls made[] = {
        {3, {1, 2, 3}},
        {3, {1, 2, 4}},
        {3, {1, 5, 3}},
        {3, {0, 2, 3}}, /* one function differs */
        {2, {1, 2}},
        {4, {1, 2, 3, 0}},
        {1, {1}},
        {2, {2, 3}}, /* a part of another one */
        {3, {4, 2, 1}},
        {2, {0, 0}},
        {3, {0, 0, 0}},
        {8, {0, 1, 2, 3, 4, 5}}, /* recursion */
        {8, {1, 1, 1, 1, 1, 1, 1, 2}},
        {7, {1, 1, 1, 1, 1, 1, 1}},
    };
    const uint32_t n = sizeof made / sizeof made[0];
    for (count = 0; count < 100; count++) /* stacks that are the same are not side by side */
        stacks[count] = made[(count % 3 ? count : count / 5) % n];
    stacks[count] = stacks[0]; /* one that is known lies behind them */
    check_lines();
    count = 0;
}

static void check_fold(void)
{
    stacks[count] = (struct lab_calls){0}; /* one that is not */
    check_lines();
    lab_pass("fold", "%u samples are %u different stacks", count, line_count);
    flame_draw(lines, line_count);
}

void check_stacks(uint32_t instructions)
{
    check_made_stacks();
    check_made_fold();
    check_program(lab_period(200, sampling_precise()), instructions);
    check_fold();
}
