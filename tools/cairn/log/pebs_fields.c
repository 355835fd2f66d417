/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/pebs_fields.h"

#include <stdio.h>
#include <string.h>

#include "ds/layout.h"
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

const char *cairn_pebs_group_name(enum cairn_pebs_group group)
{
    static const char *const names[CAIRN_PEBS_GROUPS] = {"BASIC", "MEMINFO", "GPR", "XMM", "LBR", "CNTR"};
    return names[group];
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

/* ---- walking a record ------------------------------------------------------------------------------------------- */

void cairn_pebs_walk(struct cairn_pebs_walk *walk, uint8_t format, const uint8_t *record, uint32_t size)
{
    *walk = (struct cairn_pebs_walk){.record = record, .size = size, .format = format};
    if (format >= ADAPTIVE)
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
        snprintf(f->name, sizeof(f->name), "XMM%u.%s", i / 2u, i % 2 ? "high" : "low");
        f->what = i % 2 ? CAIRN_PEBS_XMM_HIGH : CAIRN_PEBS_XMM_LOW;
    } else if (w->group == CAIRN_PEBS_LBR) {
        static const char *const names[] = {"from", "to", "info"};
        snprintf(f->name, sizeof(f->name), "%u.%s", i / 3u, names[i % 3]);
        f->what = (uint8_t)(CAIRN_PEBS_LBR_FROM + i % 3);
    } else if (i == 0) {
        snprintf(f->name, sizeof(f->name), "masks");
        f->what = CAIRN_PEBS_CNTR_MASKS;
        w->gp = (uint32_t)f->value;
        w->fixed = (uint32_t)(f->value >> 32);
    } else if (i == 1) {
        snprintf(f->name, sizeof(f->name), "metrics");
        f->what = CAIRN_PEBS_CNTR_METRICS;
        w->metrics = (uint32_t)f->value ? 2 : 0;
    } else {
        name_counter(w, f);
    }
}

bool cairn_pebs_next(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    if (w->format >= ADAPTIVE)
        while (w->group < CAIRN_PEBS_GROUPS && w->index >= words(w, w->group)) {
            w->group++;
            w->index = 0;
        }
    if (w->group == CAIRN_PEBS_GROUPS || w->size - w->at < 8)
        return false;
    *f = (struct cairn_pebs_field){.group = w->group, .at = w->at, .value = cairn_get64(w->record + w->at)};
    name_word(w, f);
    w->at += 8;
    w->index++;
    return true;
}

bool cairn_pebs_get(uint8_t format, const uint8_t *record, uint32_t size, enum cairn_pebs_what what, uint64_t *value)
{
    struct cairn_pebs_walk walk;
    const struct row *row = rows;
    while (row < rows + ROWS && row->what != what)
        row++;
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
