/* SPDX-License-Identifier: MIT */
/* Register offsets of the xAPIC page; x2APIC: MSR 800H + offset / 16. SDM vol. 3, "Advanced Programmable Interrupt
 * Controller (APIC)". */
#pragma once

#define APIC_VERSION       0x030u
#define VERSION_MAX_LVT(v) ((v) >> 16 & 0xFF)
#define APIC_TPR           0x080u
#define APIC_EOI           0x0B0u
#define APIC_SVR           0x0F0u
#define SVR_ENABLE         0x100u
#define APIC_ISR           0x100u /* 8 registers, 10H apart */
#define APIC_LVT_CMCI      0x2F0u
#define APIC_ICR           0x300u
#define ICR_FIXED          0x00000u
#define ICR_NMI            0x00400u
#define ICR_INIT           0x00500u
#define ICR_STARTUP        0x00600u
#define ICR_PENDING        0x01000u /* delivery status; not in x2APIC mode */
#define ICR_LEVEL_ASSERT   0x04000u
#define ICR_TO_SELF        0x40000u
#define APIC_ICR_HIGH      0x310u
#define APIC_LVT_TIMER     0x320u
#define LVT_TIMER_PERIODIC 0x20000u
#define APIC_LVT_THERMAL   0x330u
#define APIC_LVT_PC        0x340u
#define APIC_LVT_LINT0     0x350u
#define APIC_LVT_LINT1     0x360u
#define APIC_LVT_ERROR     0x370u
#define LVT_MASKED         0x10000u
#define LVT_DELIVERY       0x00700u
#define LVT_SMI            0x00200u
#define LVT_NMI            0x00400u
#define LVT_NUMBER_PC      4u
#define LVT_NUMBER_THERMAL 5u
#define LVT_NUMBER_CMCI    6u
#define APIC_TIMER_INITIAL 0x380u
#define APIC_TIMER_CURRENT 0x390u
#define APIC_TIMER_DIVIDE  0x3E0u
#define DIVIDE_BY_1        0xBu

#define X2APIC_MSR        0x800u
#define X2APIC_HIGHEST_ID 0xFFFFFFFEu /* beyond these an ID means everybody */
#define XAPIC_HIGHEST_ID  0xFEu
