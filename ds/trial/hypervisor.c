/* SPDX-License-Identifier: MIT */
/*
 * Under a hypervisor CPUID and the registers need not agree. QEMU, for example, can show a guest of KVM a Debug Store
 * without a record format, or BTS that KVM refuses (docs/how-to/kvm.md). So each register that set-up will write is
 * tried here; then its old value is restored.
 */
#include "ds/driver/detect.h"
#include "ds/driver/mechanism.h"
#include "ds/trial/trial.h"
#include "kernel/lib/string.h"

static bool rdmsr(const struct ds_machine *m, uint32_t msr, uint64_t *value)
{
    return m->rdmsr(m->context, msr, value) == 0;
}

const char *ds_hypervisor_name(const uint32_t leaf[4])
{
    static const struct {
        char signature[13];
        const char *name;
    } known[] = {
        {"KVMKVMKVM\0\0\0", "Linux' KVM: docs/how-to/kvm.md says what it hides"},
        {"TCGTCGTCGTCG", "QEMU's TCG: emulated"},
        {"Microsoft Hv", "Hyper-V, or one that speaks its language"},
        {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"},
        {"VBoxVBoxVBox", "VirtualBox"},
        {"bhyve bhyve ", "bhyve"},
        {"ACRNACRNACRN", "ACRN"},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (memcmp(&leaf[1], known[i].signature, 12) == 0)
            return known[i].name;
    return "an unknown one";
}

/* Whether somebody has left the Debug Store on: then its registers must not change, not even for a moment. */
static bool in_use(const struct ds_machine *m, const struct ds_mechanism *pebs)
{
    uint64_t on, debugctl;
    return (rdmsr(m, pebs->on_msr, &on) && on & pebs->on_bits) ||
           (rdmsr(m, IA32_DEBUGCTL, &debugctl) && debugctl & IA32_DEBUGCTL_BTS);
}

enum answer { KEEPS, DROPS, REFUSES };

/* Writes a harmless value and looks whether it stays: emulators may drop what they do not know. */
static enum answer try(const struct ds_machine *m, uint32_t msr, uint64_t keep, uint64_t probe, uint64_t *after)
{
    uint64_t before;
    bool refused = !rdmsr(m, msr, &before) || m->wrmsr(m->context, msr, (before & keep) | probe);
    *after = 0;
    if (!refused) { /* restored whatever the read-back says */
        refused = !rdmsr(m, msr, after);
        refused |= m->wrmsr(m->context, msr, before) != 0;
    }
    return refused ? REFUSES : (*after & ~keep) == probe ? KEEPS : DROPS;
}

static void probe_area(const struct ds_machine *m, struct ds_caps *caps)
{
    static const char name[] = "IA32_DS_AREA write, read back";
    static const char *const why[] = {
        [DROPS] = "the hypervisor shows CPUID's DS bit, but IA32_DS_AREA does not keep what is written to it",
        [REFUSES] = "the hypervisor shows CPUID's DS bit, but IA32_DS_AREA raises #GP",
    };
    uint64_t after;
    /* canonical; nothing stores there: see in_use */
    const enum answer a = try(m, IA32_DS_AREA, 0, UINT64_C(0xFFFF800000001000), &after);
    struct ds_test *t = ds_caps_row(caps, name, after, a == KEEPS,
                                    a == KEEPS   ? "it holds what was written"
                                    : a == DROPS ? why[DROPS]
                                                 : "raises #GP although CPUID has DS");
    t->faulted = a == REFUSES;
    if (a == KEEPS)
        return;
    if (!caps->instead) /* which needs no area */
        ds_caps_refuse(caps, why[a]);
    ds_caps_no_bts(caps, why[a]);
}

/* BTINT without TR does nothing; what refuses it, or drops it, has no BTS. */
static void probe_bts(const struct ds_machine *m, struct ds_caps *caps)
{
    uint64_t after;
    const enum answer a = try(m, IA32_DEBUGCTL, ~IA32_DEBUGCTL_BTINT, IA32_DEBUGCTL_BTINT, &after);
    struct ds_test *t = ds_caps_row(caps, "IA32_DEBUGCTL.BTINT write, read back", after >> 8 & 1, a == KEEPS,
                                    a == KEEPS   ? "BTS can be set up"
                                    : a == DROPS ? "it does not stay set: no BTS"
                                                 : "raises #GP: no BTS");
    t->faulted = a == REFUSES;
    if (a != KEEPS)
        ds_caps_no_bts(caps, a == DROPS ? "the hypervisor does not keep what is written to IA32_DEBUGCTL for BTS"
                                        : "the hypervisor refuses what IA32_DEBUGCTL takes for BTS");
}

/* KVM has the register where there is a record format, which QEMU hides by default. */
static void probe_enable(const struct ds_machine *m, struct ds_caps *caps)
{
    uint64_t value = 0;
    const bool there = rdmsr(m, IA32_PEBS_ENABLE, &value);
    struct ds_test *t =
        ds_caps_row(caps, "IA32_PEBS_ENABLE read", value, there, there ? "it can be read" : "raises #GP: no PEBS");
    t->faulted = !there;
    if (!there)
        ds_caps_refuse(caps, "the hypervisor shows CPUID's DS bit, but IA32_PEBS_ENABLE raises #GP: KVM and QEMU need "
                             "-cpu host,pmu=on,migratable=off for PEBS");
}

/* The registers of PEBS that does without the Debug Store; it is off. */
static void probe_registers(const struct ds_machine *m, const struct ds_mechanism *pebs, struct ds_caps *caps)
{
    for (const struct ds_probed *p = pebs->probed; p < pebs->probed + sizeof pebs->probed / sizeof pebs->probed[0];
         p++) {
        uint64_t after;
        const enum answer a = try(m, p->msr, 0, p->value, &after);
        const char *why = a == DROPS ? p->drops : p->refuses;
        ds_caps_row(caps, p->name, after, a == KEEPS, a == KEEPS ? "it holds what was written" : why)->faulted =
            a == REFUSES;
        if (a != KEEPS)
            ds_caps_refuse(caps, why);
    }
}

static bool setting_hidden(const struct ds_machine *m, struct ds_caps *caps, uint32_t msr, const char *name,
                           const char *verdict)
{
    uint64_t value = 0;
    const bool there = rdmsr(m, msr, &value);
    ds_caps_row(caps, name, value, there, there ? "it can be read" : verdict)->faulted = !there;
    return !there;
}

/* A row that says whether there is a hypervisor; where there is one, who it is, and whether the registers do what CPUID
 * says: takes PEBS or BTS out of `caps` where they do not, sets no_load_latency and no_frontend. */
static void find_hypervisor(struct ds_detection *d)
{
    const struct ds_machine *const m = d->machine;
    struct ds_caps *const caps = d->caps;
    const bool present = d->hypervisor;
    uint32_t leaf[4];
    const bool probed = !caps->reason || caps->bts;
    ds_caps_row(caps, "CPUID.01H:ECX hypervisor[31]", present, true,
                !present ? "no hypervisor shows itself"
                : probed ? "a hypervisor: what it shows is probed"
                         : "a hypervisor: nothing is left to probe");
    if (!present)
        return;
    m->cpuid(m->context, CPUID_HYPERVISOR, 0, leaf);
    ds_caps_row(caps, "CPUID.40000000H:EBX signature", leaf[1], true, ds_hypervisor_name(leaf));
    if (!probed)
        return;
    const struct ds_mechanism *pebs = ds_mechanism_of(caps->format);
    if (in_use(m, pebs)) {
        ds_caps_row(caps, "IA32_DS_AREA write, read back", 0, true, "not tried: PEBS or BTS has been left on");
        return;
    }
    if (!caps->reason && caps->instead)
        probe_registers(m, pebs, caps);
    else if (!caps->reason)
        probe_enable(m, caps);
    if ((!caps->reason && !caps->instead) || caps->bts)
        probe_area(m, caps);
    if (caps->bts)
        probe_bts(m, caps);
    if (caps->reason)
        return;
    /* Nehalem's registers, and Skylake's */
    caps->no_load_latency = caps->format >= 1 && setting_hidden(m, caps, MSR_PEBS_LD_LAT, "MSR_PEBS_LD_LAT read",
                                                                "raises #GP: no loads by their latency");
    caps->no_frontend = caps->format >= 3 && setting_hidden(m, caps, MSR_PEBS_FRONTEND, "MSR_PEBS_FRONTEND read",
                                                            "raises #GP: no frontend events");
}
DS_DETECT(find_hypervisor);
