/* SPDX-License-Identifier: MIT */
/* Fills the page's block of memory from the machine. */
#include "tools/playground/state.h"

#include "ds/area_words.h"
#include "kernel/lib/string.h"
#include "tools/pebs/pebs.h"

typedef unsigned long long ull;

#define SIZE(name, count, type) +sizeof(type) * (count)
_Static_assert(sizeof(struct play_state) == 0 PLAY_STATE_FIELDS(SIZE), "no padding: the state is compared as bytes");
_Static_assert(sizeof(struct play_state) % 8 == 0, "the digest goes by words");

/* "PMC0" */
static const char *short_name(unsigned counter)
{
    return play_counter_name(counter) + strlen("IA32_");
}

/* ---- the DS area ---------------------------------------------------------------------------------------------------
 */

struct rows {
    struct play_state *state;
    const struct play_machine *machine;
};

static struct play_area_row *add_row(struct rows *r, size_t at, char by, const char *name)
{
    struct play_area_row *row = &r->state->row[r->state->rows[0]++];
    snprintf(row->name, sizeof row->name, "%s", name);
    row->by = by;
    row->at = at;
    row->value = play_area_word(r->machine, at);
    return row;
}

/* A buffer's pointers. */
static void add_pointers(struct rows *r, unsigned first, uint64_t bytes)
{
    uint64_t pointer[DS_WORD_POINTERS];
    unsigned counter;
    for (unsigned i = 0; i < DS_WORD_POINTERS; i++)
        pointer[i] = play_area_word(r->machine, 8 * (first + i));
    for (unsigned i = 0; i < DS_WORD_POINTERS; i++) {
        const char *name = ds_word_name(r->machine->settings.preset->format, first + i, &counter);
        struct play_area_row *row = add_row(r, 8 * (first + i), ds_word_by(first + i), name);
        ds_word_pointer(row->what, sizeof row->what, pointer, i, bytes);
    }
}

static void add_resets(struct rows *r)
{
    const struct play_settings *s = &r->machine->settings;
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++) {
        const unsigned c = play_counter_number(i);
        const uint32_t at = ds_area_reset(s->preset->format, c);
        char name[32];
        unsigned n;
        if (!s->counter[i].used || s->counter[i].plain)
            continue;
        const char *kind = ds_word_name(s->preset->format, at / 8, &n);
        snprintf(name, sizeof name, "%s%u", kind, n);
        struct play_area_row *row = add_row(r, at, 'd', name);
        char value[40];
        ds_word_reset(value, sizeof value, row->value, s->preset->width);
        snprintf(row->what, sizeof row->what, "%s, of %s", value, short_name(c));
    }
}

/* ---- architectural PEBS: the registers that are in its place ----------------------------------------------------- */

static struct play_area_row *add_register(struct rows *r, uint32_t msr, char by, const char *name)
{
    struct play_area_row *row = add_row(r, 0, by, name);
    row->at = msr;
    row->value = play_rdmsr(r->machine, msr);
    return row;
}

static void show_contents(struct play_area_row *row)
{
    static const struct {
        uint64_t bits;
        const char *name;
    } parts[] = {
        {IA32_PMC_CFG_C_EN, "EN"},
        {IA32_PMC_CFG_C_AUX, "AUX"},
        {IA32_PMC_CFG_C_GPR, "GPR"},
        {IA32_PMC_CFG_C_XMM, "XMM"},
        {IA32_PMC_CFG_C_LBR, "LBR"},
        {IA32_PMC_CFG_C_CNTR_GP, "CNTR"},
        {IA32_PMC_CFG_C_CNTR_METRICS, "METRICS"},
        {IA32_PMC_CFG_C_CNTR_ALLOW, "ALLOW"},
    };
    size_t used = 0;
    if (row->value & IA32_PMC_CFG_C_RELOAD)
        used += (size_t)snprintf(row->what, sizeof row->what, "-%u", (unsigned)(0 - (uint32_t)row->value));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (row->value & parts[i].bits)
            used += (size_t)snprintf(row->what + used, sizeof row->what - used, "%s%s", used ? " " : "", parts[i].name);
}

static void add_arch(struct rows *r)
{
    const struct play_machine *m = r->machine;
    struct play_area_row *row = add_register(r, IA32_PEBS_BASE, 'd', "IA32_PEBS_BASE");
    snprintf(row->what, sizeof row->what, "physical, %u bytes", (unsigned)ia32_pebs_base_bytes(row->value));
    row = add_register(r, IA32_PEBS_INDEX, 'p', "IA32_PEBS_INDEX");
    snprintf(row->what, sizeof row->what, "+%XH, PMI +%XH%s%s", (unsigned)ia32_pebs_index_wr(row->value),
             (unsigned)ia32_pebs_index_thresh(row->value), row->value & IA32_PEBS_INDEX_EN ? ", EN" : "",
             row->value & IA32_PEBS_INDEX_FULL ? " FULL" : "");
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++) {
        const unsigned c = play_counter_number(i);
        const bool fixed = c >= DS_COUNTER_FIXED;
        char name[32];
        if (!m->settings.counter[i].used || !m->model.cfg_c[c])
            continue;
        snprintf(name, sizeof name, "IA32_PMC_%s%u_CFG_C", fixed ? "FX" : "GP", fixed ? c - DS_COUNTER_FIXED : c);
        show_contents(add_register(r, play_cfg_c_msr(c), 'd', name));
    }
}

static void fill_rows(struct play_state *state, const struct play_machine *m)
{
    struct rows r = {state, m};
    if (m->settings.bts)
        add_pointers(&r, DS_WORD_BTS, sizeof(struct ds_bts_record));
    if (play_arch(m->settings.preset)) {
        add_arch(&r);
        return;
    }
    add_pointers(&r, DS_WORD_PEBS, play_record_bytes(&m->settings));
    add_resets(&r);
}

/* ---- the newest record ------------------------------------------------------------------------------------------- */

static void show_counters(char *text, size_t size, uint64_t set)
{
    size_t used = 0;
    *text = '\0';
    for (uint64_t c = set & (DS_BIT(DS_COUNTER_NUMBERS) - 1); c && used < size; c &= c - 1)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
                                 short_name((unsigned)__builtin_ctzll(c)));
    if (set & IA32_PERF_GLOBAL_STATUS_OVF_BUF && used < size) /* of records that have all of the status */
        snprintf(text + used, size - used, "%sOvfBuf", used ? " " : "");
}

/* The instruction at an address of code. */
static void show_code(char *text, size_t size, const struct play_machine *m, uint64_t address)
{
    const struct play_program *p = &m->settings.program;
    for (uint32_t i = 0; i < p->count; i++)
        if (play_program_address(p, i) == address)
            play_program_show(p, i, text, size);
    if (address - PLAY_PMI_CODE < 2 * PLAY_INSN_BYTES)
        snprintf(text, size, "PMI handler");
}

static void show_groups(char *text, size_t size, uint64_t head)
{
    size_t used = (size_t)snprintf(text, size, "%u bytes, basic", (unsigned)ds_pebs_head_size(head));
    for (unsigned i = 0; i < 6; i++)
        if (head & DS_BIT(i))
            used += (size_t)snprintf(text + used, size - used, " %s", play_group_names[i]);
}

/* A header of architectural PEBS. */
static void show_fragment(char *text, size_t size, uint64_t format)
{
    static const struct {
        uint64_t bits;
        const char *name;
    } parts[] = {
        {DS_ARCH_HEADER_BASIC, "basic"}, {IA32_PMC_CFG_C_AUX, "AUX"}, {IA32_PMC_CFG_C_GPR, "GPR"},
        {IA32_PMC_CFG_C_XMM, "XMM"},     {IA32_PMC_CFG_C_LBR, "LBR"}, {IA32_PMC_CFG_C_CNTR, "CNTR"},
        {DS_ARCH_HEADER_CONT, "CONT"},
    };
    size_t used = (size_t)snprintf(text, size, "%u bytes%s", (unsigned)ds_arch_header_size(format),
                                   ds_arch_header_null(format) ? ", null" : "");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && used < size; i++)
        if (format & parts[i].bits)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : ", ", parts[i].name);
}

static void show_meaning(struct play_field *to, const struct play_machine *m, const struct cairn_pebs_field *f)
{
    switch (f->what) {
    case CAIRN_PEBS_HEAD:
        show_groups(to->means, sizeof to->means, f->value);
        break;
    case CAIRN_PEBS_FRAGMENT:
        show_fragment(to->means, sizeof to->means, f->value);
        break;
    case CAIRN_PEBS_EVENTING_IP:
    case CAIRN_PEBS_RIP:
    case CAIRN_PEBS_LBR_FROM:
    case CAIRN_PEBS_LBR_TO:
        show_code(to->means, sizeof to->means, m, f->value);
        break;
    case CAIRN_PEBS_COUNTERS:
    case CAIRN_PEBS_STATUS:
        show_counters(to->means, sizeof to->means, f->value);
        break;
    case CAIRN_PEBS_TSC:
        snprintf(to->means, sizeof to->means, "the step");
        break;
    case CAIRN_PEBS_RFLAGS:
        snprintf(to->means, sizeof to->means, f->value & 64 ? "ZF IF" : "IF");
        break;
    case CAIRN_PEBS_DATA_SOURCE:
    case CAIRN_PEBS_LATENCY:
    case CAIRN_PEBS_TX:
    case CAIRN_PEBS_RETIRE:
        snprintf(to->means, sizeof to->means, "not modelled");
        break;
    default:
        break;
    }
}

static void fill_fields(struct play_state *state, const struct play_machine *m)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    if (!m->newest_address)
        return;
    cairn_pebs_walk(&walk, m->settings.preset->format, m->newest, m->newest_bytes);
    while (state->fields[0] < PLAY_FIELDS && cairn_pebs_next(&walk, &f)) {
        struct play_field *to = &state->field[state->fields[0]++];
        snprintf(to->name, sizeof to->name, "%s", f.name);
        if (m->settings.preset->format >= 4)
            snprintf(to->group, sizeof to->group, "%s", cairn_pebs_group_name(f.group));
        to->at = f.at;
        to->value = f.value;
        show_meaning(to, m, &f);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void fill_processor(struct play_state *s, const struct play_machine *m)
{
    const struct ds_model *model = &m->model;
    const struct ds_model_registers *r = &m->cpu.registers;
    s->rip[0] = r->rip;
    s->rflags[0] = r->rflags;
    s->rax[0] = r->rax;
    s->rbx[0] = r->rbx;
    s->rcx[0] = r->rcx;
    s->rsi[0] = r->rsi;
    s->rdi[0] = r->rdi;
    s->rsp[0] = r->rsp;
    memcpy(s->value, model->value, sizeof s->value);
    memcpy(s->initial, m->initial, sizeof s->initial);
    memcpy(s->code, m->code, sizeof s->code);
    s->used[0] = m->ctrl;
    s->pebs[0] = model->pebs;
    s->armed[0] = model->armed;
    s->pdist[0] = model->pdist;
    s->width[0] = m->settings.preset->width;
    s->global_status[0] = play_rdmsr(m, IA32_PERF_GLOBAL_STATUS);
    s->global_ctrl[0] = play_rdmsr(m, IA32_PERF_GLOBAL_CTRL);
    s->pebs_enable[0] = play_rdmsr(m, IA32_PEBS_ENABLE);
    s->data_cfg[0] = play_rdmsr(m, MSR_PEBS_DATA_CFG);
    s->pebs_base[0] = play_rdmsr(m, IA32_PEBS_BASE);
    s->pebs_index[0] = play_rdmsr(m, IA32_PEBS_INDEX);
    s->debugctl[0] = play_rdmsr(m, IA32_DEBUGCTL);
    s->lvtpc[0] = model->lvtpc;
    s->pmi_latched[0] = ds_model_pmi_waits(model);
    s->format[0] = m->settings.preset->format;
}

static void fill_counts(struct play_state *s, const struct play_machine *m)
{
    s->records[0] = m->model.records;
    s->dropped[0] = m->model.dropped;
    s->lost[0] = m->model.lost;
    s->swallowed[0] = m->model.swallowed;
    s->bts_records[0] = m->model.bts_records;
    s->bts_dropped[0] = m->model.bts_dropped;
    s->pmis[0] = m->pmis;
    s->pmis_lost[0] = m->pmis_lost;
    s->drains[0] = m->drains;
    s->drained[0] = m->drained;
    s->bts_drained[0] = m->bts_drained;
    s->record_bytes[0] = play_record_bytes(&m->settings);
    s->newest_address[0] = m->newest_address;
    s->newest_bytes[0] = m->newest_bytes;
    s->newest_step[0] = m->newest_step;
}

static void fill_run(struct play_state *s, const struct play_machine *m)
{
    s->step[0] = m->step;
    s->last_step[0] = PLAY_STEPS - 1;
    s->at[0] = m->cpu.at;
    s->in_handler[0] = m->in_handler;
    s->pmi_due[0] = m->pmi_due;
    s->pmi_delay[0] = m->pmi_delay;
    s->cpl[0] = m->in_handler ? 0 : m->cpu.cpl;
    if (m->actions && (m->action[0].kind == PLAY_RETIRED || m->action[0].kind == PLAY_RETURNED))
        s->moved[0] = m->action[0].counters;
    s->listing_count[0] = m->settings.program.count;
    for (uint32_t i = 0; i < m->settings.program.count; i++)
        play_program_show(&m->settings.program, i, s->listing + PLAY_LISTING_TEXT * i, PLAY_LISTING_TEXT);
    s->said_count[0] = play_why(m, (char(*)[PLAY_SENTENCE])s->said);
    play_settings_write(&m->settings, m->step, s->text, sizeof s->text);
}

void play_state_fill(struct play_state *s, const struct play_machine *m)
{
    memset(s, 0, sizeof *s);
    fill_processor(s, m);
    fill_counts(s, m);
    fill_run(s, m);
    fill_rows(s, m);
    fill_fields(s, m);
    memcpy(s->data, m->cpu.data, sizeof s->data);
    memcpy(s->stack, m->cpu.stack, sizeof s->stack);
    memcpy(s->newest, m->newest, sizeof s->newest);
    memcpy(s->area, m->area, sizeof s->area);
    memcpy(s->buffer, m->buffer, sizeof s->buffer);
    memcpy(s->bts, m->bts, sizeof s->bts);
    memcpy(s->marks, m->marks, sizeof s->marks);
}

uint64_t play_state_digest(const struct play_state *state, uint64_t before)
{
    uint64_t digest = before ^ UINT64_C(0x9E3779B97F4A7C15);
    for (size_t at = 0; at < sizeof *state; at += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)state + at, sizeof word);
        digest = (digest ^ word) * UINT64_C(0xBF58476D1CE4E5B9);
        digest ^= digest >> 29;
    }
    return digest;
}

size_t play_state_layout(char *text, size_t size)
{
#define ROW(name, count, type) {#name, offsetof(struct play_state, name), (count), sizeof(type)},
    static const struct {
        const char *name;
        size_t offset, count, bytes;
    } fields[] = {PLAY_STATE_FIELDS(ROW)};
#undef ROW
    size_t used = (size_t)snprintf(text, size, "{\"size\":%u,\"sentence\":%u,\"listing_text\":%u,\"fields\":[",
                                   (unsigned)sizeof(struct play_state), PLAY_SENTENCE, PLAY_LISTING_TEXT);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        used += (size_t)snprintf(text + used, used < size ? size - used : 0, "%s[\"%s\",%u,%u,%u]", i ? "," : "",
                                 fields[i].name, (unsigned)fields[i].offset, (unsigned)fields[i].count,
                                 (unsigned)fields[i].bytes);
    used +=
        (size_t)snprintf(text + used, used < size ? size - used : 0,
                         "],\"row\":{\"name\":%u,\"by\":%u,\"what\":%u,\"at\":%u,\"value\":%u},"
                         "\"field\":{\"name\":%u,\"means\":%u,\"group\":%u,\"at\":%u,\"value\":%u}}",
                         (unsigned)offsetof(struct play_area_row, name), (unsigned)offsetof(struct play_area_row, by),
                         (unsigned)offsetof(struct play_area_row, what), (unsigned)offsetof(struct play_area_row, at),
                         (unsigned)offsetof(struct play_area_row, value), (unsigned)offsetof(struct play_field, name),
                         (unsigned)offsetof(struct play_field, means), (unsigned)offsetof(struct play_field, group),
                         (unsigned)offsetof(struct play_field, at), (unsigned)offsetof(struct play_field, value));
    return used;
}
