/* SPDX-License-Identifier: MIT */
/*
 * The Debug Store as the processor lays it out: MSR numbers and bits with the names of Intel's manual, the DS
 * management area (Windows: PROCESSOR_PROFILE_CONTROL_AREA), and BTS and PEBS records. Only the 64-bit layout is here:
 * IA-32e mode uses no other. The kernel, the model, the host tool and the tests compile this file, so it includes only
 * <stdbool.h>, <stddef.h> and <stdint.h>. Registers are shifts and masks, never C bit-fields.
 *
 * Sources: SDM vol. 3B, "Debug Store (DS) Mechanism", "BTS and DS Save Area", "Processor Event Based Sampling (PEBS)",
 * "Adaptive PEBS"; SDM vol. 4 for the MSR numbers; SDM vol. 2A, CPUID. Linux' arch/x86/events/intel/ds.c for what the
 * public manual does not say (reset slots of format 5, bits of MSR_PEBS_DATA_CFG beyond format 4).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DS_BIT(n) (UINT64_C(1) << (n))

/* ================================================================ counters

 * Each counter has one number: the position of its bit in IA32_PERF_GLOBAL_STATUS, IA32_PERF_GLOBAL_CTRL and (fixed
 * counters: only with PEBS_BASELINE) IA32_PEBS_ENABLE. GP counter i is i, fixed counter i is 32 + i. */
#define DS_COUNTER_FIXED   32u
#define DS_COUNTER_NUMBERS 48u

static inline unsigned ds_counter_fixed(unsigned i)
{
    return DS_COUNTER_FIXED + i;
}

/* Bits stand under their register. */
/* clang-format off */

/* ================================================================ CPUID (SDM vol. 2A, "CPUID") */

#define CPUID_01H_ECX_DTES64     (1u << 2)
#define CPUID_01H_ECX_DS_CPL     (1u << 4)
#define CPUID_01H_ECX_PDCM       (1u << 15)
#define CPUID_01H_ECX_HYPERVISOR (1u << 31) /* reserved by Intel for hypervisors */
#define CPUID_01H_EDX_DS         (1u << 21)

/* A hypervisor names itself by 12 characters in EBX, ECX, EDX of CPUID.40000000H. If it also offers the interface of
 * another hypervisor, there are two sets of leaves, 100H apart, in either order (Linux' arch/x86/include/asm/cpuid). */
#define CPUID_HYPERVISOR      0x40000000u
#define CPUID_HYPERVISOR_STEP 0x100u
#define CPUID_HYPERVISOR_END  0x40001000u /* the search ends here */

static inline unsigned cpuid_0ah_eax_version(uint32_t eax) { return eax & 0xFF; }
static inline unsigned cpuid_0ah_eax_gp_counters(uint32_t eax) { return eax >> 8 & 0xFF; }
static inline unsigned cpuid_0ah_eax_gp_width(uint32_t eax) { return eax >> 16 & 0xFF; }
static inline unsigned cpuid_0ah_edx_fixed_counters(uint32_t edx) { return edx & 0x1F; }
static inline unsigned cpuid_0ah_edx_fixed_width(uint32_t edx) { return edx >> 5 & 0xFF; }

/* CPUID.01H:EAX, the signature: the display family and model, which include the extended fields. */
static inline unsigned cpuid_01h_eax_family(uint32_t eax)
{
    return (eax >> 8 & 0xF) + ((eax >> 8 & 0xF) == 0xF ? eax >> 20 & 0xFF : 0);
}
static inline unsigned cpuid_01h_eax_model(uint32_t eax) { return (eax >> 4 & 0xF) | (eax >> 12 & 0xF0); }
static inline unsigned cpuid_01h_eax_stepping(uint32_t eax) { return eax & 0xF; }

#define CPUID_07H_EDX_TSX_FORCE_ABORT (1u << 13) /* MSR_TSX_FORCE_ABORT exists */
#define CPUID_07H_EDX_HYBRID          (1u << 15) /* cores of several kinds: CPUID.1AH says which this is */
#define CPUID_07H_EDX_ARCH_LBR        (1u << 19)

/* RDPMC's ECX (SDM vol. 2B): the number of a general-purpose counter; with RDPMC_FIXED, the number of a fixed counter;
 * RDPMC_METRICS means MSR_PERF_METRICS. */
#define RDPMC_FIXED   (1u << 30)
#define RDPMC_METRICS (1u << 29)

#define CPUID_1CH_EBX_CPL    (1u << 0) /* IA32_LBR_CTL has OS and USR */
#define CPUID_1CH_EBX_FILTER (1u << 1) /* and a bit for each type of branch */
#define CPUID_1CH_EBX_CALL_STACK (1u << 2)
#define CPUID_1CH_ECX_EVENT_LOGGING (0xFu << 16) /* bit 16 + n: PMCn has EN_LBR_LOG */

#define CPUID_07H_1_EAX_PERFMON_EXT   (1u << 8) /* subleaf 1: there is leaf 23H */

/* CPUID.1AH:EAX[31:24], the kind of core of a hybrid processor; 0 on others. */
#define CPUID_1AH_EAX_ATOM 0x20u
#define CPUID_1AH_EAX_CORE 0x40u

/* CPUID.23H.0:EAX, subleaves of the architectural performance monitoring extension. The last two set means
 * architectural PEBS, which replaces the Debug Store's. */
#define CPUID_23H_EAX_ARCH_PEBS_CAPS     (1u << 4)
#define CPUID_23H_EAX_ARCH_PEBS_COUNTERS (1u << 5)

/* ================================================================ MSRs (SDM vol. 4) */

#define IA32_BIOS_SIGN_ID 0x08Bu /* microcode revision: Intel in [63:32], AMD in [31:0]; the other half is 0 */

#define IA32_PMC0      0x0C1u /* + i; legacy write path: low 32 bits, sign-extended to the counter's width */
#define MSR_TSX_FORCE_ABORT 0x10Fu
#define MSR_TSX_FORCE_ABORT_RTM DS_BIT(0) /* transactions always abort: PMC3 is software's again */

#define IA32_PERFEVTSEL0 0x186u /* + i */
#define IA32_PERFEVTSEL_EVENT    UINT64_C(0xFF) /* select; its unit mask: bits 8 to 15 */
#define IA32_PERFEVTSEL_USR      DS_BIT(16)
#define IA32_PERFEVTSEL_OS       DS_BIT(17)
#define IA32_PERFEVTSEL_EDGE     DS_BIT(18)
#define IA32_PERFEVTSEL_INT      DS_BIT(20) /* must be 0 on a PEBS counter, or a second PMI follows each record */
#define IA32_PERFEVTSEL_ANY      DS_BIT(21) /* all threads of the core; deprecated in version 5 */
#define IA32_PERFEVTSEL_EN       DS_BIT(22)
#define IA32_PERFEVTSEL_INV      DS_BIT(23)
#define IA32_PERFEVTSEL_CMASK    (UINT64_C(0xFF) << 24)
#define IA32_PERFEVTSEL_UMASK2   (UINT64_C(0xFF) << 40) /* UMaskExt: CPUID.23H:EBX[0] */
#define IA32_PERFEVTSEL_ADAPTIVE DS_BIT(34) /* PEBS_BASELINE: records of this counter follow MSR_PEBS_DATA_CFG */
#define IA32_PERFEVTSEL_EN_LBR_LOG DS_BIT(35) /* architectural LBR logs how often this counter's event occurs */
#define DS_LBR_LOGGED 4u                      /* only the first 4 counters can be logged */
#define IA32_PERFEVTSEL_EQ DS_BIT(36)       /* with architectural PEBS: CMASK is compared for equality */
static inline uint64_t ia32_perfevtsel(uint8_t select, uint8_t umask) { return (uint64_t)umask << 8 | select; }

#define IA32_MISC_ENABLE 0x1A0u
#define IA32_MISC_ENABLE_FAST_STRINGS DS_BIT(0) /* set by RESET; if it is clear, Linux does not use REP MOVSB */
#define IA32_MISC_ENABLE_PERFMON      DS_BIT(7)
#define IA32_MISC_ENABLE_BTS_UNAVAIL  DS_BIT(11) /* negative logic: never believe it without CPUID.01H:EDX.DS */
#define IA32_MISC_ENABLE_PEBS_UNAVAIL DS_BIT(12)
#define IA32_MISC_ENABLE_READ_ONLY                                                                                     \
    (IA32_MISC_ENABLE_PERFMON | IA32_MISC_ENABLE_BTS_UNAVAIL | IA32_MISC_ENABLE_PEBS_UNAVAIL)

#define MSR_LASTBRANCH_0_FROM_IP      0x680u /* + i, from Nehalem on */
#define MSR_LASTBRANCH_0_TO_IP        0x6C0u
#define MSR_LBR_INFO_0                0xDC0u /* + i, from Skylake on */

#define IA32_DEBUGCTL 0x1D9u
#define IA32_DEBUGCTL_LBR         DS_BIT(0)
#define IA32_DEBUGCTL_BTF         DS_BIT(1)
#define IA32_DEBUGCTL_TR          DS_BIT(6)
#define IA32_DEBUGCTL_BTS         DS_BIT(7)
#define IA32_DEBUGCTL_BTINT       DS_BIT(8)
#define IA32_DEBUGCTL_BTS_OFF_OS  DS_BIT(9)  /* these two need DS_CPL */
#define IA32_DEBUGCTL_BTS_OFF_USR DS_BIT(10)
#define IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI    DS_BIT(11)
#define IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI DS_BIT(12)
#define IA32_DEBUGCTL_FREEZE_WHILE_SMM      DS_BIT(14) /* an SMI clears GLOBAL_CTRL, its end sets all enable bits */

#define IA32_FIXED_CTR0 0x309u /* + i: 0 instructions, 1 core cycles, 2 reference cycles, 3 slots */

#define MSR_PERF_METRICS 0x329u /* only with IA32_PERF_CAPABILITIES.PERF_METRICS */

#define IA32_PERF_CAPABILITIES 0x345u
#define IA32_PERF_CAPABILITIES_LBR_FMT       UINT64_C(0x3F) /* all ones: none that DEBUGCTL.LBR fills */
#define LBR_FMT_INFO          5u /* flags are in MSR_LBR_INFO_0 + i */
#define IA32_PERF_CAPABILITIES_PEBS_TRAP     DS_BIT(6)
#define IA32_PERF_CAPABILITIES_PEBS_ARCH_REG DS_BIT(7)
#define IA32_PERF_CAPABILITIES_FW_WRITE      DS_BIT(13)
#define IA32_PERF_CAPABILITIES_PEBS_BASELINE DS_BIT(14)
#define IA32_PERF_CAPABILITIES_PERF_METRICS  DS_BIT(15)
#define IA32_PERF_CAPABILITIES_PEBS_TIMING   DS_BIT(17) /* PEBS_TIMING_INFO: records' retire latency */
static inline unsigned ia32_perf_capabilities_pebs_fmt(uint64_t v) { return (unsigned)(v >> 8) & 15; }
#define IA32_PERF_CAPABILITIES_PEBS_FMT_ARCHITECTURAL 15u /* without a Debug Store: IA32_PEBS_BASE etc. */

#define IA32_FIXED_CTR_CTRL 0x38Du
static inline uint64_t ia32_fixed_ctr_ctrl_os(unsigned i) { return DS_BIT(4 * i); }
static inline uint64_t ia32_fixed_ctr_ctrl_usr(unsigned i) { return DS_BIT(4 * i + 1); }
static inline uint64_t ia32_fixed_ctr_ctrl_any(unsigned i) { return DS_BIT(4 * i + 2); }
static inline uint64_t ia32_fixed_ctr_ctrl_pmi(unsigned i) { return DS_BIT(4 * i + 3); }
static inline uint64_t ia32_fixed_ctr_ctrl_adaptive(unsigned i) { return DS_BIT(32 + 4 * i); }

#define IA32_PERF_GLOBAL_STATUS     0x38Eu /* read-only */
#define IA32_PERF_GLOBAL_CTRL       0x38Fu
#define IA32_PERF_GLOBAL_OVF_CTRL   0x390u /* write 1 to clear; version 4: GLOBAL_STATUS_RESET */
#define IA32_PERF_GLOBAL_STATUS_SET 0x391u /* version 4 */
#define IA32_PERF_GLOBAL_INUSE      0x392u /* version 4, read-only: counters with an event, by number */
#define IA32_PERF_GLOBAL_INUSE_PMI       DS_BIT(63)
#define IA32_PERF_GLOBAL_METRICS         DS_BIT(48) /* in _CTRL: enables them; in _STATUS: overflow */
#define IA32_PERF_GLOBAL_STATUS_LBR_FRZ  DS_BIT(58) /* version 4, and the next two: frozen by DEBUGCTL's FREEZE bits */
#define IA32_PERF_GLOBAL_STATUS_CTR_FRZ  DS_BIT(59)
#define IA32_PERF_GLOBAL_STATUS_ASCI     DS_BIT(60)
#define IA32_PERF_GLOBAL_STATUS_UNCORE   DS_BIT(61)
#define IA32_PERF_GLOBAL_STATUS_OVF_BUF  DS_BIT(62) /* PEBS index reached the threshold */
#define IA32_PERF_GLOBAL_STATUS_COND_CHG DS_BIT(63)

#define IA32_PEBS_ENABLE 0x3F1u /* i: GP counter i; 32 + i: fixed counter i with PEBS_BASELINE, load latency without */
#define IA32_PEBS_ENABLE_LL_EN (UINT64_C(0xF) << 32) /* load latency of PMC0-3, before PEBS_BASELINE */
#define IA32_PEBS_ENABLE_PS_EN DS_BIT(63)            /* precise store, Sandy Bridge */

#define MSR_PEBS_DATA_CFG 0x3F2u /* only with PEBS_BASELINE */
#define MSR_PEBS_DATA_CFG_MEMINFO DS_BIT(0)
#define MSR_PEBS_DATA_CFG_GPR     DS_BIT(1)
#define MSR_PEBS_DATA_CFG_XMM     DS_BIT(2)
#define MSR_PEBS_DATA_CFG_LBR     DS_BIT(3)
#define MSR_PEBS_DATA_CFG_CNTR    DS_BIT(4) /* format 6, and the next */
#define MSR_PEBS_DATA_CFG_METRICS DS_BIT(5)
#define MSR_PEBS_DATA_CFG_GROUPS  UINT64_C(0x3F)
#define MSR_PEBS_DATA_CFG_VALID   UINT64_C(0xFF00000F) /* formats 4 and 5 */
static inline uint64_t msr_pebs_data_cfg_entries(unsigned lbr_entries) { return (uint64_t)(lbr_entries - 1) << 24; }
static inline unsigned msr_pebs_data_cfg_lbr_entries(uint64_t v) { return ((unsigned)(v >> 24) & 0xFF) + 1; }
static inline uint32_t msr_pebs_data_cfg_gp(uint64_t v) { return (uint32_t)(v >> 32) & 0xFFFF; }
static inline uint32_t msr_pebs_data_cfg_fixed(uint64_t v) { return (uint32_t)(v >> 48) & 0xFF; }
static inline uint64_t msr_pebs_data_cfg_counters(uint32_t gp, uint32_t fixed)
{
    return (uint64_t)gp << 32 | (uint64_t)fixed << 48;
}

#define MSR_OFFCORE_RSP_0 0x1A6u /* requests and answers that an event counts; the next: from Westmere on */
#define MSR_OFFCORE_RSP_1 0x1A7u

#define MSR_PEBS_LD_LAT   0x3F6u /* load latency threshold in core cycles */
#define MSR_PEBS_FRONTEND 0x3F7u /* qualifies the frontend event */

#define IA32_LBR_0_INFO    0x1200u /* + i, the newest is 0; with CPUID.07H:EDX.ARCH_LBR */
#define IA32_LBR_0_FROM_IP 0x1500u
#define IA32_LBR_0_TO_IP   0x1600u

#define IA32_A_PMC0 0x4C1u /* + i; full-width alias of IA32_PMC0 + i, only with FW_WRITE */

#define IA32_DS_AREA 0x600u

/* Local APIC, LVT performance counter register (SDM vol. 3A, "Local Vector Table"). */
#define LVTPC_VECTOR        0xFFu
#define LVTPC_DELIVERY      (7u << 8)
#define LVTPC_MASKED        (1u << 16) /* set by the processor whenever it takes a PMI from this entry */
#define LVTPC_RESET         LVTPC_MASKED
/* clang-format on */

/* ================================================================ the DS management area */

/* The form Windows knows (60H bytes): formats 0 to 3, four general-purpose counters. */
struct ds_area_60 {
    uint64_t bts_buffer_base;          /* 00 */
    uint64_t bts_index;                /* 08: written by the processor */
    uint64_t bts_absolute_maximum;     /* 10 */
    uint64_t bts_interrupt_threshold;  /* 18 */
    uint64_t pebs_buffer_base;         /* 20 */
    uint64_t pebs_index;               /* 28: written by the processor */
    uint64_t pebs_absolute_maximum;    /* 30 */
    uint64_t pebs_interrupt_threshold; /* 38 */
    uint64_t pebs_counter_reset[4];    /* 40 */
};
_Static_assert(sizeof(struct ds_area_60) == 0x60, "DS area, 60H form");
_Static_assert(offsetof(struct ds_area_60, bts_index) == 0x08, "BtsIndex");
_Static_assert(offsetof(struct ds_area_60, bts_absolute_maximum) == 0x10, "BtsAbsoluteMaximum");
_Static_assert(offsetof(struct ds_area_60, bts_interrupt_threshold) == 0x18, "BtsInterruptThreshold");
_Static_assert(offsetof(struct ds_area_60, pebs_buffer_base) == 0x20, "PebsBufferBase");
_Static_assert(offsetof(struct ds_area_60, pebs_index) == 0x28, "PebsIndex");
_Static_assert(offsetof(struct ds_area_60, pebs_absolute_maximum) == 0x30, "PebsAbsoluteMaximum");
_Static_assert(offsetof(struct ds_area_60, pebs_interrupt_threshold) == 0x38, "PebsInterruptThreshold");
_Static_assert(offsetof(struct ds_area_60, pebs_counter_reset) == 0x40, "PebsCounterReset0");

/* The form of format 4 (A0H bytes): eight general-purpose and four fixed counters. The first 60H bytes are the same.
 * Also of format 3 where fixed counters write records (Goldmont Plus; Linux' arch/x86/events/intel/ds.c). */
struct ds_area_a0 {
    uint64_t bts_buffer_base;             /* 00 */
    uint64_t bts_index;                   /* 08 */
    uint64_t bts_absolute_maximum;        /* 10 */
    uint64_t bts_interrupt_threshold;     /* 18 */
    uint64_t pebs_buffer_base;            /* 20 */
    uint64_t pebs_index;                  /* 28 */
    uint64_t pebs_absolute_maximum;       /* 30 */
    uint64_t pebs_interrupt_threshold;    /* 38 */
    uint64_t pebs_gp_counter_reset[8];    /* 40 */
    uint64_t pebs_fixed_counter_reset[4]; /* 80 */
};
_Static_assert(sizeof(struct ds_area_a0) == 0xA0, "DS area, A0H form");
_Static_assert(offsetof(struct ds_area_a0, pebs_index) == 0x28, "PebsIndex, A0H form");
_Static_assert(offsetof(struct ds_area_a0, pebs_gp_counter_reset) == 0x40, "GP resets");
_Static_assert(offsetof(struct ds_area_a0, pebs_fixed_counter_reset) == 0x80, "fixed resets");

/* The form of formats 5 and 6: after the same eight words the resets of 32 general-purpose and 16 fixed counters. */
#define DS_AREA_BYTES_MAX 0x1C0u
#define DS_AREA_1C0_FIXED 0x140u

/* Bytes of the area that hardware of this format reads. `fixed`: fixed counters write records; format 3 only. */
static inline uint32_t ds_area_bytes(unsigned format, bool fixed)
{
    return format >= 5                             ? DS_AREA_BYTES_MAX
           : format == 4 || (format == 3 && fixed) ? sizeof(struct ds_area_a0)
                                                   : sizeof(struct ds_area_60);
}

/* Where the reset value of counter `counter` lies in the area. */
static inline uint32_t ds_area_reset(unsigned format, unsigned counter)
{
    uint32_t fixed = format >= 5 ? DS_AREA_1C0_FIXED : offsetof(struct ds_area_a0, pebs_fixed_counter_reset);
    return counter < DS_COUNTER_FIXED ? offsetof(struct ds_area_60, pebs_counter_reset) + 8 * counter
                                      : fixed + 8 * (counter - DS_COUNTER_FIXED);
}

/* ================================================================ BTS */

struct ds_bts_record {
    uint64_t from;  /* 00 */
    uint64_t to;    /* 08 */
    uint64_t flags; /* 10 */
};
_Static_assert(sizeof(struct ds_bts_record) == 24, "BTS record");
#define DS_BTS_PREDICTED DS_BIT(4) /* not on every microarchitecture */

/* ================================================================ PEBS records, formats 0 to 3 */

struct ds_pebs_fmt0 {
    uint64_t rflags;                                 /* 00 */
    uint64_t rip;                                    /* 08: the instruction after the event */
    uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp; /* 10: not the order of the adaptive group */
    uint64_t r8_r15[8];                              /* 50 */
};
struct ds_pebs_fmt1 {
    struct ds_pebs_fmt0 registers;
    uint64_t status;              /* 90: formats 1, 2: IA32_PERF_GLOBAL_STATUS; format 3: applicable counters */
    uint64_t data_linear_address; /* 98 */
    uint64_t data_source;         /* A0 */
    uint64_t latency;             /* A8 */
};
struct ds_pebs_fmt2 {
    struct ds_pebs_fmt1 fmt1;
    uint64_t eventing_ip; /* B0 */
    uint64_t tx;          /* B8 */
};
struct ds_pebs_fmt3 {
    struct ds_pebs_fmt2 fmt2;
    uint64_t tsc; /* C0 */
};
_Static_assert(sizeof(struct ds_pebs_fmt0) == 0x90, "PEBS format 0");
_Static_assert(offsetof(struct ds_pebs_fmt0, rbx) == 0x18, "format 0: RBX");
_Static_assert(offsetof(struct ds_pebs_fmt0, rcx) == 0x20, "format 0: RCX");
_Static_assert(offsetof(struct ds_pebs_fmt0, rdx) == 0x28, "format 0: RDX");
_Static_assert(offsetof(struct ds_pebs_fmt0, rsi) == 0x30, "format 0: RSI");
_Static_assert(offsetof(struct ds_pebs_fmt0, rdi) == 0x38, "format 0: RDI");
_Static_assert(offsetof(struct ds_pebs_fmt0, rbp) == 0x40, "format 0: RBP");
_Static_assert(offsetof(struct ds_pebs_fmt0, rsp) == 0x48, "format 0: RSP");
_Static_assert(offsetof(struct ds_pebs_fmt0, r8_r15) == 0x50, "format 0: R8");
_Static_assert(sizeof(struct ds_pebs_fmt1) == 0xB0, "PEBS format 1");
_Static_assert(offsetof(struct ds_pebs_fmt1, status) == 0x90, "format 1: status");
_Static_assert(offsetof(struct ds_pebs_fmt1, data_linear_address) == 0x98, "format 1: data linear address");
_Static_assert(offsetof(struct ds_pebs_fmt1, data_source) == 0xA0, "format 1: data source");
_Static_assert(offsetof(struct ds_pebs_fmt1, latency) == 0xA8, "format 1: latency");
_Static_assert(sizeof(struct ds_pebs_fmt2) == 0xC0, "PEBS format 2");
_Static_assert(offsetof(struct ds_pebs_fmt2, eventing_ip) == 0xB0, "format 2: EventingIP");
_Static_assert(offsetof(struct ds_pebs_fmt2, tx) == 0xB8, "format 2: TX abort information");
_Static_assert(sizeof(struct ds_pebs_fmt3) == 0xC8, "PEBS format 3");
_Static_assert(offsetof(struct ds_pebs_fmt3, tsc) == 0xC0, "format 3: TSC");

/* ================================================================ PEBS records, formats 4 and up: groups in order */

struct ds_pebs_basic {
    uint64_t head;        /* 00: [31:0] groups (MSR_PEBS_DATA_CFG), [47:32] retire latency (only with
                             PEBS_TIMING_INFO), [63:48] bytes of the record */
    uint64_t eventing_ip; /* 08 */
    uint64_t counters;    /* 10: applicable counters */
    uint64_t tsc;         /* 18 */
};
struct ds_pebs_meminfo {
    uint64_t data_linear_address; /* 00 */
    uint64_t data_source;         /* 08 */
    uint64_t latency;             /* 10 */
    uint64_t tx;                  /* 18 */
};
struct ds_pebs_gpr {
    uint64_t rflags;                                 /* 00 */
    uint64_t rip;                                    /* 08: the instruction after the event */
    uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi; /* 10: the order of the instruction encoding */
    uint64_t r8_r15[8];                              /* 50 */
};
struct ds_pebs_xmm {
    uint64_t xmm[16][2]; /* low half first */
};
struct ds_pebs_lbr {
    uint64_t from, to, info; /* one entry; as the LBR MSRs have them */
};
struct ds_pebs_cntr { /* then a word for each bit of gp_mask, of fixed_mask, and two (slots, metrics) with metrics */
    uint32_t gp_mask, fixed_mask;
    uint32_t metrics; /* DS_PEBS_CNTR_METRICS: there */
    uint32_t reserved;
};
#define DS_PEBS_CNTR_METRICS 3u
_Static_assert(sizeof(struct ds_pebs_basic) == 32, "basic group");
_Static_assert(offsetof(struct ds_pebs_basic, eventing_ip) == 8, "basic group: EventingIP");
_Static_assert(offsetof(struct ds_pebs_basic, counters) == 0x10, "basic group: applicable counters");
_Static_assert(offsetof(struct ds_pebs_basic, tsc) == 0x18, "basic group: TSC");
_Static_assert(sizeof(struct ds_pebs_meminfo) == 32, "memory group");
_Static_assert(sizeof(struct ds_pebs_gpr) == 144, "GPR group");
_Static_assert(offsetof(struct ds_pebs_gpr, rcx) == 0x18, "GPR group: RCX");
_Static_assert(offsetof(struct ds_pebs_gpr, rdx) == 0x20, "GPR group: RDX");
_Static_assert(offsetof(struct ds_pebs_gpr, rbx) == 0x28, "GPR group: RBX");
_Static_assert(offsetof(struct ds_pebs_gpr, rsp) == 0x30, "GPR group: RSP");
_Static_assert(offsetof(struct ds_pebs_gpr, rdi) == 0x48, "GPR group: RDI");
_Static_assert(offsetof(struct ds_pebs_gpr, r8_r15) == 0x50, "GPR group: R8");
_Static_assert(sizeof(struct ds_pebs_xmm) == 256, "XMM group");
_Static_assert(sizeof(struct ds_pebs_lbr) == 24, "LBR entry");
_Static_assert(sizeof(struct ds_pebs_cntr) == 16, "counter group");

/* The largest record of formats 4 and 5: every group, with 32 LBR entries. A record of format 6 also has metrics and up
 * to 14 counters (10 general-purpose, 4 fixed), the most on any processor of the model. */
#define DS_PEBS_RECORD_MAX_4 1232u
#define DS_PEBS_RECORD_MAX   (DS_PEBS_RECORD_MAX_4 + 16u + 8u * 14u + 16u)

/* clang-format off */
static inline uint32_t ds_pebs_head_groups(uint64_t head) { return (uint32_t)head; }
static inline unsigned ds_pebs_head_latency(uint64_t head) { return (unsigned)(head >> 32) & 0xFFFF; }
static inline uint32_t ds_pebs_head_size(uint64_t head) { return (uint32_t)(head >> 48); }
static inline uint64_t ds_pebs_head(uint32_t groups, uint32_t size) { return (uint64_t)size << 48 | groups; }
/* clang-format on */

/* Bytes of an adaptive record whose groups are those of `data_cfg`. */
static inline uint32_t ds_pebs_adaptive_size(uint64_t data_cfg)
{
    uint32_t size = sizeof(struct ds_pebs_basic);
    if (data_cfg & MSR_PEBS_DATA_CFG_MEMINFO)
        size += sizeof(struct ds_pebs_meminfo);
    if (data_cfg & MSR_PEBS_DATA_CFG_GPR)
        size += sizeof(struct ds_pebs_gpr);
    if (data_cfg & MSR_PEBS_DATA_CFG_XMM)
        size += sizeof(struct ds_pebs_xmm);
    if (data_cfg & MSR_PEBS_DATA_CFG_LBR)
        size += (uint32_t)sizeof(struct ds_pebs_lbr) * msr_pebs_data_cfg_lbr_entries(data_cfg);
    if (data_cfg & (MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS))
        size += sizeof(struct ds_pebs_cntr);
    if (data_cfg & MSR_PEBS_DATA_CFG_CNTR) {
        uint64_t counters = data_cfg >> 32 & UINT64_C(0xFFFFFF);
        for (; counters; counters &= counters - 1)
            size += 8;
    }
    if (data_cfg & MSR_PEBS_DATA_CFG_METRICS)
        size += 2 * 8;
    return size;
}

/* Bytes of a record of formats 0 to 3. Formats 4 and up: bytes of a record with only the basic group. */
static inline uint32_t ds_pebs_fixed_size(unsigned format)
{
    static const uint8_t size[] = {sizeof(struct ds_pebs_fmt0), sizeof(struct ds_pebs_fmt1),
                                   sizeof(struct ds_pebs_fmt2), sizeof(struct ds_pebs_fmt3)};
    return format < 4 ? size[format] : (uint32_t)sizeof(struct ds_pebs_basic);
}

/* Whether records of this format contain a TSC value. */
static inline int ds_pebs_has_tsc(unsigned format)
{
    return format >= 3;
}

/* Bytes of the record at `record`, of which `left` bytes can be read. 0 if it is cut off, or if the size that it holds
 * is invalid: then nothing after it can be found. */
static inline uint32_t ds_pebs_record_size(unsigned format, const void *record, uint32_t left)
{
    uint32_t size = ds_pebs_fixed_size(format);
    if (format >= 4 && left >= size) {
        const struct ds_pebs_basic *basic = record;
        uint32_t own = ds_pebs_head_size(basic->head);
        size = own >= size && own % 8 == 0 ? own : 0;
    }
    return size <= left ? size : 0;
}
