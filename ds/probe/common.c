/* SPDX-License-Identifier: MIT */
/* What the experiments have in common: they save and restore registers, set a known state, run code and read its
 * records. */
/* Longer than 500 lines: what a run sets, in which order, and how it is restored must be read together. */
#include "ds/probe/internal.h"

#include "arch/arch.h"
#include "ds/driver/detect.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* ---- registers --------------------------------------------------------------------------------------------------- */

static void refuse(struct ds_probe *p, uint32_t msr, bool write, uint64_t value)
{
    p->refused = true;
    p->refusal = (struct ds_refusal){.msr = msr, .write = write, .value = value};
}

uint64_t ds_probe_read(struct ds_probe *p, uint32_t msr)
{
    const struct ds_machine *m = p->bench->machine;
    uint64_t value = 0;
    if (m->rdmsr(m->context, msr, &value)) {
        refuse(p, msr, false, 0);
        return 0;
    }
    return value;
}

void ds_probe_write(struct ds_probe *p, uint32_t msr, uint64_t value)
{
    const struct ds_machine *m = p->bench->machine;
    if (m->wrmsr(m->context, msr, value))
        refuse(p, msr, true, value);
}

uint64_t ds_probe_value(struct ds_probe *p, const struct ds_probe_counter *c)
{
    return ds_probe_read(p, ds_counter_msr(p->caps, c->number));
}

uint64_t ds_probe_status(struct ds_probe *p)
{
    return ds_probe_read(p, IA32_PERF_GLOBAL_STATUS);
}

void ds_probe_clear_status(struct ds_probe *p)
{
    uint64_t status = ds_probe_status(p);
    if (status)
        ds_probe_write(p, IA32_PERF_GLOBAL_OVF_CTRL, status);
}

void ds_probe_lvtpc(struct ds_probe *p, bool masked)
{
    const struct ds_machine *m = p->bench->machine;
    m->lvtpc_write(m->context, p->bench->vector | (masked ? LVTPC_MASKED : 0));
    m->lvtpc_read(m->context); /* the write is on its way no more: it has been done */
}

static void save(struct ds_probe *p, uint32_t msr)
{
    p->saved[p->saves++] = (struct ds_probe_saved){msr, ds_probe_read(p, msr)};
}

/* With architectural PEBS the Debug Store is BTS' alone, and a processor may do without. */
static bool has_area(const struct ds_probe *p)
{
    return !ds_probe_arch(p) || p->caps->bts;
}

/* In the order they may be given back in: GLOBAL_CTRL last. */
static void save_all(struct ds_probe *p)
{
    const struct ds_machine *m = p->bench->machine;
    uint32_t msr;
    p->lvtpc = m->lvtpc_read(m->context);
    if (has_area(p))
        save(p, IA32_DS_AREA);
    for (unsigned i = 0; p->caps->pebs && ds_probe_arch(p) && (msr = ds_probe_arch_msr(p, i)); i++)
        save(p, msr);
    if (p->caps->pebs) { /* else its registers may not be there */
        if (p->caps->baseline)
            save(p, MSR_PEBS_DATA_CFG);
        for (unsigned i = 0; i < p->caps->gp_counters; i++) {
            save(p, IA32_PERFEVTSEL0 + i);
            save(p, ds_counter_msr(p->caps, i));
        }
        for (unsigned i = 0; i < p->caps->fixed_counters; i++)
            save(p, IA32_FIXED_CTR0 + i);
        if (p->caps->fixed_counters)
            save(p, IA32_FIXED_CTR_CTRL);
        if (!ds_probe_arch(p))
            save(p, IA32_PEBS_ENABLE);
    }
    save(p, IA32_DEBUGCTL);
    if (p->caps->pebs)
        save(p, IA32_PERF_GLOBAL_CTRL);
}

static void all_off(struct ds_probe *p)
{
    ds_probe_write(p, IA32_DEBUGCTL, 0);
    if (!p->caps->pebs)
        return;
    ds_probe_write(p, IA32_PERF_GLOBAL_CTRL, 0);
    if (ds_probe_arch(p))
        ds_probe_arch_off(p);
    else
        ds_probe_write(p, IA32_PEBS_ENABLE, 0);
    for (unsigned i = 0; i < p->caps->gp_counters; i++)
        ds_probe_write(p, IA32_PERFEVTSEL0 + i, 0);
    if (p->caps->fixed_counters)
        ds_probe_write(p, IA32_FIXED_CTR_CTRL, 0);
    if (p->caps->baseline)
        ds_probe_write(p, MSR_PEBS_DATA_CFG, 0);
}

static void give_back(struct ds_probe *p)
{
    const struct ds_machine *m = p->bench->machine;
    all_off(p);
    if (p->caps->perfmon_version >= 2)
        ds_probe_clear_status(p);
    for (unsigned i = 0; i < p->saves; i++)
        ds_probe_write(p, p->saved[i].msr, p->saved[i].value);
    m->lvtpc_write(m->context, p->lvtpc);
}

/* As the driver's set-up does, which has not been where pebs=none (ds/errata/errata.c). One that raises #GP is not
 * told: then an experiment's counter does, or counts nothing, and that is. */
static void free_counters(struct ds_probe *p)
{
    const unsigned n = p->caps->gp_counters < DS_STUCK_COUNTERS ? p->caps->gp_counters : DS_STUCK_COUNTERS;
    all_off(p);
    for (unsigned i = 0; i < n; i++) {
        ds_probe_write(p, IA32_PERFEVTSEL0 + i, ds_stuck_counters[i]);
        ds_probe_write(p, ds_counter_msr(p->caps, i), 0);
    }
    ds_probe_write(p, IA32_PERF_GLOBAL_CTRL, DS_BIT(n) - 1);
    all_off(p);
}

/* ---- the known state --------------------------------------------------------------------------------------------- */

/* Of a record without groups; with architectural PEBS it may come in fragments, so one has to be seen. */
static uint32_t least_size(const struct ds_probe *p)
{
    if (ds_probe_arch(p))
        return p->own_size ? p->own_size : ds_arch_record_bytes(0, 0, 0);
    return ds_pebs_fixed_size(p->caps->format);
}

void ds_probe_reset(struct ds_probe *p)
{
    ds_probe_lvtpc(p, true);
    all_off(p);
    p->enabled = p->pebs = p->fixed_ctrl = 0;
    p->record_bytes = least_size(p);
    memset(p->bench->area, 0, ARCH_PAGE_SIZE);
    memset(p->bench->buffer, 0, DS_PROBE_BUFFER);
    if (has_area(p))
        ds_probe_write(p, IA32_DS_AREA, (uint64_t)(uintptr_t)p->bench->area);
    if (p->caps->perfmon_version >= 2)
        ds_probe_clear_status(p);
    ds_probe_lvtpc(p, false); /* a PMI may wait, and nothing takes back one of BTS */
    p->bench->interrupts(p->bench->context);
    ds_probe_lvtpc(p, true);
}

/* Volatile: the processor writes there, too. */
static volatile struct ds_area_60 *area(const struct ds_probe *p)
{
    return (volatile struct ds_area_60 *)p->bench->area;
}

static uint64_t base(const struct ds_probe *p)
{
    return (uint64_t)(uintptr_t)p->bench->buffer;
}

/* Where more than a page hangs the processor (ds/errata/errata.c), no word of the area points beyond it, and a record
 * that begins below the maximum ends on it. No experiment has more records than that; one that never comes to its
 * threshold does not come to the page's end. */
void ds_probe_pebs_buffer(struct ds_probe *p, uint32_t maximum, uint32_t threshold)
{
    if (ds_probe_arch(p)) {
        ds_probe_arch_buffer(p, maximum, threshold);
        return;
    }
    if (p->caps->errata.one_page_buffer) {
        const uint32_t most = ARCH_PAGE_SIZE - p->record_bytes;
        maximum = maximum < most ? maximum : most;
        threshold = threshold < ARCH_PAGE_SIZE ? threshold : ARCH_PAGE_SIZE;
    }
    area(p)->pebs_buffer_base = area(p)->pebs_index = base(p);
    area(p)->pebs_absolute_maximum = base(p) + maximum;
    area(p)->pebs_interrupt_threshold = base(p) + threshold;
}

void ds_probe_bts_buffer(struct ds_probe *p, uint32_t maximum, uint32_t threshold)
{
    area(p)->bts_buffer_base = area(p)->bts_index = base(p);
    area(p)->bts_absolute_maximum = base(p) + maximum;
    area(p)->bts_interrupt_threshold = base(p) + threshold;
}

uint64_t ds_probe_pebs_index(const struct ds_probe *p)
{
    return ds_probe_arch(p) ? ia32_pebs_index_wr(p->index) : area(p)->pebs_index - base(p);
}

uint64_t ds_probe_bts_index(const struct ds_probe *p)
{
    return area(p)->bts_index - base(p);
}

void ds_probe_set_pebs_index(struct ds_probe *p, uint64_t address)
{
    if (ds_probe_arch(p))
        ds_probe_arch_set_index(p, (uint32_t)(address - base(p)));
    else
        area(p)->pebs_index = address;
}

uint32_t ds_probe_full_buffer(struct ds_probe *p, bool reached)
{
    const uint32_t full = ds_probe_arch(p) ? ARCH_PAGE_SIZE : 2 * p->record_bytes;
    ds_probe_pebs_buffer(p, full, reached ? full : DS_PROBE_NEVER);
    ds_probe_set_pebs_index(p, base(p) + full);
    return full;
}

void ds_probe_count(struct ds_probe *p, const struct ds_probe_counter *c, uint64_t first, uint64_t again)
{
    const uint64_t bit = DS_BIT(c->number);
    ds_probe_write(p, ds_counter_msr(p->caps, c->number), ds_initial(p->caps, c->number, first));
    if (ds_is_fixed(c->number)) {
        p->fixed_ctrl |= ia32_fixed_ctr_ctrl_os(c->number - DS_COUNTER_FIXED);
        ds_probe_write(p, IA32_FIXED_CTR_CTRL, p->fixed_ctrl);
    } else {
        ds_probe_write(p, IA32_PERFEVTSEL0 + c->number, c->code | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    }
    if (ds_probe_arch(p))
        ds_probe_arch_count(p, c->number, again);
    else
        p->bench->area[ds_area_reset(p->caps->format, c->number) / 8] = ds_initial(p->caps, c->number, again);
    p->enabled |= bit;
    p->pebs |= bit;
}

void ds_probe_groups(struct ds_probe *p, const struct ds_probe_counter *c, uint64_t groups)
{
    if (ds_probe_arch(p)) {
        ds_probe_arch_groups(p, c->number, ds_probe_arch_same_groups(groups));
        return;
    }
    ds_probe_write(p, MSR_PEBS_DATA_CFG, groups);
    ds_probe_write(p, IA32_PERFEVTSEL0 + c->number,
                   c->code | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_ADAPTIVE);
    p->record_bytes = ds_pebs_adaptive_size(groups);
}

bool ds_probe_find(const struct ds_probe *p, enum ds_event_kind kind, uint64_t not_these, struct ds_probe_counter *c)
{
    const struct ds_event event = {.kind = (uint8_t)kind, .fixed = DS_NO_FIXED};
    const uint64_t gp = DS_BIT(p->caps->gp_counters) - 1;
    const uint64_t any = ds_event_counters(p->caps, &event) & p->caps->pebs_counters & gp & ~not_these;
    if (!any || !ds_event_recorded(p->caps, &event) || ds_event_code(p->caps, &event, &c->code))
        return false;
    /* The first has precise distribution here and there; on efficient cores of hybrids the second has, too. */
    const uint64_t others =
        any & ~p->caps->pdist_counters & ~UINT64_C(1) & ~(p->caps->core_type == CPUID_1AH_EAX_ATOM ? UINT64_C(2) : 0);
    c->number = (unsigned)__builtin_ctzll(others ? others : any);
    return true;
}

#define QUIET 64u /* reads of a register: as the driver waits (ds/driver/quiet.c) */

/* Counters have just gone off. Records that come now would be in the way of whatever the experiment looks at. */
static void wait_quiet(struct ds_probe *p)
{
    if (ds_probe_arch(p)) {
        ds_probe_arch_wait_quiet(p);
        return;
    }
    const uint64_t index = area(p)->pebs_index;
    for (unsigned i = 0; i < QUIET; i++)
        ds_probe_read(p, IA32_PEBS_ENABLE);
    p->late = (unsigned)((area(p)->pebs_index - index) / p->record_bytes);
    area(p)->pebs_index = index;
}

static uint64_t run(struct ds_probe *p, enum ds_probe_code code, uint64_t debugctl, uint32_t *pmis)
{
    const struct ds_stepping *stepping = p->bench->machine->stepping;
    if (p->refused) /* IA32_DS_AREA, perhaps: records would go anywhere. There is no answer any more. */
        return 0;
    if (p->pebs && ds_probe_arch(p))
        ds_probe_arch_on(p);
    else if (p->pebs)
        ds_probe_write(p, IA32_PEBS_ENABLE, p->pebs);
    if (p->enabled)
        ds_probe_write(p, IA32_PERF_GLOBAL_CTRL, p->enabled);
    if (debugctl)
        ds_probe_write(p, IA32_DEBUGCTL, debugctl);
    if (stepping)
        stepping->resume();
    const uint64_t cycles = p->bench->execute(p->bench->context, code, pmis);
    if (stepping)
        stepping->pause();
    if (debugctl)
        ds_probe_write(p, IA32_DEBUGCTL, 0);
    if (p->enabled)
        ds_probe_write(p, IA32_PERF_GLOBAL_CTRL, 0);
    if (p->pebs)
        wait_quiet(p);
    return cycles;
}

uint64_t ds_probe_run(struct ds_probe *p, enum ds_probe_code code, uint64_t debugctl)
{
    return run(p, code, debugctl, NULL);
}

uint64_t ds_probe_run_open(struct ds_probe *p, enum ds_probe_code code, uint32_t *pmis)
{
    return run(p, code, 0, pmis);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

unsigned ds_probe_records(const struct ds_probe *p)
{
    uint64_t index = ds_probe_pebs_index(p);
    if (ds_probe_arch(p))
        return ds_probe_arch_records(p);
    return index < DS_PROBE_BUFFER ? (unsigned)(index / p->record_bytes) : 0;
}

uint32_t ds_probe_own_size(const struct ds_probe *p)
{
    const uint64_t head = ((const struct ds_pebs_basic *)p->bench->buffer)->head;
    if (ds_probe_arch(p))
        return ds_probe_arch_first_size(p);
    return p->caps->format < 4 || !ds_probe_pebs_index(p) ? p->record_bytes : ds_pebs_head_size(head);
}

uint64_t ds_probe_ip(const struct ds_probe *p, unsigned i, unsigned bytes)
{
    const uint8_t *record = p->bench->buffer + (uint64_t)i * p->record_bytes;
    const unsigned format = p->caps->format;
    if (ds_probe_arch(p)) {
        const struct ds_arch_basic *basic = ds_probe_arch_group(p, i, DS_ARCH_HEADER_BASIC);
        return basic ? basic->eventing_ip : 0;
    }
    return format >= 4   ? ((const struct ds_pebs_basic *)record)->eventing_ip
           : format >= 2 ? ((const struct ds_pebs_fmt2 *)record)->eventing_ip
                         : ((const struct ds_pebs_fmt0 *)record)->rip - bytes; /* of the next one */
}

uint32_t ds_probe_position(const struct ds_probe *p, unsigned i, const struct ds_probe_sled *sled)
{
    const uint64_t offset = ds_probe_ip(p, i, sled->bytes) - sled->start;
    return offset < (uint64_t)sled->count * sled->bytes ? (uint32_t)(offset / sled->bytes) : DS_PROBE_OUTSIDE;
}

struct ds_probe_spacing ds_probe_space(struct ds_probe *p, const struct ds_probe_counter *c, uint64_t period,
                                       enum ds_probe_code code)
{
    const struct ds_probe_sled *sled = &p->bench->sled[code];
    struct ds_probe_spacing s = {0};
    uint32_t gap[DS_PROBE_GAPS], last = DS_PROBE_OUTSIDE;
    unsigned most = 0;
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
    ds_probe_count(p, c, period, period);
    ds_probe_run(p, code, 0);
    for (unsigned i = 0; i < ds_probe_records(p) && s.gaps < DS_PROBE_GAPS; i++) {
        uint32_t at = ds_probe_position(p, i, sled);
        if (at != DS_PROBE_OUTSIDE && last != DS_PROBE_OUTSIDE && at > last)
            gap[s.gaps++] = at - last;
        last = at;
    }
    for (unsigned i = 0; i < s.gaps; i++) {
        unsigned same = 0;
        for (unsigned j = 0; j < s.gaps; j++)
            same += gap[j] == gap[i];
        s.usual = same > most ? gap[i] : s.usual;
        most = same > most ? same : most;
        s.least = i && s.least < gap[i] ? s.least : gap[i];
        s.most = s.most > gap[i] ? s.most : gap[i];
    }
    return s;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

void ds_probe_answer(struct ds_probe_result *r, const char *answer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    snprintf(r->answer, sizeof r->answer, "%s", answer);
    vsnprintf(r->evidence, sizeof r->evidence, format, args);
    va_end(args);
}

void ds_probe_unknown(struct ds_probe_result *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    r->answer[0] = '\0';
    vsnprintf(r->evidence, sizeof r->evidence, format, args);
    va_end(args);
}

bool ds_probe_needs_multiples(const struct ds_probe *p, struct ds_probe_result *r)
{
    if (!p->precise || !p->caps->errata.period_64)
        return false;
    ds_probe_unknown(r, "needs periods that are no multiples of 64, which are wrong here, an erratum");
    return true;
}

static bool makes_records(struct ds_probe *p)
{
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
    ds_probe_count(p, &p->instructions, p->period, p->period);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    p->own_size = ds_probe_own_size(p);
    if (ds_probe_arch(p))
        return ds_probe_arch_group(p, 0, DS_ARCH_HEADER_BASIC);
    return ds_probe_records(p) > 0 && p->own_size == p->record_bytes;
}

/* Before Ice Lake precise distribution is another event of instructions, which is a precise one for certain. */
static bool precise_instead(const struct ds_probe *p, struct ds_probe_counter *c)
{
    const struct ds_event event = {.kind = DS_EVENT_PREC_DIST, .fixed = DS_NO_FIXED};
    const uint64_t any = ds_event_counters(p->caps, &event) & p->caps->pebs_counters;
    if (p->caps->baseline || !any || ds_event_code(p->caps, &event, &c->code))
        return false;
    c->number = (unsigned)__builtin_ctzll(any);
    return true;
}

bool ds_probe_records_instructions(struct ds_probe *p)
{
    if (!p->tried) {
        struct ds_probe_counter first;
        p->tried = true;
        p->period = DS_PROBE_PERIOD;
        p->found = ds_probe_find(p, DS_EVENT_INSTRUCTIONS, 0, &p->instructions);
        p->works = p->found && makes_records(p);
        first = p->instructions;
        if (p->found && !p->works && precise_instead(p, &p->instructions)) {
            const struct ds_errata *e = &p->caps->errata;
            p->period = e->period_64 || e->period_128 ? DS_PROBE_PERIOD_PRECISE : DS_PROBE_PERIOD;
            p->works = p->precise = makes_records(p);
            p->instructions = p->works ? p->instructions : first;
        }
    }
    return p->works;
}

static void (*const experiments[DS_PROBE_ROWS])(struct ds_probe *p, struct ds_probe_result *r) = {
    [DS_PROBE_Q_FIT] = ds_probe_fit,
    [DS_PROBE_Q_DROP_RELOAD] = ds_probe_drop_reload,
    [DS_PROBE_Q_BTS_FULL] = ds_probe_bts_full,
    [DS_PROBE_Q_BTS_OVF_BUF] = ds_probe_bts_ovf_buf,
    [DS_PROBE_Q_MASKED_PMI] = ds_probe_masked_pmi,
    [DS_PROBE_Q_BYSTANDER] = ds_probe_bystander,
    [DS_PROBE_Q_PDIST_MINIMUM] = ds_probe_pdist_minimum,
    [DS_PROBE_Q_RESERVED] = ds_probe_reserved,
    [DS_PROBE_Q_RESIDUAL] = ds_probe_residual,
    [DS_PROBE_Q_UNMAPPED] = ds_probe_unmapped,
    [DS_PROBE_Q_SPACING] = ds_probe_spacing,
    [DS_PROBE_Q_PDIST_SPACING] = ds_probe_pdist_spacing,
    [DS_PROBE_Q_SHADOW] = ds_probe_shadow,
    [DS_PROBE_Q_EVENTING_IP] = ds_probe_eventing_ip,
    [DS_PROBE_Q_RIP] = ds_probe_rip,
    [DS_PROBE_Q_OVERFLOW_BIT] = ds_probe_overflow_bit,
    [DS_PROBE_Q_FULL_SIGNAL] = ds_probe_full_signal,
    [DS_PROBE_Q_SELF_MASK] = ds_probe_self_mask,
    [DS_PROBE_Q_THRESHOLD_AGAIN] = ds_probe_threshold_again,
    [DS_PROBE_Q_BTS_CIRCULAR] = ds_probe_bts_circular,
    [DS_PROBE_Q_BTS_CIRCULAR_PMI] = ds_probe_bts_circular_pmi,
    [DS_PROBE_Q_DS_AREA] = ds_probe_ds_area,
    [DS_PROBE_Q_PMC_WRITE] = ds_probe_pmc_write,
    [DS_PROBE_Q_HYPERVISOR] = ds_probe_hypervisor,
    [DS_PROBE_Q_ARCH_THRESHOLD] = ds_probe_arch_threshold,
    [DS_PROBE_Q_ARCH_FULL] = ds_probe_arch_full,
    [DS_PROBE_Q_ARCH_FIT] = ds_probe_arch_fit,
    [DS_PROBE_Q_ARCH_BASE] = ds_probe_arch_base,
    [DS_PROBE_Q_ARCH_SIZE] = ds_probe_arch_size,
    [DS_PROBE_Q_ARCH_PADDING] = ds_probe_arch_padding,
    [DS_PROBE_Q_ARCH_OVERFLOW] = ds_probe_arch_overflow,
    [DS_PROBE_Q_ARCH_OVF_BUF] = ds_probe_arch_ovf_buf,
    [DS_PROBE_Q_ARCH_FRAGMENTS] = ds_probe_arch_fragments,
    [DS_PROBE_Q_ARCH_TOGETHER] = ds_probe_arch_together,
};

static void unknown_refused(const struct ds_probe *p, struct ds_probe_result *r)
{
    ds_probe_unknown(r, "MSR 0x%x raises #GP where it is %s", p->refusal.msr, p->refusal.write ? "written" : "read");
}

static void ask(struct ds_probe *p, enum ds_probe_question question, struct ds_probe_result *r)
{
    const struct ds_probe_row *row = &ds_probe_rows[question];
    p->refused = false;
    if (row->needs & (DS_PROBE_PEBS | DS_PROBE_COUNTERS) && !p->caps->pebs) {
        ds_probe_unknown(r, "no PEBS: %s", p->caps->reason);
        return;
    }
    if (row->needs & DS_PROBE_ARCH && !ds_probe_arch(p)) {
        ds_probe_unknown(r, "the PEBS of this processor is not architectural");
        return;
    }
    if (row->not_arch && ds_probe_arch(p)) {
        ds_probe_unknown(r, "architectural PEBS: %s", row->not_arch);
        return;
    }
    if (row->needs & DS_PROBE_PEBS && !ds_probe_records_instructions(p)) {
        if (p->refused) {
            p->tried = false; /* not the counter's fault: the next question may have it */
            unknown_refused(p, r);
        } else if (p->found && !ds_probe_arch(p) && p->own_size != ds_pebs_fixed_size(p->caps->format)) {
            ds_probe_unknown(r, "the head of a record says %u bytes, not %u", p->own_size,
                             ds_pebs_fixed_size(p->caps->format));
        } else if (p->found) {
            ds_probe_unknown(r, "counter %u makes no record of retired instructions", p->instructions.number);
        } else {
            ds_probe_unknown(r, "no counter has PEBS records of retired instructions");
        }
        return;
    }
    if (row->needs & DS_PROBE_BTS && !p->caps->bts) {
        ds_probe_unknown(r, "no BTS: %s", p->caps->bts_reason);
        return;
    }
    ds_probe_reset(p);
    experiments[question](p, r);
    if (row->needs & DS_PROBE_PEBS && p->precise && question != DS_PROBE_Q_SPACING) {
        char evidence[sizeof r->evidence];
        memcpy(evidence, r->evidence, sizeof evidence);
        snprintf(r->evidence, sizeof r->evidence, "PREC_DIST: %.*s", (int)(sizeof evidence - sizeof "PREC_DIST: "),
                 evidence);
    }
    if (p->refused)
        unknown_refused(p, r);
}

static bool same_kind(const struct ds_caps *a, const struct ds_caps *b)
{
    return a->core_type == b->core_type && a->generation == b->generation && a->pebs == b->pebs && a->bts == b->bts &&
           a->format == b->format && a->baseline == b->baseline && a->pebs_counters == b->pebs_counters;
}

unsigned ds_probe_kinds(const struct ds_caps *caps, uint32_t count, uint32_t *cpus, unsigned max)
{
    unsigned kinds = 0;
    for (uint32_t i = 0; i < count && kinds < max; i++) {
        bool known = false;
        for (unsigned k = 0; k < kinds; k++)
            known |= same_kind(&caps[cpus[k]], &caps[i]);
        if (!known)
            cpus[kinds++] = i;
    }
    return kinds;
}

static bool wanted(struct ds_probe *p, unsigned row)
{
    if (!p->bench->before)
        return true;
    ds_probe_reset(p);
    return p->bench->before(p->bench->context, row);
}

int ds_probe_all(const struct ds_probe_bench *bench, struct ds_probe_result results[DS_PROBE_ROWS],
                 struct ds_probe_cost costs[DS_PROBE_COSTS], char *error, size_t size)
{
    struct ds_probe probe = {.bench = bench, .caps = bench->caps}, *p = &probe;
    save_all(p);
    if (p->refused) {
        snprintf(error, size, "MSR 0x%x raises #GP where it is read", p->refusal.msr);
        return -EFAULT;
    }
    if (p->caps->pebs && p->caps->errata.counters_stuck)
        free_counters(p);
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
        if (wanted(p, i))
            ask(p, (enum ds_probe_question)i, &results[i]);
    for (unsigned i = 0; i < DS_PROBE_COSTS; i++)
        if (wanted(p, DS_PROBE_ROWS + i))
            ds_probe_measure(p, i, &costs[i]);
    p->refused = false;
    give_back(p);
    if (!p->refused)
        return 0;
    snprintf(error, size, "MSR 0x%x raises #GP where it is given back", p->refusal.msr);
    return -EFAULT;
}
