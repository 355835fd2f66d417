/* SPDX-License-Identifier: MIT */
/*
 * Changes the periods while the session runs. The records in the buffer were made with the old periods, so it is
 * drained first: each epoch has one configuration, which the area in the trace shows. While PEBS is on, or a record is
 * on its way, nothing in the area but the index may change, so PEBS is turned off before. The registers are those of
 * set-up, whose old values are already saved for tear-down. BTS has no period; its epochs go on.
 */
#include "ds/driver/mechanism.h"

#include "kernel/lib/errno.h"

int ds_reconfigure(struct ds_cpu *ds, const uint64_t *period, char *error, size_t size)
{
    int e = ds_check_periods(ds, period, error, size);
    if (e || !ds->started)
        return e;
    const bool stepped = ds->machine->stepping;

    ds->refusal = (struct ds_refusal){.during = "the reconfiguration"};
    /* 1. Counters off. */
    ds_pause(ds);
    /* 2. PEBS off; what has been recorded so far, and what was on its way. */
    ds_pebs_off(ds, CAIRN_DS_RECONFIGURE);
    /* 3. The area, and the counters. */
    for (uint32_t i = 0; i < ds->config.events; i++) {
        struct ds_counter *c = &ds->counter[i];
        if (c->event->plain)
            ds_add_plain(ds, i);
        c->initial = ds_initial(&ds->caps, c->number, period[i]);
        if (!c->event->plain)
            ds->mechanism->set_period(ds, c);
        ds_write_running(ds, ds_counter_msr(&ds->caps, c->number), c->initial);
    }
    /* 4. Overflows of the old periods are no overflows of the new ones. */
    ds_clear_status(ds);
    /* 5. On: PEBS, then counters; where nothing steps, ds_resume does that. */
    if (ds->mechanism->turn)
        ds->mechanism->turn(ds, true);
    if (stepped && !ds->throttled)
        ds_write_running(ds, IA32_PERF_GLOBAL_CTRL, ds->global_ctrl);
    ds->refusal = (struct ds_refusal){.during = "pause or resume"};
    return 0;
}
