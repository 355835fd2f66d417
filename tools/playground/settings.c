/* SPDX-License-Identifier: MIT */
/* The settings' text: read, and checked against the processor. settings_write.c writes it. */
#include "tools/playground/settings.h"

#include "ds/policy/table/table.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define DEFAULT_TEXT                                                                                                   \
    "cpu=icelake;pmc0=instructions:5:u;groups=gpr;program=set:3,load,add,store,dec,jnz:1,call:8,jmp:0,nop,ret"
#define PERIOD_MAX 100000u

const char *const play_event_names[DS_MODEL_PLAIN_EVENTS] = {
    [DS_MODEL_INSTRUCTION] = "instructions",
    [DS_MODEL_BRANCH] = "branches",
    [DS_MODEL_BRANCH_TAKEN] = "taken",
    [DS_MODEL_BRANCH_CONDITIONAL] = "conditional",
    [DS_MODEL_NEAR_CALL] = "calls",
    [DS_MODEL_NEAR_RETURN] = "returns",
    [DS_MODEL_FAR_BRANCH] = "far",
    [DS_MODEL_LOAD] = "loads",
    [DS_MODEL_STORE] = "stores",
}; /* others have no name here */
const char *const play_group_names[6] = {"mem", "gpr", "xmm", "lbr", "cntr", "metrics"};

#define FIELD(name) offsetof(struct play_settings, name)
/* clang-format off */
const struct play_setting play_numbers[PLAY_NUMBERS] = {
    {"lbr", "entries of branch history in a record (architectural PEBS: 8, 16, 32)", 1, 32, 4, FIELD(lbr), {NULL}},
    {"records", "PEBS buffer: room for so many records", 1, 32, 6, FIELD(records), {NULL}},
    {"threshold", "PEBS threshold, in records (0: none)", 0, 24, 4, FIELD(threshold), {NULL}},
    {"size", "PEBS buffer of architectural PEBS: 4096 bytes, doubled so often", 0, 1, 0, FIELD(size), {NULL}},
    {"extra", "bytes added to the absolute maximum", 0, 4096, 1, FIELD(extra), {NULL}},
    {"bts", "BTS buffer: room for so many records (0: BTS is off)", 0, PLAY_BTS_RECORDS - 1, 0, FIELD(bts), {NULL}},
    {"btsthreshold", "BTS threshold, in records (0: none)", 0, PLAY_BTS_RECORDS - 1, 0, FIELD(bts_threshold), {NULL}},
    {"btint", "a full BTS buffer", 0, 1, 0, FIELD(btint), {"wraps", "interrupts", NULL}},
    {"btsoff", "BTS leaves out", 0, 2, 0, FIELD(bts_off), {"nothing", "os", "usr", NULL}},
    {"lvtpc", "LVTPC at the start", 0, 1, 0, FIELD(masked), {"open", "masked", NULL}},
    {"delay", "instructions until a PMI is taken", 0, 99, 0, FIELD(delay), {NULL}},
    {"handler", "the PMI's handler", 0, 2, 0, FIELD(handler), {"drains", "forgets_lvtpc", "returns", NULL}},
    {"freeze", "a PMI freezes", 0, 3, 0, FIELD(freeze), {"nothing", "counters", "lbrs", "both", NULL}},
    {"buffer", "memory of the PEBS buffer", 0, 1, 0, FIELD(unmapped), {"mapped", "unmapped", NULL}},
    {"at", "the step that the page shows", 0, PLAY_STEPS - 1, 0, FIELD(step), {NULL}},
    {"scene", "the guided scene (0: none)", 0, 99, 0, FIELD(scene), {NULL}},
    {"stop", "the part of the scene", 0, 99, 0, FIELD(stop), {NULL}},
};
/* clang-format on */

const char *play_counter_name(unsigned number)
{
    static const char *const names[PLAY_COUNTERS_MAX] = {
        "IA32_PMC0",       "IA32_PMC1",       "IA32_PMC2",       "IA32_PMC3",       "IA32_PMC4",
        "IA32_PMC5",       "IA32_PMC6",       "IA32_PMC7",       "IA32_PMC8",       "IA32_PMC9",
        "IA32_FIXED_CTR0", "IA32_FIXED_CTR1", "IA32_FIXED_CTR2", "IA32_FIXED_CTR3",
    };
    return names[number < DS_COUNTER_FIXED ? number : DS_MODEL_GP_MAX + number - DS_COUNTER_FIXED];
}

bool play_event_there(const struct ds_model_preset *preset, unsigned event)
{
    if (event == DS_MODEL_INSTRUCTION || event == DS_MODEL_BRANCH)
        return true; /* architectural */
    for (const struct ds_model_event_code *e = preset->events; e->code; e++)
        if (play_is_event(e->event, event))
            return true;
    return false;
}

/* ---- architectural PEBS ------------------------------------------------------------------------------------------ */

static const uint64_t arch_groups[6] = {
    IA32_PMC_CFG_C_AUX,
    IA32_PMC_CFG_C_GPR,
    IA32_PMC_CFG_C_XMM,
    IA32_PMC_CFG_C_LBR,
    IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED | IA32_PMC_CFG_C_CNTR_ALLOW,
    IA32_PMC_CFG_C_CNTR_METRICS,
};

uint64_t play_cfg_c_groups(const struct play_settings *s)
{
    const uint64_t lbr = s->lbr <= 8 ? DS_ARCH_LBR_8 : s->lbr <= 16 ? DS_ARCH_LBR_16 : DS_ARCH_LBR_ALL;
    uint64_t cfg_c = 0;
    for (unsigned i = 0; i < 6; i++)
        cfg_c |= s->groups & 1u << i ? arch_groups[i] : 0;
    return cfg_c & IA32_PMC_CFG_C_LBR ? (cfg_c & ~IA32_PMC_CFG_C_LBR) | lbr << 40 : cfg_c;
}

uint8_t play_groups_there(const struct ds_model_preset *p)
{
    uint8_t there = 0;
    if (!play_arch(p))
        return (uint8_t)(p->data_cfg & MSR_PEBS_DATA_CFG_GROUPS);
    for (unsigned i = 0; i < 6; i++)
        there |= p->arch_groups & arch_groups[i] ? (uint8_t)(1u << i) : 0;
    return there;
}

/* Values in the group of counters: of those that are used, and the two words of metrics. */
static uint32_t counter_words(const struct play_settings *s, uint64_t cfg_c)
{
    uint32_t words = cfg_c & IA32_PMC_CFG_C_CNTR_METRICS ? 2 : 0;
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++)
        words += s->counter[i].used && cfg_c & IA32_PMC_CFG_C_CNTR_ALLOW;
    return words;
}

static uint32_t arch_record_bytes(const struct play_settings *s)
{
    const uint64_t wanted = play_cfg_c_groups(s), there = s->preset->arch_groups;
    const uint64_t cfg_c = !(wanted & ~there) ? wanted : s->policy.reserved_ignored ? wanted & there : 0;
    const uint32_t words = counter_words(s, cfg_c), depth = s->preset->lbr_depth, head = sizeof(struct ds_arch_header);
    if (s->policy.arch_fragments == DS_MODEL_ARCH_WHOLE)
        return ds_arch_record_bytes(cfg_c, words, depth);
    uint32_t size = s->policy.arch_fragments == DS_MODEL_ARCH_NULL ? head : 0;
    const uint64_t each[] = {
        0, IA32_PMC_CFG_C_AUX, IA32_PMC_CFG_C_GPR, IA32_PMC_CFG_C_XER, IA32_PMC_CFG_C_LBR, IA32_PMC_CFG_C_CNTR};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) /* a fragment of its own, the first is the basic group */
        if (!i || cfg_c & each[i])
            size += ds_arch_record_bytes(cfg_c & each[i], words, depth) - (i ? sizeof(struct ds_arch_basic) : 0);
    return size;
}

uint32_t play_record_bytes(const struct play_settings *s)
{
    if (play_arch(s->preset))
        return arch_record_bytes(s);
    const bool refused = s->groups & ~s->preset->data_cfg && !s->policy.reserved_ignored; /* #GP: it stays 0 */
    if (!s->preset->baseline || !s->groups || refused)
        return ds_pebs_fixed_size(s->preset->format);
    uint64_t cfg = (s->groups & s->preset->data_cfg) | msr_pebs_data_cfg_entries(s->lbr);
    if (cfg & MSR_PEBS_DATA_CFG_CNTR)
        cfg |= msr_pebs_data_cfg_counters((1u << s->preset->gp_counters) - 1, (1u << s->preset->fixed_counters) - 1);
    return ds_pebs_adaptive_size(cfg);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct word {
    const char *at;
    size_t size;
};

struct reader {
    struct play_settings *to;
    char *error;
    size_t size;
    struct word key;
};

static bool is(struct word word, const char *text)
{
    return text && strlen(text) == word.size && strncmp(word.at, text, word.size) == 0;
}

/* What comes before the next `end` in *rest, which goes behind that. False: there is nothing left. */
static bool cut(struct word *rest, char end, struct word *word)
{
    if (!rest->at)
        return false;
    *word = (struct word){rest->at, 0};
    while (word->size < rest->size && rest->at[word->size] != end)
        word->size++;
    if (word->size == rest->size)
        rest->at = NULL;
    else
        *rest = (struct word){rest->at + word->size + 1, rest->size - word->size - 1};
    return true;
}

static bool number(struct word word, uint32_t low, uint32_t high, uint32_t *value)
{
    uint32_t n = 0;
    if (!word.size || word.size > 6)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        if (word.at[i] < '0' || word.at[i] > '9')
            return false;
        n = 10 * n + (uint32_t)(word.at[i] - '0');
    }
    *value = n;
    return low <= n && n <= high;
}

static int shown(struct word word)
{
    return word.size < 24 ? (int)word.size : 24;
}

static int wrong(struct reader *r, struct word value, const char *what)
{
    snprintf(r->error, r->size, "%.*s=%.*s: %s", shown(r->key), r->key.at, shown(value), value.at, what);
    return -EINVAL;
}

/* `values` ends with NULL. */
static int wrong_choice(struct reader *r, struct word value, const char *const *values)
{
    char what[160];
    size_t used = 0;
    for (unsigned i = 0; values[i] && used < sizeof what; i++)
        used += (size_t)snprintf(what + used, sizeof what - used, "%s%s", i ? ", " : "one of: ", values[i]);
    return wrong(r, value, what);
}

static int read_cpu(struct reader *r, struct word value)
{
    const char *names[16] = {NULL};
    unsigned count = 0;
    for (const struct ds_model_preset *p = ds_model_preset_after(NULL); p; p = ds_model_preset_after(p)) {
        if (is(value, p->name)) {
            r->to->preset = p;
            return 0;
        }
        if (count + 1 < sizeof names / sizeof names[0])
            names[count++] = p->name;
    }
    return wrong_choice(r, value, names);
}

static int read_groups(struct reader *r, struct word value)
{
    struct word rest = value, name;
    r->to->groups = 0;
    if (is(value, "none"))
        return 0;
    while (cut(&rest, ',', &name)) {
        unsigned i = 0;
        while (i < 6 && !is(name, play_group_names[i]))
            i++;
        if (i == 6)
            return wrong(r, name,
                         "no such group; there are none, or of mem, gpr, xmm, lbr, cntr, metrics some with "
                         "',' between");
        r->to->groups |= (uint8_t)(1u << i);
    }
    return 0;
}

static bool read_flag(struct play_counter *c, struct word flag)
{
    if (is(flag, "u") || is(flag, "k") || is(flag, "uk")) {
        c->user = flag.at[0] == 'u';
        c->kernel = flag.at[flag.size - 1] == 'k';
    } else if (is(flag, "plain")) {
        c->plain = true;
    } else if (is(flag, "int")) {
        c->interrupt = true;
    } else {
        return false;
    }
    return true;
}

/* pmcN=EVENT:PERIOD[:FLAG]..., fixedN=PERIOD[:FLAG]..., or off */
static int read_counter(struct reader *r, unsigned i, struct word value)
{
    struct word rest = value, word;
    struct play_counter *c = &r->to->counter[i];
    *c = (struct play_counter){.used = true, .user = true};
    if (is(value, "off")) {
        c->used = false;
        return 0;
    }
    if (i < DS_MODEL_GP_MAX) {
        cut(&rest, ':', &word);
        while (c->event < DS_MODEL_PLAIN_EVENTS && !is(word, play_event_names[c->event]))
            c->event++;
        if (c->event == DS_MODEL_PLAIN_EVENTS)
            return wrong(r, value,
                         "no such event; there are instructions, branches, taken, conditional, calls, "
                         "returns, far, loads, stores");
    }
    if (!cut(&rest, ':', &word) || !number(word, 1, PERIOD_MAX, &c->period))
        return wrong(r, value,
                     i < DS_MODEL_GP_MAX ? "a period from 1 to 100000 follows the event, as in loads:5"
                                         : "a period from 1 to 100000 is wanted, as in fixed0=5");
    while (cut(&rest, ':', &word))
        if (!read_flag(c, word))
            return wrong(r, value,
                         "after a period follow u, k or uk (rings counted), plain (no PEBS), int (INT set, too)");
    if (c->plain && c->interrupt)
        return wrong(r, value, "plain counters always interrupt: leave int out");
    return 0;
}

static int read_policy(struct reader *r, struct word name, struct word value)
{
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        const struct ds_model_policy_row *row = &ds_model_policies[i];
        if (!is(name, row->name))
            continue;
        char text[24];
        snprintf(text, sizeof text, "%.*s", shown(value), value.at);
        return ds_model_policy_set(&r->to->policy, row->name, text) ? wrong_choice(r, value, row->values) : 0;
    }
    return wrong(r, value, "no such policy; the page's settings list them");
}

static int read_number(struct reader *r, const struct play_setting *row, struct word value)
{
    uint32_t *to = (uint32_t *)((uint8_t *)r->to + row->field);
    char what[40];
    for (uint32_t i = 0; row->values[0] && row->values[i]; i++)
        if (is(value, row->values[i])) {
            *to = i;
            return 0;
        }
    if (!row->values[0] && number(value, row->low, row->high, to))
        return 0;
    if (row->values[0])
        return wrong_choice(r, value, row->values);
    snprintf(what, sizeof what, "a number from %u to %u", (unsigned)row->low, (unsigned)row->high);
    return wrong(r, value, what);
}

static int read_item(struct reader *r, struct word value)
{
    const struct word key = r->key;
    if (is(key, "cpu"))
        return read_cpu(r, value);
    if (is(key, "groups"))
        return read_groups(r, value);
    if (is(key, "program"))
        return play_program_read(&r->to->program, value.at, value.size, r->error, r->size);
    if (key.size == 4 && strncmp(key.at, "pmc", 3) == 0 && key.at[3] >= '0' && key.at[3] <= '9')
        return read_counter(r, (unsigned)(key.at[3] - '0'), value);
    if (key.size == 6 && strncmp(key.at, "fixed", 5) == 0 && key.at[5] >= '0' &&
        key.at[5] < '0' + (int)DS_MODEL_FIXED_MAX)
        return read_counter(r, DS_MODEL_GP_MAX + (unsigned)(key.at[5] - '0'), value);
    if (key.size > 7 && strncmp(key.at, "policy.", 7) == 0)
        return read_policy(r, (struct word){key.at + 7, key.size - 7}, value);
    for (size_t i = 0; i < PLAY_NUMBERS; i++)
        if (is(key, play_numbers[i].key))
            return read_number(r, &play_numbers[i], value);
    return wrong(r, value,
                 "no such setting; there are cpu, pmc0..9, fixed0..3, groups, records, threshold, program and "
                 "others (docs/learn/playground.md)");
}

static int read_text(struct reader *r, const char *text)
{
    struct word rest = {text, strlen(text)}, item;
    while (cut(&rest, ';', &item)) {
        for (; item.size && *item.at == ' '; item.at++, item.size--)
            ;
        struct word value = item;
        if (!item.size)
            continue;
        if (!cut(&value, '=', &r->key) || !value.at) {
            snprintf(r->error, r->size, "'%.*s': a setting has the form KEY=VALUE, and ';' stands between two",
                     shown(item), item.at);
            return -EINVAL;
        }
        if (read_item(r, value))
            return -EINVAL;
    }
    return 0;
}

/* ---- what the processor has -------------------------------------------------------------------------------------- */

static int unfit(struct reader *r, const char *key, unsigned n, const char *what)
{
    snprintf(r->error, r->size, "%s%u: %s %s", key, n, r->to->preset->name, what);
    return -EINVAL;
}

static int check_counter(struct reader *r, unsigned i)
{
    const struct ds_model_preset *p = r->to->preset;
    const struct play_counter *c = &r->to->counter[i];
    const bool fixed = i >= DS_MODEL_GP_MAX;
    const unsigned n = fixed ? i - DS_MODEL_GP_MAX : i;
    const char *key = fixed ? "fixed" : "pmc";
    if (!c->used)
        return 0;
    if (n >= (fixed ? p->fixed_counters : p->gp_counters))
        return unfit(r, key, n, "does not have this counter");
    if (!fixed && !play_event_there(p, c->event))
        return unfit(r, key, n, "has no such event in its lists; instructions and branches are always there");
    if (!c->plain && !(p->pebs_counters & DS_BIT(play_counter_number(i))))
        return unfit(r, key, n,
                     fixed ? "has no PEBS on fixed counters; add :plain" : "has no PEBS on this counter; add :plain");
    return 0;
}

static int check(struct reader *r)
{
    struct play_settings *s = r->to;
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++)
        if (check_counter(r, i))
            return -EINVAL;
    if (play_arch(s->preset)) /* the buffer's end is the processor's, and so is what comes there */
        return 0;
    const uint32_t bytes = play_record_bytes(s), room = PLAY_BUFFER_BYTES / bytes - 1;
    if (s->records > room) {
        snprintf(r->error, r->size, "records=%u: the playground has memory for %u records of %u bytes",
                 (unsigned)s->records, (unsigned)room, (unsigned)bytes);
        return -EINVAL;
    }
    if (s->extra > bytes) {
        snprintf(r->error, r->size, "extra=%u: at most one record, %u bytes", (unsigned)s->extra, (unsigned)bytes);
        return -EINVAL;
    }
    return 0;
}

static int fill(struct reader *r, const char *text)
{
    memset(r->to, 0, sizeof *r->to);
    for (size_t i = 0; i < PLAY_NUMBERS; i++)
        *(uint32_t *)((uint8_t *)r->to + play_numbers[i].field) = play_numbers[i].normal;
    int e = read_text(r, DEFAULT_TEXT);
    return e ? e : read_text(r, text);
}

int play_settings_read(struct play_settings *settings, const char *text, char *error, size_t size)
{
    struct reader r = {.to = settings, .error = error, .size = size};
    int e = fill(&r, text);
    return e ? e : check(&r);
}
