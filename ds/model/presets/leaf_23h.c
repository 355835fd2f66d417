/* SPDX-License-Identifier: MIT */
/* CPUID leaf 23H, subleaf by subleaf: of hybrids, and of architectural PEBS. */
#include "ds/model/internal.h"
#include "ds/model/presets.h"
#include "ds/pebs23_layout.h"

/* General-purpose counters, then fixed ones. */
static void two_masks(uint32_t out[2], uint64_t counters)
{
    out[0] = (uint32_t)counters;
    out[1] = (uint32_t)(counters >> DS_COUNTER_FIXED);
}

void ds_model_leaf_23h(const struct ds_model_preset *p, uint32_t subleaf, uint32_t out[4])
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
        out[0] = ds_model_architectural_events(p);
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
