/* SPDX-License-Identifier: MIT */
/*
 * Turns PEBS off. A record that the processor has begun may be stored after the WRMSR that turned the counters off,
 * into the buffer that IA32_DS_AREA leads to at that time. So there is a quiescent period before the area changes or
 * goes away (SDM vol. 3B, "Re-configuring PEBS Facilities"). The manual does not say how long it is: the driver waits
 * until PebsIndex has not changed for a while.
 */
#include "ds/driver/driver.h"

#include "kernel/lib/errno.h"

/* Reads of a register, each of some hundred cycles: so many without a record, and so many in all. */
#define QUIET 64u
#define MOST  4096u

int ds_wait_quiet(struct ds_cpu *ds)
{
    uint64_t value;
    for (unsigned i = 0; i < QUIET; i++)
        if (ds_rdmsr(ds, IA32_PEBS_ENABLE, &value))
            return -EFAULT;
    return 0;
}

/* The same, until the index, which was `index` when counters went off, rests. False: it does not. */
static bool index_rests(struct ds_cpu *ds, uint64_t index)
{
    uint64_t value;
    for (unsigned i = 0, quiet = 0; quiet < QUIET; i++) {
        if (i == MOST)
            return false;
        if (ds_rdmsr(ds, IA32_PEBS_ENABLE, &value)) {
            ds_count_fault(ds);
            return true;
        }
        const uint64_t now = ds->area[DS_AREA_PEBS_INDEX];
        quiet = now == index ? quiet + 1 : 0;
        ds->counts.late += now > index ? (now - index) / ds->record_bytes : 0;
        index = now;
    }
    return true;
}

void ds_pebs_off(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    const uint64_t index = ds->area[DS_AREA_PEBS_INDEX];
    if (ds->machine->stepping)
        ds_write_running(ds, IA32_PERF_GLOBAL_CTRL, 0);
    ds_write_running(ds, IA32_PEBS_ENABLE, 0);
    if (!index_rests(ds, index))
        ds->counts.restless = ds->counts.lost_unknown = true;
    ds_drain(ds, reason);
    if (ds->area[DS_AREA_PEBS_INDEX] != (uint64_t)(uintptr_t)ds->buffer) /* while it was being handed over */
        ds_drain(ds, reason);
}
