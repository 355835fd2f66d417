/* SPDX-License-Identifier: MIT */
/*
 * Where PEBS stands: PebsIndex, as switches are stamped with it. The Debug Store has it in memory. Where it is in a
 * register, that is read only when somebody wants it, and never on behalf of another CPU.
 */
#include "ds/driver/mechanism.h"

const volatile uint64_t *ds_pebs_index(const struct ds_cpu *ds)
{
    return ds->mechanism->index(ds);
}

const uint64_t *ds_known_area(const struct ds_cpu *ds)
{
    struct ds_drain known = {0};
    ds->mechanism->describe(ds, &known);
    return known.area;
}

void ds_refresh_index(struct ds_cpu *ds)
{
    if (ds && ds->started && ds->mechanism->refresh)
        ds->mechanism->refresh(ds);
}

void ds_refresh_index_panic(struct ds_cpu *ds)
{
    if (ds && ds->mechanism->refresh_panic)
        ds->mechanism->refresh_panic(ds);
}

void ds_stamp_switches(struct ds_cpu *ds, bool each)
{
    if (!ds)
        return;
    ds->each = each;
    ds_settle_switch(ds);
}

void ds_lend(struct ds_cpu *ds, bool lent)
{
    if (!ds)
        return;
    if (lent)
        ds_refresh_index(ds);
    ds->lent = lent;
}

void ds_settle_switch(struct ds_cpu *ds)
{
    ds->at_switch = ds_beside_started(ds) || (ds->started && ds->each && ds->mechanism->refresh);
}

void ds_switch(struct ds_cpu *ds, uint64_t tsc)
{
    if (!ds || !ds->at_switch)
        return;
    if (ds_beside_started(ds))
        ds->beside->drain(ds, CAIRN_DS_SWITCH, tsc);
    if (ds->each)
        ds_refresh_index(ds);
}
