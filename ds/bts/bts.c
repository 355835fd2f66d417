/* SPDX-License-Identifier: MIT */
/*
 * Branch Trace Store (BTS) of one CPU: each taken branch, interrupt and exception leaves a record of 24 bytes in a
 * buffer of its own. BTS shares the DS area, LVTPC and the PMI handler with PEBS (ds/driver/driver.c) and needs no
 * counter. Where PEBS does without the Debug Store, the area is BTS' alone. Each of the two can start, or fail to
 * start, without the other. The steps are numbered as in ds/driver/driver.c.
 *
 * A record contains neither a time nor a thread. So the buffer is drained at each context switch, and the records of an
 * epoch belong to one thread.
 *
 * SDM vol. 3B, "Branch Trace Store (BTS)", "Setting Up the DS Save Area", "Setting Up the BTS Buffer".
 */
#include "ds/bts/bts.h"

#include "arch/arch.h"
#include "ds/driver/driver.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* Words of the DS area. */
enum {
    AREA_BASE = offsetof(struct ds_area_60, bts_buffer_base) / 8,
    AREA_INDEX = offsetof(struct ds_area_60, bts_index) / 8,
    AREA_MAXIMUM = offsetof(struct ds_area_60, bts_absolute_maximum) / 8,
    AREA_THRESHOLD = offsetof(struct ds_area_60, bts_interrupt_threshold) / 8,
};

#define RECORD sizeof(struct ds_bts_record)

/* Only BTS runs beside PEBS, so ds->beside is its structure. */
static struct ds_bts *of(const struct ds_cpu *ds)
{
    return (struct ds_bts *)ds->beside;
}

size_t ds_bts_buffer_bytes(uint32_t records)
{
    size_t bytes = ((size_t)records + 1) * RECORD;
    return (bytes + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE * ARCH_PAGE_SIZE;
}

const char *ds_bts_refusal(const struct ds_caps *caps, enum ds_bts_rings rings)
{
    if (!caps->bts)
        return caps->bts_reason;
    if (rings != DS_BTS_ALL && !caps->bts_cpl)
        return "it cannot limit BTS to a ring (CPUID.01H:ECX.DS_CPL[4] is 0): use bts.rings=uk";
    return NULL;
}

/* ---- set-up, step by step ---------------------------------------------------------------------------------------- */

/* The bits of IA32_DEBUGCTL that belong to branch history. */
static uint64_t history(const struct ds_cpu *ds)
{
    return ds_history(ds) ? ds_history(ds)->debugctl(ds) : 0;
}

/* What is set from step 5 on. */
static uint64_t chosen(const struct ds_bts *b)
{
    return IA32_DEBUGCTL_BTS | (b->mode == DS_BTS_INTERRUPT ? IA32_DEBUGCTL_BTINT : 0) |
           (b->rings == DS_BTS_USER     ? IA32_DEBUGCTL_BTS_OFF_OS
            : b->rings == DS_BTS_KERNEL ? IA32_DEBUGCTL_BTS_OFF_USR
                                        : 0);
}

/* 1. Off, whoever left it on, so that the area can change. */
static int tracing_off(struct ds_cpu *ds)
{
    const uint64_t ours = IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT | IA32_DEBUGCTL_BTS_OFF_OS |
                          IA32_DEBUGCTL_BTS_OFF_USR;
    uint64_t debugctl;
    int e = ds_rdmsr(ds, IA32_DEBUGCTL, &debugctl);
    if (e)
        return e;
    debugctl &= ~history(ds); /* where history is on already, the steps hold it */
    of(ds)->debugctl = (debugctl & ~ours) | chosen(of(ds));
    return ds_set_msr(ds, IA32_DEBUGCTL, debugctl & ~ours);
}

/* What is set besides while it runs. */
static uint64_t running(const struct ds_cpu *ds)
{
    return IA32_DEBUGCTL_TR | history(ds);
}

/* An empty buffer. The last record's place and that of the slack record are cleared: whether they have been written is
 * how one sees that the processor has been at the end. (No branch leads from address 0 to address 0.) */
static void rewind_buffer(struct ds_cpu *ds)
{
    const struct ds_bts *b = of(ds);
    memset(&b->buffer[b->records - 1], 0, 2 * RECORD);
    ds->area[AREA_INDEX] = (uint64_t)(uintptr_t)b->buffer;
}

/*
 * 2. The area. The absolute maximum as for PEBS (ds/driver/driver.c); one record and a byte is the least the manual
 * allows. The threshold leaves a sixteenth of the buffer for the branches until the interrupt is taken. Circular: it
 * lies beyond the maximum, because clearing BTINT alone does not keep the interrupt away.
 */
static void fill_area(struct ds_cpu *ds)
{
    const struct ds_bts *b = of(ds);
    uint64_t base = (uint64_t)(uintptr_t)b->buffer, end = base + b->records * RECORD;
    if (!ds->started)
        for (unsigned i = 0; i < ARCH_PAGE_SIZE / 8; i++) /* no PEBS: nor what is left of it */
            ds->area[i] = 0;
    ds->area[AREA_BASE] = base;
    ds->area[AREA_MAXIMUM] = end + 1;
    ds->area[AREA_THRESHOLD] = b->mode == DS_BTS_INTERRUPT ? end - b->records / 16 * RECORD : end + 2 * RECORD;
    rewind_buffer(ds);
}

static int set_up(struct ds_cpu *ds)
{
    int e, *step = &ds->refusal.step;
    *step = 1;
    if ((e = tracing_off(ds)))
        return e;
    *step = 2;
    fill_area(ds);
    *step = 3;
    if (!ds->started || ds->caps.instead) /* else PEBS has done so */
        e = ds_set_msr(ds, IA32_DS_AREA, (uint64_t)(uintptr_t)ds->area);
    if (e)
        return e;
    *step = 4;
    if (!ds->started) /* likewise */
        ds_set_lvtpc(ds);
    *step = 5; /* all but TR and the history's LBR, which are ds_resume's, but where stepping is what holds tracing */
    return ds_set_msr(ds, IA32_DEBUGCTL, of(ds)->debugctl | (ds->machine->stepping ? running(ds) : 0));
}

int ds_bts_start(struct ds_cpu *ds, struct ds_refusal *refusal)
{
    struct ds_bts *b = of(ds);
    b->undos = ds->undos;
    ds->refusal = (struct ds_refusal){.during = "the set-up of BTS"};
    int e = set_up(ds);
    if (e) {
        *refusal = ds->refusal;
        ds_roll_back(ds, b->undos);
        for (unsigned i = AREA_BASE; i <= AREA_THRESHOLD; i++)
            ds->area[i] = 0;
        return e;
    }
    ds->refusal = (struct ds_refusal){.during = "pause or resume"};
    b->beside.started = true;
    ds_settle_switch(ds);
    b->branches_before = ds_stepped(ds).branches;
    const struct ds_bts_drain start = {.reason = CAIRN_DS_START,
                                       .mode = b->mode,
                                       .epoch = b->beside.epoch,
                                       .tsc = arch_rdtsc(),
                                       .area = (const uint64_t *)ds->area};
    ds->hooks.bts_drained(ds->hooks.context, ds->cpu, &start);
    return 0;
}

/* 5 to 1. */
static void stop(struct ds_cpu *ds)
{
    ds_bts_drain(ds, CAIRN_DS_STOP, arch_rdtsc());
    ds->beside->started = false;
    ds_settle_switch(ds);
    ds_roll_back(ds, of(ds)->undos);
}

/* ---- hold and go on ---------------------------------------------------------------------------------------------- */

static void hold(struct ds_cpu *ds)
{
    ds_write_running(ds, IA32_DEBUGCTL, of(ds)->debugctl);
}

static void go_on(struct ds_cpu *ds)
{
    ds_write_running(ds, IA32_DEBUGCTL, of(ds)->debugctl | running(ds));
}

/* ---- drain ------------------------------------------------------------------------------------------------------- */

static bool written(const struct ds_bts *b, uint32_t slot)
{
    return b->buffer[slot].from || b->buffer[slot].to;
}

/*
 * What the buffer holds, oldest first, and what of this epoch it does not.
 *
 * The processor has been at the end if the last slot is written; at the slack record's if it compares only a record's
 * start with the maximum (ds/model: policy fit). If the index stands before that end it has gone round: the oldest
 * record is the one it points at. How often it went round no register tells: real hardware's loss is then unknown, as
 * is that of a full buffer. An index that points elsewhere is not believed.
 */
static void take_buffer(struct ds_cpu *ds, struct ds_bts_drain *drain)
{
    struct ds_bts *b = of(ds);
    uint64_t bytes = ds->area[AREA_INDEX] - (uint64_t)(uintptr_t)b->buffer;
    uint64_t all = ds_stepped(ds).branches - b->branches_before;
    if (bytes % RECORD || bytes / RECORD > b->records + 1) {
        drain->lost = CAIRN_DS_LOST_UNKNOWN;
        return;
    }
    uint32_t used = (uint32_t)(bytes / RECORD);
    uint32_t end = written(b, b->records) ? b->records + 1 : written(b, b->records - 1) ? b->records : 0;
    if (used < end) {
        drain->run[0] = (struct ds_bts_run){b->buffer + used, end - used};
        drain->run[1] = (struct ds_bts_run){b->buffer, used};
    } else {
        drain->run[0] = (struct ds_bts_run){b->buffer, used};
    }
    drain->records = used < end ? end : used;
    drain->lost = ds->machine->stepping ? all - drain->records : end ? CAIRN_DS_LOST_UNKNOWN : 0;
}

static void count(struct ds_cpu *ds, const struct ds_bts_drain *drain)
{
    struct ds_bts_counts *c = &of(ds)->counts;
    c->drains++;
    c->records += drain->records;
    if (drain->lost == CAIRN_DS_LOST_UNKNOWN)
        c->lost_unknown = true;
    else
        c->lost += drain->lost;
}

void ds_bts_drain(struct ds_cpu *ds, enum cairn_ds_reason reason, uint64_t tsc)
{
    if (!ds || !ds_beside_started(ds))
        return;
    struct ds_bts *b = of(ds);
    struct ds_bts_drain drain = {
        .reason = reason, .mode = b->mode, .epoch = b->beside.epoch, .tsc = tsc, .area = (const uint64_t *)ds->area};
    take_buffer(ds, &drain);
    if (reason == CAIRN_DS_SWITCH && !drain.records && !drain.lost)
        return; /* a thread that is not traced: no epoch ends */
    ds->hooks.bts_drained(ds->hooks.context, ds->cpu, &drain);
    b->handed = b->beside.epoch + 1; /* from here on a panic's drain leaves it alone */
    count(ds, &drain);
    b->branches_before = ds_stepped(ds).branches;
    rewind_buffer(ds);
    b->beside.epoch++;
}

static void panic(struct ds_cpu *ds)
{
    struct ds_bts *b = of(ds);
    if (b->handed != b->beside.epoch)
        return;
    if (!ds_readable(ds, (const void *)ds->area, ARCH_PAGE_SIZE) ||
        !ds_readable(ds, b->buffer, ds_bts_buffer_bytes(b->records))) {
        b->counts.lost_unknown = true;
        return;
    }
    ds_bts_drain(ds, CAIRN_DS_PANIC, arch_rdtsc());
    b->beside.started = false;
}

static bool pmi(struct ds_cpu *ds)
{
    if (ds->area[AREA_INDEX] < ds->area[AREA_THRESHOLD])
        return false;
    ds_bts_drain(ds, CAIRN_DS_THRESHOLD, arch_rdtsc());
    return true;
}

int ds_bts_init(struct ds_bts *bts, struct ds_cpu *ds, enum ds_bts_mode mode, enum ds_bts_rings rings, uint32_t records,
                void *buffer)
{
    if (mode == DS_BTS_OFF || !records || ds_bts_refusal(&ds->caps, rings))
        return -EINVAL;
    *bts = (struct ds_bts){.mode = mode, .rings = rings, .records = records, .buffer = buffer};
    bts->beside = (struct ds_beside){
        .hold = hold, .go_on = go_on, .drain = ds_bts_drain, .pmi = pmi, .stop = stop, .panic = panic};
    ds->beside = &bts->beside;
    return 0;
}
