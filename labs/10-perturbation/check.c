/* SPDX-License-Identifier: MIT */
/* Lab 10: the check. Machines whose truth is known judge how one measures; then this machine, of which nobody knows it.
 */
#include "labs/check.h"

#include "machines.h"

#define MACHINES 100u /* of each kind */
#define ENOUGH   80u  /* of their intervals have to contain the true cost: fewer than 85 come by chance, too */
#define WIDEST   250u /* ticks, on average */

#define PAGE "labs/10-perturbation/README.md, \"Background\""

const char lab_title[] = "10 Perturbation";

static const struct {
    const char *name, *what, *hint;
} kinds[KINDS] = {
    [QUIET] = {"quiet", "with a little noise",
               "The difference of one pair of runs is not the cost: the next pair gives another. Make many, and say "
               "between which two of the differences the middle one lies in 95 of 100 measurements."},
    [INTERRUPTED] =
        {"outliers", "on which an interrupt makes some runs much longer",
         "One run in thirty is ten times as long, whether traced or not. It pulls a mean along, and a deviation "
         "even more. The middle one of the differences does not care."},
    [WARMING] = {"drift", "that become slower from run to run",
                 "What comes later takes longer here, traced or not. Take runs with and without tracing next to each "
                 "other, and let neither of them always be the later one."},
    [ALTERNATING] =
        {"alternate", "on which every second run takes longer",
         "Your order of runs and the machine's are in step: the period that divides the loop, as in lab 9. In "
         "each group of runs that you compare, both settings have to be in odd and in even places."},
    [FREE] = {"free", "on which tracing costs nothing", "An interval that contains 0 is a result, too."},
    [STILL] = {"still", "on which each run takes the same time, or is interrupted",
               "All differences but those of interrupts are the same here, so both ends of the interval are that "
               "difference: -1, 0 or 1."},
    [HELPING] = {"sign", "on which the traced program is faster",
                 "The cost may be negative. A difference of unsigned numbers is not."},
};

static void check_report(const struct lab_machine *m, const struct lab_report *r)
{
    enum lab_result expected = m->plain_differs ? LAB_CANNOT_TELL : LAB_SAME;
    for (uint32_t i = 0; i < m->traced && expected == LAB_SAME; i++)
        if (m->traced_result[i] != m->first_plain.result)
            expected = LAB_CHANGED;
    const enum lab_cost cost = r->low > 0 ? LAB_SLOWER : r->high < 0 ? LAB_FASTER : LAB_NOT_SEEN;
    static const char *const said[] = {"LAB_SAME", "LAB_CHANGED", "LAB_CANNOT_TELL"};
    static const char *const seen[] = {"LAB_NOT_SEEN", "LAB_SLOWER", "LAB_FASTER"};
    if (r->cost != cost)
        lab_fail("claim",
                 "Claim no more than the interval says. If it contains 0, you have not seen a difference; nor have you "
                 "shown that there is none.",
                 PAGE, "the interval is %ld to %ld ticks, and the report says %s; expected %s", (long)r->low,
                 (long)r->high, seen[r->cost % 3], seen[cost]);
    if (r->result != expected && expected == LAB_CANNOT_TELL)
        lab_fail(
            "by-itself",
            "Compare runs without tracing with each other first. Where they differ, tracing is not what has changed "
            "the result, or at least you cannot tell.",
            PAGE, "the report says %s; the untraced runs have different results, so %s is expected",
            said[r->result % 3], said[expected]);
    if (r->result != expected && expected == LAB_CHANGED)
        lab_fail("rare", "A result that tracing changes once in eight runs is changed. Look at each traced run.", PAGE,
                 "the report says %s; all untraced runs have the same result, and a traced one has another",
                 said[r->result % 3]);
    if (r->result != expected)
        lab_fail("result", "All runs have the same result, with tracing and without.", PAGE,
                 "the report says %s; expected %s", said[r->result % 3], said[expected]);
    if (r->samples != m->samples)
        lab_fail("samples", "The samples of all traced runs together.", PAGE,
                 "the report says %lu samples; expected %lu", (unsigned long)r->samples, (unsigned long)m->samples);
    if (r->lost != m->lost && m->lost == LAB_UNKNOWN)
        lab_fail("unknown",
                 "The sum of something unknown and anything else is unknown. It is not 0, and no part of the sum is "
                 "the whole.",
                 PAGE, "the report says that %lu samples are lost; of at least one run nobody knows how many",
                 (unsigned long)r->lost);
    if (r->lost != m->lost)
        lab_fail("lost", "The lost samples of all traced runs together. All of them are known here.", PAGE,
                 "the report says %lu lost samples; expected %lu", (unsigned long)r->lost, (unsigned long)m->lost);
}

static void check_kind(enum kind kind)
{
    uint32_t inside = 0;
    uint64_t width = 0;
    struct { /* the first interval that does not contain the true cost */
        int64_t low, high, cost;
    } miss = {0};
    static struct lab_machine m;
    for (uint32_t i = 0; i < MACHINES; i++) {
        struct lab_report r = {0};
        machine_make(&m, kind, i);
        lab_measure(&m, &r);
        if (!m.plain || !m.traced)
            lab_fail("trials",
                     "To know what tracing costs, run the program with it and without: lab_run_trial does both.",
                     "labs/10-perturbation/task.h", "lab_measure has made %u runs without tracing and %u with it",
                     m.plain, m.traced);
        if (r.low > r.high)
            lab_fail("interval", "`low` is the lower end of the interval.", "labs/10-perturbation/task.h",
                     "the interval is %ld to %ld", (long)r.low, (long)r.high);
        check_report(&m, &r);
        if (r.low <= m.cost && m.cost <= r.high)
            inside++;
        else if (i == inside)
            miss.low = r.low, miss.high = r.high, miss.cost = m.cost;
        width += (uint64_t)(r.high - r.low);
    }
    width /= MACHINES;
    if (inside < ENOUGH && kind == QUIET && width < WIDEST / 2 && inside > 0 && width > 0)
        lab_fail(
            "narrow",
            "Your interval is around the right number, but too often it is beside the truth. How far does the middle "
            "one of your differences move from measurement to measurement?",
            PAGE, "%u of %u intervals contain the true cost; expected about 95; they are %lu ticks wide", inside,
            MACHINES, (unsigned long)width);
    if (inside < ENOUGH)
        lab_fail(
            kinds[kind].name, kinds[kind].hint, PAGE,
            "machines %s: %u of %u intervals contain the true cost; expected about 95; one that does not is %ld to "
            "%ld, the true cost %ld",
            kinds[kind].what, inside, MACHINES, (long)miss.low, (long)miss.high, (long)miss.cost);
    if (width > WIDEST && kind == QUIET)
        lab_fail("wide", "An interval that is too wide says less than you know. Use more of the trials that you have.",
                 PAGE, "machines %s: the intervals are %lu ticks wide; %u are enough", kinds[kind].what,
                 (unsigned long)width, WIDEST);
    if (width > WIDEST)
        lab_fail(kinds[kind].name, kinds[kind].hint, PAGE,
                 "machines %s: the intervals are %lu ticks wide; %u are enough", kinds[kind].what, (unsigned long)width,
                 WIDEST);
    lab_pass(kinds[kind].name, "%u of %u intervals contain the true cost, %lu ticks wide", inside, MACHINES,
             (unsigned long)width);
}

/* Times are those of an emulator here: they are shown and not judged. */
static void show_this_machine(void)
{
    static struct lab_machine m;
    struct lab_report r = {0};
    uint64_t shortest = UINT64_MAX;
    static const char *const result[] = {"the same", "changed", "cannot tell, it varies by itself"};
    static const char *const cost[] = {"no difference seen", "slower", "faster"};
    real_init(&m);
    lab_measure(&m, &r);
    check_report(&m, &r);
    for (uint32_t i = 0; i < m.plain; i++)
        if (m.plain_ticks[i] < shortest)
            shortest = m.plain_ticks[i];
    lab_log("this machine, which nobody knows the truth of: your report");
    lab_log("  cost     %s: %ld to %ld ticks; the shortest run without tracing: %lu", cost[r.cost], (long)r.low,
            (long)r.high, (unsigned long)shortest);
    lab_log("  result   whether the program meets its deadline: %s", result[r.result]);
    if (r.lost == LAB_UNKNOWN)
        lab_log("  samples  %lu, lost: unknown", (unsigned long)r.samples);
    else
        lab_log("  samples  %lu, lost: %lu", (unsigned long)r.samples, (unsigned long)r.lost);
    lab_log("these are ticks of %s", lab_is_model() ? "the model, which single-steps a traced program"
                                                    : "QEMU with its plugin, or of the processor that there is");
    lab_pass("report", "it claims what %u runs have shown", m.trials);
}

void lab_check(void)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        check_kind(kind);
    show_this_machine();
}
