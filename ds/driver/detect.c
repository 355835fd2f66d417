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
 * one of the two says so, neither is believed. Each CPU is asked itself, because cores of a hybrid differ.
 *
 * SDM vol. 3B, "Debug Store (DS) Mechanism", "Detection of the BTS Facilities"; vol. 3B, "PEBS Record Format"; vol. 1,
 * CPUID leaf 23H.
 */
#include "ds/driver/detect.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

struct detection {
    const struct ds_machine *machine;
    struct ds_caps *caps;
    bool hypervisor;
    uint64_t capabilities; /* IA32_PERF_CAPABILITIES; 0: there is none, */
    bool no_capabilities;  /* or reading it raises #GP */
    bool arch_cpuid;       /* CPUID.23H tells of architectural PEBS */
    bool arch;             /* that or PEBS_FMT does */
};

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

static struct ds_test *row(struct detection *d, const char *name, uint64_t value, bool ok, const char *verdict)
{
    return ds_caps_row(d->caps, name, value, ok, verdict);
}

/* A row that must hold: the first that does not gives the reason. */
static void require(struct detection *d, const char *name, uint64_t value, bool ok, const char *yes, const char *no)
{
    row(d, name, value, ok, ok ? yes : no);
    if (!ok)
        ds_caps_refuse(d->caps, no);
}

static void cpuid_subleaf(const struct detection *d, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    d->machine->cpuid(d->machine->context, leaf, subleaf, out);
}

static void cpuid(const struct detection *d, uint32_t leaf, uint32_t out[4])
{
    cpuid_subleaf(d, leaf, 0, out);
}

static bool rdmsr(const struct detection *d, uint32_t msr, uint64_t *value)
{
    return d->machine->rdmsr(d->machine->context, msr, value) == 0;
}

static void no_bts(struct ds_caps *c, const char *why)
{
    c->bts = false;
    c->bts_reason = why;
}

/* Before whatever else may be missing there, which would be true and yet not the reason. */
static void test_architectural(struct detection *d, unsigned leaves, bool pdcm)
{
    const uint32_t both = CPUID_23H_EAX_ARCH_PEBS_CAPS | CPUID_23H_EAX_ARCH_PEBS_COUNTERS;
    uint32_t r[4] = {0};
    if (leaves >= 0x23)
        cpuid(d, 0x23, r);
    d->no_capabilities = pdcm && !rdmsr(d, IA32_PERF_CAPABILITIES, &d->capabilities);
    const bool format =
        ia32_perf_capabilities_pebs_fmt(d->capabilities) == IA32_PERF_CAPABILITIES_PEBS_FMT_ARCHITECTURAL;
    d->arch_cpuid = (r[0] & both) == both;
    d->arch = d->arch_cpuid || format;
    require(
        d, "CPUID.23H:EAX subleaves[5:4]", r[0] >> 4 & 3, d->arch_cpuid == d->arch,
        d->arch ? "architectural PEBS: subleaves 4 and 5 tell of it" : "not architectural PEBS",
        "IA32_PERF_CAPABILITIES.PEBS_FMT is that of architectural PEBS, but CPUID.23H has no subleaves 4 and 5: the "
        "two disagree, so there is no PEBS to rely on");
}

static void test_debug_store(struct detection *d, bool ds)
{
    struct ds_caps *c = d->caps;
    static const char none[] = "CPUID.01H:EDX.DS is 0: this processor, real or emulated, has no Debug Store";
    c->bts = ds;
    if (d->arch)
        row(d, "CPUID.01H:EDX.DS[21]", ds, true,
            ds ? "the Debug Store exists: for BTS alone" : "no Debug Store, so no BTS; architectural PEBS needs none");
    else
        require(d, "CPUID.01H:EDX.DS[21]", ds, ds, "the Debug Store exists", none);
    c->bts_reason = !ds ? none : d->arch ? "the processor has BTS, in the Debug Store" : "the processor has BTS";
}

static void test_misc_enable(struct detection *d)
{
    struct ds_caps *c = d->caps;
    uint64_t v = 0;
    bool ds = c->bts;
    if (!rdmsr(d, IA32_MISC_ENABLE, &v)) {
        row(d, "IA32_MISC_ENABLE", 0, false, "reading it raises #GP")->faulted = true;
        ds_caps_refuse(c, "IA32_MISC_ENABLE cannot be read, so nothing says that performance monitoring is on");
        if (ds)
            no_bts(c, "IA32_MISC_ENABLE cannot be read, so nothing says that BTS is there");
        c->pebs = false;
        return;
    }
    const bool on = v & IA32_MISC_ENABLE_PERFMON;
    /* Beneath a hypervisor the register's value may be made up without it: QEMU's is. */
    require(d, "IA32_MISC_ENABLE.PERFMON[7]", v >> 7 & 1, on || (d->hypervisor && c->perfmon_version >= 2),
            on ? "performance monitoring is on" : "0, but a hypervisor's: CPUID.0AH has counters, and is believed",
            "IA32_MISC_ENABLE says that performance monitoring is off");
    if (ds && v & IA32_MISC_ENABLE_BTS_UNAVAIL)
        no_bts(c, "IA32_MISC_ENABLE.BTS_UNAVAIL says that BTS is not there");
    row(d, "IA32_MISC_ENABLE.BTS_UNAVAIL[11]", v >> 11 & 1, c->bts,
        c->bts ? "BTS is there"
        : ds   ? "BTS is not there"
               : "0 would say that BTS is there, but without CPUID's DS bit it means nothing");
    bool unavailable = v & IA32_MISC_ENABLE_PEBS_UNAVAIL;
    if (d->arch)
        row(d, "IA32_MISC_ENABLE.PEBS_UNAVAIL[12]", v >> 12 & 1, true,
            unavailable ? "no PEBS in the Debug Store: it is architectural" : "0 says nothing of architectural PEBS");
    else if (ds)
        require(d, "IA32_MISC_ENABLE.PEBS_UNAVAIL[12]", v >> 12 & 1, !unavailable, "PEBS is there",
                "IA32_MISC_ENABLE.PEBS_UNAVAIL says that PEBS is not there");
    else
        row(d, "IA32_MISC_ENABLE.PEBS_UNAVAIL[12]", v >> 12 & 1, false,
            unavailable ? "PEBS is not there"
                        : "0 would say that PEBS is there, but without CPUID's DS bit it means nothing");
}

static const char disagree[] = "CPUID.23H tells of architectural PEBS, but IA32_PERF_CAPABILITIES.PEBS_FMT is not 15: "
                               "the two disagree, so there is "
                               "no PEBS to rely on";

/* Branch history, for the LBR group of records. DEBUGCTL.LBR turns it on where LBR_FMT names a format: of the
 * processors with such records Ice Lake and Tremont, whose history has 32 entries; architectural LBR otherwise. None of
 * them has format 0, that of 32-bit processors: it is what a hypervisor shows that has no history for its guests. */
static void test_history(struct detection *d, uint64_t capabilities, unsigned leaves)
{
    struct ds_caps *c = d->caps;
    uint32_t seven[4] = {0}, leaf[4] = {0};
    if (leaves >= 7)
        cpuid(d, 7, seven);
    if (seven[3] & CPUID_07H_EDX_ARCH_LBR && leaves >= 0x1C) {
        cpuid(d, 0x1C, leaf);
        c->lbr_depth = (uint8_t)cpuid_1ch_eax_depth(leaf[0]);
        c->lbr_ctl = IA32_LBR_CTL_LBREN | (leaf[1] & CPUID_1CH_EBX_CPL ? IA32_LBR_CTL_OS | IA32_LBR_CTL_USR : 0) |
                     (leaf[1] & CPUID_1CH_EBX_FILTER ? IA32_LBR_CTL_BRANCHES : 0);
    }
    unsigned format = (unsigned)(capabilities & IA32_PERF_CAPABILITIES_LBR_FMT);
    c->lbr = c->lbr_depth                                         ? DS_LBR_ARCHITECTURAL
             : format && format != IA32_PERF_CAPABILITIES_LBR_FMT ? DS_LBR_DEBUGCTL
                                                                  : DS_LBR_NONE;
    row(d, "IA32_PERF_CAPABILITIES.LBR_FMT[5:0]", format, c->lbr != DS_LBR_NONE,
        c->lbr == DS_LBR_ARCHITECTURAL ? "branch history by IA32_LBR_CTL (CPUID.07H:EDX.ARCH_LBR)"
        : c->lbr == DS_LBR_DEBUGCTL    ? "branch history by IA32_DEBUGCTL.LBR"
                                       : "no branch history: no LBR group in records");
}

static void test_capabilities(struct detection *d, bool pdcm, unsigned leaves)
{
    struct ds_caps *c = d->caps;
    const uint64_t v = d->capabilities;
    row(d, "CPUID.01H:ECX.PDCM[15]", pdcm, pdcm,
        pdcm ? "IA32_PERF_CAPABILITIES can be read" : "no IA32_PERF_CAPABILITIES: the record format is 0");
    if (!pdcm && d->arch)
        ds_caps_refuse(c, disagree);
    if (!pdcm)
        return;
    if (d->no_capabilities) {
        row(d, "IA32_PERF_CAPABILITIES", 0, false, "reading it raises #GP although CPUID has PDCM")->faulted = true;
        ds_caps_refuse(c, "IA32_PERF_CAPABILITIES cannot be read although CPUID has PDCM, so the record format is "
                          "unknown");
        return;
    }
    c->format = (uint8_t)ia32_perf_capabilities_pebs_fmt(v);
    const bool trap_like = v & IA32_PERF_CAPABILITIES_PEBS_TRAP;
    c->full_width_writes = v & IA32_PERF_CAPABILITIES_FW_WRITE;
    const bool arch = ds_caps_arch(c);
    c->baseline = !arch && v & IA32_PERF_CAPABILITIES_PEBS_BASELINE; /* else there is no MSR_PEBS_DATA_CFG */
    require(d, "IA32_PERF_CAPABILITIES.PEBS_FMT[11:8]", c->format, d->arch ? arch : c->format <= 6,
            arch ? "architectural PEBS" : "a record format this driver knows",
            d->arch ? disagree : "the PEBS record format is newer than this driver knows (6)");
    row(d, "IA32_PERF_CAPABILITIES.PEBS_BASELINE[14]", v >> 14 & 1, true,
        arch             ? "without meaning here: each counter has its own groups"
        : c->baseline    ? "adaptive records, PEBS on every counter"
        : c->format >= 4 ? d->hypervisor ? "the hypervisor hides the groups: basic records of 32 bytes only"
                                         : "basic records of 32 bytes only"
                         : "records of one fixed layout");
    row(d, "IA32_PERF_CAPABILITIES.PEBS_TRAP[6]", trap_like, true,
        trap_like || arch ? "a record's RIP is where execution goes on" : "a record's RIP is that of its instruction");
    row(d, "IA32_PERF_CAPABILITIES.FW_WRITE[13]", c->full_width_writes, true,
        c->full_width_writes ? "counters are written at full width" : "counters take 32 bits, sign-extended");
    if (!c->baseline && !arch)
        return;
    const bool timing = v & IA32_PERF_CAPABILITIES_PEBS_TIMING;
    row(d, DS_TEST_TIMING, timing, true, timing ? "records have the retire latency" : "no retire latency in records");
    test_history(d, v, leaves);
}

/* ---- architectural PEBS: which counters, which groups ------------------------------------------------------------ */

/* Counters of a subleaf, numbered as in GLOBAL_STATUS. */
static uint64_t counters(uint32_t gp, uint32_t fixed)
{
    return gp | (uint64_t)fixed << DS_COUNTER_FIXED;
}

/* What CPUID.23H says of counters and groups, once it is known that it counts. Fixed counters behind a gap, which have
 * events of their own, are left out: CPUID.0AH does not count them. */
static void test_subleaves(struct detection *d)
{
    struct ds_caps *c = d->caps;
    const uint64_t ours = counters((uint32_t)(DS_BIT(c->gp_counters) - 1), (uint32_t)(DS_BIT(c->fixed_counters) - 1));
    uint32_t r[4];
    cpuid(d, 0x23, r);
    const bool reloads = r[0] & CPUID_23H_EAX_ACR;
    cpuid_subleaf(d, 0x23, 1, r);
    const uint64_t all = counters(r[0], r[1]);
    row(d, "CPUID.23H.1:EAX, EBX counters", all, true, "all counters, fixed ones from bit 32 on");
    if (reloads) {
        cpuid_subleaf(d, 0x23, 2, r);
        c->acr_counters = counters(r[0], r[1]) & all & ours;
        row(d, "CPUID.23H.2:EAX, EBX reloaded", counters(r[0], r[1]), true,
            "counters with auto counter reload, which set-up turns off");
    }
    cpuid_subleaf(d, 0x23, 4, r);
    c->arch_groups = cpuid_23h_4_groups(r[1]);
    row(d, "CPUID.23H.4:EBX groups", r[1], true, "groups of records, where a counter's CFG_C has them in [63:32]");
    cpuid_subleaf(d, 0x23, 5, r);
    const uint64_t pebs = counters(r[0], r[2]), pdist = counters(r[1], r[3]);
    require(d, "CPUID.23H.5:EAX, ECX PEBS", pebs, pebs & ours && !(pebs & ~all), "counters with PEBS",
            pebs & ours ? "CPUID.23H.5 names counters with PEBS that are not among those of CPUID.23H.1"
                        : "CPUID.23H.5 names no counter with PEBS that CPUID.0AH has");
    require(d, "CPUID.23H.5:EBX, EDX PDIST", pdist, !(pdist & ~all), "counters with precise distribution",
            "CPUID.23H.5 names counters with precise distribution that are not among those of CPUID.23H.1");
    c->pebs_counters = pebs & ours;
    c->pdist_counters = pdist & c->pebs_counters;
}

static void test_arch_counters(struct detection *d, unsigned leaves)
{
    uint32_t seven[4] = {0};
    struct ds_caps *c = d->caps;
    if (!d->arch || c->reason)
        return;
    if (leaves >= 7)
        cpuid_subleaf(d, 7, 1, seven);
    const bool extended = seven[0] & CPUID_07H_1_EAX_PERFMON_EXT;
    require(d, "CPUID.07H.1:EAX.ARCH_PERFMON_EXT[8]", extended, extended, "CPUID.23H counts",
            "CPUID.07H.1:EAX.ARCH_PERFMON_EXT is 0, so CPUID.23H does not count: there is no PEBS to rely on");
    if (extended)
        test_subleaves(d);
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
    struct detection detection = {.machine = machine, .caps = caps}, *d = &detection;
    uint32_t leaf0[4], leaf1[4], leaf0a[4] = {0}, leaf1a[4] = {0};
    memset(caps, 0, sizeof *caps);

    cpuid(d, 0, leaf0);
    char vendor[12];
    memcpy(vendor, &leaf0[1], 4);
    memcpy(vendor + 4, &leaf0[3], 4);
    memcpy(vendor + 8, &leaf0[2], 4);
    bool intel = memcmp(vendor, "GenuineIntel", 12) == 0, amd = memcmp(vendor, "AuthenticAMD", 12) == 0;
    require(d, "CPUID.00H vendor", leaf0[1], intel, "GenuineIntel",
            amd ? "the processor is AuthenticAMD: AMD has no Debug Store (its precise sampling is IBS)"
                : "the processor is not GenuineIntel: only Intel has a Debug Store");
    if (!intel) {
        no_bts(caps, caps->reason);
        return -ENODEV;
    }

    cpuid(d, 1, leaf1);
    d->hypervisor = leaf1[2] & CPUID_01H_ECX_HYPERVISOR;
    if (leaf0[0] >= 0x1A)
        cpuid(d, 0x1A, leaf1a);
    caps->core_type = (uint8_t)(leaf1a[0] >> 24);
    if (caps->core_type)
        row(d, "CPUID.1AH:EAX core type[31:24]", caps->core_type, true,
            caps->core_type == CPUID_1AH_EAX_ATOM   ? "an efficient core (Atom)"
            : caps->core_type == CPUID_1AH_EAX_CORE ? "a performance core"
                                                    : "of a kind not known here");
    caps->generation = (uint8_t)ds_generation(leaf1[0], leaf1a[0]);
    caps->event_errata = ds_core_errata(leaf1[0], leaf1a[0]);
    row(d, "CPUID.01H:EAX family and model", leaf1[0], true, ds_generation_text(caps->generation));
    test_architectural(d, leaf0[0], leaf1[2] & CPUID_01H_ECX_PDCM);
    test_debug_store(d, leaf1[3] & CPUID_01H_EDX_DS);
    row(d, "CPUID.01H:ECX.DTES64[2]", leaf1[2] >> 2 & 1, true,
        leaf1[2] & CPUID_01H_ECX_DTES64 ? "64-bit layout in every mode" : "64-bit layout in long mode, which this is");
    caps->bts_cpl = leaf1[2] & CPUID_01H_ECX_DS_CPL;
    row(d, "CPUID.01H:ECX.DS_CPL[4]", caps->bts_cpl, true,
        caps->bts_cpl ? "BTS can be limited by ring" : "BTS sees all rings");

    if (leaf0[0] >= 0x0A)
        cpuid(d, 0x0A, leaf0a);
    caps->perfmon_version = (uint8_t)cpuid_0ah_eax_version(leaf0a[0]);
    caps->gp_counters = (uint8_t)cpuid_0ah_eax_gp_counters(leaf0a[0]);
    caps->gp_width = (uint8_t)cpuid_0ah_eax_gp_width(leaf0a[0]);
    caps->fixed_counters = (uint8_t)cpuid_0ah_edx_fixed_counters(leaf0a[3]);
    caps->fixed_width = (uint8_t)cpuid_0ah_edx_fixed_width(leaf0a[3]);
    require(d, "CPUID.0AH:EAX version[7:0]", caps->perfmon_version, caps->perfmon_version >= 2,
            "IA32_PERF_GLOBAL_CTRL and _STATUS exist",
            "architectural performance monitoring is older than version 2: no IA32_PERF_GLOBAL_CTRL");
    require(d, "CPUID.0AH:EAX counters[15:8]", caps->gp_counters,
            caps->gp_counters >= 1 && caps->gp_counters <= DS_GP_MAX && caps->gp_width >= 32 &&
                    caps->gp_width<64, "general-purpose counters", caps->gp_counters> DS_GP_MAX
                ? "CPUID.0AH names more than 10 general-purpose counters: this driver does not know their registers"
                : "CPUID.0AH names no usable general-purpose counters");
    require(d, "CPUID.0AH:EDX counters[4:0]", caps->fixed_counters,
            !caps->fixed_counters ||
                (caps->fixed_counters <= DS_FIXED_MAX && caps->fixed_width >= 32 && caps->fixed_width < 64),
            caps->fixed_counters ? "fixed counters" : "no fixed counters",
            "CPUID.0AH names fixed counters of an unusable number or width");

    test_misc_enable(d);
    test_capabilities(d, leaf1[2] & CPUID_01H_ECX_PDCM, leaf0[0]);

    test_arch_counters(d, leaf0[0]);

    if (leaf1[3] & CPUID_01H_EDX_DS || ds_caps_arch(caps)) {
        ds_find_errata(machine, leaf1[0], caps);
        ds_find_users(machine, caps);
    }

    ds_find_hypervisor(machine, d->hypervisor, caps);

    const bool arch = ds_caps_arch(caps);
    caps->area_bytes = arch ? sizeof(struct ds_area_60) : ds_area_bytes(caps->format, false);
    if (caps->reason)
        return -ENODEV;
    caps->pebs = true;
    if (arch) {
        caps->reason = "the processor has architectural PEBS";
        return 0;
    }
    caps->reason = "the processor has a Debug Store with PEBS";
    caps->pebs_counters = pebs_counters(caps, cpuid_01h_eax_family(leaf1[0]) == 6 ? cpuid_01h_eax_model(leaf1[0]) : 0);
    caps->area_bytes = ds_area_bytes(caps->format, caps->pebs_counters >> DS_COUNTER_FIXED);
    return 0;
}
