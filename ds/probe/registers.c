/* SPDX-License-Identifier: MIT */
/* Which values registers accept. Nothing counts meanwhile. */
#include "ds/probe/internal.h"

#include "kernel/lib/string.h"

/* Bits that no generation has used so far. */
static const struct {
    uint32_t msr;
    uint8_t bit;
    enum { ANY, DEBUG_STORE, BASELINE, ARCHITECTURAL } of; /* PEBS; only the first has registers of all of them */
} reserved[] = {
    {IA32_PERFEVTSEL0, 63, ANY},         {IA32_PEBS_ENABLE, 59, DEBUG_STORE},     {IA32_PERF_GLOBAL_CTRL, 62, ANY},
    {IA32_FIXED_CTR_CTRL, 63, ANY},      {MSR_PEBS_DATA_CFG, 63, BASELINE},       {IA32_PEBS_BASE, 63, ARCHITECTURAL},
    {IA32_PEBS_INDEX, 0, ARCHITECTURAL}, {IA32_PMC_GP0_CFG_C, 32, ARCHITECTURAL},
};
#define RESERVED (sizeof reserved / sizeof reserved[0])

/* Whether the processor has the register number `i`. */
static bool has_reserved(const struct ds_probe *p, unsigned i)
{
    switch (reserved[i].of) {
    case DEBUG_STORE:
        return !ds_probe_arch(p);
    case BASELINE:
        return p->caps->baseline;
    case ARCHITECTURAL:
        return ds_probe_arch(p) && (reserved[i].msr != IA32_PMC_GP0_CFG_C || p->caps->pebs_counters & 1);
    default:
        return reserved[i].msr != IA32_FIXED_CTR_CTRL || p->caps->fixed_counters;
    }
}

void ds_probe_reserved(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_machine *m = p->bench->machine;
    unsigned faults = 0, ignored = 0, kept = 0, tried = 0;
    uint32_t odd = 0;
    ds_probe_reset(p);
    for (unsigned i = 0; i < RESERVED; i++) {
        const uint32_t msr = reserved[i].msr;
        uint64_t after = 0;
        if (!has_reserved(p, i))
            continue;
        tried++;
        if (m->wrmsr(m->context, msr, DS_BIT(reserved[i].bit))) {
            faults++;
            continue;
        }
        after = ds_probe_read(p, msr);
        ignored += after == 0;
        kept += after != 0;
        odd = after ? msr : odd;
        ds_probe_write(p, msr, 0);
    }
    const char *answer = faults == tried ? "fault" : ignored == tried ? "ignore" : "other";
    if (kept)
        ds_probe_answer(r, answer, "of %u registers %u raise #GP, %u ignore it, %u keep it, as MSR 0x%x does", tried,
                        faults, ignored, kept, odd);
    else
        ds_probe_answer(r, answer, "of %u registers %u raise #GP, %u ignore it", tried, faults, ignored);
}

#define NOT_CANONICAL UINT64_C(0x0100000000000000) /* with 48 bits of addresses, and with 57 */

void ds_probe_ds_area(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_machine *m = p->bench->machine;
    uint64_t after;
    if (ds_probe_arch(p) && !p->caps->bts) {
        ds_probe_unknown(r, "no BTS, and architectural PEBS has no use for it");
        return;
    }
    ds_probe_reset(p);
    const bool fault = m->wrmsr(m->context, IA32_DS_AREA, NOT_CANONICAL);
    after = ds_probe_read(p, IA32_DS_AREA);
    ds_probe_write(p, IA32_DS_AREA, (uint64_t)(uintptr_t)p->bench->area);
    ds_probe_answer(r,
                    fault                    ? "fault"
                    : after == NOT_CANONICAL ? "kept"
                                             : "ignore",
                    "0x%lx written%s, 0x%lx read", (unsigned long)NOT_CANONICAL, fault ? ": #GP" : "",
                    (unsigned long)after);
}

void ds_probe_pmc_write(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_machine *m = p->bench->machine;
    const uint64_t low = 0x80000001, value = UINT64_C(0x12) << 32 | low; /* within 40 bits */
    const uint64_t extended = ds_initial(p->caps, 0, (uint64_t)1 << 32) | low;
    ds_probe_reset(p);
    ds_probe_write(p, IA32_PMC0, 0);
    const bool fault = m->wrmsr(m->context, IA32_PMC0, value);
    const uint64_t after = ds_probe_read(p, IA32_PMC0);
    ds_probe_answer(r,
                    fault               ? "fault"
                    : after == extended ? "sign_extended"
                    : after == value    ? "all_bits"
                    : after == low      ? "low_half"
                                        : "other",
                    "0x%lx written%s, 0x%lx read", (unsigned long)value, fault ? ": #GP" : "", (unsigned long)after);
}

/* Registers of PEBS and the Debug Store that a processor has, and what tells that: its record format, from which on,
 * and up to which, they are there. */
static const struct {
    uint32_t msr;
    uint8_t from, to;
    const char *name;
} debug_store[] = {
    {IA32_DS_AREA, 0, DS_FORMAT_ARCH, "IA32_DS_AREA"},
    {IA32_PEBS_ENABLE, 0, DS_FORMAT_ARCH - 1, "IA32_PEBS_ENABLE"},
    {MSR_PEBS_LD_LAT, 1, DS_FORMAT_ARCH, "MSR_PEBS_LD_LAT"},
    {MSR_PEBS_FRONTEND, 3, DS_FORMAT_ARCH - 1, "MSR_PEBS_FRONTEND"},
    {MSR_PEBS_DATA_CFG, 4, DS_FORMAT_ARCH - 1, "MSR_PEBS_DATA_CFG"},
    {IA32_PEBS_BASE, DS_FORMAT_ARCH, DS_FORMAT_ARCH, "IA32_PEBS_BASE"},
    {IA32_PEBS_INDEX, DS_FORMAT_ARCH, DS_FORMAT_ARCH, "IA32_PEBS_INDEX"},
};

void ds_probe_hypervisor(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_machine *m = p->bench->machine;
    char refused[sizeof r->evidence] = "";
    uint32_t leaf[4];
    uint64_t value;
    m->cpuid(m->context, 1, 0, leaf);
    if (!(leaf[2] & CPUID_01H_ECX_HYPERVISOR)) {
        ds_probe_answer(r, "none", "no hypervisor shows itself");
        return;
    }
    m->cpuid(m->context, CPUID_HYPERVISOR, 0, leaf);
    ds_probe_reset(p);
    for (unsigned i = 0; i < sizeof debug_store / sizeof debug_store[0]; i++)
        if (p->caps->format >= debug_store[i].from && p->caps->format <= debug_store[i].to &&
            m->rdmsr(m->context, debug_store[i].msr, &value))
            snprintf(refused + strlen(refused), sizeof refused - strlen(refused), " %s", debug_store[i].name);
    if (m->wrmsr(m->context, IA32_DEBUGCTL, IA32_DEBUGCTL_BTINT))
        snprintf(refused + strlen(refused), sizeof refused - strlen(refused), " IA32_DEBUGCTL.BTINT");
    else
        ds_probe_write(p, IA32_DEBUGCTL, 0);
    ds_probe_answer(r, *refused ? "some" : "none", "%.12s; #GP:%s", (const char *)&leaf[1],
                    *refused ? refused : " of none");
}
