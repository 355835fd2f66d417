/* SPDX-License-Identifier: MIT */
/*
 * The Debug Store of one CPU: set-up, pause and tear-down of what ds/driver/plan.c has planned. ds/driver/drain.c does
 * what comes in between. All machines use this one driver. The steps are numbered and their order matters. The
 * processor must never use a half-written area, so set-up turns counters off first and on last, and tear-down has the
 * same steps in reverse. What records beside them (ds/driver/beside.h) starts after the counters and stops before them.
 * ds/driver/store.c deals with the area, the buffer and IA32_PEBS_ENABLE.
 *
 * SDM vol. 3B, "Setting Up the DS Save Area", "Setting Up the PEBS Buffer".
 */
#include "ds/driver/mechanism.h"

#include "arch/arch.h"
#include "ds/driver/detect.h"

/* ---- registers --------------------------------------------------------------------------------------------------- */

static void refused(struct ds_cpu *ds, uint32_t msr, bool write, uint64_t value)
{
    struct ds_refusal *r = &ds->refusal;
    *r = (struct ds_refusal){.during = r->during, .step = r->step, .msr = msr, .write = write, .value = value};
}

int ds_rdmsr(struct ds_cpu *ds, uint32_t msr, uint64_t *value)
{
    int e = ds->machine->rdmsr(ds->machine->context, msr, value);
    if (e)
        refused(ds, msr, false, 0);
    return e;
}

int ds_wrmsr(struct ds_cpu *ds, uint32_t msr, uint64_t value)
{
    int e = ds->machine->wrmsr(ds->machine->context, msr, value);
    if (e)
        refused(ds, msr, true, value);
    return e;
}

void ds_count_fault(struct ds_cpu *ds)
{
    if (!ds->counts.faults++)
        ds->counts.fault = ds->refusal;
}

int ds_write_running(struct ds_cpu *ds, uint32_t msr, uint64_t value)
{
    int e = ds_wrmsr(ds, msr, value);
    if (e)
        ds_count_fault(ds);
    return e;
}

int ds_set_msr(struct ds_cpu *ds, uint32_t msr, uint64_t value)
{
    struct ds_undo *undo = &ds->undo[ds->undos];
    *undo = (struct ds_undo){.msr = msr};
    int e = ds_rdmsr(ds, msr, &undo->before);
    if (!e)
        e = ds_wrmsr(ds, msr, value);
    if (!e)
        ds->undos++;
    return e;
}

void ds_roll_back(struct ds_cpu *ds, uint32_t undos)
{
    for (uint32_t i = ds->undos; i > undos; i--) {
        struct ds_undo *undo = &ds->undo[i - 1];
        if (undo->lvtpc)
            ds->machine->lvtpc_write(ds->machine->context, (uint32_t)undo->before);
        else
            undo->refused = ds_write_running(ds, undo->msr, undo->before) != 0;
    }
    for (; ds->undos > undos; ds->undos--) {
        const struct ds_undo *undo = &ds->undo[ds->undos - 1], *first = &ds->undo[undos];
        if (!undo->refused)
            continue;
        while (first->msr != undo->msr) /* a register may have been set twice */
            first++;
        ds_write_running(ds, first->msr, first->before);
    }
}

void ds_write_lvtpc(struct ds_cpu *ds)
{
    ds->machine->lvtpc_write(ds->machine->context, ARCH_VECTOR_PMI); /* fixed delivery, not masked */
}

/* ---- set-up, step by step ---------------------------------------------------------------------------------------- */

/* 1. Everything off: nothing can hit a half-written area, no record either that is on its way to another. Nor may
 *    branch tracing that somebody left on go on into an area without a BTS buffer, nor a PMI freeze counters that
 *    nobody would thaw, nor the end of an SMI turn counters on that are paused (SDM vol. 3B, "IA32_DEBUGCTL MSR"). */
static int all_off(struct ds_cpu *ds)
{
    const uint64_t unwanted =
        IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | IA32_DEBUGCTL_FREEZE_WHILE_SMM;
    uint64_t debugctl;
    int e = ds_set_msr(ds, IA32_PERF_GLOBAL_CTRL, 0);
    if (!e)
        e = ds->mechanism->off(ds);
    if (!e)
        e = ds_rdmsr(ds, IA32_DEBUGCTL, &debugctl);
    return !e && debugctl & unwanted ? ds_set_msr(ds, IA32_DEBUGCTL, debugctl & ~unwanted) : e;
}

/* 2. */
static void clear_area(struct ds_cpu *ds)
{
    for (unsigned i = 0; i < ARCH_PAGE_SIZE / 8; i++)
        ds->area[i] = 0;
}

/* 4. LVTPC. */
void ds_set_lvtpc(struct ds_cpu *ds)
{
    ds->undo[ds->undos++] = (struct ds_undo){.lvtpc = true, .before = ds->machine->lvtpc_read(ds->machine->context)};
    ds_write_lvtpc(ds);
}

/* 6. Counters: value, then control. INT only for a plain event of pebs=: a PEBS counter would raise a second PMI, and
 *    one that only counts shall raise none. */
static int set_counters(struct ds_cpu *ds)
{
    bool adaptive = ds->config.groups && ds->caps.baseline;
    uint64_t fixed_ctrl = 0;
    for (uint32_t i = 0; i < ds->counters; i++) {
        const struct ds_counter *c = &ds->counter[i];
        const struct ds_event *v = c->event;
        bool interrupts = v->plain && i < ds->config.events, records = !v->plain;
        int e = ds_set_msr(ds, ds_counter_msr(&ds->caps, c->number), c->initial);
        if (e)
            return e;
        if (ds_is_fixed(c->number)) {
            unsigned n = c->number - DS_COUNTER_FIXED;
            fixed_ctrl |= (v->kernel ? ia32_fixed_ctr_ctrl_os(n) : 0) | (v->user ? ia32_fixed_ctr_ctrl_usr(n) : 0) |
                          (interrupts            ? ia32_fixed_ctr_ctrl_pmi(n)
                           : records && adaptive ? ia32_fixed_ctr_ctrl_adaptive(n)
                                                 : 0);
        } else {
            uint64_t select = c->code | IA32_PERFEVTSEL_EN | (v->kernel ? IA32_PERFEVTSEL_OS : 0) |
                              (v->user ? IA32_PERFEVTSEL_USR : 0) |
                              (interrupts            ? IA32_PERFEVTSEL_INT
                               : records && adaptive ? IA32_PERFEVTSEL_ADAPTIVE
                                                     : 0);
            if ((e = ds_set_msr(ds, IA32_PERFEVTSEL0 + c->number, select)))
                return e;
        }
    }
    return ds->caps.fixed_counters ? ds_set_msr(ds, IA32_FIXED_CTR_CTRL, fixed_ctrl) : 0;
}

/* 7. What GLOBAL_STATUS still shows of others: overflows, and from version 4 on the freeze bits, which hold every
 *    counter whatever GLOBAL_CTRL says. Written back as read: a bit that is set may be written. Write-1-to-clear, so
 *    there is nothing to undo. */
static int clear_status(struct ds_cpu *ds)
{
    uint64_t status;
    int e = ds_rdmsr(ds, IA32_PERF_GLOBAL_STATUS, &status);
    return e ? e : ds_wrmsr(ds, IA32_PERF_GLOBAL_OVF_CTRL, status);
}

int ds_clear_status(struct ds_cpu *ds)
{
    int e = clear_status(ds);
    if (e)
        ds_count_fault(ds);
    return e;
}

static int set_up(struct ds_cpu *ds)
{
    int e, *step = &ds->refusal.step;
    const struct ds_mechanism *m = ds->mechanism;
    *step = 1;
    if ((e = all_off(ds)))
        return e;
    *step = 2;
    clear_area(ds);
    *step = 3;
    if ((e = m->place(ds)))
        return e;
    *step = 4;
    ds_set_lvtpc(ds);
    *step = 5; /* what a record holds */
    if ((e = m->contents(ds)))
        return e;
    for (uint32_t i = 0; i < ds->settings; i++) /* MSR_PEBS_LD_LAT, MSR_PEBS_FRONTEND */
        if ((e = ds_set_msr(ds, ds->setting[i].msr, ds->setting[i].value)))
            return e;
    if (ds_history(ds) && (e = ds_history(ds)->prepare(ds)))
        return e;
    *step = 6;
    if (ds->caps.errata.counters_stuck && (e = ds_free_counters(ds)))
        return e;
    if ((e = set_counters(ds)))
        return e;
    *step = 7;
    if ((e = clear_status(ds)))
        return e;
    *step = 8;
    if ((e = m->on(ds)))
        return e;
    *step = 9; /* GLOBAL_CTRL: ds_resume's, but where stepping is what holds the counters */
    return ds->machine->stepping ? ds_set_msr(ds, IA32_PERF_GLOBAL_CTRL, ds->global_ctrl) : 0;
}

struct ds_stepped ds_stepped(const struct ds_cpu *ds)
{
    const struct ds_stepping *s = ds->machine->stepping;
    return s ? s->counts(ds->machine->context) : (struct ds_stepped){0};
}

int ds_start(struct ds_cpu *ds, struct ds_refusal *refusal)
{
    if (!ds->config.events)
        return 0;
    ds->refusal = (struct ds_refusal){.during = ds->mechanism->set_up};
    int e = set_up(ds);
    if (e) {
        *refusal = ds->refusal;
        ds_roll_back(ds, 0);
        return e;
    }
    ds->refusal = (struct ds_refusal){.during = "pause or resume"};
    ds->started = true;
    ds->before = ds_stepped(ds);
    ds_settle_switch(ds);
    const struct ds_drain start = ds_drain_of(ds, CAIRN_DS_START, arch_rdtsc());
    ds->hooks.before_drain(ds->hooks.context, ds->cpu, start.tsc);
    ds->hooks.drained(ds->hooks.context, ds->cpu, &start);
    return 0;
}

/* Past its overflow a counter goes on from 0, so that the difference in its width is right on both sides of it. */
bool ds_add_plain(struct ds_cpu *ds, uint32_t event)
{
    const struct ds_counter *c = &ds->counter[event];
    uint64_t value;
    if (ds_rdmsr(ds, ds_counter_msr(&ds->caps, c->number), &value)) {
        ds_count_fault(ds);
        return false;
    }
    ds->counts.plain[event].events += (value - c->initial) & ds_initial(&ds->caps, c->number, 1);
    return true;
}

void ds_stop(struct ds_cpu *ds)
{
    ds->refusal = (struct ds_refusal){.during = "the tear-down"};
    ds_pause(ds);
    if (ds_throttle_end)
        ds_throttle_end(ds);
    if (ds_beside_started(ds))
        ds->beside->stop(ds);
    if (!ds->started)
        return;
    ds_pebs_off(ds, CAIRN_DS_STOP); /* area and buffer are in force until ds_roll_back */
    ds_read_counting(ds, ds->counted);
    ds->started = false;
    ds_settle_switch(ds);
    ds->counts.plain_whole = true;
    for (uint32_t i = 0; i < ds->config.events; i++)
        if (ds->config.event[i].plain)
            ds->counts.plain_whole &= ds_add_plain(ds, i);
    bool cleared = ds_clear_status(ds) == 0; /* the next one's handler shall not find our threshold */
    ds_roll_back(ds, 0);                     /* 9 to 1 */
    if (!cleared)
        ds_clear_status(ds);
}

void ds_set_area(struct ds_cpu *ds, void *area)
{
    ds->area = area;
}

bool ds_started(const struct ds_cpu *ds)
{
    return ds->started || ds_beside_started(ds);
}

/* ---- pause and resume -------------------------------------------------------------------------------------------- */

/* Branch history first, which BTS' write of DEBUGCTL may be: every branch from here on would push out one of the
 * thread's. */
void ds_hold(struct ds_cpu *ds)
{
    if (ds->started && ds_history(ds))
        ds_history(ds)->turn(ds, false);
    if (ds_beside_started(ds))
        ds->beside->hold(ds);
    if (ds->started)
        ds_write_running(ds, IA32_PERF_GLOBAL_CTRL, 0);
}

void ds_go_on(struct ds_cpu *ds)
{
    if (ds_beside_started(ds))
        ds->beside->go_on(ds);
    if (ds->started && ds_history(ds))
        ds_history(ds)->turn(ds, true);
    if (ds->started)
        ds_write_running(ds, IA32_PERF_GLOBAL_CTRL, ds->global_ctrl);
}

void ds_pause(struct ds_cpu *ds)
{
    if (!ds)
        return;
    if (ds->machine->stepping) {
        ds->machine->stepping->pause();
    } else if (ds->running) {
        ds_hold(ds);
        ds->running = false;
    }
}

bool ds_counting(const struct ds_cpu *ds)
{
    return ds && (ds->machine->stepping ? !ds->machine->stepping->paused() : ds->running);
}

bool ds_in_use(const struct ds_cpu *ds)
{
    return ds && ds_started(ds);
}

static void run(struct ds_cpu *ds)
{
    if (ds->throttled)
        return;
    ds->running = true;
    ds_go_on(ds);
}

void ds_resume(struct ds_cpu *ds)
{
    if (!ds_in_use(ds))
        return;
    if (ds->machine->stepping)
        ds->machine->stepping->resume(); /* last: from its return on every instruction counts */
    else
        run(ds);
}

void ds_resume_frame(struct ds_cpu *ds, struct arch_trap_frame *frame)
{
    if (!ds_in_use(ds))
        return;
    if (ds->machine->stepping)
        ds->machine->stepping->resume_frame(frame);
    else
        run(ds);
}

void ds_resume_user(struct ds_cpu *ds, struct arch_trap_frame *frame)
{
    if (!ds_in_use(ds))
        return;
    if (ds->machine->stepping)
        frame->rflags |= ARCH_RFLAGS_TF;
    ds_resume_frame(ds, frame);
}

/* ---- what it has counted ----------------------------------------------------------------------------------------- */

void ds_read_counting(struct ds_cpu *ds, uint64_t values[DS_MAX_COUNTING])
{
    for (uint32_t i = 0; i < ds->config.counting; i++) {
        uint64_t value = 0; /* since this start */
        if (ds->started && ds_rdmsr(ds, ds_counter_msr(&ds->caps, ds->counter[ds->config.events + i].number), &value))
            ds_count_fault(ds);
        values[i] = ds->counted[i] + value;
    }
}

void ds_cpu_counts(const struct ds_cpu *ds, struct ds_counts *out)
{
    *out = ds->counts;
    out->steps = ds_stepped(ds).steps;
}
