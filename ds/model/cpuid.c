/* SPDX-License-Identifier: MIT */
/* The model's CPUID. */
#include "ds/caps.h"
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

#define ANYTHREAD_DEPRECATED (1u << 15) /* CPUID.0AH:EDX, version 5, and KVM */

/* Bit n: there is architectural event n. Not there: mispredicted branches (6). */
#define ARCHITECTURAL_EVENTS 0x27u
#define CACHE_EVENTS         0x18u /* with a memory system */
#define SLOTS_EVENT          0x80u /* where there is the fixed counter */

uint32_t ds_model_architectural_events(const struct ds_model_preset *p)
{
    return ARCHITECTURAL_EVENTS | (p->memory ? CACHE_EVENTS : 0) |
           (ds_model_has_fixed(p, DS_MODEL_FIXED_SLOTS) ? SLOTS_EVENT : 0);
}

void ds_model_cpuid(const struct ds_model *m, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    const struct ds_model_preset *p = m->preset;
    /* CPUID.0AH tells of the first 7 architectural events, and of the 8th where there is a fixed counter for it. */
    const uint32_t events = p->fixed_counters > DS_MODEL_FIXED_SLOTS ? 8 : 7;
    memset(out, 0, 4 * sizeof out[0]);
    switch (leaf) {
    case 0:
        out[0] = 0x16; /* the TSC's rate */
        memcpy(&out[1], "Genu", 4);
        memcpy(&out[3], "ineI", 4);
        memcpy(&out[2], "ntel", 4);
        break;
    case 1:
        out[0] = p->signature;
        out[2] = (p->ds ? CPUID_01H_ECX_DTES64 : 0) |
                 (ds_model_bts_debugctl(p) & IA32_DEBUGCTL_BTS_OFF_OS ? CPUID_01H_ECX_DS_CPL : 0) | CPUID_01H_ECX_PDCM;
        out[3] = p->ds ? CPUID_01H_EDX_DS : 0;
        break;
    case 0x0A:
        out[0] = events << 24 | (uint32_t)p->width << 16 | (uint32_t)p->gp_counters << 8 | p->perfmon_version;
        out[1] = ~ds_model_architectural_events(p) & ((1u << events) - 1);
        out[2] = p->perfmon_version >= 5 ? ds_model_fixed(p) : 0;
        out[3] = (p->perfmon_version >= 5 || p->kvm ? ANYTHREAD_DEPRECATED : 0) | (uint32_t)p->width << 5 |
                 p->fixed_counters;
        break;
    default:
        break;
    }
    if (ds_model_more_leaves)
        ds_model_more_leaves(p, leaf, subleaf, out);
}
