/* SPDX-License-Identifier: MIT */
/*
 * Changes the periods while the session runs. The records in the buffer were made with the old periods, so it is
 * drained first: each epoch has one configuration, which the area in the trace shows. While PEBS is on, or a record is
 * on its way, nothing in the area but the index may change, so PEBS is turned off before. The registers are those of
 * set-up, whose old values are already saved for tear-down. BTS has no period; its epochs go on.
 */
#include "ds/driver/events.h"
#include "ds/driver/mechanism.h"
#include "ds/later/later.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

int ds_parse_periods(const char *spec, uint32_t events, uint64_t *period, char *error, size_t size)
{
    const char *s = spec;
    period[0] = 0;
    if (strcmp(spec, "none") == 0)
        return 0;
    for (uint32_t i = 0; i < events; i++) {
        const char *comma = strchr(s, ',');
        const size_t n = comma ? (size_t)(comma - s) : strlen(s);
        if (!ds_event_period(s, n, &period[i]) || !comma != (i + 1 == events)) {
            snprintf(error, size,
                     "option 'pebs.later': '%s': must be none, or a period from 1 to 2^47 - 1 for each event of pebs=, "
                     "as in 1009,50021",
                     spec);
            return -EINVAL;
        }
        s += n + 1;
    }
    return 0;
}

int ds_reconfigure(struct ds_cpu *ds, const uint64_t *period, char *error, size_t size)
{
    for (uint32_t i = 0; i < ds->config.events; i++)
        if (ds_check_period(&ds->caps, ds->counter[i].event, ds->counter[i].number, period[i], "pebs.later", error,
                            size))
            return -EINVAL;
    if (!ds->started)
        return 0;
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
