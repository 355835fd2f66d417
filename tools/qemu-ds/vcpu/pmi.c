/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/vcpu/pmi.h"

#include "arch/registers.h"

#define APIC         UINT64_C(0xFEE00000) /* where every system leaves it */
#define APIC_ID      (APIC + 0x20)
#define APIC_VERSION (APIC + 0x30)
#define SVR          (APIC + 0xF0)
#define LVTPC        (APIC + 0x340)
#define SVR_ENABLED  (1u << 8) /* by software; else entries of the LVT are as if masked */

#define IA32_X2APIC_SIVR    0x80Fu /* SVR */
#define IA32_X2APIC_LVT_PMI 0x834u
#define LVTPC_WRITABLE      (LVTPC_VECTOR | LVTPC_DELIVERY | LVTPC_MASKED)
#define LVTPC_STATUS        (1u << 12) /* delivery status: read-only, and never pending here */

/* No APIC has version 0, nor FFH: QEMU shows it no more. */
static bool x2apic(struct qds_vcpu *v)
{
    const uint8_t version = (uint8_t)qds_read_device(v, APIC_VERSION);
    return version == 0 || version == 0xFF;
}

bool qds_pmi_wrmsr(struct qds_vcpu *v, uint32_t msr, uint64_t value)
{
    if (msr == IA32_APIC_BASE && value & APIC_BASE_EXTD && !x2apic(v)) { /* should QEMU refuse that, nobody asks */
        v->x2apic.id = qds_read_device(v, APIC_ID) >> 24;
        v->x2apic.lvtpc = qds_read_device(v, LVTPC) & LVTPC_WRITABLE;
        v->x2apic.enabled = qds_read_device(v, SVR) & SVR_ENABLED;
    }
    if (msr == IA32_X2APIC_SIVR && x2apic(v))
        v->x2apic.enabled = value & SVR_ENABLED;
    if (msr != IA32_X2APIC_LVT_PMI || !x2apic(v))
        return true;
    if (value & ~(uint64_t)(LVTPC_WRITABLE | LVTPC_STATUS))
        return false;
    v->x2apic.lvtpc = (uint32_t)value & LVTPC_WRITABLE;
    return true;
}

bool qds_pmi_rdmsr(struct qds_vcpu *v, uint32_t msr, uint64_t *value)
{
    *value = v->x2apic.lvtpc;
    return msr == IA32_X2APIC_LVT_PMI && x2apic(v);
}

uint32_t qds_pmi_lvtpc(struct qds_vcpu *v)
{
    const bool x2 = x2apic(v), enabled = x2 ? v->x2apic.enabled : qds_read_device(v, SVR) & SVR_ENABLED;
    return (x2 ? v->x2apic.lvtpc : qds_read_device(v, LVTPC) & LVTPC_WRITABLE) | (enabled ? 0 : LVTPC_MASKED);
}

/* Message signalled interrupts go to the same page (SDM vol. 3A, "Message Address Register Format"). */
void qds_pmi_deliver(struct qds_vcpu *v, uint32_t lvtpc)
{
    const bool x2 = x2apic(v);
    const uint32_t id = x2 ? v->x2apic.id : qds_read_device(v, APIC_ID) >> 24;
    if (x2)
        v->x2apic.lvtpc = lvtpc | LVTPC_MASKED;
    else
        qds_write_device(v, LVTPC, lvtpc | LVTPC_MASKED);
    qds_write_device(v, APIC | id << 12, lvtpc & (LVTPC_VECTOR | LVTPC_DELIVERY));
}
