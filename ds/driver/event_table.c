/* SPDX-License-Identifier: MIT */
/* The architectural events, what processors do of an event, and the parsers of pebs= and pebs.groups=. */
#include "ds/driver/events.h"
#include "ds/event_data.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

static const struct ds_event_name names[] = {
    {"INST_RETIRED.ANY", DS_EVENT_INSTRUCTIONS, 0},
    {"INST_RETIRED.ANY_P", DS_EVENT_INSTRUCTIONS, DS_NO_FIXED},
    {"instructions", DS_EVENT_INSTRUCTIONS, 0},
    {"CPU_CLK_UNHALTED.THREAD", DS_EVENT_CYCLES, 1},
    {"CPU_CLK_UNHALTED.THREAD_P", DS_EVENT_CYCLES, DS_NO_FIXED},
    {"cycles", DS_EVENT_CYCLES, 1},
    {"cpu-cycles", DS_EVENT_CYCLES, 1},
    {"BR_INST_RETIRED.ALL_BRANCHES", DS_EVENT_BRANCHES, DS_NO_FIXED},
    {"branches", DS_EVENT_BRANCHES, DS_NO_FIXED},
    {"branch-instructions", DS_EVENT_BRANCHES, DS_NO_FIXED},
};
#define NAMES (sizeof names / sizeof names[0])

static const struct ds_event_name *name_at(size_t i)
{
    return i < NAMES ? &names[i] : &ds_events && ds_events.names[i - NAMES].name ? &ds_events.names[i - NAMES] : NULL;
}

const char *ds_event_name(size_t i)
{
    const struct ds_event_name *name = name_at(i);
    return name ? name->name : NULL;
}

/* ---- what they are on each processor ----------------------------------------------------------------------------- */

#define EVERY_GP (DS_BIT(DS_COUNTER_FIXED) - 1)

static const struct ds_event_data *data_of(const struct ds_caps *caps, const struct ds_event *event)
{
    /* SDM vol. 3B, "Pre-defined Architectural Performance Events" */
    static const struct ds_event_data architectural[DS_EVENT_KINDS] = {
        [DS_EVENT_INSTRUCTIONS] = {.select = 0x00C0, .counters = EVERY_GP | DS_BIT(DS_COUNTER_FIXED)},
        [DS_EVENT_CYCLES] = {.select = 0x003C, .counters = EVERY_GP | DS_BIT(DS_COUNTER_FIXED + 1)},
        [DS_EVENT_BRANCHES] = {.select = 0x00C4, .counters = EVERY_GP},
    };
    return ds_event_data ? &ds_event_data[caps->generation][event->kind] : &architectural[event->kind];
}

/* With PEBS_BASELINE every counter and every event has PEBS, listed or not (SDM vol. 3B, "Extended PEBS"). So Linux has
 * it wherever records have groups, on the counters that have PEBS. */
static bool unlisted(const struct ds_caps *caps, const struct ds_event *event)
{
    return !data_of(caps, event)->pebs && (caps->adaptive || event->kind == DS_EVENT_INSTRUCTIONS ||
                                           (!caps->generation && event->kind == DS_EVENT_BRANCHES));
}

int ds_event_code(const struct ds_caps *caps, const struct ds_event *event, uint64_t *code)
{
    const struct ds_event_data *d = data_of(caps, event);
    *code = event->plain || !d->pebs ? d->select : d->record;
    return *code ? 0 : -ENOENT;
}

uint64_t ds_event_counters(const struct ds_caps *caps, const struct ds_event *event)
{
    const struct ds_event_data *d = data_of(caps, event);
    const uint64_t fixed = event->fixed == DS_NO_FIXED ? 0 : DS_BIT(ds_counter_fixed((unsigned)event->fixed));
    if (event->plain || unlisted(caps, event))
        return d->counters & EVERY_GP ? (d->counters & EVERY_GP) | fixed : d->counters;
    return d->pebs & EVERY_GP ? d->pebs & (EVERY_GP | fixed)
                              : d->pebs; /* what fixed counters alone have needs no other name */
}

bool ds_event_recorded(const struct ds_caps *caps, const struct ds_event *event)
{
    return data_of(caps, event)->select && (data_of(caps, event)->pebs || unlisted(caps, event));
}

bool ds_event_precise(const struct ds_caps *caps, const struct ds_event *event)
{
    return data_of(caps, event)->precise;
}

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

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

bool ds_event_period(const char *s, size_t n, uint64_t *out)
{
    const bool hex = n > 1 && (s[1] | 0x20) == 'x';
    return knumber_parse(s, n, out) && !hex && *out >= 1 && *out <= PERIOD_MAX;
}

static int refuse(char *error, size_t size, const char *option, const char *word, size_t n, const char *right)
{
    snprintf(error, size, "option '%s': '%.*s': %s", option, (int)n, word, right);
    return -EINVAL;
}

/* A refusal quotes its event from the name on, up to and with the word that is wrong. */
static int refuse_event(char *error, size_t size, const char *event, const char *end, const char *right)
{
    return refuse(error, size, "pebs", event, (size_t)(end - event), right);
}

bool ds_event_word(const char **at, const char **word, size_t *size)
{
    const bool there = **at == ':';
    *word = *at + there;
    *size = there ? span(*word, ":,") : 0;
    *at = *word + *size;
    return there;
}

/* The event of this name, in all rings. False: there is none. */
static bool find_event(const char *word, size_t size, struct ds_event *event)
{
    const struct ds_event_name *name, *first;
    for (size_t i = 0; (name = name_at(i)) && !same_name(word, size, name->name);)
        i++;
    if (!name)
        return false;
    for (size_t i = 0; (first = name_at(i))->kind != name->kind || first->fixed != name->fixed;)
        i++;
    *event =
        (struct ds_event){.kind = name->kind, .fixed = name->fixed, .name = first->name, .user = true, .kernel = true};
    return true;
}

static int parse_event(const char **at, struct ds_event *event, char *error, size_t size)
{
    const char *const term = *at, *word, *right;
    size_t n = span(term, ":,");
    *at += n;
    if (!find_event(term, n, event))
        return refuse_event(error, size, term, *at,
                            &ds_events ? "not a known event: docs/reference/options.md lists them"
                                       : "not an architectural event, and this kernel knows no others");
    ds_event_word(at, &word, &n);
    if (!ds_event_period(word, n, &event->period))
        return refuse_event(error, size, term, *at, "needs a period from 1 to 2^47 - 1, as in INST_RETIRED.ANY:5003");
    if (&ds_events && (right = ds_events.parse(event, at)))
        return refuse_event(error, size, term, *at, right);
    for (bool ring = false; ds_event_word(at, &word, &n);) {
        bool u = same(word, n, "u"), k = same(word, n, "k"), both = same(word, n, "uk");
        if ((u || k || both) && !ring && !event->plain) {
            event->user = u || both;
            event->kernel = k || both;
            ring = true;
        } else if (same(word, n, "plain") && !event->plain && event->kind < DS_EVENT_PREC_DIST) {
            event->plain = true;
        } else {
            right = &ds_events ? ds_events.stray(word, n) : NULL;
            return refuse_event(error, size, term, *at,
                                right ? right : "after the period come u, k or uk (the rings), then plain, each once");
        }
    }
    return 0;
}

int ds_add_counting(struct ds_config *config, const char *name)
{
    struct ds_event *event = &config->event[config->events + config->counting];
    if (config->counting == DS_MAX_COUNTING || config->events + config->counting == DS_MAX_COUNTERS ||
        !find_event(name, strlen(name), event) || event->kind >= DS_EVENT_PREC_DIST)
        return -EINVAL;
    event->plain = true;
    config->counting++;
    return 0;
}

int ds_parse_events(const char *spec, struct ds_config *config, char *error, size_t size)
{
    const char *s = spec;
    config->events = config->counting = 0;
    if (strcmp(spec, "none") == 0)
        return 0;
    for (;;) {
        if (config->events == DS_MAX_COUNTERS)
            return refuse(error, size, "pebs", s, strlen(s), "more events than any processor here has counters (14)");
        if (!*s || *s == ',')
            return refuse(error, size, "pebs", spec, strlen(spec), "an event is missing: EVENT:PERIOD[,...]");
        int e = parse_event(&s, &config->event[config->events], error, size);
        if (e)
            return e;
        config->events++;
        if (!*s)
            return 0;
        s++; /* the comma */
    }
}

#define LBR_ENTRIES 32u

/* lbr or lbr:ENTRIES. */
static bool parse_lbr(const char *s, size_t n, uint64_t *bits)
{
    uint64_t entries = LBR_ENTRIES;
    if (n < 3 || memcmp(s, "lbr", 3) != 0 ||
        (n > 3 && (s[3] != ':' || !ds_event_period(s + 4, n - 4, &entries) || entries > LBR_ENTRIES)))
        return false;
    *bits = MSR_PEBS_DATA_CFG_LBR | msr_pebs_data_cfg_entries((unsigned)entries);
    return true;
}

int ds_parse_groups(const char *spec, struct ds_config *config, char *error, size_t size)
{
    static const struct {
        const char *name;
        uint64_t bit;
    } groups[] = {{"mem", MSR_PEBS_DATA_CFG_MEMINFO},
                  {"gpr", MSR_PEBS_DATA_CFG_GPR},
                  {"xmm", MSR_PEBS_DATA_CFG_XMM},
                  {"counters", MSR_PEBS_DATA_CFG_CNTR}};
    config->groups = 0;
    if (strcmp(spec, "none") == 0)
        return 0;
    for (const char *s = spec;; s++) {
        size_t n = span(s, ",");
        uint64_t bits = 0;
        for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
            if (same(s, n, groups[i].name))
                bits = groups[i].bit;
        if ((!bits && !parse_lbr(s, n, &bits)) || config->groups & bits & MSR_PEBS_DATA_CFG_GROUPS)
            return refuse(error, size, "pebs.groups", s, n,
                          "must be none, or some of gpr,mem,xmm,lbr[:1 to 32 entries],counters, each once");
        config->groups |= bits;
        s += n;
        if (!*s)
            return 0;
    }
}
