/* SPDX-License-Identifier: MIT */
/* What CPUID says of other processors than Ice Lake: of hybrids, architectural LBR and PEBS, and under KVM. */
#include "ds/model/internal.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/string.h"

#define DARKMONT_EVENTS 0x1F00u /* back end bound, bad speculation, front end bound, retiring; LBR inserts */

/* The first to have all 13 architectural events, and to tell of them in CPUID.0AH. */
static bool is_darkmont(const struct ds_model_preset *p)
{
    return p->generation == DS_GENERATION_DARKMONT && p->fixed_more;
}

/* SDM vol. 2A, "CPUID": of hybrids and architectural PEBS, of architectural LBR, of the TSC's rate. */
static uint32_t last_leaf(const struct ds_model_preset *p)
{
    if (p->leaf_23h)
        return 0x23;
    if (p->arch_lbr)
        return 0x1C;
    return p->generation >= DS_GENERATION_SKYLAKE ? 0x16 : 0x0A;
}

/* General-purpose counters, then fixed ones. */
static void two_masks(uint32_t out[2], uint64_t counters)
{
    out[0] = (uint32_t)counters;
    out[1] = (uint32_t)(counters >> DS_COUNTER_FIXED);
}

static void leaf_23h(const struct ds_model_preset *p, uint32_t subleaf, uint32_t out[4])
{
    switch (subleaf) {
    case 0:
        out[0] = CPUID_23H_EAX_SELF | CPUID_23H_EAX_COUNTERS | CPUID_23H_EAX_EVENTS |
                 (p->acr_reloaded ? CPUID_23H_EAX_ACR : 0) |
                 (p->pebs23 ? CPUID_23H_EAX_ARCH_PEBS_CAPS | CPUID_23H_EAX_ARCH_PEBS_COUNTERS : 0);
        out[1] =
            CPUID_23H_EBX_UMASK2 | (p->pebs23 ? CPUID_23H_EBX_EQ : 0); /* RDPMC_USR_DISABLE: from Panther Cove on */
        out[2] = p->pebs23 ? p->slots : 0;
        break;
    case 1:
        out[0] = (1u << p->gp_counters) - 1;
        out[1] = ds_model_fixed(p);
        break;
    case 2:
        two_masks(&out[0], p->acr_reloaded);
        two_masks(&out[2], p->acr_causes);
        break;
    case 3:
        out[0] = ds_model_architectural_events(p) | (is_darkmont(p) ? DARKMONT_EVENTS : 0);
        break;
    case 4:
        out[1] = (uint32_t)(p->arch_groups >> 32);
        break;
    case 5:
        if (!p->pebs23)
            break;
        out[0] = (uint32_t)p->pebs_counters;
        out[1] = (uint32_t)p->pdist;
        out[2] = (uint32_t)(p->pebs_counters >> DS_COUNTER_FIXED);
        out[3] = (uint32_t)(p->pdist >> DS_COUNTER_FIXED);
        break;
    default:
        break;
    }
}

static bool has_history(const struct ds_model_preset *p)
{
    return ds_model_lbr_format && ds_model_lbr_format(p);
}

void ds_model_more_leaves(const struct ds_model_preset *p, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    switch (leaf) {
    case 0:
        out[0] = last_leaf(p);
        break;
    case 1:
        out[2] |= p->kvm ? CPUID_01H_ECX_HYPERVISOR : 0;
        break;
    case 7:
        if (subleaf == 0) {
            out[0] = p->leaf_23h; /* the last subleaf */
            out[3] = (p->arch_lbr && has_history(p) ? CPUID_07H_EDX_ARCH_LBR : 0) |
                     (p->core_type ? CPUID_07H_EDX_HYBRID : 0);
        } else if (subleaf == 1) {
            out[0] = p->leaf_23h ? CPUID_07H_1_EAX_PERFMON_EXT : 0;
        }
        break;
    case 0x0A:
        if (is_darkmont(p)) {
            out[0] = (out[0] & 0xFFFFFF) | 13u << 24;
            out[1] = ~(ds_model_architectural_events(p) | DARKMONT_EVENTS) & ((1u << 13) - 1);
        }
        break;
    case 0x1A:
        out[0] = (uint32_t)p->core_type << 24 | p->native_model;
        break;
    case 0x1C:
        if (!has_history(p))
            break;
        out[0] = p->lbr_depths;
        out[1] = p->arch_lbr ? CPUID_1CH_EBX_CPL | CPUID_1CH_EBX_FILTER | CPUID_1CH_EBX_CALL_STACK : 0;
        out[2] = p->lbr_logs ? CPUID_1CH_ECX_EVENT_LOGGING : 0;
        break;
    case 0x23:
        if (p->leaf_23h)
            leaf_23h(p, subleaf, out);
        break;
    case CPUID_HYPERVISOR: /* the next leaf has none of KVM's own features */
        if (!p->kvm)
            break;
        out[0] = CPUID_HYPERVISOR + 1;
        memcpy(&out[1], "KVMKVMKVM\0\0\0", 12);
        break;
    default:
        break;
    }
}
