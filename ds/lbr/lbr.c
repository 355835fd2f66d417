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
#include "ds/driver/detect.h"
#include "ds/driver/driver.h"
#include "ds/lbr_layout.h"

static int prepare(struct ds_cpu *ds)
{
    const uint64_t ours = IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI; /* frozen, it would not thaw */
    bool on = ds->machine->stepping;                                            /* else ds_resume's */
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

static uint64_t debugctl(const struct ds_cpu *ds)
{
    return ds->started && ds->caps.lbr == DS_LBR_DEBUGCTL ? IA32_DEBUGCTL_LBR : 0;
}

static void turn(struct ds_cpu *ds, bool on)
{
    if (ds->caps.lbr == DS_LBR_ARCHITECTURAL)
        ds_write_running(ds, IA32_LBR_CTL, on ? ds->caps.lbr_ctl : 0);
    else if (!ds_beside_started(ds)) /* BTS, which writes the same register */
        ds_write_running(ds, IA32_DEBUGCTL, ds->debugctl | (on ? IA32_DEBUGCTL_LBR : 0));
}

static const struct ds_history lbr = {.prepare = prepare, .turn = turn, .debugctl = debugctl};

/* Branch history, for the LBR group of records. DEBUGCTL.LBR turns it on where LBR_FMT names a format: of the
 * processors with such records Ice Lake and Tremont, whose history has 32 entries; architectural LBR otherwise. None of
 * them has format 0, that of 32-bit processors: it is what a hypervisor shows that has no history for its guests. */
void ds_detect_history(struct ds_detection *d)
{
    struct ds_caps *c = d->caps;
    uint32_t seven[4] = {0}, leaf[4] = {0};
    if (d->leaves >= 7)
        ds_detect_cpuid(d, 7, 0, seven);
    if (seven[3] & CPUID_07H_EDX_ARCH_LBR && d->leaves >= 0x1C) {
        ds_detect_cpuid(d, 0x1C, 0, leaf);
        c->lbr_depth = (uint8_t)cpuid_1ch_eax_depth(leaf[0]);
        c->lbr_ctl = IA32_LBR_CTL_LBREN | (leaf[1] & CPUID_1CH_EBX_CPL ? IA32_LBR_CTL_OS | IA32_LBR_CTL_USR : 0) |
                     (leaf[1] & CPUID_1CH_EBX_FILTER ? IA32_LBR_CTL_BRANCHES : 0);
    }
    unsigned format = (unsigned)(d->capabilities & IA32_PERF_CAPABILITIES_LBR_FMT);
    c->lbr = c->lbr_depth                                         ? DS_LBR_ARCHITECTURAL
             : format && format != IA32_PERF_CAPABILITIES_LBR_FMT ? DS_LBR_DEBUGCTL
                                                                  : DS_LBR_NONE;
    c->history = c->lbr == DS_LBR_NONE ? NULL : &lbr;
    ds_detect_row(d, DS_TEST_HISTORY, format, c->lbr != DS_LBR_NONE,
                  c->lbr == DS_LBR_ARCHITECTURAL ? "branch history by IA32_LBR_CTL (CPUID.07H:EDX.ARCH_LBR)"
                  : c->lbr == DS_LBR_DEBUGCTL    ? "branch history by IA32_DEBUGCTL.LBR"
                                                 : "no branch history: no LBR group in records");
}
