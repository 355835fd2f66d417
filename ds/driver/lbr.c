/* SPDX-License-Identifier: MIT */
/*
 * The branch history of one CPU, for the LBR group of PEBS records. It is on while a sampled thread runs its own code,
 * and pauses with the counters. There are two kinds: DEBUGCTL.LBR, up to Ice Lake; IA32_LBR_CTL (architectural LBR) on
 * later processors, whose IA32_PERF_CAPABILITIES.LBR_FMT is 3FH. Microcode reads the entries, so the driver does not
 * access their MSRs; it only writes IA32_LBR_DEPTH, which clears them. They are not cleared at a context switch, so the
 * older entries of a record may belong to another thread.
 *
 * SDM vol. 3B, "Last Branch Records", "IA32_DEBUGCTL MSR".
 */
#include "ds/driver/driver.h"

static bool wanted(const struct ds_cpu *ds)
{
    return ds->config.groups & MSR_PEBS_DATA_CFG_LBR;
}

int ds_lbr_set_up(struct ds_cpu *ds)
{
    const uint64_t ours = IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI; /* frozen, it would not thaw */
    bool on = ds->machine->stepping;                                            /* else ds_resume's */
    if (!wanted(ds))
        return 0;
    int e = ds_rdmsr(ds, IA32_DEBUGCTL, &ds->debugctl);
    if (e)
        return e;
    ds->debugctl &= ~ours;
    if ((e = ds_set_msr(ds, IA32_DEBUGCTL, ds->debugctl)))
        return e;
    if (ds->caps.lbr == DS_LBR_DEBUGCTL) { /* what somebody's filter left out would be missing in our records */
        e = ds_set_msr(ds, MSR_LBR_SELECT, 0);
        return !e && on ? ds_set_msr(ds, IA32_DEBUGCTL, ds->debugctl | IA32_DEBUGCTL_LBR) : e;
    }
    if ((e = ds_set_msr(ds, IA32_LBR_CTL, 0)) || (e = ds_set_msr(ds, IA32_LBR_DEPTH, ds->caps.lbr_depth)))
        return e;
    return on ? ds_set_msr(ds, IA32_LBR_CTL, ds->caps.lbr_ctl) : 0;
}

uint64_t ds_lbr_debugctl(const struct ds_cpu *ds)
{
    return ds->started && wanted(ds) && ds->caps.lbr == DS_LBR_DEBUGCTL ? IA32_DEBUGCTL_LBR : 0;
}

static void turn(struct ds_cpu *ds, bool on)
{
    if (!ds->started || !wanted(ds))
        return;
    if (ds->caps.lbr == DS_LBR_ARCHITECTURAL)
        ds_write_running(ds, IA32_LBR_CTL, on ? ds->caps.lbr_ctl : 0);
    else if (!ds_beside_started(ds)) /* BTS, which writes the same register */
        ds_write_running(ds, IA32_DEBUGCTL, ds->debugctl | (on ? IA32_DEBUGCTL_LBR : 0));
}

void ds_lbr_hold(struct ds_cpu *ds)
{
    turn(ds, false);
}

void ds_lbr_go_on(struct ds_cpu *ds)
{
    turn(ds, true);
}
