/* SPDX-License-Identifier: MIT */
/* CPUID of the model. */
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

#define ANYTHREAD_DEPRECATED  (1u << 15) /* CPUID.0AH:EDX, version 5 */

void ds_model_cpuid(const struct ds_model *m, uint32_t leaf, uint32_t out[4])
{
    const struct ds_model_preset *p = m->preset;
    const bool slots = p->fixed_counters > DS_MODEL_FIXED_SLOTS;
    memset(out, 0, 4 * sizeof out[0]);
    switch (leaf) {
    case 0:
        out[0] = p->arch_lbr ? 0x1C : 0x0A;
        memcpy(&out[1], "Genu", 4);
        memcpy(&out[3], "ineI", 4);
        memcpy(&out[2], "ntel", 4);
        break;
    case 1:
        out[0] = p->signature;
        out[2] = CPUID_01H_ECX_DTES64 | (p->ds_cpl ? CPUID_01H_ECX_DS_CPL : 0) | CPUID_01H_ECX_PDCM;
        out[3] = p->ds ? CPUID_01H_EDX_DS : 0;
        break;
    case 7:
        out[3] = (p->arch_lbr ? CPUID_07H_EDX_ARCH_LBR : 0) | (p->core_type ? CPUID_07H_EDX_HYBRID : 0);
        break;
    case 0x1A:
        out[0] = (uint32_t)p->core_type << 24;
        break;
    case 0x1C:
        out[0] = p->lbr_depths;
        out[1] = p->arch_lbr ? CPUID_1CH_EBX_CPL | CPUID_1CH_EBX_FILTER | CPUID_1CH_EBX_CALL_STACK : 0;
        break;
    case 0x0A:
        /* EBX has a bit for each of the 7 architectural events, where there is a fixed counter for it also of the 8th,
         * that is not available: cache references and misses (3, 4), mispredicted branches (6), slots (7). */
        out[0] = (uint32_t)(slots ? 8 : 7) << 24 | (uint32_t)p->width << 16 | (uint32_t)p->gp_counters << 8 |
                 p->perfmon_version;
        out[1] = 1u << 3 | 1u << 4 | 1u << 6 | (slots ? 1u << 7 : 0);
        out[2] = p->perfmon_version >= 5 ? (1u << p->fixed_counters) - 1 : 0;
        out[3] = (p->perfmon_version >= 5 ? ANYTHREAD_DEPRECATED : 0) | (uint32_t)p->width << 5 | p->fixed_counters;
        break;
    default:
        break;
    }
}
