/* SPDX-License-Identifier: MIT */
/* The local APIC's performance counter entry, and the interrupt. QEMU's APIC has the register but never uses it. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* In x2APIC mode QEMU hides the registers from us: LVTPC is our own then. Before a WRMSR runs; false: #GP. */
bool qds_pmi_wrmsr(struct qds_vcpu *v, uint32_t msr, uint64_t value);
/* What RDMSR returns; false: QEMU knows. */
bool qds_pmi_rdmsr(struct qds_vcpu *v, uint32_t msr, uint64_t *value);

/* As it is for a PMI: masked where the APIC is disabled. */
uint32_t qds_pmi_lvtpc(struct qds_vcpu *v);
/* Sends the interrupt LVTPC asks for to this vCPU, and masks LVTPC. */
void qds_pmi_deliver(struct qds_vcpu *v, uint32_t lvtpc);
