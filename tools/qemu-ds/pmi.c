/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/pmi.h"

#define APIC    UINT64_C(0xFEE00000) /* where every system leaves it */
#define APIC_ID (APIC + 0x20)
#define LVTPC   (APIC + 0x340)

#define IA32_APIC_BASE        0x01Bu
#define IA32_APIC_BASE_EXTD   (1u << 10) /* x2APIC mode */
#define IA32_X2APIC_LVT_PMI   0x834u

void qds_pmi_wrmsr(struct qds_vcpu *v, uint32_t msr, uint64_t value)
{
    if (msr == IA32_APIC_BASE && !v->x2apic.on && value & IA32_APIC_BASE_EXTD) {
        v->x2apic.id = qds_read_device(v, APIC_ID) >> 24;
        v->x2apic.lvtpc = qds_pmi_lvtpc(v);
    }
    if (msr == IA32_APIC_BASE)
        v->x2apic.on = value & IA32_APIC_BASE_EXTD;
    else if (msr == IA32_X2APIC_LVT_PMI && v->x2apic.on)
        v->x2apic.lvtpc = (uint32_t)value & (LVTPC_VECTOR | LVTPC_DELIVERY | LVTPC_MASKED);
}

bool qds_pmi_rdmsr(const struct qds_vcpu *v, uint32_t msr, uint64_t *value)
{
    *value = v->x2apic.lvtpc;
    return msr == IA32_X2APIC_LVT_PMI && v->x2apic.on;
}

uint32_t qds_pmi_lvtpc(struct qds_vcpu *v)
{
    return v->x2apic.on ? v->x2apic.lvtpc
                        : qds_read_device(v, LVTPC) & (LVTPC_VECTOR | LVTPC_DELIVERY | LVTPC_MASKED);
}

/* Message signalled interrupts go to the same page (SDM vol. 3A, "Message Address Register Format"). */
void qds_pmi_deliver(struct qds_vcpu *v, uint32_t lvtpc)
{
    uint32_t id = v->x2apic.on ? v->x2apic.id : qds_read_device(v, APIC_ID) >> 24;
    if (v->x2apic.on)
        v->x2apic.lvtpc = lvtpc | LVTPC_MASKED;
    else
        qds_write_device(v, LVTPC, lvtpc | LVTPC_MASKED);
    qds_write_device(v, APIC | id << 12, lvtpc & (LVTPC_VECTOR | LVTPC_DELIVERY));
}
