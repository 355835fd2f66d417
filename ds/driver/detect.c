/* SPDX-License-Identifier: MIT */
/*
 * Is there a Debug Store that this driver can use? The tests are in the order in which the manual's conditions depend
 * on one another; each gives a row for people to read. The first test that fails decides the reason. Later rows are
 * still filled if a read can do no harm, because they show why flags must not be used out of order: QEMU's TCG returns
 * 0 for IA32_MISC_ENABLE, whose bits 11 and 12 mean 'unavailable', and so seems to have both PEBS and BTS.
 *
 * BTS needs the Debug Store and its bit of IA32_MISC_ENABLE, but no counters: it may exist where PEBS does not.
 *
 * Architectural PEBS needs no Debug Store: CPUID.23H tells of it, and IA32_PERF_CAPABILITIES.PEBS_FMT is 15. Where only
 * one of the two says so, neither is believed. What either kind has to be asked is its mechanism's
 * (ds/driver/mechanism.h). Each CPU is asked itself, because cores of a hybrid differ.
 *
 * SDM vol. 3B, "Debug Store (DS) Mechanism", "Detection of the BTS Facilities"; vol. 3B, "PEBS Record Format"; vol. 1,
 * CPUID leaf 23H.
 */
#include "ds/driver/detect.h"

#include "ds/driver/events.h"
#include "ds/driver/mechanism.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* Before whatever else may be missing there, which would be true and yet not the reason. */
static const struct ds_mechanism *find_mechanism(struct ds_detection *d)
{
    const uint32_t both = CPUID_23H_EAX_ARCH_PEBS_CAPS | CPUID_23H_EAX_ARCH_PEBS_COUNTERS;
    uint32_t r[4] = {0};
    if (d->leaves >= 0x23)
        ds_detect_cpuid(d, 0x23, 0, r);
    d->no_capabilities =
        d->leaf1[2] & CPUID_01H_ECX_PDCM && !ds_detect_rdmsr(d, IA32_PERF_CAPABILITIES, &d->capabilities);
    const unsigned architectural = IA32_PERF_CAPABILITIES_PEBS_FMT_ARCHITECTURAL;
    const bool leaf_23 = (r[0] & both) == both;
    const bool either = leaf_23 || ia32_perf_capabilities_pebs_fmt(d->capabilities) == architectural;
    ds_detect_require(
        d, "CPUID.23H:EAX subleaves[5:4]", r[0] >> 4 & 3, leaf_23 == either,
        either ? "architectural PEBS: subleaves 4 and 5 describe it" : "not architectural PEBS",
        "IA32_PERF_CAPABILITIES.PEBS_FMT is that of architectural PEBS, but CPUID.23H has no subleaves 4 and 5: the "
        "two disagree, so there is no PEBS to rely on");
    const struct ds_mechanism *m = either ? ds_mechanism_of(architectural) : &ds_store;
    if (either && m == &ds_store)
        ds_caps_refuse(d->caps, "the processor has architectural PEBS, which this kernel is built without");
    return m;
}

__attribute__((weak)) void ds_find_errata(const struct ds_machine *machine, uint32_t signature, struct ds_caps *caps)
{
    (void)machine;
    ds_caps_row(caps, "errata", signature, false, "not known: this kernel is built without them");
}

/* A bit for each of `count` counters, of the first `most` only. */
static uint64_t lowest(unsigned count, unsigned most)
{
    return DS_BIT(count < most ? count : most) - 1;
}

/* With the baseline all counters that the area has reset values for. Before it the first four GP counters at most: Core
 * 2 and most Atoms (and Xeon Phi) have PEBS on PMC0 alone, Goldmont Plus on all, fixed ones too. Linux'
 * arch/x86/events/intel/{core,ds}.c. */
static uint64_t pebs_counters(const struct ds_caps *caps, unsigned model)
{
    static const uint8_t first_only[] = {0x37, 0x4A, 0x4D, 0x5D, 0x4C, 0x5A, 0x75, 0x57, 0x85, 0x5C, 0x5F};
    const bool wide = caps->format >= 5, goldmont_plus = model == 0x7A;
    unsigned gp = caps->baseline ? (wide ? 32 : 8) : caps->format == 0 ? 1 : 4;
    for (unsigned i = 0; i < sizeof first_only; i++)
        if (first_only[i] == model)
            gp = 1;
    uint64_t fixed = caps->baseline || goldmont_plus ? lowest(caps->fixed_counters, wide ? 16 : 4) : 0;
    return lowest(caps->gp_counters, gp) | fixed << DS_COUNTER_FIXED;
}

int ds_detect(const struct ds_machine *machine, struct ds_caps *caps)
{
    struct ds_detection detection = {.machine = machine, .caps = caps}, *d = &detection;
    uint32_t leaf0[4], *const leaf1 = d->leaf1, leaf0a[4] = {0}, leaf1a[4] = {0}, hypervisor[4];
    memset(caps, 0, sizeof *caps);

    ds_detect_cpuid(d, 0, 0, leaf0);
    const uint32_t vendor[] = {leaf0[1], leaf0[3], leaf0[2]};
    bool intel = memcmp(vendor, "GenuineIntel", 12) == 0, amd = memcmp(vendor, "AuthenticAMD", 12) == 0;
    ds_detect_cpuid(d, CPUID_HYPERVISOR, 0, hypervisor);
    ds_detect_require(d, "CPUID.00H vendor", leaf0[1], intel, "GenuineIntel",
                      memcmp(&hypervisor[1], "TCGT", 4) == 0 ? "QEMU's emulated CPU has no Debug Store"
                      : amd ? "the processor is AuthenticAMD: AMD has no Debug Store (its precise sampling is IBS)"
                            : "the processor is not GenuineIntel: only Intel has a Debug Store");
    if (!intel) {
        ds_caps_no_bts(caps, caps->reason);
        return -ENODEV;
    }

    d->leaves = leaf0[0];
    ds_detect_cpuid(d, 1, 0, leaf1);
    d->hypervisor = leaf1[2] & CPUID_01H_ECX_HYPERVISOR;
    if (leaf0[0] >= 0x1A)
        ds_detect_cpuid(d, 0x1A, 0, leaf1a);
    caps->core_type = (uint8_t)(leaf1a[0] >> 24);
    if (caps->core_type)
        ds_detect_row(d, "CPUID.1AH:EAX core type[31:24]", caps->core_type, true,
                      caps->core_type == CPUID_1AH_EAX_ATOM   ? "an efficient core (Atom)"
                      : caps->core_type == CPUID_1AH_EAX_CORE ? "a performance core"
                                                              : "of a kind not known here");
    ds_detect_row(d, "CPUID.01H:EAX family and model", leaf1[0], true,
                  &ds_events ? ds_events.find(caps, leaf1[0], leaf1a[0]) : DS_EVENTS_UNLISTED);
    const struct ds_mechanism *m = find_mechanism(d);
    m->find_store(d);
    ds_detect_row(d, "CPUID.01H:ECX.DTES64[2]", leaf1[2] >> 2 & 1, true,
                  leaf1[2] & CPUID_01H_ECX_DTES64 ? "64-bit layout in every mode"
                                                  : "64-bit layout in long mode, as here");
    caps->bts_cpl = leaf1[2] & CPUID_01H_ECX_DS_CPL;
    ds_detect_row(d, "CPUID.01H:ECX.DS_CPL[4]", caps->bts_cpl, true,
                  caps->bts_cpl ? "BTS can be limited by ring" : "BTS sees all rings");

    if (leaf0[0] >= 0x0A)
        ds_detect_cpuid(d, 0x0A, 0, leaf0a);
    caps->perfmon_version = (uint8_t)cpuid_0ah_eax_version(leaf0a[0]);
    caps->gp_counters = (uint8_t)cpuid_0ah_eax_gp_counters(leaf0a[0]);
    caps->gp_width = (uint8_t)cpuid_0ah_eax_gp_width(leaf0a[0]);
    caps->fixed_counters = (uint8_t)cpuid_0ah_edx_fixed_counters(leaf0a[3]);
    caps->fixed_width = (uint8_t)cpuid_0ah_edx_fixed_width(leaf0a[3]);
    ds_detect_require(d, "CPUID.0AH:EAX version[7:0]", caps->perfmon_version, caps->perfmon_version >= 2,
                      "IA32_PERF_GLOBAL_CTRL and _STATUS exist",
                      "architectural performance monitoring is older than version 2: no IA32_PERF_GLOBAL_CTRL");
    ds_detect_require(
        d, "CPUID.0AH:EAX counters[15:8]", caps->gp_counters,
        caps->gp_counters >= 1 && caps->gp_counters <= DS_GP_MAX && caps->gp_width >= 32 &&
                caps->gp_width<64, "general-purpose counters", caps->gp_counters> DS_GP_MAX
            ? "CPUID.0AH names more than 10 general-purpose counters: this driver does not know their registers"
            : "CPUID.0AH names no usable general-purpose counters");
    ds_detect_require(d, "CPUID.0AH:EDX counters[4:0]", caps->fixed_counters,
                      !caps->fixed_counters ||
                          (caps->fixed_counters <= DS_FIXED_MAX && caps->fixed_width >= 32 && caps->fixed_width < 64),
                      caps->fixed_counters ? "fixed counters" : "no fixed counters",
                      "CPUID.0AH names fixed counters of an unusable number or width");

    m->find_pebs(d);

    if (leaf1[3] & CPUID_01H_EDX_DS || caps->instead)
        ds_find_errata(machine, leaf1[0], caps);

    d->possible = !caps->reason;
    const struct ds_detect_row *const *more;
    for (ROWS_EACH(ds_detect, more))
        (*more)->find(d);

    caps->area_bytes = caps->instead ? sizeof(struct ds_area_60) : ds_area_bytes(caps->format, false);
    if (caps->reason)
        return -ENODEV;
    caps->pebs = true;
    caps->reason = m->found;
    if (caps->instead)
        return 0;
    caps->pebs_counters = pebs_counters(caps, cpuid_01h_eax_family(leaf1[0]) == 6 ? cpuid_01h_eax_model(leaf1[0]) : 0);
    caps->area_bytes = ds_area_bytes(caps->format, caps->pebs_counters >> DS_COUNTER_FIXED);
    return 0;
}
