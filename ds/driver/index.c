/* SPDX-License-Identifier: MIT */
/*
 * Where PEBS stands: PebsIndex, as switches are stamped with it. The Debug Store has it in memory. Architectural PEBS
 * has it in a register, which is read only when somebody wants it (ds/driver/arch.c), and never on behalf of another
 * CPU.
 */
#include "ds/driver/driver.h"

const volatile uint64_t *ds_pebs_index(const struct ds_cpu *ds)
{
    return ds_is_arch(ds) ? &ds->arch.position : &ds->area[DS_AREA_PEBS_INDEX];
}

const struct ds_arch_registers *ds_arch_known(const struct ds_cpu *ds)
{
    return &ds->arch.registers;
}

void ds_refresh_index(struct ds_cpu *ds)
{
    if (ds && ds->started && ds_is_arch(ds))
        ds_arch_refresh(ds);
}

void ds_refresh_index_panic(struct ds_cpu *ds)
{
    if (ds && ds->started && ds_is_arch(ds))
        ds_arch_settle(ds);
    if (ds)
        ds->arch.panic = !ds->arch.stale;
}

void ds_stamp_switches(struct ds_cpu *ds, bool each)
{
    if (!ds)
        return;
    ds->arch.each = each;
    ds_settle_switch(ds);
}

void ds_lend(struct ds_cpu *ds, bool lent)
{
    if (!ds)
        return;
    if (lent)
        ds_refresh_index(ds);
    ds->arch.lent = lent;
}

void ds_settle_switch(struct ds_cpu *ds)
{
    ds->at_switch = ds->bts.started || (ds->started && ds_is_arch(ds) && ds->arch.each);
}

void ds_switch(struct ds_cpu *ds, uint64_t tsc)
{
    if (!ds || !ds->at_switch)
        return;
    ds_bts_drain(ds, CAIRN_DS_SWITCH, tsc);
    if (ds->arch.each)
        ds_refresh_index(ds);
}
