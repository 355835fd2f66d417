/* SPDX-License-Identifier: MIT */
/* Lab 6: the check. First small traces of its own, then the records of the boots, of which the truth tells whose they
 * are (truth=1), then the kernel's rule for closing batches. */
#include <inttypes.h>
#include <stdio.h>

#include "host_cases.h"
#include "host_close.h"
#include "host_habits.h"
#include "labs/check.h"
#include "labs/host/log.h"

#define RULES "docs/explain/ds.md, \"Whose record is it?\""

/* What close_here must reach. 0524H with PebsIndex takes 48 bytes a switch, and no record is ambiguous with it. */
#define BYTES_MOST 24.0
#define LESS_LEAST 0.75

#define BOOTS 3

const char lab_title[] = "6 Whose sample?";

struct score {
    uint64_t samples, index, time; /* index, time: those that were attributed */
};

/* ---- attribution */

/* What the two rules leave open is open; what they tell is the truth. `right`: what can be known by the rule. */
static void check_answer(const char *rule, const struct sample *s, uint32_t answer, uint32_t right, uint32_t culprit)
{
    char name[32], is[32], truth[32];
    if (answer < UNKNOWN && answer != culprit) {
        snprintf(name, sizeof name, "wrong-%s", rule);
        lab_fail(
            name,
            "A thread was named that did not cause the record. A wrong name is worse than none: find out what your "
            "rule takes for granted here.",
            RULES, "epoch %" PRIu32 ", record 0x%" PRIx64 ": by_%s says %s; in truth it is %s", s->epoch, s->address,
            rule, answer_text(is, answer), answer_text(truth, culprit));
    }
    if (answer >= UNKNOWN && right < UNKNOWN) {
        snprintf(name, sizeof name, "missed-%s", rule);
        lab_fail(name, "The trace tells whose record this is. Which suspect of yours can be ruled out?", RULES,
                 "epoch %" PRIu32 ", record 0x%" PRIx64 ": by_%s says %s; expected %s", s->epoch, s->address, rule,
                 answer_text(is, answer), answer_text(truth, right));
    }
}

/* By time the truth is what can be known, if the clock tells record and switches apart. */
static uint32_t right_by_time(const struct lane *lane, size_t i)
{
    const struct sample *s = &lane->samples.items[i];
    const struct leaving *last = &lane->trace.switches[lane->trace.switch_count - 1];
    if (!s->timed || s->time > last->time)
        return UNKNOWN;
    for (size_t low = 0, high = lane->trace.switch_count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (lane->trace.switches[middle].time == s->time)
            return AMBIGUOUS;
        if (lane->trace.switches[middle].time < s->time)
            low = middle + 1;
        else
            high = middle;
    }
    return lane->culprits.items[i];
}

static void attribute(struct score *score, const struct lane *lane)
{
    for (size_t i = 0; i < lane->samples.count; i++) {
        const struct sample *s = &lane->samples.items[i];
        const uint32_t culprit = lane->culprits.items[i];
        const uint32_t index = by_index(&lane->trace, s), time = by_time(&lane->trace, s);
        check_answer("index", s, index, lane_by_index(&lane->trace, s), culprit);
        check_answer("time", s, time, right_by_time(lane, i), culprit);
        score->samples++;
        score->index += index < UNKNOWN;
        score->time += time < UNKNOWN;
    }
}

/* ---- closing */

static bool never(uint64_t own[OWN_WORDS], const struct moment *m)
{
    (void)own, (void)m;
    return false;
}

static bool always(uint64_t own[OWN_WORDS], const struct moment *m)
{
    (void)own, (void)m;
    return true;
}

struct rules {
    struct closing never, always, yours;
};

static void close_by(struct rules *sum, const struct lane *lane)
{
    close_lane(&sum->never, lane, never);
    close_lane(&sum->always, lane, always);
    close_lane(&sum->yours, lane, close_here);
}

static void show_one(const char *name, const struct closing *c)
{
    printf("  %-6s %6" PRIu64 " ambiguous, %6" PRIu64 " batches, %5.1f bytes a switch\n", name, c->ambiguous,
           c->batches, (double)c->bytes / (double)c->switches);
}

static void show(const char *what, const struct rules *sum)
{
    printf("%s, by index:\n", what);
    show_one("never", &sum->never);
    show_one("always", &sum->always);
    show_one("yours", &sum->yours);
}

/* A boot cannot judge a rule: how many records it has, and in whose time they come, depends on the host. */
static void check_closing(void)
{
    struct rules sum = {0};
    struct lane lane;
    habits_make(&lane);
    close_by(&sum, &lane);
    lane_free(&lane);
    show("the check's own switches", &sum);
    const double bytes = (double)sum.yours.bytes / (double)sum.yours.switches;
    const double less = ((double)sum.never.ambiguous - (double)sum.yours.ambiguous) /
                        ((double)sum.never.ambiguous - (double)sum.always.ambiguous);
    if (bytes > BYTES_MOST)
        lab_fail(
            "bytes",
            "Each batch begins with a header. Close one only where it makes a record unambiguous: two stamps have to "
            "enclose the time of its thread. Which threads are worth that?",
            "docs/reference/format.md, section 6", "%.1f bytes a switch; expected at most %.1f: 0524H takes 48", bytes,
            BYTES_MOST);
    if (less < LESS_LEAST)
        lab_fail("ambiguous",
                 "A record has one suspect if a batch was closed when its thread came and another one when it left, or "
                 "at least before another sampled thread ran. A stamp behind the record alone does not help.",
                 RULES, "%.0f %% of the ambiguous records that can be avoided are; expected at least %.0f %%",
                 100 * less, 100 * LESS_LEAST);
    lab_pass("close", "%.0f %% of the ambiguous records that can be avoided are, for %.1f bytes a switch", 100 * less,
             bytes);
}

/* ---- boots */

static void check_boot(const char *path, struct rules *sum)
{
    static struct cairn_log log;
    struct score score = {0};
    char name[96];
    lab_log_open(&log, path);
    for (uint32_t cpu = 0; cpu < log.cpus; cpu++) {
        struct lane lane;
        lane_read(&lane, &log, cpu);
        attribute(&score, &lane);
        close_by(sum, &lane);
        lane_free(&lane);
    }
    lab_pass("boot", "%" PRIu64 " records, by index %" PRIu64 ", by time %" PRIu64 " attributed, %s", score.samples,
             score.index, score.time, lab_log_name(&log, name, sizeof name));
    lab_log_close(&log);
}

int main(int argc, char **argv)
{
    struct rules sum[BOOTS] = {0};
    printf("lab %s\n", lab_title);
    check_index_cases();
    check_time_cases();
    if (argc != 1 + BOOTS)
        lab_broken("it wants three logs");
    for (int i = 0; i < BOOTS; i++)
        check_boot(argv[1 + i], &sum[i]);
    for (int i = 0; i < BOOTS; i++) {
        char what[8];
        snprintf(what, sizeof what, "boot %d", i + 1);
        show(what, &sum[i]);
    }
    check_closing();
    return 0;
}
