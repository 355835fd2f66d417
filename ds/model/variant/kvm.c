/* SPDX-License-Identifier: MIT */
/*
 * What Linux' KVM leaves of a processor for a guest. Sources: arch/x86/kvm/vmx/pmu_intel.c (which MSRs exist and which
 * bits they take), vmx.c (IA32_PERF_CAPABILITIES without the baseline, CPUID's DS and DTES64, what IA32_DEBUGCTL
 * takes), cpuid.c and pmu.h (CPUID.0AH: version 2 at most) of 6.0 to 6.18, with the counters of perf (no mediated
 * vPMU). docs/how-to/kvm.md has the whole list, and says how sure each entry is.
 */
#include "ds/lbr_layout.h"
#include "ds/model/internal.h"
#include "ds/model/variant/variant.h"
#include "kernel/lib/errno.h"

#define KVM_GP_MAX    8u
#define KVM_FIXED_MAX 3u

#define ICELAKE_CLIENT 0x000706E5u
#define ICELAKE_SERVER 0x000606A6u

static uint8_t least(uint8_t a, unsigned b)
{
    return a < b ? a : (uint8_t)b;
}

int ds_model_kvm_guest(struct ds_model_preset *p)
{
    if (p->core_type)
        return -ENODEV; /* enable_pmu is off on hybrids */
    p->kvm = true;
    /* Of Ice Lake the servers alone write records safely while a guest's memory is not all mapped. */
    if (p->signature == ICELAKE_CLIENT) {
        p->signature = ICELAKE_SERVER;
        p->la57 = true;
    }
    p->ds = p->format >= 4 && !p->pebs23; /* which KVM does not give its guests */
    p->ds_cpl = false;
    p->format = p->ds ? p->format : 0;
    p->pebs23 = NULL;
    p->leaf_23h = p->baseline = p->perf_metrics = p->load_latency = p->precise_store = p->frontend = false;
    p->full_width_writes = true;
    p->data_cfg = p->arch_groups = p->acr_reloaded = p->acr_causes = 0;
    p->perfmon_version = least(p->perfmon_version, 2);
    p->gp_counters = least(p->gp_counters, KVM_GP_MAX);
    p->fixed_more = p->slots = 0;
    p->fixed_counters = least(p->fixed_counters, KVM_FIXED_MAX);
    p->pebs_counters = p->ds ? DS_BIT(p->gp_counters) - 1 : 0;
    p->pdist &= p->pebs_counters;
    /* Branch history goes with the call stack's mode, from Haswell on, and not with architectural LBR. */
    if (p->arch_lbr || p->lbr_format < LBR_FMT_EIP_FLAGS_TSX) {
        p->arch_lbr = p->lbr_logs = false;
        p->lbr_format = p->lbr_depth = p->lbr_depths = 0;
        p->lbr_select = p->lbr_from = p->lbr_to = p->lbr_info = 0;
    }
    return 0;
}
