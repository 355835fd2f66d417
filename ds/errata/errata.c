/* SPDX-License-Identifier: MIT */
/*
 * Processors that do not do what the manual says, as far as it concerns the Debug Store, and what the driver does about
 * it. Each erratum has a name in struct ds_errata, and a row in the detection table if it applies.
 *
 * The numbers are those of Intel's specification updates. Linux' arch/x86/events/intel/{core,ds}.c says which
 * processors they concern and which microcode fixes them.
 *
 * Not listed, because the driver does it on every processor: LVTPC is unmasked last in the PMI handler (Haswell raises
 * spurious interrupts otherwise), and DEBUGCTL.FREEZE_PERFMON_ON_PMI stays off (it freezes when the PMI is raised, not
 * when it is taken). Not listed either: what only a hypervisor can handle (PEBS of Haswell to Kaby Lake across VM
 * entry); BJ122, BV98 and HSD29 (counts of load and store events leak into the sibling thread; load latency is not
 * among them); AAJ80, as the driver does not know its event, mispredicted branches.
 */
#include "ds/driver/detect.h"
#include "ds/driver/driver.h"
#include "ds/event_data.h"
#include "ds/generation.h"

static bool among(unsigned model, const uint8_t *models, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (models[i] == model)
            return true;
    return false;
}
#define AMONG(model, ...) among(model, (const uint8_t[]){__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__})

/* SDM vol. 3A, "Determining the Signature": 0, then CPUID, which loads it into the upper half. False: it cannot be
 * read. */
static bool microcode_revision(const struct ds_machine *m, uint32_t *revision)
{
    uint32_t r[4];
    uint64_t value = 0;
    bool read = m->wrmsr(m->context, IA32_BIOS_SIGN_ID, 0) == 0;
    m->cpuid(m->context, 1, 0, r);
    read = read && m->rdmsr(m->context, IA32_BIOS_SIGN_ID, &value) == 0;
    *revision = (uint32_t)(value >> 32);
    return read;
}

/* The first microcode with which PEBS of a Sandy Bridge can be used; no revision of other steppings is known to be. */
static void test_microcode(const struct ds_machine *machine, unsigned model, unsigned stepping, struct ds_caps *caps)
{
    static const struct {
        uint8_t model, stepping;
        uint32_t revision;
    } cured[] = {{0x2A, 7, 0x28}, {0x2D, 6, 0x618}, {0x2D, 7, 0x70C}};
    static const char old[] =
        "this Sandy Bridge needs newer microcode for PEBS: 28H (stepping 2A-7), 618H (2D-6) or 70CH (2D-7)";
    uint32_t revision, needed = UINT32_MAX;
    const bool read = microcode_revision(machine, &revision);
    for (unsigned i = 0; i < sizeof cured / sizeof cured[0]; i++)
        if (cured[i].model == model && cured[i].stepping == stepping)
            needed = cured[i].revision;
    bool ok = revision >= needed;
    caps->errata.pebs_needs_microcode = !ok;
    ds_caps_row(caps, "microcode revision", revision, ok, ok ? "this microcode fixes PEBS of Sandy Bridge" : old)
        ->faulted = !read;
    if (!ok)
        ds_caps_refuse(caps, old);
}

/* Where microcode keeps PMC3 for itself, for transactional memory, until software gives that up. */
static bool pmc3_taken(const struct ds_machine *m)
{
    uint32_t leaf0[4], leaf7[4];
    uint64_t abort;
    m->cpuid(m->context, 0, 0, leaf0);
    if (leaf0[0] < 7)
        return false;
    m->cpuid(m->context, 7, 0, leaf7);
    return leaf7[3] & CPUID_07H_EDX_TSX_FORCE_ABORT &&
           !(m->rdmsr(m->context, MSR_TSX_FORCE_ABORT, &abort) == 0 && abort & MSR_TSX_FORCE_ABORT_RTM);
}

void ds_find_errata(const struct ds_machine *machine, uint32_t signature, struct ds_caps *caps)
{
    struct ds_errata *e = &caps->errata;
    unsigned model = cpuid_01h_eax_family(signature) == 6 ? cpuid_01h_eax_model(signature) : 0;

    if ((e->pebs_unusable = AMONG(model, 0x0F))) {
        static const char why[] = "PEBS of Merom cannot be used (errata AJ67, AJ68, AJ69, AJ106)";
        ds_caps_row(caps, "errata AJ67, AJ68, AJ69, AJ106", 1, false, why);
        ds_caps_refuse(caps, why);
    }
    if (AMONG(model, 0x2A, 0x2D))
        test_microcode(machine, model, cpuid_01h_eax_stepping(signature), caps);
    if ((e->one_page_buffer = !caps->reason && caps->format == 0)) /* PEBS will be used */
        ds_caps_row(caps, "erratum: PEBS buffer of format 0", 1, true,
                    "more than a page hangs a Core 2: pebs.records is lowered to what fits into one");
    if ((e->counters_stuck = AMONG(model, 0x1A, 0x1E, 0x1F, 0x2E, 0x25, 0x2C, 0x2F)))
        ds_caps_row(caps, "errata AAK100, AAP53, BD53", 1, true,
                    "counters may not count until they have held certain events: set-up begins with these");
    if ((e->period_32 = AMONG(model, 0x1A, 0x1E, 0x1F, 0x2E)))
        ds_caps_row(caps, "erratum: periods of Nehalem", 1, true, "below 32 they are refused");
    if (AMONG(model, 0x3C, 0x3F, 0x45, 0x46)) {
        e->period_32 = e->period_128 = true;
        ds_caps_row(caps, "errata HSW11, HSW143", 1, true,
                    "periods below 32 are refused; of INST_RETIRED.PREC_DIST below 128");
    }
    if (caps->generation >= DS_GENERATION_GOLDENCOVE && caps->generation <= DS_GENERATION_COYOTECOVE)
        e->period_128 = true; /* no row: precise distribution is made so */
    if ((e->period_64 = AMONG(model, 0x3D, 0x47, 0x4F, 0x56)))
        ds_caps_row(caps, "errata BDM11, BDM55", 1, true,
                    "INST_RETIRED.PREC_DIST: only periods that are multiples of 64, from 128 on");
    if ((e->pmc3_taken = pmc3_taken(machine)))
        ds_caps_row(caps, "CPUID.07H:EDX.TSX_FORCE_ABORT[13]", 1, true,
                    "PMC3 is kept by microcode for transactional memory: not used");
}

/* The lists name those of the event that PEBS records, which may be another one than is counted without it. */
const char *ds_event_errata(const struct ds_caps *caps, const struct ds_event *event)
{
    const struct ds_event_data *d = ds_event_data ? &ds_event_data[caps->generation][event->kind] : NULL;
    const bool other = event->plain && (event->fixed != DS_NO_FIXED || (d && d->pebs && d->select != d->record));
    return caps->event_errata && !other ? caps->event_errata[event->kind] : NULL;
}

const uint32_t ds_stuck_counters[DS_STUCK_COUNTERS] = {0x4300B5, 0x4300D2, 0x4300B1, 0x4300B1};

/* AAK100, AAP53 and BD53: before counters are given events. GLOBAL_CTRL is off before and after; ds_roll_back brings
 * back what they held. */
int ds_free_counters(struct ds_cpu *ds)
{
    /* all of them, but for what a hypervisor hides */
    const unsigned n = ds->caps.gp_counters < DS_STUCK_COUNTERS ? ds->caps.gp_counters : DS_STUCK_COUNTERS;
    int e = 0;
    for (unsigned i = 0; i < n && !e; i++)
        if (!(e = ds_set_msr(ds, IA32_PERFEVTSEL0 + i, ds_stuck_counters[i])))
            e = ds_set_msr(ds, IA32_PMC0 + i, 0);
    if (!e)
        e = ds_wrmsr(ds, IA32_PERF_GLOBAL_CTRL, DS_BIT(n) - 1);
    if (!e)
        e = ds_wrmsr(ds, IA32_PERF_GLOBAL_CTRL, 0);
    for (unsigned i = 0; i < n && !e; i++)
        e = ds_wrmsr(ds, IA32_PERFEVTSEL0 + i, 0);
    return e;
}
