/* SPDX-License-Identifier: MIT */
/* The detection table, and what of detection (ds/driver/detect.c) several of its parts ask. */
#include "ds/driver/detect.h"

struct ds_test *ds_caps_row(struct ds_caps *caps, const char *name, uint64_t value, bool ok, const char *verdict)
{
    struct ds_test *t = &caps->test[caps->tests];
    *t = (struct ds_test){.name = name, .value = value, .ok = ok, .verdict = verdict};
    __atomic_store_n(&caps->tests, caps->tests + 1, __ATOMIC_RELEASE); /* a panic's dump shows whole rows */
    return t;
}

void ds_caps_refuse(struct ds_caps *caps, const char *why)
{
    if (!caps->reason)
        caps->reason = why;
}

void ds_caps_no_bts(struct ds_caps *caps, const char *why)
{
    if (caps->bts || !caps->bts_reason)
        caps->bts_reason = why;
    caps->bts = false;
}

struct ds_test *ds_detect_row(struct ds_detection *d, const char *name, uint64_t value, bool ok, const char *verdict)
{
    return ds_caps_row(d->caps, name, value, ok, verdict);
}

void ds_detect_require(struct ds_detection *d, const char *name, uint64_t value, bool ok, const char *yes,
                       const char *no)
{
    ds_detect_row(d, name, value, ok, ok ? yes : no);
    if (!ok)
        ds_caps_refuse(d->caps, no);
}

void ds_detect_cpuid(const struct ds_detection *d, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    d->machine->cpuid(d->machine->context, leaf, subleaf, out);
}

bool ds_detect_rdmsr(const struct ds_detection *d, uint32_t msr, uint64_t *value)
{
    return d->machine->rdmsr(d->machine->context, msr, value) == 0;
}

bool ds_detect_misc_enable(struct ds_detection *d, uint64_t *value)
{
    struct ds_caps *c = d->caps;
    const bool ds = c->bts;
    if (!ds_detect_rdmsr(d, IA32_MISC_ENABLE, value)) {
        ds_detect_row(d, "IA32_MISC_ENABLE", 0, false, "reading it raises #GP")->faulted = true;
        ds_caps_refuse(c, "IA32_MISC_ENABLE cannot be read, so nothing says that performance monitoring is on");
        if (ds)
            ds_caps_no_bts(c, "IA32_MISC_ENABLE cannot be read, so nothing says that BTS is there");
        return false;
    }
    const uint64_t v = *value;
    const bool on = v & IA32_MISC_ENABLE_PERFMON;
    /* Beneath a hypervisor the register's value may be made up without it: QEMU's is. */
    ds_detect_require(d, "IA32_MISC_ENABLE.PERFMON[7]", v >> 7 & 1, on || (d->hypervisor && c->perfmon_version >= 2),
                      on ? "performance monitoring is on"
                         : "0, but under a hypervisor: CPUID.0AH has counters, and is believed",
                      "IA32_MISC_ENABLE says that performance monitoring is off");
    if (ds && v & IA32_MISC_ENABLE_BTS_UNAVAIL)
        ds_caps_no_bts(c, "IA32_MISC_ENABLE.BTS_UNAVAIL says that BTS is not there");
    ds_detect_row(d, "IA32_MISC_ENABLE.BTS_UNAVAIL[11]", v >> 11 & 1, c->bts,
                  c->bts ? "BTS is there"
                  : ds   ? "BTS is not there"
                         : "0 would say that BTS is there, but without CPUID's DS bit it means nothing");
    return true;
}

__attribute__((weak)) void ds_detect_history(struct ds_detection *d)
{
    d->caps->lbr = DS_LBR_LEFT_OUT;
    ds_detect_row(d, DS_TEST_HISTORY, d->capabilities & IA32_PERF_CAPABILITIES_LBR_FMT, false,
                  "this kernel is built without branch history: no LBR group in records");
}

bool ds_detect_capabilities(struct ds_detection *d)
{
    const bool pdcm = d->leaf1[2] & CPUID_01H_ECX_PDCM;
    ds_detect_row(d, "CPUID.01H:ECX.PDCM[15]", pdcm, pdcm,
                  pdcm ? "IA32_PERF_CAPABILITIES can be read" : "no IA32_PERF_CAPABILITIES: the record format is 0");
    if (!d->no_capabilities)
        return pdcm;
    ds_detect_row(d, "IA32_PERF_CAPABILITIES", 0, false, "reading it raises #GP although CPUID has PDCM")->faulted =
        true;
    ds_caps_refuse(d->caps, "IA32_PERF_CAPABILITIES cannot be read although CPUID has PDCM, so the record format is "
                            "unknown");
    return false;
}

void ds_detect_full_width(struct ds_detection *d)
{
    const bool wide = d->caps->full_width_writes = d->capabilities & IA32_PERF_CAPABILITIES_FW_WRITE;
    ds_detect_row(d, "IA32_PERF_CAPABILITIES.FW_WRITE[13]", wide, true,
                  wide ? "counters are written at full width" : "counters take 32 bits, sign-extended");
}

void ds_detect_groups(struct ds_detection *d)
{
    const bool timing = d->capabilities & IA32_PERF_CAPABILITIES_PEBS_TIMING;
    ds_detect_row(d, DS_TEST_TIMING, timing, true,
                  timing ? "records have the retire latency" : "no retire latency in records");
    ds_detect_history(d);
}
