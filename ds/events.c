/* SPDX-License-Identifier: MIT */
/* What can be counted, under Intel's names, and the parsers of pebs= and pebs.groups=. */
#include "ds/ds.h"

#include "kernel/errno.h"
#include "kernel/string.h"

struct event_name {
    const char *name;
    uint8_t select, umask; /* SDM vol. 3B, "Pre-defined Architectural Performance Events" */
    int8_t fixed;
};

/* The first name of a select and umask is Intel's, those after it are aliases: perf's, and Intel's for the GP counter.
 */
static const struct event_name names[] = {
    {"INST_RETIRED.ANY", 0xC0, 0x00, 0},   {"INST_RETIRED.ANY_P", 0xC0, 0x00, DS_NO_FIXED},
    {"instructions", 0xC0, 0x00, 0},       {"BR_INST_RETIRED.ALL_BRANCHES", 0xC4, 0x00, DS_NO_FIXED},
    {"branches", 0xC4, 0x00, DS_NO_FIXED},
};
#define NAMES      (sizeof names / sizeof names[0])
#define NAMES_TEXT "INST_RETIRED.ANY (instructions), INST_RETIRED.ANY_P, BR_INST_RETIRED.ALL_BRANCHES (branches)"

#define PERIOD_MAX ((UINT64_C(1) << 47) - 1) /* counters have 48 bits; ds_cpu_init checks */

static bool same(const char *word, size_t size, const char *name)
{
    return strlen(name) == size && memcmp(word, name, size) == 0;
}

/* Event names are compared without regard to case, as perf does. */
static bool same_name(const char *word, size_t size, const char *name)
{
    if (strlen(name) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char a = word[i], b = name[i];
        a = (char)(a >= 'A' && a <= 'Z' ? a | 0x20 : a);
        b = (char)(b >= 'A' && b <= 'Z' ? b | 0x20 : b);
        if (a != b)
            return false;
    }
    return true;
}

static size_t span(const char *s, const char *stops)
{
    size_t n = 0;
    while (s[n] && !strchr(stops, s[n]))
        n++;
    return n;
}

static bool period(const char *s, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    if (!n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || v > PERIOD_MAX)
            return false;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    *out = v;
    return v >= 1 && v <= PERIOD_MAX;
}

static int refuse(char *error, size_t size, const char *option, const char *word, size_t n, const char *right)
{
    snprintf(error, size, "option '%s': '%.*s': %s", option, (int)n, word, right);
    return -EINVAL;
}

static int parse_event(const char **at, struct ds_event *event, char *error, size_t size)
{
    const char *s = *at;
    size_t n = span(s, ":,");
    size_t i = 0;
    while (i < NAMES && !same_name(s, n, names[i].name))
        i++;
    if (i == NAMES)
        return refuse(error, size, "pebs", s, n, "not a known event; known are " NAMES_TEXT);
    size_t first = 0;
    while (names[first].select != names[i].select || names[first].umask != names[i].umask ||
           names[first].fixed != names[i].fixed)
        first++;
    *event = (struct ds_event){.select = names[i].select,
                               .umask = names[i].umask,
                               .fixed = names[i].fixed,
                               .name = names[first].name,
                               .user = true,
                               .kernel = true};
    s += n;
    n = *s == ':' ? span(s + 1, ":,") : 0;
    if (!period(s + 1, n, &event->period))
        return refuse(error, size, "pebs", s + (*s == ':'), n,
                      "must be a period from 1 to 2^47 - 1, as in INST_RETIRED.ANY:5003");
    s += 1 + n;
    for (bool ring = false; *s == ':'; s += n) {
        s++;
        n = span(s, ":,");
        bool u = same(s, n, "u"), k = same(s, n, "k"), both = same(s, n, "uk");
        if ((u || k || both) && !ring && !event->plain) {
            event->user = u || both;
            event->kernel = k || both;
            ring = true;
        } else if (same(s, n, "plain") && !event->plain) {
            event->plain = true;
        } else {
            return refuse(error, size, "pebs", s, n,
                          "after the period come u, k or uk (the rings), then plain, each once");
        }
    }
    *at = s;
    return 0;
}

int ds_parse_events(const char *spec, struct ds_config *config, char *error, size_t size)
{
    const char *s = spec;
    config->events = 0;
    for (;;) {
        if (config->events == DS_MAX_COUNTERS)
            return refuse(error, size, "pebs", s, strlen(s), "more events than any processor here has counters (12)");
        int e = parse_event(&s, &config->event[config->events], error, size);
        if (e)
            return e;
        config->events++;
        if (!*s)
            return 0;
        s++; /* the comma */
    }
}

int ds_parse_groups(const char *spec, struct ds_config *config, char *error, size_t size)
{
    size_t n = strlen(spec);
    if (same(spec, n, "none"))
        config->groups = 0;
    else if (same(spec, n, "gpr"))
        config->groups = MSR_PEBS_DATA_CFG_GPR;
    else
        return refuse(error, size, "pebs.groups", spec, n, "must be none or gpr");
    return 0;
}
