/* SPDX-License-Identifier: MIT */
/*
 * Is there architectural PEBS that this driver can use? CPUID.23H and IA32_PERF_CAPABILITIES.PEBS_FMT both have to say
 * so. The Debug Store, if there is one, is for BTS alone.
 *
 * SDM vol. 1, CPUID leaf 23H.
 */
#include "ds/driver/detect.h"
#include "ds/pebs23/pebs23.h"

#include "kernel/lib/string.h"

void ds_pebs23_find_store(struct ds_detection *d)
{
    struct ds_caps *c = d->caps;
    c->bts = d->leaf1[3] & CPUID_01H_EDX_DS;
    ds_detect_row(d, "CPUID.01H:EDX.DS[21]", c->bts, true,
                  c->bts ? "the Debug Store exists: for BTS alone"
                         : "no Debug Store, so no BTS; architectural PEBS needs none");
    c->bts_reason = c->bts ? "the processor has BTS, in the Debug Store"
                           : "CPUID.01H:EDX.DS is 0: this processor, real or emulated, has no Debug Store";
}

static void test_capabilities(struct ds_detection *d)
{
    static const char disagree[] =
        "CPUID.23H describes architectural PEBS, but IA32_PERF_CAPABILITIES.PEBS_FMT is not 15: the two disagree, so "
        "there is no PEBS to rely on";
    struct ds_caps *c = d->caps;
    if (!ds_detect_capabilities(d)) {
        ds_caps_refuse(c, disagree);
        return;
    }
    const uint64_t v = d->capabilities;
    c->format = (uint8_t)ia32_perf_capabilities_pebs_fmt(v);
    const bool here = c->format == DS_FORMAT_ARCH;
    ds_detect_require(d, DS_TEST_FORMAT, c->format, here, "architectural PEBS", disagree);
    if (!here)
        return; /* nor is what follows to be relied on */
    c->instead = "architectural";
    c->adaptive = true; /* and no baseline: there is no MSR_PEBS_DATA_CFG */
    ds_detect_row(d, DS_TEST_BASELINE, v >> 14 & 1, true, "no meaning here: each counter has its own groups");
    ds_detect_row(d, DS_TEST_TRAP, v >> 6 & 1, true, "a record's RIP is where execution continues");
    ds_detect_full_width(d);
    ds_detect_groups(d);
}

/* Counters of a subleaf, numbered as in GLOBAL_STATUS. */
static uint64_t counters(uint32_t gp, uint32_t fixed)
{
    return gp | (uint64_t)fixed << DS_COUNTER_FIXED;
}

/* What CPUID.23H says of counters and groups, once it is known that it counts. Fixed counters behind a gap, which have
 * events of their own, are left out: CPUID.0AH does not count them. */
static void test_subleaves(struct ds_detection *d)
{
    struct ds_caps *c = d->caps;
    const uint64_t ours = counters((uint32_t)(DS_BIT(c->gp_counters) - 1), (uint32_t)(DS_BIT(c->fixed_counters) - 1));
    uint32_t r[4];
    ds_detect_cpuid(d, 0x23, 0, r);
    const bool reloads = r[0] & CPUID_23H_EAX_ACR;
    ds_detect_cpuid(d, 0x23, 1, r);
    const uint64_t all = counters(r[0], r[1]);
    ds_detect_row(d, "CPUID.23H.1:EAX, EBX counters", all, true, "all counters, fixed ones from bit 32 on");
    if (reloads) {
        ds_detect_cpuid(d, 0x23, 2, r);
        c->acr_counters = counters(r[0], r[1]) & all & ours;
        ds_detect_row(d, "CPUID.23H.2:EAX, EBX reloaded", counters(r[0], r[1]), true,
                      "counters with auto counter reload, which set-up turns off");
    }
    ds_detect_cpuid(d, 0x23, 4, r);
    c->arch_groups = cpuid_23h_4_groups(r[1]);
    ds_detect_row(d, "CPUID.23H.4:EBX groups", r[1], true,
                  "groups of records, where a counter's CFG_C has them in [63:32]");
    ds_detect_cpuid(d, 0x23, 5, r);
    const uint64_t pebs = counters(r[0], r[2]), pdist = counters(r[1], r[3]);
    ds_detect_require(d, "CPUID.23H.5:EAX, ECX PEBS", pebs, pebs & ours && !(pebs & ~all), "counters with PEBS",
                      pebs & ours ? "CPUID.23H.5 names counters with PEBS that are not among those of CPUID.23H.1"
                                  : "CPUID.23H.5 names no counter with PEBS that CPUID.0AH has");
    ds_detect_require(d, "CPUID.23H.5:EBX, EDX PDIST", pdist, !(pdist & ~all), "counters with precise distribution",
                      "CPUID.23H.5 names counters with precise distribution that are not among those of CPUID.23H.1");
    c->pebs_counters = pebs & ours;
    c->pdist_counters = pdist & c->pebs_counters;
}

void ds_pebs23_find(struct ds_detection *d)
{
    uint32_t seven[4] = {0};
    uint64_t misc;
    if (ds_detect_misc_enable(d, &misc)) {
        const bool unavailable = misc & IA32_MISC_ENABLE_PEBS_UNAVAIL;
        ds_detect_row(d, "IA32_MISC_ENABLE.PEBS_UNAVAIL[12]", unavailable, true,
                      unavailable ? "no PEBS in the Debug Store: it is architectural"
                                  : "0, which says nothing about architectural PEBS");
    }
    test_capabilities(d);
    if (d->caps->reason)
        return;
    if (d->leaves >= 7)
        ds_detect_cpuid(d, 7, 1, seven);
    const bool extended = seven[0] & CPUID_07H_1_EAX_PERFMON_EXT;
    ds_detect_require(d, "CPUID.07H.1:EAX.ARCH_PERFMON_EXT[8]", extended, extended, "CPUID.23H counts",
                      "CPUID.07H.1:EAX.ARCH_PERFMON_EXT is 0, so CPUID.23H is not valid: there is no PEBS to rely on");
    if (extended)
        test_subleaves(d);
}

/* Whether it is on, as a whole or on a counter. */
static bool is_on(const struct ds_machine *m, const struct ds_caps *caps, bool *refused)
{
    uint64_t index = 0, cfg_c = 0;
    *refused |= m->rdmsr(m->context, IA32_PEBS_INDEX, &index) != 0;
    bool on = index & IA32_PEBS_INDEX_EN;
    for (uint64_t set = caps->pebs_counters; set && !on; set &= set - 1, on = cfg_c & IA32_PMC_CFG_C_EN)
        *refused |= m->rdmsr(m->context, ds_pebs23_cfg_c((unsigned)__builtin_ctzll(set)), &cfg_c) != 0;
    return on;
}

void ds_pebs23_find_users(const struct ds_machine *m, const struct ds_caps *caps, struct ds_users *u)
{
    *u = (struct ds_users){.name = "IA32_PEBS_BASE in use",
                           .yes = "already set, or architectural PEBS is on: left alone without ds.force=1",
                           .no = "free: it is 0, architectural PEBS is off"};
    u->refused = m->rdmsr(m->context, IA32_PEBS_BASE, &u->value) != 0;
    u->used = u->value || is_on(m, caps, &u->refused);
    if (u->used)
        snprintf(u->word, sizeof u->word, u->value ? "IA32_PEBS_BASE=0x%lx " : "architectural PEBS ",
                 (unsigned long)u->value);
}
