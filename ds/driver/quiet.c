/* SPDX-License-Identifier: MIT */
/*
 * Turns PEBS off. A record that the processor has begun may be stored after the WRMSR that turned the counters off,
 * into the buffer that IA32_DS_AREA leads to at that time. So there is a quiescent period before the area changes or
 * goes away (SDM vol. 3B, "Re-configuring PEBS Facilities"). The manual does not say how long it is: the driver waits
 * until PebsIndex has not changed for a while. Where PEBS cannot go off without moving the index, it stays on
 * meanwhile, and only its counters go off.
 */
#include "ds/driver/mechanism.h"

#include "kernel/lib/errno.h"

/* Reads of a register, each of some hundred cycles: so many without a record, and so many in all. */
#define QUIET 64u
#define MOST  4096u

int ds_wait_quiet(struct ds_cpu *ds)
{
    uint64_t value;
    for (unsigned i = 0; i < QUIET; i++)
        if (ds_rdmsr(ds, ds->mechanism->on_msr, &value))
            return -EFAULT;
    return 0;
}

/* Reads a register once, and the index. False: #GP, which is counted. */
static bool look(struct ds_cpu *ds)
{
    uint64_t value;
    if (ds->mechanism->refresh)
        return ds->mechanism->refresh(ds);
    if (!ds_rdmsr(ds, ds->mechanism->on_msr, &value))
        return true;
    ds_count_fault(ds);
    return false;
}

/* Waits until the index, which was at `used` when counters went off, rests. False: it does not. */
static bool index_rests(struct ds_cpu *ds, uint64_t used)
{
    for (unsigned i = 0, quiet = 0; quiet < QUIET; i++) {
        if (i == MOST)
            return false;
        if (!look(ds))
            return true;
        const uint64_t now = ds->mechanism->used(ds);
        quiet = now == used ? quiet + 1 : 0;
        ds->counts.late += now > used ? ds->mechanism->count(ds, used, now - used) : 0;
        used = now;
    }
    return true;
}

void ds_pebs_off(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    ds_refresh_index(ds);
    const uint64_t used = ds->mechanism->used(ds);
    if (ds->machine->stepping)
        ds_write_running(ds, IA32_PERF_GLOBAL_CTRL, 0);
    if (ds->mechanism->turn)
        ds->mechanism->turn(ds, false);
    if (!index_rests(ds, used))
        ds->counts.restless = ds->counts.lost_unknown = true;
    ds_drain(ds, reason);
    if (ds->mechanism->used(ds)) /* while it was being handed over */
        ds_drain(ds, reason);
}
