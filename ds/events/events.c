/* SPDX-License-Identifier: MIT */
/* The events beyond the architectural ones: their names in pebs=, what Intel's lists say of a processor, and what an
 * event needs besides a counter: a setting, or another event beside it. */
#include "ds/events/events.h"

#include "ds/driver/events.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

static const struct ds_event_name names[] = {
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
    {0},
};

/* ---- processors -------------------------------------------------------------------------------------------------- */

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

const char *ds_generation_text(enum ds_generation generation)
{
    static const char *const text[DS_GENERATIONS] = {
        [DS_GENERATION_OTHER] = DS_EVENTS_UNLISTED,
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

static const char *find(struct ds_caps *caps, uint32_t signature, uint32_t core_type)
{
    const struct ds_core_data *core = core_of(signature, core_type);
    caps->generation = (uint8_t)(core ? core->generation : DS_GENERATION_OTHER);
    caps->event_errata = core ? core->errata : NULL;
    return ds_generation_text((enum ds_generation)caps->generation);
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static const struct setting {
    uint8_t kind; /* of the event that has to have it */
    const char *word, *right, *stray, *name;
    uint32_t least, most, msr;
} settings[] = {
    {DS_EVENT_LOAD_LATENCY, "ldlat=", "load latency needs its threshold in core cycles: ldlat=, from 3 to 65535",
     "ldlat= is for MEM_TRANS_RETIRED.LOAD_LATENCY alone: leave it out, or ask for that event", "MSR_PEBS_LD_LAT", 3,
     0xFFFF, MSR_PEBS_LD_LAT},
    {DS_EVENT_FRONTEND, "frontend=", "needs frontend=, the value of MSR_PEBS_FRONTEND, from 1 to 0xffffff",
     "frontend= is for FRONTEND_RETIRED alone: leave it out, or ask for that event", "MSR_PEBS_FRONTEND", 1, 0xFFFFFF,
     MSR_PEBS_FRONTEND},
};
#define SETTINGS (sizeof settings / sizeof settings[0])

static const struct setting *setting_of(const struct ds_event *event)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (settings[i].kind == event->kind)
            return &settings[i];
    return NULL;
}

static const char *parse(struct ds_event *event, const char **at)
{
    const struct setting *s = setting_of(event);
    const char *word;
    size_t n;
    uint64_t value;
    if (!s)
        return NULL;
    ds_event_word(at, &word, &n);
    if (!kstring_begins(word, n, s->word) || !knumber_parse(word + strlen(s->word), n - strlen(s->word), &value) ||
        value < s->least || value > s->most)
        return s->right;
    event->setting = (uint32_t)value;
    return NULL;
}

static const char *stray(const char *word, size_t n)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (kstring_begins(word, n, settings[i].word))
            return settings[i].stray;
    return NULL;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* Load latency on Golden Cove is recorded only while one of the first four counters counts this event: here PMC0, on
 * which load latency does not count. Redwood Cove does without (Linux' arch/x86/events/intel/core.c: certain for
 * Granite Rapids). */
#define AUXILIARY         0x8203u
#define AUXILIARY_COUNTER 0u

static bool has_auxiliary(const struct ds_cpu *ds, const struct ds_event *event)
{
    return ds->caps.generation == DS_GENERATION_GOLDENCOVE && event->kind == DS_EVENT_LOAD_LATENCY;
}

static uint64_t reserved(const struct ds_cpu *ds, const char **why)
{
    for (uint32_t i = 0; i < ds->config.events; i++)
        if (has_auxiliary(ds, &ds->config.event[i])) {
            *why = ", as MEM_TRANS_RETIRED.LOAD_LATENCY takes two";
            return DS_BIT(AUXILIARY_COUNTER);
        }
    return 0;
}

bool ds_event_alone(const struct ds_caps *caps, const struct ds_event *event)
{
    return !event->plain && ds_event_data[caps->generation][event->kind].alone;
}

/* A PEBS event of another kind than `event`; NULL: there is none. (A second one of its kind lacks its register.) */
static const struct ds_event *beside(const struct ds_config *config, const struct ds_event *event)
{
    for (uint32_t i = 0; i < config->events; i++)
        if (!config->event[i].plain && config->event[i].kind != event->kind)
            return &config->event[i];
    return NULL;
}

static int check(const struct ds_cpu *ds, const struct ds_event *event, char *error, size_t size)
{
    uint64_t code;
    if (ds_event_code(&ds->caps, event, &code)) {
        snprintf(error, size, "option 'pebs': %s: not an event of this processor (CPU %u: %s)", event->name, ds->cpu,
                 ds_generation_text((enum ds_generation)ds->caps.generation));
        return -EINVAL;
    }
    const struct ds_event *other = ds_event_alone(&ds->caps, event) ? beside(&ds->config, event) : NULL;
    if (!other)
        return 0;
    snprintf(error, size, "option 'pebs': %s: must be the only PEBS event on this processor (CPU %u): leave %s out",
             event->name, ds->cpu, other->name);
    return -EINVAL;
}

static int plan(struct ds_cpu *ds, const struct ds_counter *c, char *error, size_t size)
{
    const struct setting *s = c->event->setting ? setting_of(c->event) : NULL;
    if (!s)
        return 0;
    for (uint32_t i = 0; i < ds->settings; i++)
        if (ds->setting[i].msr == s->msr) {
            snprintf(error, size, "option 'pebs': %s: once only: there is one %s", c->event->name, s->name);
            return -EINVAL;
        }
    if (s->msr == MSR_PEBS_LD_LAT ? ds->caps.no_load_latency : ds->caps.no_frontend) {
        snprintf(error, size, "option 'pebs': %s: the hypervisor hides %s: give another event", c->event->name,
                 s->name);
        return -EINVAL;
    }
    ds->setting[ds->settings++] = (struct ds_setting){s->msr, c->event->setting};
    if (s->msr == MSR_PEBS_LD_LAT && !ds->caps.baseline)
        ds->load_latency_enable = DS_BIT(32 + c->number);
    if (has_auxiliary(ds, c->event)) {
        ds->auxiliary = (struct ds_event){.plain = true, .user = c->event->user, .kernel = c->event->kernel};
        ds->counter[ds->counters++] =
            (struct ds_counter){.event = &ds->auxiliary, .number = AUXILIARY_COUNTER, .code = AUXILIARY};
        ds->global_ctrl |= DS_BIT(AUXILIARY_COUNTER);
    }
    return 0;
}

const struct ds_events ds_events = {
    .names = names, .parse = parse, .stray = stray, .find = find, .reserved = reserved, .check = check, .plan = plan};
