/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS, in place of what belongs to the Debug Store (ds/driver/store.c). Where the buffer is, how far it
 * is filled and when the PMI comes is in two MSRs; what a counter's records contain, and what it is reloaded with, in a
 * CFG_C of its own. All else is the same, and the steps have the same numbers (ds/driver/driver.c):
 *
 *   step           the Debug Store's PEBS          architectural PEBS
 *   1 off          GLOBAL_CTRL, IA32_PEBS_ENABLE   GLOBAL_CTRL, IA32_PEBS_INDEX (its EN)
 *   2 the area     pointers and reset values       nothing of PEBS: it is for BTS alone
 *   3 where        IA32_DS_AREA, linear            IA32_PEBS_BASE, physical
 *   4              LVTPC
 *   5 contents     MSR_PEBS_DATA_CFG, for all      CFG_C, of each counter; CFG_B, auto counter reload, is 0
 *   6, 7           counters, GLOBAL_STATUS
 *   8 on           IA32_PEBS_ENABLE                IA32_PEBS_INDEX: position 0, threshold, EN
 *   9              GLOBAL_CTRL
 *
 * Tear-down has them in reverse, so IA32_PEBS_BASE points elsewhere before anybody can free the buffer.
 *
 * The position is in a register, so it costs a RDMSR, and under a hypervisor perhaps a VM exit: only a switch that is
 * stamped, a drain and a session's acknowledgement read it. In between the driver keeps it in memory.
 *
 * A write of IA32_PEBS_INDEX sets the position as well. If a record were stored between the read and the write, it
 * would be lost, so the register is written only while counting is paused, after two reads that agree.
 *
 * Sources: those of ds/pebs23_layout.h. Counters have their old addresses here, which architectural performance
 * monitoring of any version has.
 */
#include "ds/pebs23/pebs23.h"

#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define AGREE_MOST 16u /* reads of IA32_PEBS_INDEX until two agree: more records than can be on their way */

static struct ds_pebs23 *own(struct ds_cpu *ds)
{
    return (struct ds_pebs23 *)ds;
}

static const struct ds_pebs23 *seen(const struct ds_cpu *ds)
{
    return (const struct ds_pebs23 *)ds;
}

static size_t buffer_bytes(size_t records)
{
    size_t bytes = ARCH_PAGE_SIZE;
    while (bytes < records) /* what IA32_PEBS_BASE.SIZE can say */
        bytes *= 2;
    return bytes;
}

/* ---- its steps of the set-up ------------------------------------------------------------------------------------- */

/* 1. Of whoever had it on: a record on its way still goes to their buffer. It goes off after that, with the register
 *    that holds the position, which tear-down then gives back as it was. */
static int off(struct ds_cpu *ds)
{
    uint64_t index;
    int e = ds_rdmsr(ds, IA32_PEBS_INDEX, &index);
    if (!e && index & IA32_PEBS_INDEX_EN)
        e = ds_wait_quiet(ds);
    return e ? e : ds_set_msr(ds, IA32_PEBS_INDEX, 0);
}

/* 3. */
static int place(struct ds_cpu *ds)
{
    return ds_set_msr(ds, IA32_PEBS_BASE, own(ds)->registers.base);
}

/* 5. Those of other counters as well: they must neither appear in our records nor be reloaded by our overflows. */
static int contents(struct ds_cpu *ds)
{
    int e = 0;
    for (uint64_t set = ds->caps.acr_counters; set && !e; set &= set - 1)
        e = ds_set_msr(ds, ds_arch_msr((unsigned)__builtin_ctzll(set), IA32_PMC_GP0_CFG_B, IA32_PMC_FX0_CFG_B), 0);
    for (uint64_t set = ds->caps.pebs_counters; set && !e; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        e = ds_set_msr(ds, ds_pebs23_cfg_c(c), *ds_pebs23_planned(own(ds), c));
    }
    return e;
}

/* Position `wr`, not full, on. */
static uint64_t index_with(const struct ds_pebs23 *p, uint32_t wr)
{
    return ia32_pebs_index(wr, p->thresh) | IA32_PEBS_INDEX_EN;
}

static void note_index(struct ds_pebs23 *p, uint64_t index)
{
    p->registers.index = index;
    p->position = ia32_pebs_index_wr(index);
    p->cpu.unsure =
        p->stale || !(index & IA32_PEBS_INDEX_EN); /* off, because it was full: nobody counts what is lost */
}

/* 8. */
static int on(struct ds_cpu *ds)
{
    struct ds_pebs23 *p = own(ds);
    int e = ds_set_msr(ds, IA32_PEBS_INDEX, index_with(p, 0));
    if (e)
        return e;
    p->stale = p->final = false;
    note_index(p, index_with(p, 0));
    ds->taken = 0;
    return 0;
}

/* Off in between: no source says whether a counter that is armed stays so otherwise, and its overflow was the old
 * period's. */
static void set_period(struct ds_cpu *ds, const struct ds_counter *c)
{
    ds_pebs23_set_reload(own(ds), c);
    const uint64_t cfg_c = *ds_pebs23_planned(own(ds), c->number);
    ds_write_running(ds, ds_pebs23_cfg_c(c->number), cfg_c & ~IA32_PMC_CFG_C_EN);
    ds_write_running(ds, ds_pebs23_cfg_c(c->number), cfg_c);
}

/* ---- the position ------------------------------------------------------------------------------------------------ */

static const volatile uint64_t *index_of(const struct ds_cpu *ds)
{
    return &seen(ds)->position;
}

/* Nothing, where the registers are another driver's. */
static bool refresh(struct ds_cpu *ds)
{
    struct ds_pebs23 *p = own(ds);
    uint64_t index;
    if (ds->lent)
        return !p->stale;
    p->stale = ds_rdmsr(ds, IA32_PEBS_INDEX, &index) != 0;
    if (p->stale)
        ds_count_fault(ds);
    note_index(p, p->stale ? p->registers.index : index);
    return !p->stale;
}

static uint64_t used(const struct ds_cpu *ds)
{
    return seen(ds)->position - ds->taken;
}

/* Until two reads agree: no record is on its way any more. */
static void settle(struct ds_cpu *ds)
{
    const struct ds_pebs23 *p = own(ds);
    uint64_t before;
    unsigned reads = 0;
    do {
        before = p->position;
        refresh(ds);
    } while (!p->stale && p->position != before && ++reads < AGREE_MOST);
}

static void refresh_panic(struct ds_cpu *ds)
{
    if (ds->started)
        settle(ds);
    own(ds)->final = !own(ds)->stale;
}

/* ---- what is in the buffer --------------------------------------------------------------------------------------- */

static uint64_t room(const struct ds_cpu *ds)
{
    return seen(ds)->buffer_bytes - ds->taken;
}

/* Records may be in fragments, so they are looked at: but only within the buffer, for the index may say anything. */
static uint64_t count(const struct ds_cpu *ds, uint64_t from, uint64_t bytes)
{
    uint64_t records = 0;
    if (from > room(ds) || bytes > room(ds) - from)
        return 0;
    for (uint32_t size; bytes; from += size, bytes -= size, records++)
        if (!(size = ds_arch_record_size(ds_records(ds) + from, (uint32_t)bytes)))
            break;
    return records;
}

static bool full(const struct ds_cpu *ds, uint64_t bytes)
{
    (void)bytes;
    return seen(ds)->registers.index & IA32_PEBS_INDEX_FULL;
}

static uint32_t record_size_at(unsigned format, const void *record, uint32_t left)
{
    (void)format;
    return ds_arch_record_size(record, left);
}

static void describe(const struct ds_cpu *ds, struct ds_drain *drain)
{
    const struct ds_arch_registers *r = &seen(ds)->registers;
    drain->area = (const uint64_t *)r;
    drain->area_bytes = (uint32_t)sizeof *r;
    drain->address = (r->base & IA32_PEBS_BASE_ADDRESS) + ds->taken;
    drain->record_size = record_size_at;
    drain->in_parts = true;
}

static bool panic(struct ds_cpu *ds)
{
    ds->unsure |= !own(ds)->final;
    return true;
}

static bool at_threshold(struct ds_cpu *ds)
{
    const struct ds_pebs23 *p = own(ds);
    refresh(ds);
    return p->stale || p->position >= p->thresh || p->registers.index & IA32_PEBS_INDEX_FULL;
}

/* A full buffer may have turned PEBS off (policy arch_full of the model): then its counters have gone past their
 * overflow without a record, and nothing has reloaded them. */
static void restart_counters(struct ds_cpu *ds)
{
    for (uint32_t i = 0; i < ds->config.events; i++)
        if (!ds->counter[i].event->plain)
            ds_write_running(ds, ds_counter_msr(&ds->caps, ds->counter[i].number), ds->counter[i].initial);
}

static void begin_again(struct ds_cpu *ds, uint32_t bytes)
{
    struct ds_pebs23 *p = own(ds);
    uint8_t *buffer = ds->buffer;
    settle(ds);
    ds->counts.lost_unknown |= p->stale;
    const uint64_t all = used(ds);
    const bool believed = all >= bytes && all <= room(ds);
    const uint32_t late = believed ? (uint32_t)all - bytes : 0;
    const uint64_t index = index_with(p, late);
    ds->counts.late += count(ds, bytes, late);
    /* Refused, it is tried once more: else what is handed over now would be found again. */
    if (ds_write_running(ds, IA32_PEBS_INDEX, index) && ds_write_running(ds, IA32_PEBS_INDEX, index)) {
        ds->taken += bytes;
        return;
    }
    if (!(p->registers.index & IA32_PEBS_INDEX_EN))
        restart_counters(ds);
    memmove(buffer, buffer + ds->taken + bytes, late);
    note_index(p, index);
    ds->taken = 0;
}

static const struct ds_mechanism pebs23 = {
    .first = DS_FORMAT_ARCH,
    .last = DS_FORMAT_ARCH,
    .set_up = "the set-up of architectural PEBS",
    .cpu_bytes = sizeof(struct ds_pebs23),
    .find_store = ds_pebs23_find_store,
    .find_pebs = ds_pebs23_find,
    .found = "the processor has architectural PEBS",
    .on_msr = IA32_PEBS_INDEX,
    .on_bits = IA32_PEBS_INDEX_EN,
    /* off: a buffer of one page, a threshold beyond it */
    .probed = {{IA32_PEBS_BASE, UINT64_C(0x1000), "IA32_PEBS_BASE write, read back",
                "the hypervisor shows architectural PEBS, but IA32_PEBS_BASE does not keep what is written to it",
                "the hypervisor shows architectural PEBS, but IA32_PEBS_BASE raises #GP"},
               {IA32_PEBS_INDEX, UINT64_C(0x1000) << 32, "IA32_PEBS_INDEX write, read back",
                "the hypervisor shows architectural PEBS, but IA32_PEBS_INDEX does not keep what is written to it",
                "the hypervisor shows architectural PEBS, but IA32_PEBS_INDEX raises #GP"}},
    .find_users = ds_pebs23_find_users,
    .reload_32 = true,
    .groups = ds_pebs23_groups,
    .record_size = ds_pebs23_record_size,
    .buffer_bytes = buffer_bytes,
    .plan_groups = ds_pebs23_plan_groups,
    .plan = ds_pebs23_plan,
    .off = off,
    .place = place,
    .contents = contents,
    .on = on,
    .set_period = set_period,
    .index = index_of,
    .used = used,
    .room = room,
    .refresh = refresh,
    .refresh_panic = refresh_panic,
    .count = count,
    .full = full,
    .begin_again = begin_again,
    .describe = describe,
    .panic = panic,
    /* whether it sets OVF_BUF, too, no source says */
    .status_bits = IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_ARCH_PEBS,
    .at_threshold = at_threshold,
};
ROWS_ADD(ds_mechanism, pebs23);
