/* SPDX-License-Identifier: MIT */
/* The names of group masks. Also compiled on the host. */
#include "trace/sessions/group_names.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

#define GROUPS_MAX 3u

static const struct word {
    const char *name;
    uint32_t group[GROUPS_MAX]; /* 0: no more */
} words[] = {
    /* what has more bits comes first: trace_groups_show takes the first that fits */
    {"both", {PERF_CONTEXT_SWITCH, PERF_COMPACT_CSWITCH, PERF_CAIRN_BOTH_CSWITCH}},
    {"compact", {PERF_CONTEXT_SWITCH, PERF_COMPACT_CSWITCH}},
    {"full", {PERF_CONTEXT_SWITCH}},
    {"cswitch", {PERF_CONTEXT_SWITCH}},
    {"process", {PERF_PROCESS}},
    {"thread", {PERF_THREAD}},
    {"loader", {PERF_LOADER}},
    {"dispatcher", {PERF_DISPATCHER}},
    {"priority", {PERF_PRIORITY}},
    {"interrupt", {PERF_INTERRUPT}},
    {"dpc", {PERF_DPC}},
    {"profile", {PERF_PROFILE}},
    {"pmc_profile", {PERF_PMC_PROFILE}},
    {"spinlock", {PERF_SPINLOCK}},
    {"cpu_config", {PERF_CPU_CONFIG}},
    {"mark", {PERF_CAIRN_MARK}},
    {"no_sysconfig", {PERF_NO_SYSCONFIG}},
    {"none", {0}},
};
#define WORDS (sizeof words / sizeof words[0])

static bool is(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && memcmp(name, text, size) == 0;
}

/* "0x20010000": a group's value. */
static bool value(const char *text, size_t size, uint32_t *group)
{
    uint64_t number;
    const bool hex = size > 2 && text[1] == 'x' && knumber_parse(text, size, &number) && number <= UINT32_MAX;
    *group = hex ? (uint32_t)number : 0;
    return hex;
}

int trace_groups_parse(const char *text, size_t size, struct perfinfo_groupmask *mask)
{
    bool compact = false, full = false;
    for (;;) {
        const char *plus = memchr(text, '+', size);
        size_t n = plus ? (size_t)(plus - text) : size, w = 0;
        while (w < WORDS && !is(words[w].name, text, n))
            w++;
        uint32_t group;
        if (w == WORDS && !value(text, n, &group))
            return -EINVAL;
        if (w == WORDS)
            trace_group_add(mask, group);
        for (unsigned g = 0; w < WORDS && g < GROUPS_MAX && words[w].group[g]; g++)
            trace_group_add(mask, words[w].group[g]);
        compact |= is("compact", text, n);
        full |= is("full", text, n) || is("cswitch", text, n);
        if (!plus)
            break;
        text += n + 1;
        size -= n + 1;
    }
    if (compact && full)
        trace_group_add(mask, PERF_CAIRN_BOTH_CSWITCH);
    return 0;
}

static bool has(const struct perfinfo_groupmask *mask, const struct word *w)
{
    for (unsigned g = 0; g < GROUPS_MAX && w->group[g]; g++)
        if (!trace_group_on(mask, w->group[g]))
            return false;
    return w->group[0] != 0;
}

static void append(char text[TRACE_GROUPS_TEXT], const char *word)
{
    size_t n = strlen(text);
    snprintf(text + n, TRACE_GROUPS_TEXT - n, "%s%s", n ? "+" : "", word);
}

void trace_groups_show(const struct perfinfo_groupmask *mask, char text[TRACE_GROUPS_TEXT])
{
    struct perfinfo_groupmask left = *mask;
    text[0] = '\0';
    for (size_t w = 0; w < WORDS; w++) {
        if (!has(&left, &words[w]))
            continue;
        append(text, words[w].name);
        for (unsigned g = 0; g < GROUPS_MAX; g++)
            left.masks[words[w].group[g] >> PERF_MASK_SHIFT] &= ~(words[w].group[g] & PERF_MASK_BITS);
    }
    for (uint32_t i = 0; i < 8; i++)
        if (left.masks[i]) {
            char value[16];
            snprintf(value, sizeof value, "0x%x", i << PERF_MASK_SHIFT | (left.masks[i] & PERF_MASK_BITS));
            append(text, value);
        }
    if (!text[0])
        append(text, "none");
}
