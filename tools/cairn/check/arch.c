/* SPDX-License-Identifier: MIT */
/* Architectural PEBS without any truth: its registers are as the driver set them up, and each record is one that they
 * ask for, laid out as ds/pebs23_layout.h says. */
#include <inttypes.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/arch_bits.h"
#include "tools/pebs/pebs.h"

#define FAIL(w, time, ...) cairn_fail((w)->check, CAIRN_RULE_AREAS, (int)(w)->n, time, __VA_ARGS__)
#define FAIL_RECORD(w, r, fmt, ...)                                                                                    \
    cairn_fail((w)->check, CAIRN_RULE_RECORDS, (int)(w)->n, &(r)->time, "epoch %" PRIu32 ", 0x%" PRIx64 ": " fmt,      \
               (r)->epoch, (r)->address, __VA_ARGS__)

#define COUNTER_NAME(c) (c) < DS_COUNTER_FIXED ? "PMC" : "FIXED_CTR", (c) % DS_COUNTER_FIXED

/* ---- registers --------------------------------------------------------------------------------------------------- */

static void check_reserved(const struct cairn_drained *w, const struct cairn_epoch *e, const char *name, uint64_t value,
                           const struct cairn_bits *bits)
{
    const uint64_t reserved = value & ~cairn_bits_all(bits);
    if (reserved)
        FAIL(w, &e->time, "%s is 0x%" PRIx64 ": bits 0x%" PRIx64 " of it are reserved", name, value, reserved);
}

static void check_position(const struct cairn_drained *w, const struct cairn_epoch *e)
{
    const struct cairn_pebs_keys *k = &w->keys;
    const struct cairn_buffer b = cairn_epoch_buffer(e);
    const uint64_t room = b.maximum - b.base, wr = b.index - b.base, thresh = b.threshold - b.base;
    if (!b.base || b.base & (room - 1))
        FAIL(w, &e->time, "the buffer at 0x%" PRIx64 " is not aligned to its size of %" PRIu64 " bytes", b.base, room);
    if (wr > room)
        FAIL(w, &e->time, "WR, 0x%" PRIx64 ", is beyond the buffer's %" PRIu64 " bytes", wr, room);
    if (thresh > room)
        FAIL(w, &e->time, "the threshold, 0x%" PRIx64 ", is beyond the buffer's %" PRIu64 " bytes", thresh, room);
    else if (k->record_bytes.is && k->threshold.known && thresh != k->threshold.is * k->record_bytes.is)
        FAIL(w, &e->time, "the threshold, 0x%" PRIx64 ", is not %" PRIu64 " %s above the base", thresh, k->threshold.is,
             cairn_plural(k->threshold.is, "record", "records"));
    if (k->buffer_bytes.known && room > k->buffer_bytes.is)
        FAIL(w, &e->time, "IA32_PEBS_BASE gives %" PRIu64 " bytes, but this CPU's buffer has %" PRIu64, room,
             k->buffer_bytes.is);
    if (k->physical.known && b.base != k->physical.is)
        FAIL(w, &e->time, "IA32_PEBS_BASE is 0x%" PRIx64 ", but this CPU's buffer is at 0x%" PRIx64, b.base,
             k->physical.is);
}

/* What the drain hands over, and how much it says is lost: by FULL, and by EN, which a full buffer may clear. */
static void check_contents(struct cairn_drained *w, const struct cairn_epoch *e, uint64_t index)
{
    const uint32_t wr = ia32_pebs_index_wr(index);
    const bool full = index & IA32_PEBS_INDEX_FULL, on = index & IA32_PEBS_INDEX_EN;
    const bool unknown = e->lost == CAIRN_DS_LOST_UNKNOWN, panic = e->reason == CAIRN_DS_PANIC;
    if (e->reason == CAIRN_DS_START) {
        w->last_wr = 0;
        return;
    }
    /* A processor that refuses to move WR back leaves it where the drain before found it. */
    const bool refused = w->last_wr && e->record_bytes == wr - w->last_wr;
    if (e->record_bytes != wr && !refused)
        FAIL(w, &e->time, "%" PRIu32 " bytes of records, but WR is %" PRIu32, e->record_bytes, wr);
    else if (!panic && !refused && on && full != (e->lost != 0))
        FAIL(w, &e->time, "FULL is %d, but %s lost", full, e->lost ? "records are" : "no record is");
    if (unknown && on && !panic && cairn_log_modelled(w->check->log))
        FAIL(w, &e->time, "the number of lost records is unknown, but %s", "the model counts them");
    w->last_wr = wr;
}

/* The groups that option pebs.groups asked for, of those that this processor has. */
static void check_groups(const struct cairn_drained *w, const struct cairn_epoch *e, const char *name, uint64_t cfg_c)
{
    const struct cairn_pebs_keys *k = &w->keys;
    const uint64_t groups = cfg_c & IA32_PMC_CFG_C_GROUPS, caps = cpuid_23h_4_groups((uint32_t)k->caps.is);
    if (k->caps.known && cfg_c & (IA32_PMC_CFG_C_GROUPS | IA32_PMC_CFG_C_CNTR_ALLOW) & ~caps)
        FAIL(w, &e->time, "%s, 0x%" PRIx64 ", has bits that CPUID.23H.4 does not list, 0x%" PRIx64, name, cfg_c,
             cfg_c & (IA32_PMC_CFG_C_GROUPS | IA32_PMC_CFG_C_CNTR_ALLOW) & ~caps);
    if (k->groups.known && cfg_c & IA32_PMC_CFG_C_EN && groups != k->groups.is)
        FAIL(w, &e->time, "%s asks for groups 0x%" PRIx64 ", but it should ask for 0x%" PRIx64, name, groups,
             k->groups.is);
}

static void check_counter(const struct cairn_drained *w, const struct cairn_epoch *e, unsigned n, uint64_t cfg_c)
{
    const struct cairn_counter *c = cairn_counters_find(&w->counters, n);
    const uint64_t reload = cfg_c & IA32_PMC_CFG_C_RELOAD;
    char name[32];
    snprintf(name, sizeof(name), "CFG_C of %s%u", COUNTER_NAME(n));
    check_reserved(w, e, name, cfg_c, cairn_bits_cfg_c);
    check_groups(w, e, name, cfg_c);
    if (!w->counters.known || w->grabbed) /* Linux has its own, later than the START */
        return;
    if (!(cfg_c & IA32_PMC_CFG_C_EN) != (!c || c->plain))
        FAIL(w, &e->time, "%s, 0x%" PRIx64 ": PEBS is %s, but the counter %s", name, cfg_c,
             cfg_c & IA32_PMC_CFG_C_EN ? "on" : "off", c && !c->plain ? "writes records" : "writes no records");
    if (!cairn_right_reset(w, c, reload))
        FAIL(w, &e->time, "%s: its reload value, 0x%" PRIx64 ", is not that of %s", name, reload,
             c && !c->plain ? "its period" : "a counter without PEBS, 0");
}

void cairn_check_registers(struct cairn_drained *w, const struct cairn_epoch *e)
{
    const uint64_t base = cairn_get64(e->area + offsetof(struct ds_arch_registers, base));
    const uint64_t index = cairn_get64(e->area + offsetof(struct ds_arch_registers, index));
    check_reserved(w, e, "IA32_PEBS_BASE", base, cairn_bits_base);
    check_reserved(w, e, "IA32_PEBS_INDEX", index, cairn_bits_index);
    check_position(w, e);
    check_contents(w, e, index);
    for (unsigned n = 0; n < DS_COUNTER_NUMBERS; n++)
        check_counter(w, e, n, cairn_arch_cfg_c(e, n));
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

#define COMPONENTS UINT64_C(0xE6) /* of XSTATE, whose areas are known: bits of a header from 48 on */

struct contents { /* of a record, over its fragments */
    uint64_t groups, counters, masks, metrics, xstate;
    uint32_t padding, most_padding; /* words of the fragment; the most of any */
    bool basic_first;               /* the first fragment that is no null header has it */
    bool fragment;                  /* one that is none has come */
};

static void pass_header(struct contents *c, uint64_t header)
{
    c->padding = 0;
    c->groups |= header & DS_ARCH_HEADER_GROUPS;
    if (ds_arch_header_null(header) || c->fragment)
        return;
    c->fragment = true;
    c->basic_first = header & DS_ARCH_HEADER_BASIC;
}

static void pass_field(struct contents *c, const struct cairn_pebs_field *f)
{
    switch (f->what) {
    case CAIRN_PEBS_FRAGMENT:
        pass_header(c, f->value);
        break;
    case CAIRN_PEBS_COUNTERS:
        c->counters = f->value;
        break;
    case CAIRN_PEBS_XSTATE:
        c->xstate = f->value;
        break;
    case CAIRN_PEBS_CNTR_MASKS:
        c->masks = f->value;
        break;
    case CAIRN_PEBS_CNTR_METRICS:
        c->metrics = f->value;
        break;
    default:
        c->padding += f->group == CAIRN_PEBS_PADDING;
        c->most_padding = c->padding > c->most_padding ? c->padding : c->most_padding;
    }
}

/* Whether it is made up as its headers say. */
static bool check_structure(const struct cairn_reader *w, const struct cairn_record *r, struct contents *c)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &f))
        pass_field(c, &f);
    if (walk.cut)
        FAIL_RECORD(w, r, "%" PRIu32 " bytes are too few for the groups in its header", r->size);
    if (!c->basic_first)
        FAIL_RECORD(w, r, "its first fragment has no %s", "basic group");
    if (c->most_padding > 1)
        FAIL_RECORD(w, r, "%" PRIu32 " bytes that belong to no group", 8 * c->most_padding);
    return !walk.cut && c->basic_first && c->most_padding <= 1;
}

/* What must be 0. */
static void check_zeros(const struct cairn_reader *w, const struct cairn_record *r)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &f)) {
        const uint64_t reserved = f.value & ~cairn_bits_all(cairn_bits_header);
        if (f.what == CAIRN_PEBS_FRAGMENT && reserved)
            FAIL_RECORD(w, r, "its header, 0x%" PRIx64 ", has reserved bits, 0x%" PRIx64, f.value, reserved);
        if (f.what == CAIRN_PEBS_RESERVED && f.value)
            FAIL_RECORD(w, r, "the %s word at 0x%" PRIx32 " is 0x%" PRIx64 ", not 0", f.name, f.at, f.value);
    }
}

/* What the CFG_Cs of the counters that it names ask for: all of their groups, the longest branch history. */
static uint64_t groups_wanted(const struct cairn_epoch *e, uint64_t counters)
{
    uint64_t wanted = DS_ARCH_HEADER_BASIC, lbr = 0;
    for (unsigned n = 0; n < DS_COUNTER_NUMBERS; n++) {
        const uint64_t cfg_c = counters & DS_BIT(n) ? cairn_arch_cfg_c(e, n) : 0;
        wanted |= cfg_c & IA32_PMC_CFG_C_GROUPS & ~IA32_PMC_CFG_C_LBR;
        lbr = (cfg_c & IA32_PMC_CFG_C_LBR) > lbr ? cfg_c & IA32_PMC_CFG_C_LBR : lbr;
    }
    return wanted | lbr;
}

/* The counters that a group of them must show. */
static uint64_t masks_wanted(const struct cairn_epoch *e, uint64_t groups)
{
    uint64_t allowed = 0;
    for (unsigned n = 0; n < DS_COUNTER_NUMBERS; n++)
        allowed |= cairn_arch_cfg_c(e, n) & IA32_PMC_CFG_C_CNTR_ALLOW ? DS_BIT(n) : 0;
    return (groups & IA32_PMC_CFG_C_CNTR_GP ? allowed & UINT32_MAX : 0) |
           (groups & IA32_PMC_CFG_C_CNTR_FIXED ? allowed & ~(uint64_t)UINT32_MAX : 0);
}

static void check_wanted(const struct cairn_reader *w, const struct cairn_record *r, const struct contents *c,
                         const struct cairn_epoch *e)
{
    const uint64_t wanted = groups_wanted(e, c->counters);
    if (cairn_log_grabbed(w->check->log) && c->groups & IA32_PMC_CFG_C_CNTR)
        return; /* when Linux turns off such counters, it clears their CFG_C, and drains afterwards */
    for (unsigned n = 0; n < DS_COUNTER_NUMBERS; n++)
        if (c->counters & DS_BIT(n) && !(cairn_arch_cfg_c(e, n) & IA32_PMC_CFG_C_EN))
            FAIL_RECORD(w, r, "it names %s%u, whose CFG_C has PEBS off", COUNTER_NAME(n));
    if (c->groups != wanted)
        FAIL_RECORD(w, r, "groups 0x%" PRIx64 ", but CFG_C asks for 0x%" PRIx64, c->groups, wanted);
    if (c->groups & IA32_PMC_CFG_C_CNTR && c->masks != masks_wanted(e, c->groups))
        FAIL_RECORD(w, r, "it shows counters 0x%" PRIx64 ", but CFG_C asks for 0x%" PRIx64, c->masks,
                    masks_wanted(e, c->groups));
}

void cairn_check_arch_record(const struct cairn_reader *w, const struct cairn_record *r, const struct cairn_epoch *e)
{
    struct contents c = {0};
    if (!check_structure(w, r, &c))
        return;
    check_zeros(w, r);
    if (c.xstate & COMPONENTS & ~(c.groups >> 48))
        FAIL_RECORD(w, r, "XSTATE components 0x%" PRIx64 ", but areas 0x%" PRIx64, c.xstate,
                    c.groups >> 48 & COMPONENTS);
    if (c.metrics != (c.groups & IA32_PMC_CFG_C_CNTR_METRICS ? DS_PEBS_CNTR_METRICS : 0))
        FAIL_RECORD(w, r, "the word before its metrics is 0x%" PRIx64, c.metrics);
    if (e && e->format == DS_FORMAT_ARCH)
        check_wanted(w, r, &c, e);
}
