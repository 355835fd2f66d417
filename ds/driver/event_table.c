/* SPDX-License-Identifier: MIT */
/* What can be counted, under Intel's names, and the parsers of pebs= and pebs.groups=. */
#include "ds/ds.h"

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
};
#define NAMES (sizeof names / sizeof names[0])

const char *ds_event_name(size_t i)
{
    return i < NAMES ? names[i].name : NULL;
}

/* ---- what they are on each processor ----------------------------------------------------------------------------- */

/*
 * Unit mask and event select. The first three are architectural (SDM vol. 3B, "Pre-defined Architectural Performance
 * Events"); the others are each microarchitecture's own, from Intel's event lists (perfmon-events.intel.com). 0: there
 * is no such event.
 */
static const uint16_t codes[DS_GENERATIONS][DS_EVENT_KINDS] = {
    /* instructions, cycles, branches; conditional, near taken, call and return, far; precise distribution, load
     * latency, frontend */
    [DS_GENERATION_OTHER] = {0x00C0, 0x003C, 0x00C4},
    [DS_GENERATION_CORE2] = {0x00C0, 0x003C, 0x00C4, 0, 0x0CC4},
    [DS_GENERATION_NEHALEM] = {0x00C0, 0x003C, 0x00C4, 0x01C4, 0, 0x02C4, 0, 0, 0, 0x100B},
    [DS_GENERATION_SANDYBRIDGE] = {0x00C0, 0x003C, 0x00C4, 0x01C4, 0x20C4, 0x02C4, 0x08C4, 0x40C4, 0x01C0, 0x01CD},
    [DS_GENERATION_HASWELL] = {0x00C0, 0x003C, 0x00C4, 0x01C4, 0x20C4, 0x02C4, 0x08C4, 0x40C4, 0x01C0, 0x01CD},
    [DS_GENERATION_SKYLAKE] = {0x00C0, 0x003C, 0x00C4, 0x01C4, 0x20C4, 0x02C4, 0x08C4, 0x40C4, 0x01C0, 0x01CD, 0x01C6},
    [DS_GENERATION_ICELAKE] = {0x00C0, 0x003C, 0x00C4, 0x11C4, 0x20C4, 0x02C4, 0x08C4, 0x40C4, 0x0100, 0x01CD, 0x01C6},
    [DS_GENERATION_GOLDENCOVE] = {0x00C0, 0x003C, 0x00C4, 0x11C4, 0x20C4, 0x02C4, 0x08C4, 0x40C4, 0x0100, 0x01CD,
                                  0x01C6},
    [DS_GENERATION_LIONCOVE] = {0x00C0, 0x003C, 0x00C4, 0x11C4, 0x20C4, 0x02C4, 0x08C4, 0x40C4, 0x0100},
    [DS_GENERATION_ATOM] = {0x00C0, 0x003C, 0x00C4, 0x7EC4, 0, 0xF9C4, 0xF7C4, 0xBFC4},
};

/* All branches, as a precise event: up to Skylake the architectural code is not one, though it counts the same (SDM
 * vol. 3B, the lists of the chapter "Performance-Monitoring Events": 'supports PEBS'). */
#define PRECISE_BRANCHES 0x04C4u

int ds_event_code(const struct ds_caps *caps, const struct ds_event *event, uint16_t *code)
{
    *code = codes[caps->generation][event->kind];
    if (event->kind == DS_EVENT_BRANCHES && !event->plain &&
        caps->generation >= DS_GENERATION_NEHALEM && caps->generation <= DS_GENERATION_SKYLAKE)
        *code = PRECISE_BRANCHES;
    return *code ? 0 : -ENOENT;
}

/* Precise distribution is PMC1's, from Ice Lake on fixed counter 0's; load latency PMC3's on Sandy Bridge, and not
 * PMC0's on Golden Cove, where PEBS of instructions is not, either (Linux' arch/x86/events/intel/ds.c). */
uint64_t ds_event_counters(const struct ds_caps *caps, const struct ds_event *event)
{
    const bool not_first =
        caps->generation == DS_GENERATION_GOLDENCOVE && event->kind == DS_EVENT_INSTRUCTIONS && !event->plain;
    const uint64_t gp = (DS_BIT(DS_COUNTER_FIXED) - 1) & ~(uint64_t)not_first;
    uint16_t code;
    if (ds_event_code(caps, event, &code))
        return 0;
    switch (event->kind) {
    case DS_EVENT_PREC_DIST:
        return caps->generation >= DS_GENERATION_ICELAKE ? DS_BIT(ds_counter_fixed(0)) : DS_BIT(1);
    case DS_EVENT_LOAD_LATENCY:
        return caps->generation == DS_GENERATION_SANDYBRIDGE   ? DS_BIT(3)
               : caps->generation == DS_GENERATION_GOLDENCOVE ? 0xFE
                                                              : 0xFF;
    default:
        return gp | (event->fixed == DS_NO_FIXED ? 0 : DS_BIT(ds_counter_fixed((unsigned)event->fixed)));
    }
}

/* With PEBS_BASELINE all events are. Before it the precise ones are listed: never cycles, and on Core 2 no branches but
 * mispredicted ones (SDM vol. 3B, "PEBS Performance Events for Processors Based on Intel Core Microarchitecture"). */
bool ds_event_precise(const struct ds_caps *caps, const struct ds_event *event)
{
    if (caps->baseline || event->kind == DS_EVENT_INSTRUCTIONS || event->kind >= DS_EVENT_PREC_DIST)
        return true;
    return event->kind != DS_EVENT_CYCLES && caps->generation != DS_GENERATION_CORE2;
}

/* Models of family 6, SDM vol. 4, "CPUID DisplayFamily_DisplayModel"; 0 ends a row. */
static const uint8_t models[DS_GENERATIONS][24] = {
    [DS_GENERATION_CORE2] = {0x0F, 0x16, 0x17, 0x1D},
    [DS_GENERATION_NEHALEM] = {0x1A, 0x1E, 0x1F, 0x2E, 0x25, 0x2C, 0x2F},
    [DS_GENERATION_SANDYBRIDGE] = {0x2A, 0x2D, 0x3A, 0x3E},
    [DS_GENERATION_HASWELL] = {0x3C, 0x3F, 0x45, 0x46, 0x3D, 0x47, 0x4F, 0x56},
    [DS_GENERATION_SKYLAKE] = {0x4E, 0x5E, 0x55, 0x8E, 0x9E, 0xA5, 0xA6, 0x66},
    [DS_GENERATION_ICELAKE] = {0x7D, 0x7E, 0x6A, 0x6C, 0x8C, 0x8D, 0xA7, 0x9D},
    [DS_GENERATION_GOLDENCOVE] = {0x8F, 0xCF, 0xAD, 0xAE, 0x97, 0x9A, 0xB7, 0xBA, 0xBF, 0xAA, 0xAC, 0xB5},
    [DS_GENERATION_LIONCOVE] = {0xC5, 0xC6, 0xBD},
    [DS_GENERATION_ATOM] = {0x37, 0x4A, 0x4D, 0x5D, 0x4C, 0x5A, 0x75, 0x5C, 0x5F, 0x7A, 0x86, 0x96, 0x9C, 0xBE,
                            0x97, 0x9A, 0xB7, 0xBA, 0xBF}, /* the last five: efficient cores of hybrids */
};

enum ds_generation ds_generation(uint32_t signature, uint32_t core_type)
{
    const unsigned model = cpuid_01h_eax_model(signature);
    const bool atom = core_type >> 24 == CPUID_1AH_EAX_ATOM;
    if (cpuid_01h_eax_family(signature) != 6)
        return DS_GENERATION_OTHER;
    for (unsigned g = atom ? DS_GENERATION_ATOM : 0; g < DS_GENERATIONS; g++)
        for (const uint8_t *m = models[g]; *m; m++)
            if (*m == model)
                return (enum ds_generation)g;
    return DS_GENERATION_OTHER;
}

const char *ds_generation_text(enum ds_generation generation)
{
    static const char *const text[DS_GENERATIONS] = {
        "no list of its events here: the architectural ones only",
        "events are coded as on Core 2",
        "events are coded as on Nehalem",
        "events are coded as on Sandy Bridge",
        "events are coded as on Haswell",
        "events are coded as on Skylake",
        "events are coded as on Ice Lake",
        "events are coded as on Golden Cove",
        "events are coded as on Lion Cove",
        "events are coded as on Silvermont",
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
        return refuse_event(error, size, term, s + n, "not a known event: docs/options.md and --help list them");
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
    } groups[] = {
        {"mem", MSR_PEBS_DATA_CFG_MEMINFO},
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
