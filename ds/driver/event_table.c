/* SPDX-License-Identifier: MIT */
/* The events that can be counted, with Intel's names, and the parsers of pebs= and pebs.groups=. */
#include "ds/ds.h"
#include "ds/event_data.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

struct event_name {
    const char *name;
    uint8_t kind; /* enum ds_event_kind */
    int8_t fixed;
};

/* The first name of a kind and counter is Intel's, those after it are aliases: perf's, and Intel's on other processors.
 * perf also takes Intel's names, in lower case. */
static const struct event_name names[] = {
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
    {"BR_INST_RETIRED.CONDITIONAL", DS_EVENT_CONDITIONAL, DS_NO_FIXED},
    {"BR_INST_RETIRED.COND", DS_EVENT_CONDITIONAL, DS_NO_FIXED}, /* Ice Lake's name */
    {"BR_INST_RETIRED.NEAR_TAKEN", DS_EVENT_NEAR_TAKEN, DS_NO_FIXED},
    {"BR_INST_RETIRED.NEAR_CALL", DS_EVENT_NEAR_CALL, DS_NO_FIXED},
    {"BR_INST_RETIRED.NEAR_RETURN", DS_EVENT_NEAR_RETURN, DS_NO_FIXED},
    {"BR_INST_RETIRED.FAR_BRANCH", DS_EVENT_FAR_BRANCH, DS_NO_FIXED},
    {"INST_RETIRED.PREC_DIST", DS_EVENT_PREC_DIST, DS_NO_FIXED},
    {"MEM_TRANS_RETIRED.LOAD_LATENCY", DS_EVENT_LOAD_LATENCY, DS_NO_FIXED},
    {"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD", DS_EVENT_LOAD_LATENCY, DS_NO_FIXED}, /* Nehalem's */
    {"FRONTEND_RETIRED", DS_EVENT_FRONTEND, DS_NO_FIXED},
    {"MEM_TRANS_RETIRED.STORE_SAMPLE", DS_EVENT_STORE_SAMPLE, DS_NO_FIXED},
    {"MEM_UOPS_RETIRED.STORE_LATENCY", DS_EVENT_STORE_SAMPLE, DS_NO_FIXED}, /* the efficient cores' */
};
#define NAMES (sizeof names / sizeof names[0])

const char *ds_event_name(size_t i)
{
    return i < NAMES ? names[i].name : NULL;
}

/* ---- what they are on each processor ----------------------------------------------------------------------------- */

static const struct ds_event_data *data_of(const struct ds_caps *caps, const struct ds_event *event)
{
    return &ds_event_data[caps->generation][event->kind];
}

/* With PEBS_BASELINE every counter and every event has PEBS, listed or not (SDM vol. 3B, "Extended PEBS"). So Linux has
 * it wherever records have groups, on the counters that have PEBS. */
static bool unlisted(const struct ds_caps *caps, const struct ds_event *event)
{
    return !data_of(caps, event)->pebs &&
           (caps->adaptive || event->kind == DS_EVENT_INSTRUCTIONS ||
            (caps->generation == DS_GENERATION_OTHER && event->kind == DS_EVENT_BRANCHES));
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
    const uint64_t gp = DS_BIT(DS_COUNTER_FIXED) - 1;
    if (event->plain || unlisted(caps, event))
        return d->counters & gp ? (d->counters & gp) | fixed : d->counters;
    return d->pebs & gp ? d->pebs & (gp | fixed) : d->pebs; /* what fixed counters alone have needs no other name */
}

bool ds_event_recorded(const struct ds_caps *caps, const struct ds_event *event)
{
    return data_of(caps, event)->select && (data_of(caps, event)->pebs || unlisted(caps, event));
}

bool ds_event_precise(const struct ds_caps *caps, const struct ds_event *event)
{
    return data_of(caps, event)->precise;
}

bool ds_event_alone(const struct ds_caps *caps, const struct ds_event *event)
{
    return !event->plain && data_of(caps, event)->alone;
}

/* The lists name those of the event that PEBS records, which may be another one than is counted without it. */
const char *ds_event_errata(const struct ds_caps *caps, const struct ds_event *event)
{
    const struct ds_event_data *d = data_of(caps, event);
    const bool other = event->plain && (event->fixed != DS_NO_FIXED || (d->pebs && d->select != d->record));
    return caps->event_errata && !other ? caps->event_errata[event->kind] : NULL;
}

/* NULL: no list is of it. */
static const struct ds_core_data *core_of(uint32_t signature, uint32_t core_type)
{
    const unsigned family = cpuid_01h_eax_family(signature), model = cpuid_01h_eax_model(signature);
    const uint32_t type = core_type >> 24, native = core_type & 0xFFFFFF;
    const struct ds_core_data *found = NULL;
    for (const struct ds_core_data *c = ds_core_data; c->family; c++) {
        if (c->family != family || c->model != model || (c->native_model && c->native_model != native))
            continue;
        /* A hypervisor may hide the kinds of core: most have performance cores then. */
        if (c->core_type && c->core_type != (type ? type : CPUID_1AH_EAX_CORE))
            continue;
        if (c->native_model) /* nothing is nearer, wherever it is in the table */
            return c;
        found = c;
    }
    return found;
}

enum ds_generation ds_generation(uint32_t signature, uint32_t core_type)
{
    const struct ds_core_data *core = core_of(signature, core_type);
    return core ? (enum ds_generation)core->generation : DS_GENERATION_OTHER;
}

const char *const *ds_core_errata(uint32_t signature, uint32_t core_type)
{
    const struct ds_core_data *core = core_of(signature, core_type);
    return core ? core->errata : NULL;
}

const char *ds_generation_text(enum ds_generation generation)
{
    static const char *const text[DS_GENERATIONS] = {
        [DS_GENERATION_OTHER] = "no list of its events here: the architectural ones only",
        [DS_GENERATION_CORE2] = "events are coded as on Core 2",
        [DS_GENERATION_NEHALEM] = "events are coded as on Nehalem",
        [DS_GENERATION_SANDYBRIDGE] = "events are coded as on Sandy Bridge",
        [DS_GENERATION_IVYBRIDGE] = "events are coded as on Ivy Bridge",
        [DS_GENERATION_HASWELL] = "events are coded as on Haswell",
        [DS_GENERATION_SKYLAKE] = "events are coded as on Skylake",
        [DS_GENERATION_ICELAKE] = "events are coded as on Ice Lake",
        [DS_GENERATION_GOLDENCOVE] = "events are coded as on Golden Cove",
        [DS_GENERATION_REDWOODCOVE] = "events are coded as on Redwood Cove",
        [DS_GENERATION_LIONCOVE] = "events are coded as on Lion Cove",
        [DS_GENERATION_COUGARCOVE] = "events are coded as on Cougar Cove",
        [DS_GENERATION_COYOTECOVE] = "events are coded as on Coyote Cove",
        [DS_GENERATION_BONNELL] = "events are coded as on Bonnell",
        [DS_GENERATION_SILVERMONT] = "events are coded as on Silvermont",
        [DS_GENERATION_KNIGHTS] = "events are coded as on Xeon Phi",
        [DS_GENERATION_GOLDMONT] = "events are coded as on Goldmont",
        [DS_GENERATION_GOLDMONTPLUS] = "events are coded as on Goldmont Plus",
        [DS_GENERATION_TREMONT] = "events are coded as on Tremont",
        [DS_GENERATION_GRACEMONT] = "events are coded as on Gracemont",
        [DS_GENERATION_CRESTMONT] = "events are coded as on Crestmont",
        [DS_GENERATION_SKYMONT] = "events are coded as on Skymont",
        [DS_GENERATION_DARKMONT] = "events are coded as on Darkmont",
        [DS_GENERATION_ARCTICWOLF] = "events are coded as on Arctic Wolf",
    };
    return text[generation];
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

/* Decimal, or with 0x hexadecimal. */
static bool setting(const char *s, size_t n, uint32_t least, uint32_t most, uint32_t *out)
{
    const bool hex = n > 2 && s[0] == '0' && s[1] == 'x';
    uint64_t v = 0;
    for (size_t i = hex ? 2 : 0; i < n; i++) {
        const unsigned c = (unsigned char)s[i], digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        if (digit >= (hex ? 16u : 10u) || v > most)
            return false;
        v = v * (hex ? 16 : 10) + digit;
    }
    *out = (uint32_t)v;
    return n && v >= least && v <= most;
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

/* What an event needs beside its period. */
static const struct {
    const char *name, *right;
    uint32_t least, most;
} settings[DS_EVENT_KINDS] = {
    [DS_EVENT_LOAD_LATENCY] = {"ldlat=", "load latency needs its threshold in core cycles: ldlat=, from 3 to 65535", 3,
                               0xFFFF},
    [DS_EVENT_FRONTEND] = {"frontend=", "needs what it is about, for MSR_PEBS_FRONTEND: frontend=, from 1 to 0xffffff",
                           1, 0xFFFFFF},
};

/* A refusal quotes its event from the name on, up to and with the word that is wrong. */
static int refuse_event(char *error, size_t size, const char *event, const char *end, const char *right)
{
    return refuse(error, size, "pebs", event, (size_t)(end - event), right);
}

static int parse_setting(const char *term, const char **at, struct ds_event *event, char *error, size_t size)
{
    const char *name = settings[event->kind].name, *s = *at;
    if (!name)
        return 0;
    size_t n = *s == ':' ? span(s + 1, ":,") : 0, named = strlen(name);
    *at = s + (*s == ':') + n;
    if (n < named || memcmp(s + 1, name, named) != 0 ||
        !setting(s + 1 + named, n - named, settings[event->kind].least, settings[event->kind].most, &event->setting))
        return refuse_event(error, size, term, *at, settings[event->kind].right);
    return 0;
}

/* What follows the period and is none of what may follow it. */
static int refuse_rest(const char *term, const char *word, size_t n, char *error, size_t size)
{
    for (size_t i = 0; i < NAMES; i++) { /* the first name of a kind comes first */
        const char *name = settings[names[i].kind].name;
        if (name && n >= strlen(name) && memcmp(word, name, strlen(name)) == 0) {
            char right[96];
            snprintf(right, sizeof right, "%s is for %s alone: leave it out, or ask for that event", name,
                     names[i].name);
            return refuse_event(error, size, term, word + n, right);
        }
    }
    return refuse_event(error, size, term, word + n,
                        "after the period come u, k or uk (the rings), then plain, each once");
}

static int parse_event(const char **at, struct ds_event *event, char *error, size_t size)
{
    const char *const term = *at, *s = term;
    size_t n = span(s, ":,");
    size_t i = 0;
    while (i < NAMES && !same_name(s, n, names[i].name))
        i++;
    if (i == NAMES)
        return refuse_event(error, size, term, s + n, "not a known event: docs/reference/options.md lists them");
    size_t first = 0;
    while (names[first].kind != names[i].kind || names[first].fixed != names[i].fixed)
        first++;
    *event = (struct ds_event){
        .kind = names[i].kind, .fixed = names[i].fixed, .name = names[first].name, .user = true, .kernel = true};
    s += n;
    n = *s == ':' ? span(s + 1, ":,") : 0;
    if (!period(s + 1, n, &event->period))
        return refuse_event(error, size, term, s + (*s == ':') + n,
                            "needs a period from 1 to 2^47 - 1, as in INST_RETIRED.ANY:5003");
    s += 1 + n;
    int e = parse_setting(term, &s, event, error, size);
    if (e)
        return e;
    for (bool ring = false; *s == ':'; s += n) {
        s++;
        n = span(s, ":,");
        bool u = same(s, n, "u"), k = same(s, n, "k"), both = same(s, n, "uk");
        if ((u || k || both) && !ring && !event->plain) {
            event->user = u || both;
            event->kernel = k || both;
            ring = true;
        } else if (same(s, n, "plain") && !event->plain && event->kind < DS_EVENT_PREC_DIST) {
            event->plain = true;
        } else {
            return refuse_rest(term, s, n, error, size);
        }
    }
    *at = s;
    return 0;
}

int ds_add_counting(struct ds_config *config, const char *name)
{
    char term[64], error[8];
    struct ds_event *event = &config->event[config->events + config->counting];
    const char *s = term;
    if (config->counting == DS_MAX_COUNTING || config->events + config->counting == DS_MAX_COUNTERS)
        return -EINVAL;
    snprintf(term, sizeof term, "%s:1:plain", name);
    int e = parse_event(&s, event, error, sizeof error);
    if (e || *s)
        return -EINVAL;
    event->period = 0;
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

int ds_parse_periods(const char *spec, uint32_t events, uint64_t *out, char *error, size_t size)
{
    static const char right[] =
        "must be none, or a period from 1 to 2^47 - 1 for each event of pebs=, as in 1009,50021";
    const char *s = spec;
    out[0] = 0;
    if (strcmp(spec, "none") == 0)
        return 0;
    for (uint32_t i = 0; i < events; i++) {
        size_t n = span(s, ",");
        if (!period(s, n, &out[i]) || (s[n] == ',') != (i + 1 < events))
            return refuse(error, size, "pebs.later", spec, strlen(spec), right);
        s += n + 1;
    }
    return 0;
}

#define LBR_ENTRIES 32u

/* lbr or lbr:ENTRIES. */
static bool parse_lbr(const char *s, size_t n, uint64_t *bits)
{
    uint64_t entries = LBR_ENTRIES;
    if (n < 3 || memcmp(s, "lbr", 3) != 0 ||
        (n > 3 && (s[3] != ':' || !period(s + 4, n - 4, &entries) || entries > LBR_ENTRIES)))
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
