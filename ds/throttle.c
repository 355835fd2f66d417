/* SPDX-License-Identifier: MIT */
/*
 * Throttling. With a short period and a low threshold each interrupt can be due again before the interrupted thread has
 * run one instruction: the counters go on a few instructions before the return from the interrupt, and no shadow
 * protects the first one after it. Then nothing ever runs but the handler, not even the timer's, and the machine
 * hangs. So after so many PMIs within a timer tick counting stops, PEBS and BTS, until the next tick.
 *
 * What is not counted then is not lost, it is not sampled: the epoch that ends with reason THROTTLE and the empty one
 * after it, which ends with UNTHROTTLE, say from when to when.
 */
#include "ds/cpu.h"

#include "arch/arch.h"

static void drain(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    ds_drain(ds, reason);
    ds_bts_drain(ds, reason, arch_rdtsc());
}

/* Where stepping holds the counters, it goes on: then it is their own controls that go off. */
static void hold_stepped(struct ds_cpu *ds, bool hold)
{
    if (!ds->machine->stepping)
        return;
    if (ds->started)
        ds_write_running(ds, IA32_PERF_GLOBAL_CTRL, hold ? 0 : ds->global_ctrl);
    if (hold)
        ds_bts_hold(ds);
    else
        ds_bts_go_on(ds);
}

void ds_throttle(struct ds_cpu *ds)
{
    if (!ds->config.throttle || ds->throttled || ++ds->pmis_in_tick < ds->config.throttle)
        return;
    ds->throttled = true;
    ds->throttled_at = arch_rdtsc();
    ds->counts.throttles++;
    hold_stepped(ds, true);
    drain(ds, CAIRN_DS_THROTTLE);
}

void ds_throttle_end(struct ds_cpu *ds)
{
    if (!ds->throttled)
        return;
    ds->throttled = false;
    ds->counts.throttled_tsc += arch_rdtsc() - ds->throttled_at;
}

void ds_tick(struct ds_cpu *ds)
{
    if (!ds)
        return;
    ds->pmis_in_tick = 0;
    if (!ds->throttled)
        return;
    ds_throttle_end(ds);
    drain(ds, CAIRN_DS_UNTHROTTLE);
    hold_stepped(ds, false);
}
