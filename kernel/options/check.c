/* SPDX-License-Identifier: MIT */
/* What no single option shows: options without effect, options that do not go together, and what they mean together. */
#include "kernel/options/row.h"

#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

struct ds_config kopt_ds_config;

/* Whether one of `needs` (see struct kopt_option) is not so, where option ds is as good as `ds`. `other`: which option
 * that is, with its value; `words`: what it had to be, or "" where it is what it must not be. */
static bool is_missing(const char *needs, enum kopt_ds ds, char *other, size_t other_size, char *words,
                       size_t words_size)
{
    const char *need;
    size_t left = strlen(needs), n;
    while (kopt_part(&needs, &left, ',', &need, &n)) {
        char value[KOPT_TEXT];
        size_t i;
        const char *equals = memchr(need, '=', n);
        const bool other_than = equals[-1] == '!';
        const size_t name = (size_t)(equals - need) - other_than;
        snprintf(words, words_size, "%.*s", (int)(need + n - (equals + 1)), equals + 1);
        const struct kopt_option *o = kopt_row_find(need, name, &i);
        if (!o) /* the part that would have it is not linked */
            snprintf(value, sizeof value, "%s", !other_than && strcmp(words, "none") == 0 ? "none" : "absent");
        else if (o->field == &kopt.ds)
            kopt_word_show(o->words, ds, value, sizeof value);
        else
            kopt_option_show(o, value, sizeof value);
        if ((kopt_word_index(words, value, strlen(value)) < 0) == other_than)
            continue;
        snprintf(other, other_size, "%.*s=%.16s", (int)name, need, value);
        words[0] = other_than ? '\0' : words[0];
        return true;
    }
    return false;
}

bool kopt_idle(size_t *i, enum kopt_ds ds, char *text, size_t size)
{
    const struct kopt_option *o;
    for (; (o = kopt_row_get(*i)); ++*i) {
        char value[KOPT_TEXT], other[48], words[32];
        const bool workload = o->field == kopt.workload;
        const char *needs = workload ? kopt_workload_needs() : o->needs;
        if (!needs)
            continue;
        kopt_option_show(o, value, sizeof value);
        if (strcmp(value, o->standard) == 0 || !is_missing(needs, ds, other, sizeof other, words, sizeof words))
            continue;
        int n = snprintf(text, size, "option '%s=%s': %s with %s", o->name, value,
                         workload ? "does not go" : "has no effect", other);
        if (ds != kopt.ds)
            snprintf(text + n, size - (size_t)n, ", which is what ds=auto has chosen");
        else if (words[0])
            snprintf(text + n, size - (size_t)n, ", only with %.*s%s", (int)(strchr(other, '=') + 1 - other), other,
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

__attribute__((weak)) int kopt_add_counting(struct ds_config *config, char *error, size_t error_size)
{
    (void)config, (void)error, (void)error_size;
    return 0;
}

__attribute__((weak)) int kopt_check_plan(struct ds_cpu *ds, char *error, size_t error_size)
{
    (void)ds, (void)error, (void)error_size;
    return 0;
}

int kopt_events(struct ds_config *config, const char *events, char *error, size_t error_size)
{
    *config = (struct ds_config){.records = kopt.pebs_records, .threshold = kopt.pebs_threshold};
    int e = ds_parse_events(events, config, error, error_size);
    e = !e && config->events ? kopt_add_counting(config, error, error_size) : e;
    return e ? e : ds_parse_groups(kopt.pebs_groups, config, error, error_size);
}

int kopt_check(char *error, size_t error_size)
{
    size_t i = 0;
    if (kopt_idle(&i, kopt.ds, error, error_size))
        return -EINVAL;
    if (kopt.pebs_threshold > kopt.pebs_records) {
        if (kopt_given("pebs.threshold"))
            snprintf(error, error_size, "option 'pebs.threshold=%u': must not be above pebs.records=%u",
                     kopt.pebs_threshold, kopt.pebs_records);
        else
            snprintf(error, error_size,
                     "option 'pebs.records=%u': is below pebs.threshold, whose default is %u: give "
                     "pebs.threshold=, at most %u",
                     kopt.pebs_records, kopt.pebs_threshold, kopt.pebs_records);
        return -EINVAL;
    }
    const int e = kopt_events(&kopt_ds_config, kopt.pebs, error, error_size);
    if (e)
        return e;
    const struct kopt_check *const *check;
    for (ROWS_EACH(kopt_check, check))
        if ((*check)->fails(error, error_size))
            return -EINVAL;
    if (!kopt_pebs() && kopt.ds != KOPT_DS_OFF && !kopt.beside) {
        snprintf(error, error_size, "option 'pebs=none': nothing is left to record: give events, or ds=off");
        return -EINVAL;
    }
    return 0;
}
