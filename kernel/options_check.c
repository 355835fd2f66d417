/* SPDX-License-Identifier: MIT */
/* What no single word of the options shows: which have no effect, what does not go together, and what follows from
 * several. */
#include "kernel/options_table.h"

#include "ds/ds.h"
#include "kernel/errno.h"
#include "kernel/string.h"
#include "trace/trace.h"

/* Whether one of `needs` (see struct kopt_option) is not so, where option ds is as good as `ds`. `other`: which option
 * that is, with its value; `words`: what it had to be, or "" where it is what it must not be. */
static bool is_missing(const char *needs, enum kopt_ds ds, char *other, size_t other_size, char *words,
                       size_t words_size)
{
    for (size_t n; *needs; needs += n + (needs[n] == ',')) {
        struct kopt_row row;
        char value[KOPT_TEXT];
        const char *comma = strchr(needs, ','), *equals = strchr(needs, '=');
        n = comma ? (size_t)(comma - needs) : strlen(needs);
        const bool not = equals[-1] == '!';
        const size_t name = (size_t)(equals - needs) - not;
        snprintf(words, words_size, "%.*s", (int)(n - (size_t)(equals + 1 - needs)), equals + 1);
        const struct kopt_option *o = kopt_row_get(kopt_row_find(needs, name), &row);
        if (kopt_option_field(o) == &kopt.ds)
            kopt_word_show(o->words, ds, value, sizeof value);
        else
            kopt_option_show(o, value, sizeof value);
        if ((kopt_word_index(words, value, strlen(value)) < 0) == not)
            continue;
        snprintf(other, other_size, "%.*s=%.16s", (int)name, needs, value);
        words[0] = not ? '\0' : words[0];
        return true;
    }
    return false;
}

bool kopt_idle(size_t *i, enum kopt_ds ds, char *text, size_t size)
{
    struct kopt_row row;
    const struct kopt_option *o;
    for (; (o = kopt_row_get(*i, &row)); ++*i) {
        char value[KOPT_TEXT], other[48], words[32];
        if (!o->needs)
            continue;
        kopt_option_show(o, value, sizeof value);
        if (strcmp(value, o->standard) == 0 || !is_missing(o->needs, ds, other, sizeof other, words, sizeof words))
            continue;
        int n = snprintf(text, size, "option '%s=%s': has no effect with %s", o->name, value, other);
        if (ds != kopt.ds)
            snprintf(text + n, size - (size_t)n, ", which is what ds=auto has chosen");
        else if (words[0])
            snprintf(text + n, size - (size_t)n, ", but with %.*s%s", (int)(strchr(other, '=') + 1 - other), other,
                     words);
        ++*i;
        return true;
    }
    return false;
}

bool kopt_pebs(void)
{
    return kopt.ds != KOPT_DS_OFF && strcmp(kopt.pebs, "none") != 0;
}

/* pebs=none: what is left to do? */
static int check_without_pebs(char *error, size_t error_size)
{
    if (kopt_pebs() || kopt.ds == KOPT_DS_OFF)
        return 0;
    if (!kopt.bts)
        snprintf(error, error_size, "option 'pebs=none': with bts=off nothing is left to record: give "
                 "bts=circular or bts=interrupt, or ds=off");
    else if (strcmp(kopt.workload, "known") == 0)
        snprintf(error, error_size, "option 'pebs=none': workload=known is about what PEBS counts: give another");
    else
        return 0;
    return -EINVAL;
}

/* Intel's name for what can be asked for in session.pmc. */
static const char *event_of(uint16_t source)
{
    switch (source) {
    case TRACE_PMC_INSTRUCTION_RETIRED:
        return "INST_RETIRED.ANY";
    case TRACE_PMC_UNHALTED_CORE_CYCLES:
    case TRACE_PMC_TOTAL_CYCLES:
        return "CPU_CLK_UNHALTED.THREAD";
    case TRACE_PMC_BRANCH_INSTRUCTION_RETIRED:
    case TRACE_PMC_BRANCH_INSTRUCTIONS:
        return "BR_INST_RETIRED.ALL_BRANCHES";
    default:
        return NULL;
    }
}

int kopt_pmc_sources(uint16_t source[TRACE_PMC_MAX], char *error, size_t error_size)
{
    const char *s = kopt.session_pmc;
    if (strcmp(s, "none") == 0)
        return 0;
    for (int count = 0;; s++) {
        const char *comma = strchr(s, ',');
        size_t n = comma ? (size_t)(comma - s) : strlen(s);
        int number = trace_pmc_find(s, n);
        bool twice = false;
        for (int i = 0; i < count; i++)
            twice |= source[i] == number;
        if (number < 0 || !event_of((uint16_t)number) || twice || count == TRACE_PMC_MAX) {
            snprintf(error, error_size, "option 'session.pmc': '%.*s': %s", (int)n, s,
                     twice                    ? "is there twice"
                     : count == TRACE_PMC_MAX ? "is one too many, 4 are the most"
                                              : "no such source: docs/options.md lists them");
            return -EINVAL;
        }
        source[count++] = (uint16_t)number;
        s += n;
        if (!*s)
            return count;
    }
}

int kopt_ds_config(struct ds_config *config, uint64_t *later, char *error, size_t error_size)
{
    *config = (struct ds_config){.records = kopt.pebs_records, .threshold = kopt.pebs_threshold,
                                 .throttle = kopt.ds_throttle};
    uint16_t source[TRACE_PMC_MAX];
    int e = ds_parse_events(kopt.pebs, config, error, error_size);
    int sources = e ? 0 : kopt_pmc_sources(source, error, error_size);
    e = sources < 0 ? sources : e;
    for (int i = 0; i < sources && !e; i++)
        if ((e = ds_add_counting(config, event_of(source[i]))))
            snprintf(error, error_size, "option 'session.pmc': with those of pebs= these are more events than any "
                     "processor here has counters (14)");
    e = e ? e : ds_parse_periods(kopt.pebs_later, config->events, later, error, error_size);
    return e ? e : ds_parse_groups(kopt.pebs_groups, config, error, error_size);
}

/* Whether an option of spin locks is not as it usually is, but no session wants them. */
static bool idle_spinlock(char *error, size_t error_size)
{
    struct kopt_row row;
    const struct kopt_option *o;
    for (size_t i = 0; !kopt_wants(PERF_SPINLOCK) && (o = kopt_row_get(i, &row)); i++) {
        char value[KOPT_TEXT];
        kopt_option_show(o, value, sizeof value);
        if (o->offset - offsetof(struct kopt, spinlock) >= sizeof kopt.spinlock || strcmp(value, o->standard) == 0)
            continue;
        snprintf(error, error_size, "option '%s=%s': has no effect, no session has the group spinlock, as in "
                 "session.1=auto+spinlock:qpc:sequential", o->name, value);
        return true;
    }
    return false;
}

int kopt_check(char *error, size_t error_size)
{
    struct ds_config config;
    uint64_t later[DS_MAX_COUNTERS];
    size_t i = 0;
    if (kopt_idle(&i, kopt.ds, error, error_size) || check_without_pebs(error, error_size))
        return -EINVAL;
    if (kopt.pebs_threshold > kopt.pebs_records) {
        if (kopt_row_given(kopt_row_find("pebs.threshold", strlen("pebs.threshold"))))
            snprintf(error, error_size, "option 'pebs.threshold=%u': must not be above pebs.records=%u",
                     kopt.pebs_threshold, kopt.pebs_records);
        else
            snprintf(error, error_size, "option 'pebs.records=%u': is below pebs.threshold, whose default is %u: give "
                     "pebs.threshold=, at most %u", kopt.pebs_records, kopt.pebs_threshold, kopt.pebs_records);
        return -EINVAL;
    }
    uint32_t others = 0;
    for (uint32_t n = 1; n < TRACE_MAX_SESSIONS; n++)
        others += kopt.session[n].on;
    if (kopt.session_restarts && !others) {
        snprintf(error, error_size, "option 'session.restarts': session 1 is not restarted, and there is no other");
        return -EINVAL;
    }
    bool full = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        full |= kopt.session[n].on && (kopt.session[n].automatic || trace_group_full(&kopt.session[n].masks));
    if (strcmp(kopt.session_pmc, "none") != 0 && !full) {
        snprintf(error, error_size, "option 'session.pmc=%s': no session writes 0524H events: give one 'full' or "
                 "'both'", kopt.session_pmc);
        return -EINVAL;
    }
    if (!trace_spinlock_sampling_valid(&kopt.spinlock)) {
        snprintf(error, error_size, "option 'spinlock.hold_threshold=%u': must be 0 or at least %u",
                 kopt.spinlock.hold_threshold, TRACE_SPINLOCK_HOLD_THRESHOLD);
        return -EINVAL;
    }
    if (idle_spinlock(error, error_size))
        return -EINVAL;
    bool sequential = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        sequential |= kopt.session[n].on && !kopt.session[n].circular;
    if (kopt.dump == KOPT_DUMP_LIVE && !sequential) {
        snprintf(error, error_size, "option 'dump=live': has no effect where all sessions are circular: they keep "
                 "their newest buffers for the end; make one sequential, or leave it out");
        return -EINVAL;
    }
    return kopt_ds_config(&config, later, error, error_size);
}

bool kopt_wants(uint32_t group)
{
    bool wants = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        wants |= kopt.session[n].on && trace_group_on(&kopt.session[n].masks, group);
    return wants;
}
