/* SPDX-License-Identifier: MIT */
/*
 * Throttling. With a short period and a low threshold the next interrupt can be due before the interrupted thread has
 * run one instruction: counters start a few instructions before the return from the interrupt, and no shadow protects
 * the first instruction after it. Then nothing but the handler ever runs, not even the timer's handler, and the machine
 * hangs. So counting (PEBS, BTS and branch history) stops after a number of PMIs within one timer tick. Without
 * single-stepping it is enough not to resume counting. With single-stepping, stepping goes on, so PEBS, BTS and branch
 * history are turned off by their own controls.
 *
 * Counting resumes with the first tick that comes at least the time of one tick later. The next tick may be too early:
 * the PMI's vector is above the timer's, so after a storm of more than a tick a timer interrupt is pending, and would
 * start the next storm before the thread has run.
 *
 * What is not counted in this time is not lost but not sampled. The epoch that ends with reason THROTTLE, and the empty
 * one after it, which ends with UNTHROTTLE, say from when to when.
 */
#include "arch/arch.h"
#include "ds/driver/driver.h"

static void drain(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    ds_drain(ds, reason);
    if (ds_beside_started(ds))
        ds->beside->drain(ds, reason, arch_rdtsc());
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
