/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/special.h"

#include <errno.h>
#include <string.h>

#include "tools/qemu-ds/cpuid/features.h"
#include "tools/qemu-ds/cpuid/tsc.h"
#include "tools/qemu-ds/modelled/access_decode.h"
#include "tools/qemu-ds/modelled/costs.h"
#include "tools/qemu-ds/run/accesses.h"
#include "tools/qemu-ds/run/refused.h"
#include "tools/qemu-ds/vcpu/pmi.h"

#define MSR_REFUSED       0x80Eu /* DFR, which x2APIC mode has no more: #GP in either mode, and nothing in the ESR */
#define CR4_PCE           (1u << 8)
#define CPUID_01H_EAX_SIG UINT32_C(0x0FFF3FFF)

enum qds_special qds_special(const uint8_t *code, size_t length)
{
    if (length == 1 && code[0] == QDS_INT3)
        return QDS_SPECIAL_INT3;
    if (length < 2 || code[length - 2] != 0x0F)
        return QDS_SPECIAL_NONE;
    for (size_t i = 0; i < length - 2; i++) /* they have no operands, but an immediate may look like them */
        if (!qds_is_prefix(code[i]))
            return QDS_SPECIAL_NONE;
    switch (code[length - 1]) {
    case 0xA2:
        return QDS_SPECIAL_CPUID;
    case 0x32:
        return QDS_SPECIAL_RDMSR;
    case 0x30:
        return QDS_SPECIAL_WRMSR;
    case 0x33:
        return QDS_SPECIAL_RDPMC;
    default:
        return QDS_SPECIAL_NONE;
    }
}

bool qds_special_before(const uint8_t code[2])
{
    return code[0] == 0x0F && (code[1] == 0xA2 || code[1] == 0x32);
}

static uint32_t low(uint64_t value)
{
    return (uint32_t)value;
}

static void set_patch(struct qds_vcpu *v, enum qds_patch kind)
{
    v->patch.kind = kind;
    v->board->patch = kind;
}

/* The last leaf that the model's processor has at least. */
static uint32_t last_leaf(const struct qds_vcpu *v)
{
    uint32_t first[4];
    ds_model_cpuid(&v->model, 0, 0, first);
    return first[0];
}

/* Whether the leaf is there because of the model alone: QEMU answers such by those of its last. */
static bool unknown(const struct qds_vcpu *v, uint32_t leaf)
{
    return v->max_leaf && leaf > v->max_leaf && leaf <= last_leaf(v);
}

/* Whether the leaf says how fast the TSC runs, on this processor and this host. */
static bool tells_tsc(const struct qds_vcpu *v, uint32_t leaf)
{
    return qds_tsc_tells(leaf) && (leaf >= QDS_BRAND_FIRST || leaf <= last_leaf(v)) && qds_tsc_hz();
}

/* Whether the leaf tells of caches, and these are modelled. */
static bool caches(uint32_t leaf)
{
    return (leaf == 2 || leaf == 4) && qds_costs_modelled();
}

void qds_cpuid(struct qds_vcpu *v)
{
    uint32_t leaf = low(qds_read(v, QDS_RAX)), subleaf = low(qds_read(v, QDS_RCX));
    bool guest =
        v->model.preset->kvm && (leaf - CPUID_HYPERVISOR <= 1 || leaf - CPUID_HYPERVISOR - CPUID_HYPERVISOR_STEP <= 1);
    bool ours = guest || leaf == 0 || leaf == 0x0A || leaf == 0x1A || leaf == 0x23 || (leaf == 0x1C && subleaf == 0) ||
                tells_tsc(v, leaf) || caches(leaf) || unknown(v, leaf) || qds_features_in(leaf, subleaf);
    if (!ours)
        return;
    v->patch.leaf = leaf;
    v->patch.subleaf = subleaf;
    set_patch(v, QDS_PATCH_CPUID);
}

static void refuse(struct qds_vcpu *v)
{
    v->fault.on = true;
    v->fault.rcx = qds_read(v, QDS_RCX);
    qds_write(v, QDS_RCX, MSR_REFUSED);
}

void qds_rdmsr(struct qds_vcpu *v)
{
    uint64_t value;
    if (qds_cpl(v) != 0)
        return;
    uint32_t msr = low(qds_read(v, QDS_RCX));
    int e = qds_pmi_rdmsr(v, msr, &value) ? 0 : ds_model_rdmsr(&v->model, msr, &value);
    switch (qds_refused_access(v->index, false, msr, e != -ENOENT) ? -EFAULT : e) {
    case 0:
        v->patch.value = value;
        v->patch.mask = msr == IA32_MISC_ENABLE ? IA32_MISC_ENABLE_READ_ONLY : UINT64_MAX;
        set_patch(v, QDS_PATCH_RDMSR);
        break;
    case -EFAULT:
        refuse(v);
        break;
    default:
        break;
    }
}

bool qds_wrmsr(struct qds_vcpu *v, uint32_t *msr, uint64_t *value, bool *fault, struct ds_model *after)
{
    uint64_t had;
    if (qds_cpl(v) != 0)
        return false;
    *msr = low(qds_read(v, QDS_RCX));
    *value = low(qds_read(v, QDS_RAX)) | qds_read(v, QDS_RDX) << 32;
    int e = -EFAULT;
    if (qds_pmi_wrmsr(v, *msr, *value)) {
        e = ds_model_rdmsr(&v->model, *msr, &had);
        if (e != -ENOENT) { /* most are not the model's */
            *after = v->model;
            e = ds_model_wrmsr(after, *msr, *value);
        }
    }
    if (qds_refused_access(v->index, true, *msr, e != -ENOENT))
        e = -EFAULT;
    *fault = e == -EFAULT;
    if (*fault)
        refuse(v);
    return e != -ENOENT;
}

int qds_rdpmc(struct qds_vcpu *v, uint64_t *value)
{
    if (qds_cpl(v) != 0 && !(qds_read(v, QDS_CR4) & CR4_PCE))
        return -EPERM;
    return ds_model_rdpmc(&v->model, low(qds_read(v, QDS_RCX)), value);
}

void qds_return(struct qds_vcpu *v, uint64_t value)
{
    qds_write(v, QDS_RAX, low(value));
    qds_write(v, QDS_RDX, value >> 32);
}

/* Behind KVM's leaves TCG names itself: times are an emulator's all the same, and a guest can know. */
static void name_tcg(uint32_t leaf, uint32_t out[4])
{
    if (leaf != CPUID_HYPERVISOR + CPUID_HYPERVISOR_STEP)
        return;
    out[0] = leaf + 1;
    memcpy(&out[1], "TCGTCGTCGTCG", 12);
}

/* The model's part of a leaf, over QEMU's. */
static void patch_cpuid(struct qds_vcpu *v)
{
    static const enum qds_register reg[4] = {QDS_RAX, QDS_RBX, QDS_RCX, QDS_RDX};
    const uint32_t leaf = v->patch.leaf;
    uint32_t ours[4], had[4];
    ds_model_cpuid(&v->model, leaf, v->patch.subleaf, ours);
    name_tcg(leaf, ours);
    for (unsigned i = 0; i < 4; i++)
        had[i] = unknown(v, leaf) ? 0 : low(qds_read(v, reg[i]));
    if (tells_tsc(v, leaf)) {
        qds_tsc_cpuid(v->model.preset->name, qds_tsc_hz(), leaf, ours);
    } else if (caches(leaf)) {
        qds_accesses_cpuid(v->index, leaf, v->patch.subleaf, ours);
    } else if (leaf == 0) {
        v->max_leaf = had[0];
        ours[0] = had[0] > ours[0] ? had[0] : ours[0];
    } else if (leaf == 1) {
        ours[0] |= had[0] & ~CPUID_01H_EAX_SIG;
        for (unsigned i = 1; i < 4; i++)
            ours[i] |= had[i];
    } else if (leaf == 7 && v->patch.subleaf == 0) {
        ours[0] = had[0] > ours[0] ? had[0] : ours[0];
        ours[1] = had[1];
        ours[2] = had[2];
        ours[3] |= had[3] & ~(CPUID_07H_EDX_ARCH_LBR | CPUID_07H_EDX_HYBRID);
    } else if (leaf == 7) {
        for (unsigned i = 0; i < 4; i++)
            ours[i] |= i ? had[i] : had[i] & ~CPUID_07H_1_EAX_PERFMON_EXT;
    } else if (qds_features_in(leaf, v->patch.subleaf)) {
        memcpy(ours, had, sizeof ours);
    }
    qds_features_mask(v->model.preset, leaf, v->patch.subleaf, ours);
    for (unsigned i = 0; i < 4; i++)
        qds_write(v, reg[i], ours[i]);
}

static void patch_rdmsr(struct qds_vcpu *v)
{
    const uint64_t had = low(qds_read(v, QDS_RAX)) | qds_read(v, QDS_RDX) << 32;
    qds_return(v, (had & ~v->patch.mask) | (v->patch.value & v->patch.mask));
}

void qds_patch(struct qds_vcpu *v)
{
    if (v->patch.kind == QDS_PATCH_CPUID)
        patch_cpuid(v);
    else if (v->patch.kind == QDS_PATCH_RDMSR)
        patch_rdmsr(v);
    set_patch(v, QDS_PATCH_NONE);
}

void qds_special_faulted(struct qds_vcpu *v)
{
    if (v->fault.on)
        qds_write(v, QDS_RCX, v->fault.rcx);
    v->fault.on = false;
}
