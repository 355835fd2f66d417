/* SPDX-License-Identifier: MIT */
/* Counters with PEBS: two at once, and precise distribution. */
#include "ds/probe/internal.h"

#include "ds/generation.h"
#include "kernel/lib/string.h"

#define SHORT   50u  /* a period below the minimum that is asked about */
#define MINIMUM 128u /* the minimum that Linux keeps; and a period that each processor takes (ds/errata/errata.c) */

/* ---- the bystander ----------------------------------------------------------------------------------------------- */

#define FIRST_BRANCH 40u /* comes among the jumps: fewer branches lead there */
#define TRIES        32u /* jumps that pass before a counter is armed */

void ds_probe_run_branches(struct ds_probe *p, uint64_t first, uint64_t groups)
{
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
    ds_probe_count(p, &p->branches, first, DS_PROBE_FAR);
    if (groups)
        ds_probe_groups(p, &p->branches, groups);
    ds_probe_run(p, DS_PROBE_JUMPS, 0);
}

/* 0: there is none. */
static uint64_t find_arming(struct ds_probe *p)
{
    const struct ds_probe_sled *sled = &p->bench->sled[DS_PROBE_JUMPS];
    ds_probe_run_branches(p, FIRST_BRANCH, 0);
    const uint32_t at = ds_probe_records(p) ? ds_probe_position(p, 0, sled) : DS_PROBE_OUTSIDE;
    if (at == DS_PROBE_OUTSIDE)
        return 0;
    const uint64_t near = FIRST_BRANCH + sled->count - 1 - at;
    for (uint64_t period = near; period < near + TRIES; period++) {
        ds_probe_run_branches(p, period, 0);
        if (ds_probe_records(p) == 1 && ds_probe_position(p, 0, sled) == DS_PROBE_OUTSIDE)
            return period;
    }
    return 0;
}

bool ds_probe_arm_at_last_jump(struct ds_probe *p, struct ds_probe_result *r)
{
    if (!ds_probe_find(p, DS_EVENT_BRANCHES, DS_BIT(p->instructions.number), &p->branches)) {
        ds_probe_unknown(r, "needs two counters with PEBS, one of them for branches");
        return false;
    }
    if (!p->armed)
        p->arming = find_arming(p);
    p->armed = !p->refused; /* an access that was refused says nothing of the next */
    if (!p->arming)
        ds_probe_unknown(r, "no period was found with which the last jump arms a counter");
    return p->arming != 0;
}

/* A counter of branches is armed by the last of the jumps; among the NOPs, where there are no branches, that of
 * instructions has its record. Whether the other one's still comes, with the branch behind the NOPs, is the answer. */
void ds_probe_bystander(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_probe_counter *branches = &p->branches;
    if (!ds_probe_arm_at_last_jump(p, r))
        return;
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
    ds_probe_count(p, branches, p->arming, DS_PROBE_FAR);
    ds_probe_count(p, &p->instructions, DS_PROBE_JUMPS_COUNT + DS_PROBE_AFTER_JUMPS / 2, DS_PROBE_FAR);
    ds_probe_run(p, DS_PROBE_JUMPS, 0);

    const struct ds_probe_sled *jumps = &p->bench->sled[DS_PROBE_JUMPS];
    const struct ds_probe_sled nops = {jumps->start + (uint64_t)jumps->count * jumps->bytes, DS_PROBE_AFTER_JUMPS, 1};
    const unsigned records = ds_probe_records(p);
    const bool others = records && ds_probe_position(p, 0, &nops) != DS_PROBE_OUTSIDE;
    const bool own = records == 2 && ds_probe_position(p, 1, &nops) == DS_PROBE_OUTSIDE;
    const uint64_t value = ds_probe_value(p, branches);
    const bool reloaded = value >= ds_initial(p->caps, branches->number, DS_PROBE_FAR);
    const bool older = p->caps->format < 3;
    if (!others || records > 2 || (records == 2 && !own)) {
        ds_probe_unknown(r, "%u records, the first %s the NOPs: not what was set up", records,
                         others ? "of" : "not of");
        return;
    }
    ds_probe_answer(r,
                    !own && !reloaded ? "other"
                    : own != older    ? "by_format"
                                      : "swapped",
                    "format %u: with the other's record it was %s; %s, its counter 0x%lx", p->caps->format,
                    own        ? "left alone"
                    : reloaded ? "reloaded"
                               : "disarmed, not reloaded",
                    own ? "its own came" : "its own never came", (unsigned long)value);
}

/* ---- precise distribution ---------------------------------------------------------------------------------------- */

/* From Golden Cove on it is PMC0 that has precise distribution, and no record of instructions comes from there on
 * Golden and Redwood Cove; fixed counter 0 is said to record the instruction after (PDIR++). */
static bool on_pmc0(const struct ds_probe *p)
{
    return p->caps->generation >= DS_GENERATION_GOLDENCOVE && p->caps->generation <= DS_GENERATION_COYOTECOVE;
}

/* Where it is said to be: on the counter of INST_RETIRED.PREC_DIST (ds/events); on PMC0 from Golden Cove
 * on, and on Atoms from Goldmont on, which have no baseline yet. (Linux: what it allows the modifier :ppp for.) There
 * branches are counted, which PEBS records on PMC0 on each of them. False: there is no such counter. */
static bool candidate(const struct ds_probe *p, bool pmc0, struct ds_probe_counter *c)
{
    const struct ds_event event = {.kind = pmc0 ? DS_EVENT_BRANCHES : DS_EVENT_PREC_DIST, .fixed = DS_NO_FIXED};
    if (ds_probe_arch(p) && !pmc0) { /* CPUID says so, whatever event has the name */
        *c = (struct ds_probe_counter){.number = DS_COUNTER_FIXED};
        return p->caps->pdist_counters & p->caps->pebs_counters & DS_BIT(DS_COUNTER_FIXED);
    }
    const bool goldmont = p->caps->generation >= DS_GENERATION_GOLDMONT && p->caps->format >= 3;
    const uint64_t any = ds_event_counters(p->caps, &event) & p->caps->pebs_counters & (pmc0 ? 1 : UINT64_MAX);
    *c = (struct ds_probe_counter){0};
    if ((pmc0 && !p->caps->baseline && !goldmont && !(p->caps->pdist_counters & 1)) || !any ||
        !ds_event_recorded(p->caps, &event) || ds_event_code(p->caps, &event, &c->code))
        return false;
    c->number = (unsigned)__builtin_ctzll(any);
    return true;
}

#define BR_INST_RETIRED 0xC4u /* code of IA32_PERFEVTSELx, with any unit mask */

/* Instructions where each is slow; branches where each instruction is one. */
static struct ds_probe_spacing space(struct ds_probe *p, const struct ds_probe_counter *c, uint64_t period)
{
    return ds_probe_space(p, c, period, (c->code & 0xFF) == BR_INST_RETIRED ? DS_PROBE_MORE_JUMPS : DS_PROBE_SLOW);
}

/* False: no counter has its records just a period apart. *tried: candidates; *c, *s: the one that has, or the first. */
static bool find_precise(struct ds_probe *p, struct ds_probe_counter *c, struct ds_probe_spacing *s, unsigned *tried)
{
    *tried = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct ds_probe_counter this;
        if (!candidate(p, on_pmc0(p) != i, &this))
            continue;
        const struct ds_probe_spacing found = space(p, &this, MINIMUM);
        if (++*tried == 1 || found.usual == MINIMUM) {
            *c = this;
            *s = found;
        }
        if (found.usual == MINIMUM)
            return true;
    }
    return false;
}

/* Where there are no two records whose distance could be told. */
static void tell_no_gap(const struct ds_probe *p, struct ds_probe_result *r, const struct ds_probe_counter *c)
{
    if (ds_probe_arch(p))
        ds_probe_unknown(r, "counter %u: one record at most, so its CFG_C may not reload it", c->number);
    else
        ds_probe_unknown(r, "counter %u: one record at most, so its reset value may not be at 0x%x of the area",
                         c->number, ds_area_reset(p->caps->format, c->number));
}

void ds_probe_pdist_minimum(struct ds_probe *p, struct ds_probe_result *r)
{
    struct ds_probe_counter c;
    struct ds_probe_spacing s;
    unsigned tried;
    const struct ds_errata *e = &p->caps->errata;
    if (e->period_64 || (e->period_32 && e->period_128)) { /* Broadwell; Haswell: later ones have the last alone */
        ds_probe_unknown(r, "periods below 128 are wrong here anyway, an erratum");
        return;
    }
    if (!find_precise(p, &c, &s, &tried)) {
        if (tried && !s.gaps)
            tell_no_gap(p, r, &c);
        else if (tried)
            ds_probe_unknown(r, "no precise distribution: counter %u's records %u to %u apart with a period of %u",
                             c.number, s.least, s.most, MINIMUM);
        else
            ds_probe_unknown(r, "no counter with precise distribution");
        return;
    }
    s = space(p, &c, SHORT);
    const char *answer = !s.gaps ? "" : s.usual == SHORT ? "none" : s.usual == MINIMUM ? "128" : "other";
    ds_probe_answer(r, answer, "counter %u, period %u: records %u to %u apart, mostly %u", c.number, SHORT, s.least,
                    s.most, s.usual);
}

/* ---- how far apart ----------------------------------------------------------------------------------------------- */

/* `of`: what is counted, behind a comma; "": instructions. */
static void tell_spacing(const struct ds_probe *p, struct ds_probe_result *r, const struct ds_probe_counter *c,
                         uint32_t period, const struct ds_probe_spacing *s, const char *of)
{
    if (!s->gaps) {
        tell_no_gap(p, r, c);
        return;
    }
    const char *answer = s->usual == period ? "n" : s->usual == period + 1 ? "n_plus_1" : "other";
    ds_probe_answer(r, answer, "counter %u, period %u: %u times %u to %u apart, mostly %u%s", c->number, period,
                    s->gaps, s->least, s->most, s->usual, of);
}

void ds_probe_spacing(struct ds_probe *p, struct ds_probe_result *r)
{
    struct ds_probe_counter precise, c = p->instructions;
    if (p->precise && !ds_probe_find(p, DS_EVENT_BRANCHES, DS_BIT(c.number), &c)) {
        ds_probe_unknown(r, "no counter without precise distribution makes records");
        return;
    }
    if (candidate(p, true, &precise) && precise.number == c.number) { /* Goldmont */
        ds_probe_unknown(r, "the only counter with PEBS, %u, has precise distribution", precise.number);
        return;
    }
    const struct ds_probe_spacing s = space(p, &c, p->period);
    tell_spacing(p, r, &c, p->period, &s, p->precise ? ", of branches" : "");
}

void ds_probe_pdist_spacing(struct ds_probe *p, struct ds_probe_result *r)
{
    struct ds_probe_counter c;
    struct ds_probe_spacing s;
    unsigned tried;
    if (!find_precise(p, &c, &s, &tried) && !tried) {
        ds_probe_unknown(r, "no counter with precise distribution");
        return;
    }
    tell_spacing(p, r, &c, MINIMUM, &s, "");
    if (on_pmc0(p) && !c.number && s.gaps && candidate(p, false, &c)) {
        const size_t length = strlen(r->evidence);
        snprintf(r->evidence + length, sizeof r->evidence - length, "; counter %u mostly %u", c.number,
                 space(p, &c, MINIMUM).usual);
    }
}

/* ---- which instructions ------------------------------------------------------------------------------------------ */

#define PLACES 8u /* a division and the NOPs behind it */
#define TURNS  16u

/* Records of a division and of each NOP behind it: as many, if it is chance which instruction a record is of; on
 * silicon fast instructions stand in the shadow of slow ones. The period and the one after it are no multiples of 8, so
 * that places come in turn. */
void ds_probe_shadow(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_probe_sled *sled = &p->bench->sled[DS_PROBE_MIXED];
    unsigned at[PLACES] = {0}, all = 0, least = UINT32_MAX, most = 0;
    if (ds_probe_needs_multiples(p, r))
        return;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        ds_probe_reset(p);
        ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
        ds_probe_count(p, &p->instructions, p->period + turn, p->period + 2);
        ds_probe_run(p, DS_PROBE_MIXED, 0);
        for (unsigned i = 0; i < ds_probe_records(p); i++) {
            const uint64_t end = ds_probe_ip(p, i, 0) + (p->caps->format < 2 ? 0 : 1) - sled->start;
            if (end - 1 >= (uint64_t)sled->count * sled->bytes)
                continue;
            const unsigned byte = (unsigned)((end - 1) % sled->bytes);
            at[byte <= 2 ? 0 : byte - 2]++;
            all++;
        }
    }
    for (unsigned i = 0; i < PLACES; i++) {
        least = at[i] < least ? at[i] : least;
        most = at[i] > most ? at[i] : most;
    }
    ds_probe_answer(r,
                    !all                                                    ? ""
                    : least * 2 * PLACES >= all && most * PLACES <= all * 2 ? "even"
                                                                            : "uneven",
                    "%u records: of divisions %u, of the NOPs behind them %u %u %u %u %u %u %u", all, at[0], at[1],
                    at[2], at[3], at[4], at[5], at[6], at[7]);
}
