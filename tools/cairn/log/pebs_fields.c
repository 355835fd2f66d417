/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/pebs_fields.h"

#include <stdio.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"

/* ---- the table -------------------------------------------------------------------------------------------------- */

#define NOT_FIXED 0xFF /* not in the records of formats 0 to 3 */
#define ADAPTIVE  4    /* the first format that is made of groups */

static const struct row {
    const char *name;
    uint8_t what, group, at;    /* formats 4 and up: group, and where in it */
    uint8_t fixed, first, last; /* formats `first` to `last`, below 4: where in the record */
} rows[] = {
#define FIXED(member) offsetof(struct ds_pebs_fmt3, member)
#define BASIC(member) CAIRN_PEBS_BASIC, offsetof(struct ds_pebs_basic, member)
#define MEM(member)   CAIRN_PEBS_MEMINFO, offsetof(struct ds_pebs_meminfo, member)
#define GPR(member)                                                                                                    \
    CAIRN_PEBS_REGISTER, CAIRN_PEBS_GPR, offsetof(struct ds_pebs_gpr, member), FIXED(fmt2.fmt1.registers.member), 0, 3
    {"head", CAIRN_PEBS_HEAD, BASIC(head), NOT_FIXED, 0, 0},
    {"EventingIP", CAIRN_PEBS_EVENTING_IP, BASIC(eventing_ip), FIXED(fmt2.eventing_ip), 2, 3},
    {"counters", CAIRN_PEBS_COUNTERS, BASIC(counters), FIXED(fmt2.fmt1.status), 3, 3},
    {"status", CAIRN_PEBS_STATUS, CAIRN_PEBS_GROUPS, 0, FIXED(fmt2.fmt1.status), 1, 2},
    {"TSC", CAIRN_PEBS_TSC, BASIC(tsc), FIXED(tsc), 3, 3},
    {"data address", CAIRN_PEBS_DATA_ADDRESS, MEM(data_linear_address), FIXED(fmt2.fmt1.data_linear_address), 1, 3},
    {"data source", CAIRN_PEBS_DATA_SOURCE, MEM(data_source), FIXED(fmt2.fmt1.data_source), 1, 3},
    {"latency", CAIRN_PEBS_LATENCY, MEM(latency), FIXED(fmt2.fmt1.latency), 1, 3},
    {"TX", CAIRN_PEBS_TX, MEM(tx), FIXED(fmt2.tx), 2, 3},
    {"RFLAGS", CAIRN_PEBS_RFLAGS, CAIRN_PEBS_GPR, offsetof(struct ds_pebs_gpr, rflags),
     FIXED(fmt2.fmt1.registers.rflags), 0, 3},
    {"RIP", CAIRN_PEBS_RIP, CAIRN_PEBS_GPR, offsetof(struct ds_pebs_gpr, rip), FIXED(fmt2.fmt1.registers.rip), 0, 3},
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
    const char *name;
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

const char *cairn_pebs_group_name(enum cairn_pebs_group group)
{
    static const char *const names[CAIRN_PEBS_ALL_GROUPS] = {"BASIC", "MEMINFO", "GPR",  "XMM",    "LBR",
                                                             "CNTR",  "HEADER",  "AUX",  "XER",    "YMMH",
                                                             "EGPR",  "OPMASK",  "ZMMH", "H16ZMM", "PADDING"};
    return names[group];
}

static const struct arch_row *find_arch_row(uint8_t group, uint32_t at)
{
    for (const struct arch_row *r = arch_rows; r < arch_rows + ARCH_ROWS; r++)
        if (r->group == group && r->at == at)
            return r;
    return NULL;
}

/* The row of the word at `at` of a record of format 0 to 3 (group ignored), or of a group. */
static const struct row *find_row(uint8_t format, uint8_t group, uint32_t at)
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

/* Bytes that a fragment takes: its size may or may not count its padding. 0: there is no such size. */
static uint32_t fragment_bytes(uint64_t format)
{
    const uint32_t own = ds_arch_header_size(format);
    return own >= sizeof(struct ds_arch_header) && own % 8 == 0 ? (own + 15) / 16 * 16 : 0;
}

static bool goes_on(uint64_t format)
{
    return format & DS_ARCH_HEADER_CONT || ds_arch_header_null(format);
}

static uint32_t arch_size(const uint8_t *record, uint32_t left, uint32_t *whole)
{
    uint32_t size = 0;
    for (;;) {
        *whole = UINT32_MAX;
        if (left - size < sizeof(struct ds_arch_header))
            return 0;
        const uint64_t format = cairn_get64(record + size);
        const uint32_t fragment = fragment_bytes(format);
        if (!fragment || fragment > CAIRN_PEBS_SIZE_MOST - size) {
            *whole = 0;
            return 0;
        }
        if (!goes_on(format))
            *whole = size + fragment;
        if (fragment > left - size)
            return 0;
        size += fragment;
        if (!goes_on(format))
            return size;
    }
}

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
    return 2 + (w->index < 2 ? 0 : (uint32_t)(__builtin_popcount(w->gp) + __builtin_popcount(w->fixed)) + w->metrics);
}

static void begin_fragment(struct cairn_pebs_walk *w)
{
    w->groups = cairn_get64(w->record + w->at);
    const uint32_t bytes = fragment_bytes(w->groups), left = w->size - w->at;
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
    if (!goes_on(w->groups))
        return false;
    w->cut |= w->size - w->at < sizeof(struct ds_arch_header);
    if (w->size - w->at < sizeof(struct ds_arch_header))
        return false;
    begin_fragment(w);
    w->group = CAIRN_PEBS_HEADER;
    return true;
}

/* The place of the field of `row` in a record, in whichever of its fragments. */
static bool arch_get(const uint8_t *record, uint32_t size, uint8_t group, uint32_t within, uint64_t *value)
{
    struct cairn_pebs_walk w = {.record = record, .size = size};
    while (size - w.at >= sizeof(struct ds_arch_header)) {
        uint32_t at = w.at;
        unsigned place = 0;
        begin_fragment(&w);
        for (; arch_groups[place].group != group; place++)
            at += 8 * arch_words(&w, place);
        if (arch_words(&w, place) && at + within + 8 <= w.end) {
            *value = cairn_get64(record + at + within);
            return true;
        }
        w.at = w.end;
        if (!goes_on(w.groups))
            break;
    }
    return false;
}

/* ---- walking a record ------------------------------------------------------------------------------------------- */

void cairn_pebs_walk(struct cairn_pebs_walk *walk, uint8_t format, const uint8_t *record, uint32_t size)
{
    *walk = (struct cairn_pebs_walk){.record = record, .size = size, .format = format};
    if (format == DS_FORMAT_ARCH && size >= sizeof(struct ds_arch_header))
        begin_fragment(walk);
    else if (format >= ADAPTIVE && format != DS_FORMAT_ARCH)
        walk->groups = ds_pebs_head_groups(cairn_get64(record));
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
        return 2 + (uint32_t)__builtin_popcount(w->gp) + (uint32_t)__builtin_popcount(w->fixed) + w->metrics;
    }
}

static void name_counter(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    uint32_t n = w->index - 2u, gp = (uint32_t)__builtin_popcount(w->gp),
             fixed = (uint32_t)__builtin_popcount(w->fixed);
    uint32_t mask = n < gp ? w->gp : w->fixed;
    f->what = CAIRN_PEBS_CNTR_VALUE;
    if (n >= gp + fixed) {
        snprintf(f->name, sizeof(f->name), n == gp + fixed ? "slots" : "PERF_METRICS");
        return;
    }
    for (uint32_t skip = n < gp ? n : n - gp; skip; skip--)
        mask &= mask - 1;
    snprintf(f->name, sizeof(f->name), n < gp ? "PMC%d" : "FIXED_CTR%d", __builtin_ctz(mask));
}

static void name_cntr(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    if (w->index == 0) {
        snprintf(f->name, sizeof(f->name), "masks");
        f->what = CAIRN_PEBS_CNTR_MASKS;
        w->gp = (uint32_t)f->value;
        w->fixed = (uint32_t)(f->value >> 32);
    } else if (w->index == 1) {
        snprintf(f->name, sizeof(f->name), "metrics");
        f->what = CAIRN_PEBS_CNTR_METRICS;
        w->metrics = (uint32_t)f->value ? 2 : 0;
    } else {
        name_counter(w, f);
    }
}

/* `i`: its number among those of all entries. */
static void name_lbr(unsigned i, struct cairn_pebs_field *f)
{
    static const char *const names[] = {"from", "to", "info"};
    snprintf(f->name, sizeof(f->name), "%u.%s", i / 3u, names[i % 3]);
    f->what = (uint8_t)(CAIRN_PEBS_LBR_FROM + i % 3);
}

static void name_xmm(uint16_t i, struct cairn_pebs_field *f)
{
    snprintf(f->name, sizeof(f->name), "XMM%u.%s", i / 2u, i % 2 ? "high" : "low");
    f->what = i % 2 ? CAIRN_PEBS_XMM_HIGH : CAIRN_PEBS_XMM_LOW;
}

/* Halves of vector registers: which of its words of 8 bytes, as the whole register has them. */
static bool name_vector(unsigned group, unsigned i, struct cairn_pebs_field *f)
{
    f->what = CAIRN_PEBS_VECTOR;
    switch (group) {
    case CAIRN_PEBS_YMMH:
        return snprintf(f->name, sizeof(f->name), "YMM%u.%u", i / 2, 2 + i % 2);
    case CAIRN_PEBS_ZMMH:
        return snprintf(f->name, sizeof(f->name), "ZMM%u.%u", i / 4, 4 + i % 4);
    case CAIRN_PEBS_H16ZMM:
        return snprintf(f->name, sizeof(f->name), "ZMM%u.%u", 16 + i / 8, i % 8);
    case CAIRN_PEBS_EGPR:
        return snprintf(f->name, sizeof(f->name), "R%u", 16 + i);
    case CAIRN_PEBS_OPMASK:
        return snprintf(f->name, sizeof(f->name), "k%u", i);
    default:
        return false;
    }
}

static void name_arch_word(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    const uint16_t i = w->index;
    const struct arch_row *arch = find_arch_row(w->group, 8u * i);
    const struct row *row = w->group == CAIRN_PEBS_GPR ? find_row(DS_FORMAT_ARCH, w->group, 8u * i) : NULL;
    if (arch || row) {
        snprintf(f->name, sizeof(f->name), "%s", arch ? arch->name : row->name);
        f->what = arch ? arch->what : row->what;
        if (f->what == CAIRN_PEBS_LBR_DEPTH) /* more cannot be in a fragment */
            w->depth = f->value < CAIRN_PEBS_SIZE_MOST ? (uint32_t)f->value : CAIRN_PEBS_SIZE_MOST;
    } else if (w->group == CAIRN_PEBS_XMM) {
        name_xmm(i, f);
    } else if (w->group == CAIRN_PEBS_LBR && i >= LBR_HEAD) {
        name_lbr(i - LBR_HEAD, f);
    } else if (w->group == CAIRN_PEBS_CNTR) {
        name_cntr(w, f);
    } else if (!name_vector(w->group, i, f)) {
        snprintf(f->name, sizeof(f->name), w->group == CAIRN_PEBS_PADDING ? "padding" : "reserved");
        f->what = CAIRN_PEBS_RESERVED;
    }
}

static void name_word(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    const uint16_t i = w->index;
    const struct row *row = w->format < ADAPTIVE || w->group <= CAIRN_PEBS_GPR
                                ? find_row(w->format, w->group, w->format < ADAPTIVE ? w->at : 8u * i)
                                : NULL;
    if (row) {
        snprintf(f->name, sizeof(f->name), "%s", row->name);
        f->what = row->what;
    } else if (w->group == CAIRN_PEBS_XMM) {
        name_xmm(i, f);
    } else if (w->group == CAIRN_PEBS_LBR) {
        name_lbr(i, f);
    } else {
        name_cntr(w, f);
    }
}

bool cairn_pebs_next(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    const bool arch = w->format == DS_FORMAT_ARCH;
    if (arch && !arch_step(w))
        return false;
    if (!arch && w->format >= ADAPTIVE)
        while (w->group < CAIRN_PEBS_GROUPS && w->index >= words(w, w->group)) {
            w->group++;
            w->index = 0;
        }
    if ((!arch && w->group == CAIRN_PEBS_GROUPS) || w->size - w->at < 8)
        return false;
    *f = (struct cairn_pebs_field){.group = w->group, .at = w->at, .value = cairn_get64(w->record + w->at)};
    if (arch)
        name_arch_word(w, f);
    else
        name_word(w, f);
    w->at += 8;
    w->index++;
    return true;
}

uint32_t cairn_pebs_size(uint8_t format, const uint8_t *record, uint32_t left, uint32_t *whole)
{
    uint64_t basic[sizeof(struct ds_pebs_basic) / 8] = {0}; /* aligned, for ds_pebs_record_size */
    if (format == DS_FORMAT_ARCH)
        return arch_size(record, left, whole);
    memcpy(basic, record, left < sizeof(basic) ? left : sizeof(basic));
    return *whole = ds_pebs_record_size(format, basic, left);
}

const char *cairn_pebs_name(char out[CAIRN_PEBS_NAME], const struct cairn_pebs_field *f)
{
    const bool again = f->what == CAIRN_PEBS_FRAGMENT || f->what == CAIRN_PEBS_RESERVED;
    snprintf(out, CAIRN_PEBS_NAME, again ? "%s@%x" : "%s", f->name, (unsigned)f->at);
    return out;
}

bool cairn_pebs_get(uint8_t format, const uint8_t *record, uint32_t size, enum cairn_pebs_what what, uint64_t *value)
{
    struct cairn_pebs_walk walk;
    const struct row *row = rows;
    for (const struct arch_row *r = arch_rows; format == DS_FORMAT_ARCH && r < arch_rows + ARCH_ROWS; r++)
        if (r->what == what)
            return arch_get(record, size, r->group, r->at, value);
    while (row < rows + ROWS && row->what != what)
        row++;
    if (format == DS_FORMAT_ARCH)
        return row < rows + ROWS && row->group == CAIRN_PEBS_GPR && arch_get(record, size, row->group, row->at, value);
    if (row == rows + ROWS ||
        (format < ADAPTIVE && (row->fixed == NOT_FIXED || format < row->first || format > row->last)))
        return false;
    uint32_t at = row->fixed;
    if (format >= ADAPTIVE) {
        cairn_pebs_walk(&walk, format, record, size);
        if (row->group == CAIRN_PEBS_GROUPS || !words(&walk, row->group))
            return false;
        at = row->at;
        for (uint8_t group = 0; group < row->group; group++)
            at += 8 * words(&walk, group);
    }
    if (size < 8 || at > size - 8)
        return false;
    *value = cairn_get64(record + at);
    return true;
}
