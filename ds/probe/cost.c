/* SPDX-License-Identifier: MIT */
/* What things cost, in TSC cycles. Instructions run many times with the thing and without it. One sample is the time of
 * a run with it minus the shortest time without it, divided by how many there were. */
#include "arch/arch.h"
#include "ds/probe/internal.h"
#include "kernel/lib/string.h"

#define APART   128u                     /* instructions from record to record */
#define MAXIMUM (DS_PROBE_BUFFER - 2048) /* behind it is room for the largest record */
#define RECORD  sizeof(struct ds_bts_record)

static void sort(uint64_t *sample, unsigned n) /* few */
{
    for (unsigned i = 1; i < n; i++) {
        const uint64_t s = sample[i];
        unsigned j = i;
        for (; j && sample[j - 1] > s; j--)
            sample[j] = sample[j - 1];
        sample[j] = s;
    }
}

void ds_probe_cost_of(struct ds_probe_cost *cost, uint64_t *sample, unsigned n)
{
    *cost = (struct ds_probe_cost){.samples = n};
    sort(sample, n);
    if (n) {
        cost->least = sample[0];
        cost->median = sample[n / 2];
        cost->p99 = sample[(n * 99 - 1) / 100];
    }
}

static void refuse(struct ds_probe_cost *cost, const char *why)
{
    *cost = (struct ds_probe_cost){0};
    snprintf(cost->reason, sizeof cost->reason, "%s", why);
}

struct series {
    struct ds_probe *p;
    uint64_t sample[DS_PROBE_SAMPLES];
    uint64_t without; /* the least */
    unsigned n;
};

/* The samples so far are of runs without the thing: begins those with it. */
static void end_without(struct series *s)
{
    sort(s->sample, s->n);
    s->without = s->n ? s->sample[0] : 0;
    s->n = 0;
}

static void add(struct series *s, uint64_t cycles, unsigned things)
{
    if (things)
        s->sample[s->n++] = cycles > s->without ? (cycles - s->without) / things : 0;
}

/* Only records of what is among the cycles are counted: counters and branch tracing are on for a little longer. */

/* Of a sled and its RET. */
static unsigned records_within(const struct ds_probe *p, const struct ds_probe_sled *sled)
{
    unsigned n = 0;
    for (unsigned i = 0; i < ds_probe_records(p); i++)
        n += ds_probe_ip(p, i, 1) - sled->start <= (uint64_t)sled->count * sled->bytes;
    return n;
}

/* Of the call to the jumps, those, and the RET behind the NOPs. */
static unsigned branches_within(const struct ds_probe *p)
{
    const struct ds_probe_sled *jumps = &p->bench->sled[DS_PROBE_JUMPS];
    const struct ds_bts_record *record = (const struct ds_bts_record *)p->bench->buffer;
    const uint64_t ret = jumps->start + (uint64_t)jumps->count * jumps->bytes + DS_PROBE_AFTER_JUMPS;
    unsigned n = 0;
    for (unsigned i = 0; i < ds_probe_bts_index(p) / RECORD; i++)
        n += record[i].to == jumps->start || record[i].from - jumps->start <= ret - jumps->start;
    return n;
}

/* ---- a PEBS record ----------------------------------------------------------------------------------------------- */

static void count_instructions(struct ds_probe *p, uint64_t groups)
{
    const struct ds_probe_counter *c = &p->instructions;
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, MAXIMUM, DS_PROBE_NEVER);
    ds_probe_count(p, c, APART, APART);
    if (groups)
        ds_probe_groups(p, c, groups);
}

static void without_pebs(struct series *s)
{
    for (s->n = 0; s->n < s->p->bench->samples; s->n++) {
        count_instructions(s->p, 0);
        s->p->pebs = 0;
        s->sample[s->n] = ds_probe_run(s->p, DS_PROBE_NOPS, 0);
    }
    end_without(s);
}

/* Whether the first record of architectural PEBS has these groups and no other, in all of its fragments. */
static bool names(const struct ds_probe *p, uint64_t groups)
{
    uint64_t has = 0;
    for (struct ds_probe_fragment f = {0}; ds_probe_arch_fragment(p, 0, &f);)
        has |= f.format & DS_ARCH_HEADER_GROUPS;
    return has == (groups | DS_ARCH_HEADER_BASIC);
}

static void cost_of_record(struct series *s, uint64_t groups, struct ds_probe_cost *cost)
{
    struct ds_probe *p = s->p;
    if (groups & MSR_PEBS_DATA_CFG_CNTR)
        groups |= msr_pebs_data_cfg_counters(1u << p->instructions.number, 0);
    without_pebs(s);
    for (unsigned i = 0; i < p->bench->samples; i++) {
        count_instructions(p, groups);
        const uint64_t cycles = ds_probe_run(p, DS_PROBE_NOPS, 0);
        if (ds_probe_arch(p) && !names(p, ds_probe_arch_same_groups(groups) & IA32_PMC_CFG_C_GROUPS)) {
            refuse(cost, "its header names other groups");
            return;
        }
        if (!ds_probe_arch(p) && ds_probe_own_size(p) != p->record_bytes) {
            refuse(cost, "");
            snprintf(cost->reason, sizeof cost->reason, "its head says %u bytes, its groups make %u",
                     ds_probe_own_size(p), p->record_bytes);
            return;
        }
        add(s, cycles, records_within(p, &p->bench->sled[DS_PROBE_NOPS]));
    }
    ds_probe_cost_of(cost, s->sample, s->n);
}

/* ---- its drain --------------------------------------------------------------------------------------------------- */

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    const struct ds_probe_bench *bench = context;
    (void)cpu;
    if (drain->records && drain->bytes <= DS_PROBE_BUFFER / 2)
        memcpy(bench->copy, drain->records, drain->bytes);
}

/* The driver of a CPU whose buffer an experiment has filled: what it does in its PMI handler. */
static uint64_t drain(struct ds_probe *p, unsigned *records)
{
    struct ds_cpu *driver = p->bench->driver;
    const uint64_t before = driver->counts.records, start = arch_rdtsc();
    ds_drain(driver, CAIRN_DS_THRESHOLD);
    const uint64_t cycles = arch_rdtsc() - start;
    *records = (unsigned)(driver->counts.records - before);
    return cycles;
}

static bool make_driver(struct ds_probe *p)
{
    struct ds_config config = {.records = 64, .threshold = 64};
    const struct ds_hooks hooks = {
        .before_drain = before_drain, .drained = drained, .context = (void *)(uintptr_t)p->bench};
    char error[8];
    struct ds_cpu *driver = p->bench->driver;
    if (ds_parse_events("INST_RETIRED.ANY_P:128:k", &config, error, sizeof error) ||
        ds_cpu_init(driver, 0, p->bench->machine, p->caps, &config, &hooks, p->bench->area, p->bench->buffer, error,
                    sizeof error))
        return false;
    driver->started = true; /* its registers are the experiment's */
    return true;
}

static void cost_of_drain(struct series *s, struct ds_probe_cost *cost)
{
    struct ds_probe *p = s->p;
    unsigned records;
    if (!make_driver(p)) {
        refuse(cost, "the driver cannot count instructions here");
        return;
    }
    count_instructions(p, 0);
    for (s->n = 0; s->n < p->bench->samples; s->n++)
        s->sample[s->n] = drain(p, &records);
    end_without(s);
    for (unsigned i = 0; i < p->bench->samples; i++) {
        count_instructions(p, 0);
        ds_probe_run(p, DS_PROBE_NOPS, 0);
        const uint64_t cycles = drain(p, &records);
        add(s, cycles, records);
    }
    ds_probe_cost_of(cost, s->sample, s->n);
}

/* ---- an interrupt, a branch -------------------------------------------------------------------------------------- */

/* A counter without PEBS overflows once among the divisions, of which so many are left then that they take longer than
 * the way of the PMI: one that comes behind them is not among the cycles, and not counted. */
static uint64_t overflow(struct ds_probe *p, bool masked, uint32_t *pmis)
{
    const struct ds_probe_counter *c = &p->instructions;
    ds_probe_reset(p);
    ds_probe_count(p, c, p->period, DS_PROBE_FAR);
    ds_probe_write(p, IA32_PERFEVTSEL0 + c->number,
                   c->code | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_INT);
    p->pebs = 0;
    ds_probe_lvtpc(p, masked);
    return ds_probe_run_open(p, DS_PROBE_SLOW, pmis);
}

static void cost_of_pmi(struct series *s, struct ds_probe_cost *cost)
{
    uint32_t pmis;
    for (s->n = 0; s->n < s->p->bench->samples; s->n++)
        s->sample[s->n] = overflow(s->p, true, &pmis);
    end_without(s);
    for (unsigned i = 0; i < s->p->bench->samples; i++) {
        const uint64_t cycles = overflow(s->p, false, &pmis);
        add(s, cycles, pmis);
    }
    ds_probe_cost_of(cost, s->sample, s->n);
}

static void cost_of_branch(struct series *s, struct ds_probe_cost *cost)
{
    struct ds_probe *p = s->p;
    for (s->n = 0; s->n < p->bench->samples; s->n++) {
        ds_probe_reset(p);
        s->sample[s->n] = ds_probe_run(p, DS_PROBE_JUMPS, 0);
    }
    end_without(s);
    for (unsigned i = 0; i < p->bench->samples; i++) {
        ds_probe_reset(p);
        ds_probe_bts_buffer(p, MAXIMUM, DS_PROBE_NEVER);
        const uint64_t cycles = ds_probe_run(p, DS_PROBE_JUMPS, IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS);
        add(s, cycles, branches_within(p));
    }
    ds_probe_cost_of(cost, s->sample, s->n);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool has_groups(const struct ds_probe *p, uint64_t groups)
{
    if (ds_probe_arch(p))
        return !(ds_probe_arch_same_groups(groups) & ~p->caps->arch_groups);
    return !groups || (p->caps->baseline && (!(groups & MSR_PEBS_DATA_CFG_CNTR) || p->caps->format >= 6));
}

static const char refused[] = "a register that it needs raises #GP";

void ds_probe_measure(struct ds_probe *p, unsigned which, struct ds_probe_cost *cost)
{
    struct series series = {.p = p};
    const uint64_t groups = ds_probe_costs[which].groups;
    if (which == DS_PROBE_BRANCH ? !p->caps->bts : !p->caps->pebs) {
        refuse(cost, which == DS_PROBE_BRANCH ? "no BTS" : "no PEBS");
        return;
    }
    p->refused = false;
    if (which != DS_PROBE_BRANCH && !ds_probe_records_instructions(p)) {
        refuse(cost, p->refused ? refused : "no counter makes PEBS records of retired instructions");
        p->tried &= !p->refused;
        return;
    }
    if (!has_groups(p, groups)) {
        refuse(cost, "records of this format have no such group");
        return;
    }
    if (which == DS_PROBE_DRAIN)
        cost_of_drain(&series, cost);
    else if (which == DS_PROBE_PMI)
        cost_of_pmi(&series, cost);
    else if (which == DS_PROBE_BRANCH)
        cost_of_branch(&series, cost);
    else
        cost_of_record(&series, groups, cost);
    if (p->refused)
        refuse(cost, refused);
    else if (!cost->samples && !cost->reason[0])
        refuse(cost, "none came");
}
