/* SPDX-License-Identifier: MIT */
/* The model's CPUID. */
#include "ds/caps.h"
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

#define ANYTHREAD_DEPRECATED (1u << 15) /* CPUID.0AH:EDX, version 5, and KVM */

/* Bit n: there is architectural event n. Not there: mispredicted branches (6). */
#define ARCHITECTURAL_EVENTS 0x27u
#define CACHE_EVENTS         0x18u   /* with a memory system */
#define SLOTS_EVENT          0x80u   /* where there is the fixed counter */
#define DARKMONT_EVENTS      0x1F00u /* back end bound, bad speculation, front end bound, retiring; LBR inserts */

static bool is_darkmont(const struct ds_model_preset *p)
{
    return p->generation == DS_GENERATION_DARKMONT && p->fixed_more;
}

uint32_t ds_model_architectural_events(const struct ds_model_preset *p)
{
    return ARCHITECTURAL_EVENTS | (p->memory ? CACHE_EVENTS : 0) |
           (ds_model_has_fixed(p, DS_MODEL_FIXED_SLOTS) ? SLOTS_EVENT : 0) | (is_darkmont(p) ? DARKMONT_EVENTS : 0);
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

void ds_model_cpuid(const struct ds_model *m, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    const struct ds_model_preset *p = m->preset;
    /* CPUID.0AH tells of the first 7 architectural events, of the 8th where there is a fixed counter for it, and of all
     * 13 on Darkmont, the first to have them. */
    const uint32_t events = is_darkmont(p) ? 13 : p->fixed_counters > DS_MODEL_FIXED_SLOTS ? 8 : 7;
    memset(out, 0, 4 * sizeof out[0]);
    switch (leaf) {
    case 0:
        out[0] = last_leaf(p);
        memcpy(&out[1], "Genu", 4);
        memcpy(&out[3], "ineI", 4);
        memcpy(&out[2], "ntel", 4);
        break;
    case 1:
        out[0] = p->signature;
        out[2] = (p->ds ? CPUID_01H_ECX_DTES64 : 0) | (p->ds_cpl ? CPUID_01H_ECX_DS_CPL : 0) | CPUID_01H_ECX_PDCM |
                 (p->kvm ? CPUID_01H_ECX_HYPERVISOR : 0);
        out[3] = p->ds ? CPUID_01H_EDX_DS : 0;
        break;
    case 7:
        if (subleaf == 0) {
            out[0] = p->leaf_23h ? 1 : 0; /* the last subleaf */
            out[3] = (p->arch_lbr ? CPUID_07H_EDX_ARCH_LBR : 0) | (p->core_type ? CPUID_07H_EDX_HYBRID : 0);
        } else if (subleaf == 1) {
            out[0] = p->leaf_23h ? CPUID_07H_1_EAX_PERFMON_EXT : 0;
        }
        break;
    case 0x1A:
        out[0] = (uint32_t)p->core_type << 24 | p->native_model;
        break;
    case 0x1C:
        out[0] = p->lbr_depths;
        out[1] = p->arch_lbr ? CPUID_1CH_EBX_CPL | CPUID_1CH_EBX_FILTER | CPUID_1CH_EBX_CALL_STACK : 0;
        out[2] = p->lbr_logs ? CPUID_1CH_ECX_EVENT_LOGGING : 0;
        break;
    case 0x23:
        if (p->leaf_23h)
            p->leaf_23h(p, subleaf, out);
        break;
    case 0x0A:
        out[0] = events << 24 | (uint32_t)p->width << 16 | (uint32_t)p->gp_counters << 8 | p->perfmon_version;
        out[1] = ~ds_model_architectural_events(p) & ((1u << events) - 1);
        out[2] = p->perfmon_version >= 5 ? ds_model_fixed(p) : 0;
        out[3] = (p->perfmon_version >= 5 || p->kvm ? ANYTHREAD_DEPRECATED : 0) | (uint32_t)p->width << 5 |
                 p->fixed_counters;
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
