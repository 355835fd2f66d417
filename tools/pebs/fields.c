/* SPDX-License-Identifier: MIT */
/* The contents of a record of each format: one table of fields with the place of each in the records of formats 0 to 3
 * and in the groups of formats 4 and up. Offsets are those of ds/layout.h, and of architectural PEBS those of
 * ds/pebs23_layout.h. */
#include "tools/pebs/inside.h"
#include "tools/pebs/pebs.h"

/* ---- the table -------------------------------------------------------------------------------------------------- */

#define ADAPTIVE    CAIRN_PEBS_ADAPTIVE
#define NOT_FIXED   0xFF                   /* not in the records of formats 0 to 3 */
#define GROUPS      (CAIRN_PEBS_CNTR + 1u) /* of formats 4 to 6; as a row's: in none of them */
#define NAME_LENGTH 13u
#define NOWHERE     UINT32_MAX

/* Rows up to RIP are in the order of enum cairn_pebs_what. */
static const struct row {
    char name[NAME_LENGTH];
    uint8_t what, group, at;    /* formats 4 and up: group, and where in it */
    uint8_t fixed, first, last; /* formats `first` to `last`, below 4: where in the record */
} rows[] = {
#define FIXED(member) offsetof(struct ds_pebs_fmt3, member)
#define BASIC(member) CAIRN_PEBS_BASIC, offsetof(struct ds_pebs_basic, member)
#define MEM(member)   CAIRN_PEBS_MEMINFO, offsetof(struct ds_pebs_meminfo, member)
#define GPR(member)                                                                                                    \
    CAIRN_PEBS_REGISTER, CAIRN_PEBS_GPR, offsetof(struct ds_pebs_gpr, member), FIXED(fmt2.fmt1.registers.member), 0, 3
    [CAIRN_PEBS_HEAD] = {"head", CAIRN_PEBS_HEAD, BASIC(head), NOT_FIXED, 0, 0},
    [CAIRN_PEBS_EVENTING_IP] = {"EventingIP", CAIRN_PEBS_EVENTING_IP, BASIC(eventing_ip), FIXED(fmt2.eventing_ip), 2,
                                3},
    [CAIRN_PEBS_COUNTERS] = {"counters", CAIRN_PEBS_COUNTERS, BASIC(counters), FIXED(fmt2.fmt1.status), 3, 3},
    [CAIRN_PEBS_STATUS] = {"status", CAIRN_PEBS_STATUS, GROUPS, 0, FIXED(fmt2.fmt1.status), 1, 2},
    [CAIRN_PEBS_TSC] = {"TSC", CAIRN_PEBS_TSC, BASIC(tsc), FIXED(tsc), 3, 3},
    [CAIRN_PEBS_DATA_ADDRESS] = {"data address", CAIRN_PEBS_DATA_ADDRESS, MEM(data_linear_address),
                                 FIXED(fmt2.fmt1.data_linear_address), 1, 3},
    [CAIRN_PEBS_DATA_SOURCE] = {"data source", CAIRN_PEBS_DATA_SOURCE, MEM(data_source), FIXED(fmt2.fmt1.data_source),
                                1, 3},
    [CAIRN_PEBS_LATENCY] = {"latency", CAIRN_PEBS_LATENCY, MEM(latency), FIXED(fmt2.fmt1.latency), 1, 3},
    [CAIRN_PEBS_TX] = {"TX", CAIRN_PEBS_TX, MEM(tx), FIXED(fmt2.tx), 2, 3},
    [CAIRN_PEBS_RFLAGS] = {"RFLAGS", CAIRN_PEBS_RFLAGS, CAIRN_PEBS_GPR, offsetof(struct ds_pebs_gpr, rflags),
                           FIXED(fmt2.fmt1.registers.rflags), 0, 3},
    [CAIRN_PEBS_RIP] = {"RIP", CAIRN_PEBS_RIP, CAIRN_PEBS_GPR, offsetof(struct ds_pebs_gpr, rip),
                        FIXED(fmt2.fmt1.registers.rip), 0, 3},
    {"RAX", GPR(rax)},
    {"RBX", GPR(rbx)},
    {"RCX", GPR(rcx)},
    {"RDX", GPR(rdx)},
    {"RSI", GPR(rsi)},
    {"RDI", GPR(rdi)},
    {"RBP", GPR(rbp)},
    {"RSP", GPR(rsp)},
    {"R8", GPR(r8_r15[0])},
    {"R9", GPR(r8_r15[1])},
    {"R10", GPR(r8_r15[2])},
    {"R11", GPR(r8_r15[3])},
    {"R12", GPR(r8_r15[4])},
    {"R13", GPR(r8_r15[5])},
    {"R14", GPR(r8_r15[6])},
    {"R15", GPR(r8_r15[7])},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The same of architectural PEBS; general registers are as above. A row counts as far as its group goes. */
static const struct arch_row {
    char name[NAME_LENGTH];
    uint8_t what, group, at;
} arch_rows[] = {
#define ARCH(group, type, member) CAIRN_PEBS_##group, offsetof(struct ds_arch_##type, member)
    {"header", CAIRN_PEBS_FRAGMENT, ARCH(HEADER, header, format)},
    {"EventingIP", CAIRN_PEBS_EVENTING_IP, ARCH(BASIC, basic, eventing_ip)},
    {"counters", CAIRN_PEBS_COUNTERS, ARCH(BASIC, basic, counters)},
    {"TSC", CAIRN_PEBS_TSC, ARCH(BASIC, basic, tsc)},
    {"retire", CAIRN_PEBS_RETIRE, ARCH(BASIC, basic, retire)},
    {"data address", CAIRN_PEBS_DATA_ADDRESS, ARCH(AUX, aux, data_linear_address)},
    {"data source", CAIRN_PEBS_DATA_SOURCE, ARCH(AUX, aux, data_source)},
    {"latency", CAIRN_PEBS_LATENCY, ARCH(AUX, aux, latency)},
    {"TX", CAIRN_PEBS_TX, ARCH(AUX, aux, tx)},
    {"SSP", CAIRN_PEBS_SSP, ARCH(GPR, gpr, ssp)},
    {"xstate", CAIRN_PEBS_XSTATE, ARCH(XER, xer, xstate)},
    {"LBR_CTL", CAIRN_PEBS_LBR_CTL, ARCH(LBR, lbr, lbr_ctl)},
    {"LBR_DEPTH", CAIRN_PEBS_LBR_DEPTH, ARCH(LBR, lbr, depth)},
    {"LER.from", CAIRN_PEBS_LER_FROM, ARCH(LBR, lbr, ler_from)},
    {"LER.to", CAIRN_PEBS_LER_TO, ARCH(LBR, lbr, ler_to)},
    {"LER.info", CAIRN_PEBS_LER_INFO, ARCH(LBR, lbr, ler_info)},
};
#define ARCH_ROWS (sizeof(arch_rows) / sizeof(arch_rows[0]))
#define LBR_HEAD  ((uint32_t)sizeof(struct ds_arch_lbr) / 8)

static const struct arch_row *find_arch_row(uint8_t group, uint32_t at)
{
    for (const struct arch_row *r = arch_rows; r < arch_rows + ARCH_ROWS; r++)
        if (r->group == group && r->at == at)
            return r;
    return NULL;
}

/* The row of the word at `at` of a record of format 0 to 3 (group ignored), or of a group. */
static const struct row *find_row(unsigned format, uint8_t group, uint32_t at)
{
    for (const struct row *r = rows; r < rows + ROWS; r++)
        if (format < ADAPTIVE ? r->fixed == at && r->first <= format && format <= r->last
                              : r->group == group && r->at == at)
            return r;
    return NULL;
}

/* ---- architectural PEBS ------------------------------------------------------------------------------------------ */

/* Groups in the order of a fragment, with the bit of its header that names each; those without are told apart below. */
static const struct {
    uint8_t group;
    uint16_t words; /* 0: the group itself says, or the header */
    uint64_t bit;
} arch_groups[] = {
    {CAIRN_PEBS_HEADER, sizeof(struct ds_arch_header) / 8, 0},
    {CAIRN_PEBS_BASIC, sizeof(struct ds_arch_basic) / 8, DS_ARCH_HEADER_BASIC},
    {CAIRN_PEBS_AUX, sizeof(struct ds_arch_aux) / 8, IA32_PMC_CFG_C_AUX},
    {CAIRN_PEBS_GPR, sizeof(struct ds_arch_gpr) / 8, IA32_PMC_CFG_C_GPR},
    {CAIRN_PEBS_XER, sizeof(struct ds_arch_xer) / 8, IA32_PMC_CFG_C_XER},
    {CAIRN_PEBS_XMM, DS_ARCH_XMM_BYTES / 8, IA32_PMC_CFG_C_XMM},
    {CAIRN_PEBS_YMMH, DS_ARCH_YMMH_BYTES / 8, IA32_PMC_CFG_C_YMMH},
    {CAIRN_PEBS_EGPR, DS_ARCH_EGPR_BYTES / 8, IA32_PMC_CFG_C_EGPR},
    {CAIRN_PEBS_OPMASK, DS_ARCH_OPMASK_BYTES / 8, IA32_PMC_CFG_C_OPMASK},
    {CAIRN_PEBS_ZMMH, DS_ARCH_ZMMH_BYTES / 8, IA32_PMC_CFG_C_ZMMH},
    {CAIRN_PEBS_H16ZMM, DS_ARCH_H16ZMM_BYTES / 8, IA32_PMC_CFG_C_H16ZMM},
    {CAIRN_PEBS_LBR, 0, 0},
    {CAIRN_PEBS_CNTR, 0, 0},
};
#define ARCH_GROUPS (sizeof(arch_groups) / sizeof(arch_groups[0]))
#define ARCH_CNTR   (IA32_PMC_CFG_C_CNTR | IA32_PMC_CFG_C_CNTR_ALLOW | DS_BIT(39)) /* any of them: a counter group */

/* Words of the group of a fragment that is at `place`. What lies in LBR and CNTR themselves tells of `w`, which has
 * come there. */
static uint32_t arch_words(const struct cairn_pebs_walk *w, unsigned place)
{
    if (arch_groups[place].words)
        return !arch_groups[place].bit || w->groups & arch_groups[place].bit ? arch_groups[place].words : 0;
    if (arch_groups[place].group == CAIRN_PEBS_LBR) {
        if (!(w->groups & IA32_PMC_CFG_C_LBR))
            return 0;
        return LBR_HEAD + 3 * ds_arch_lbr_entries(w->groups, w->depth);
    }
    if (!(w->groups & ARCH_CNTR))
        return 0;
    return 2 + (w->index < 2 ? 0 : cairn_pebs_count(w->gp) + cairn_pebs_count(w->fixed) + w->metrics);
}

static void begin_fragment(struct cairn_pebs_walk *w)
{
    w->groups = cairn_pebs_get64(w->record + w->at);
    const uint32_t bytes = cairn_pebs_fragment_bytes(w->groups), left = w->size - w->at;
    w->fragment = w->at;
    w->end = bytes && bytes <= left ? w->at + bytes : w->size;
    w->cut |= !bytes || bytes > left;
    w->place = 0;
    w->index = 0;
    w->gp = w->fixed = w->metrics = w->depth = 0;
}

/* Goes to the group of the next word. False: there is none. */
static bool arch_step(struct cairn_pebs_walk *w)
{
    const bool has = w->end - w->at >= 8;
    while (w->place < ARCH_GROUPS && w->index >= arch_words(w, w->place)) {
        w->place++;
        w->index = 0;
    }
    w->group = w->place < ARCH_GROUPS ? arch_groups[w->place].group : CAIRN_PEBS_PADDING;
    if (has)
        return true;
    w->cut |= w->place < ARCH_GROUPS;
    if (!cairn_pebs_goes_on(w->groups))
        return false;
    w->cut |= w->size - w->at < sizeof(struct ds_arch_header);
    if (w->size - w->at < sizeof(struct ds_arch_header))
        return false;
    begin_fragment(w);
    w->group = CAIRN_PEBS_HEADER;
    return true;
}

/* Where in a record 8 bytes lie that are at `within` of a group, in whichever of its fragments; `w` is of that.
 * NOWHERE: they are not there. */
static uint32_t arch_find(struct cairn_pebs_walk *w, const uint8_t *record, uint32_t size, uint8_t group,
                          uint32_t within)
{
    *w = (struct cairn_pebs_walk){.record = record, .size = size};
    while (size - w->at >= sizeof(struct ds_arch_header)) {
        uint32_t at = w->at;
        unsigned place = 0;
        begin_fragment(w);
        for (; arch_groups[place].group != group; place++)
            at += 8 * arch_words(w, place);
        if (arch_words(w, place) && at + within + 8 <= w->end)
            return at + within;
        w->at = w->end;
        if (!cairn_pebs_goes_on(w->groups))
            break;
    }
    return NOWHERE;
}

static bool arch_get(const uint8_t *record, uint32_t size, uint8_t group, uint32_t within, uint64_t *value)
{
    struct cairn_pebs_walk w;
    const uint32_t at = arch_find(&w, record, size, group, within);
    if (at != NOWHERE)
        *value = cairn_pebs_get64(record + at);
    return at != NOWHERE;
}

static bool is_fixed(unsigned format)
{
    return format < ADAPTIVE || format == CAIRN_PEBS_BTS;
}

/* ---- walking a record ------------------------------------------------------------------------------------------- */

void cairn_pebs_walk(struct cairn_pebs_walk *walk, unsigned format, const void *record, uint32_t size)
{
    *walk = (struct cairn_pebs_walk){.record = record, .size = size, .format = format};
    if (format == CAIRN_PEBS_ARCH && size >= sizeof(struct ds_arch_header))
        begin_fragment(walk);
    else if (is_fixed(format))
        walk->end = cairn_pebs_bytes(format, 0);
    else if (format != CAIRN_PEBS_ARCH && size >= 8)
        walk->groups = ds_pebs_head_groups(cairn_pebs_get64(record));
}

/* 8-byte words of a group of this record. */
static uint32_t words(const struct cairn_pebs_walk *w, uint8_t group)
{
    switch (group) {
    case CAIRN_PEBS_BASIC:
        return sizeof(struct ds_pebs_basic) / 8;
    case CAIRN_PEBS_MEMINFO:
        return w->groups & MSR_PEBS_DATA_CFG_MEMINFO ? sizeof(struct ds_pebs_meminfo) / 8 : 0;
    case CAIRN_PEBS_GPR:
        return w->groups & MSR_PEBS_DATA_CFG_GPR ? sizeof(struct ds_pebs_gpr) / 8 : 0;
    case CAIRN_PEBS_XMM:
        return w->groups & MSR_PEBS_DATA_CFG_XMM ? sizeof(struct ds_pebs_xmm) / 8 : 0;
    case CAIRN_PEBS_LBR:
        return w->groups & MSR_PEBS_DATA_CFG_LBR ? 3 * msr_pebs_data_cfg_lbr_entries(w->groups) : 0;
    default: /* its masks say how many follow */
        if (!(w->groups & (MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS)))
            return 0;
        if (w->index < 2)
            return 2;
        return 2 + cairn_pebs_count(w->gp) + cairn_pebs_count(w->fixed) + w->metrics;
    }
}

static void name_arch_word(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    const uint16_t i = w->index;
    const struct arch_row *arch = find_arch_row(w->group, 8u * i);
    const struct row *row = w->group == CAIRN_PEBS_GPR ? find_row(CAIRN_PEBS_ARCH, w->group, 8u * i) : NULL;
    if (arch || row) {
        cairn_pebs_put(f->name, arch ? arch->name : row->name);
        f->what = arch ? arch->what : row->what;
        if (f->what == CAIRN_PEBS_LBR_DEPTH) /* more cannot be in a fragment */
            w->depth = f->value < CAIRN_PEBS_SIZE_MOST ? (uint32_t)f->value : CAIRN_PEBS_SIZE_MOST;
    } else if (w->group == CAIRN_PEBS_XMM) {
        cairn_pebs_name_xmm(i, f);
    } else if (w->group == CAIRN_PEBS_LBR && i >= LBR_HEAD) {
        cairn_pebs_name_lbr(i - LBR_HEAD, f);
    } else if (w->group == CAIRN_PEBS_CNTR) {
        cairn_pebs_name_cntr(w, f);
    } else if (!cairn_pebs_name_vector(w->group, i, f)) {
        cairn_pebs_put(f->name, w->group == CAIRN_PEBS_PADDING ? "padding" : "reserved");
        f->what = CAIRN_PEBS_RESERVED;
    }
}

static void name_word(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    const uint16_t i = w->index;
    const struct row *row = w->format < ADAPTIVE || w->group <= CAIRN_PEBS_GPR
                                ? find_row(w->format, w->group, w->format < ADAPTIVE ? w->at : 8u * i)
                                : NULL;
    if (w->format == CAIRN_PEBS_BTS) {
        cairn_pebs_put(f->name, i == 0 ? "from" : i == 1 ? "to" : "flags");
        f->what = (uint8_t)(CAIRN_PEBS_BTS_FROM + i);
    } else if (row) {
        cairn_pebs_put(f->name, row->name);
        f->what = row->what;
    } else if (w->group == CAIRN_PEBS_XMM) {
        cairn_pebs_name_xmm(i, f);
    } else if (w->group == CAIRN_PEBS_LBR) {
        cairn_pebs_name_lbr(i, f);
    } else {
        cairn_pebs_name_cntr(w, f);
    }
}

bool cairn_pebs_next(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    const bool arch = w->format == CAIRN_PEBS_ARCH;
    if (arch && !arch_step(w))
        return false;
    const bool fixed = is_fixed(w->format);
    if (!arch && !fixed)
        while (w->group < GROUPS && w->index >= words(w, w->group)) {
            w->group++;
            w->index = 0;
        }
    if ((!arch && w->group == GROUPS) || (fixed && w->at >= w->end) || w->size - w->at < 8)
        return false;
    *f = (struct cairn_pebs_field){.group = w->group, .at = w->at, .value = cairn_pebs_get64(w->record + w->at)};
    if (arch)
        name_arch_word(w, f);
    else
        name_word(w, f);
    w->at += 8;
    w->index++;
    return true;
}

/* ---- parts of a record ------------------------------------------------------------------------------------------- */

/* Formats 4 to 6: where in the record a group begins; `w` is of it. NOWHERE: there is none. */
static uint32_t find_group(struct cairn_pebs_walk *w, unsigned format, const uint8_t *record, uint32_t size,
                           uint8_t group)
{
    uint32_t at = 0;
    cairn_pebs_walk(w, format, record, size);
    if (!words(w, group))
        return NOWHERE;
    for (uint8_t before = 0; before < group; before++)
        at += 8 * words(w, before);
    return at;
}

/* Of a record of which not all is there, too. */
static bool get_at(const uint8_t *record, uint32_t size, uint32_t at, uint64_t *value)
{
    if (size < 8 || at > size - 8)
        return false;
    *value = cairn_pebs_get64(record + at);
    return true;
}

static bool get_fixed(unsigned format, const uint8_t *record, uint32_t size, unsigned what, uint64_t *value)
{
    if (format == CAIRN_PEBS_BTS)
        return what >= CAIRN_PEBS_BTS_FROM && what <= CAIRN_PEBS_BTS_FLAGS &&
               get_at(record, size, 8 * (what - CAIRN_PEBS_BTS_FROM), value);
    const struct row *r = &rows[what <= CAIRN_PEBS_RIP ? what : CAIRN_PEBS_HEAD]; /* which no such format has */
    return r->fixed != NOT_FIXED && r->first <= format && format <= r->last && get_at(record, size, r->fixed, value);
}

bool cairn_pebs_get(unsigned format, const void *record, uint32_t size, enum cairn_pebs_what what, uint64_t *value)
{
    struct cairn_pebs_walk walk;
    if (is_fixed(format))
        return get_fixed(format, record, size, what, value);
    for (const struct arch_row *r = arch_rows; format == CAIRN_PEBS_ARCH && r < arch_rows + ARCH_ROWS; r++)
        if (r->what == what)
            return arch_get(record, size, r->group, r->at, value);
    if (what > CAIRN_PEBS_RIP || what == CAIRN_PEBS_STATUS)
        return false;
    const struct row *row = &rows[what];
    if (format == CAIRN_PEBS_ARCH)
        return row->group == CAIRN_PEBS_GPR && arch_get(record, size, row->group, row->at, value);
    const uint32_t at = find_group(&walk, format, record, size, row->group);
    return at != NOWHERE && get_at(record, size, at + row->at, value);
}

uint64_t cairn_pebs_groups(unsigned format, const void *record, uint32_t size)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    uint64_t groups = 0;
    cairn_pebs_walk(&walk, format, record, size);
    while (!is_fixed(format) && cairn_pebs_next(&walk, &f))
        groups |= DS_BIT(f.group);
    return groups;
}

bool cairn_pebs_branch(unsigned format, const void *record, uint32_t size, unsigned n, struct cairn_pebs_branch *b)
{
    struct cairn_pebs_walk w;
    const uint8_t *bytes = record;
    uint32_t at, entries, end = size;
    if (is_fixed(format))
        return false;
    if (format == CAIRN_PEBS_ARCH) {
        at = arch_find(&w, bytes, size, CAIRN_PEBS_LBR, offsetof(struct ds_arch_lbr, depth));
        if (at == NOWHERE)
            return false;
        const uint64_t depth = cairn_pebs_get64(bytes + at);
        entries = ds_arch_lbr_entries(w.groups, depth < CAIRN_PEBS_SIZE_MOST ? (uint32_t)depth : CAIRN_PEBS_SIZE_MOST);
        at += (uint32_t)(sizeof(struct ds_arch_lbr) - offsetof(struct ds_arch_lbr, depth));
        end = w.end;
    } else {
        at = find_group(&w, format, bytes, size, CAIRN_PEBS_LBR);
        entries = at == NOWHERE ? 0 : words(&w, CAIRN_PEBS_LBR) / 3;
    }
    if (n >= entries || at > end || (end - at) / sizeof(struct ds_pebs_lbr) <= n)
        return false;
    at += n * (uint32_t)sizeof(struct ds_pebs_lbr);
    b->from = cairn_pebs_get64(bytes + at);
    b->to = cairn_pebs_get64(bytes + at + offsetof(struct ds_pebs_lbr, to));
    b->info = cairn_pebs_get64(bytes + at + offsetof(struct ds_pebs_lbr, info));
    return true;
}

int cairn_pebs_check(unsigned format, const void *record, uint32_t size)
{
    struct cairn_pebs_walk w;
    struct cairn_pebs_field f;
    unsigned padding = 0, most = 0; /* words behind the groups of a fragment */
    cairn_pebs_walk(&w, format, record, size);
    while (cairn_pebs_next(&w, &f)) {
        padding = f.group == CAIRN_PEBS_PADDING ? padding + 1 : 0;
        most = padding > most ? padding : most;
    }
    const bool all = is_fixed(format) ? w.at == w.end : format == CAIRN_PEBS_ARCH || w.group == GROUPS;
    return all && w.at == size && !w.cut && most <= 1 ? 0 : CAIRN_PEBS_E_GROUPS;
}
