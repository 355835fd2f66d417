/* SPDX-License-Identifier: MIT */
/*
 * Throttling. With a short period and a low threshold each interrupt can be due again before the interrupted thread has
 * run one instruction: the counters go on a few instructions before the return from the interrupt, and no shadow
 * protects the first one after it. Then nothing ever runs but the handler, not even the timer's, and the machine
 * hangs. So after so many PMIs within a timer tick counting stops, PEBS, BTS and branch history: where nothing steps
 * counting is just not resumed; stepping goes on, so there their own controls go off.
 *
 * It goes on with the first tick that comes a tick's time later. Not with the next: the PMI's vector is above the
 * timer's, so when the storm has lasted for more than a tick that one is pending, and would let the next storm begin
 * before the thread has run.
 *
 * What is not counted then is not lost, it is not sampled: the epoch that ends with reason THROTTLE and the empty one
 * after it, which ends with UNTHROTTLE, say from when to when.
 */
#include "ds/driver/driver.h"

#include "arch/arch.h"

static void drain(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    ds_drain(ds, reason);
    ds_bts_drain(ds, reason, arch_rdtsc());
}

void ds_throttle(struct ds_cpu *ds)
{
    if (!ds->config.throttle || ds->throttled || ++ds->pmis_in_tick < ds->config.throttle)
        return;
    ds->throttled = true;
    ds->throttled_at = arch_rdtsc();
    ds->counts.throttles++;
    if (ds->machine->stepping)
        ds_hold(ds);
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
    if (!ds->throttled || arch_rdtsc() - ds->throttled_at < ds->config.tick_tsc)
        return;
    ds_throttle_end(ds);
    drain(ds, CAIRN_DS_UNTHROTTLE);
    if (ds->machine->stepping)
        ds_go_on(ds);
}
