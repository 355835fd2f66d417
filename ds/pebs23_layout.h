/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS as the processor lays it out: CPUID leaf 23H, its MSRs and its records. It has no part in the
 * Debug Store: the buffer's physical address, the write position and what a counter's records contain are in MSRs. What
 * both kinds of PEBS share (counters, events, branch history) is in ds/layout.h, and the rules of that file hold here.
 *
 * Sources: Linux' arch/x86/include/asm/perf_event.h and arch/x86/events/intel/{core,ds}.c (6.19 and later) for MSRs and
 * records; SDM vol. 1, CPUID leaf 23H; SDM vol. 4 for the MSR numbers. Intel's own text (Architecture Instruction Set
 * Extensions Programming Reference, "Architectural PEBS") was not at hand. What these sources do not say is a policy of
 * the model (ds/policy/table/policy.c).
 */
#pragma once

#include "ds/layout.h"

/* IA32_PERF_CAPABILITIES.PEBS_FMT, and the format of records in a trace */
#define DS_FORMAT_ARCH IA32_PERF_CAPABILITIES_PEBS_FMT_ARCHITECTURAL

/* Bits stand under their register. */
/* clang-format off */

/* ================================================================ CPUID leaf 23H (SDM vol. 1) */

#define CPUID_23H_EAX_SELF           (1u << 0)
#define CPUID_23H_EAX_COUNTERS       (1u << 1) /* subleaf 1: EAX general-purpose ones, EBX fixed ones, bit by bit */
#define CPUID_23H_EAX_ACR            (1u << 2) /* subleaf 2: auto counter reload */
#define CPUID_23H_EAX_EVENTS         (1u << 3) /* subleaf 3: EAX: bit n: there is architectural event n */
#define CPUID_23H_EBX_UMASK2         (1u << 0)
#define CPUID_23H_EBX_EQ             (1u << 1) /* subleaf 0: IA32_PERFEVTSELx[36] */

/* Subleaf 4, EBX: the groups of records. Shifted left by 32, each bit is where IA32_PMC_GPn_CFG_C has it. Subleaf 5:
 * EAX, EBX: general-purpose counters with PEBS, with precise distribution; ECX, EDX: the same, fixed. */
static inline uint64_t cpuid_23h_4_groups(uint32_t ebx) { return (uint64_t)ebx << 32; }

/* ================================================================ MSRs (SDM vol. 4) */

#define IA32_PEBS_BASE 0x3F4u
#define IA32_PEBS_BASE_SIZE UINT64_C(0xF) /* the buffer has 4096 << SIZE bytes, contiguous (the width: inferred) */
#define IA32_PEBS_BASE_ADDRESS UINT64_C(0x000FFFFFFFFFF000) /* physical */
static inline uint64_t ia32_pebs_base_bytes(uint64_t v) { return UINT64_C(4096) << (v & IA32_PEBS_BASE_SIZE); }

/* Positions and thresholds are in units of 16 bytes; so [26:0] is the byte offset of the next record. */
#define IA32_PEBS_INDEX 0x3F5u
#define IA32_PEBS_INDEX_WR     UINT64_C(0x07FFFFF0)
#define IA32_PEBS_INDEX_FULL   DS_BIT(31) /* records are lost until software clears it (inferred from the name) */
#define IA32_PEBS_INDEX_EN     DS_BIT(32)
#define IA32_PEBS_INDEX_THRESH (UINT64_C(0x07FFFFF0) << 32)
#define IA32_PEBS_INDEX_VALID                                                                                          \
    (IA32_PEBS_INDEX_WR | IA32_PEBS_INDEX_FULL | IA32_PEBS_INDEX_EN | IA32_PEBS_INDEX_THRESH)
static inline uint32_t ia32_pebs_index_wr(uint64_t v) { return (uint32_t)(v & IA32_PEBS_INDEX_WR); } /* bytes */
static inline uint32_t ia32_pebs_index_thresh(uint64_t v) { return (uint32_t)((v & IA32_PEBS_INDEX_THRESH) >> 32); }
static inline uint64_t ia32_pebs_index(uint32_t wr, uint32_t thresh) /* both in bytes, multiples of 16 */
{
    return (wr & IA32_PEBS_INDEX_WR) | ((uint64_t)thresh << 32 & IA32_PEBS_INDEX_THRESH);
}

/* Version 6 of architectural performance monitoring: four MSRs for each counter. Fixed counters have no CFG_A: they
 * stay in IA32_FIXED_CTR_CTRL. */
#define IA32_PMC_GP0_CTR   0x1900u /* + 4 i; another name of IA32_A_PMC0 + i */
#define IA32_PMC_GP0_CFG_A 0x1901u /* another name of IA32_PERFEVTSEL0 + i */
#define IA32_PMC_GP0_CFG_B 0x1902u /* auto counter reload */
#define IA32_PMC_GP0_CFG_C 0x1903u /* PEBS, and the value to reload */
#define IA32_PMC_FX0_CTR   0x1980u /* + 4 i; another name of IA32_FIXED_CTR0 + i */
#define IA32_PMC_FX0_CFG_B 0x1982u
#define IA32_PMC_FX0_CFG_C 0x1983u
#define IA32_PMC_STEP      4u
/* The MSR of counter `c`, numbered as in IA32_PERF_GLOBAL_STATUS, whose kind `gp0` and `fx0` name. */
static inline uint32_t ds_arch_msr(unsigned c, uint32_t gp0, uint32_t fx0)
{
    return c < DS_COUNTER_FIXED ? gp0 + IA32_PMC_STEP * c : fx0 + IA32_PMC_STEP * (c - DS_COUNTER_FIXED);
}

/* Counters, numbered as in IA32_PERF_GLOBAL_STATUS, whose overflow reloads this one from its CFG_C. */
#define IA32_PMC_CFG_B_METRICS_CLEAR DS_BIT(48)

#define IA32_PMC_CFG_C_RELOAD       UINT64_C(0xFFFFFFFF) /* sign-extended (inferred); 0: no reload after a record */
#define IA32_PMC_CFG_C_CNTR_ALLOW   DS_BIT(35) /* other counters' records may show this one */
#define IA32_PMC_CFG_C_CNTR_GP      DS_BIT(36)
#define IA32_PMC_CFG_C_CNTR_FIXED   DS_BIT(37)
#define IA32_PMC_CFG_C_CNTR_METRICS DS_BIT(38)
#define IA32_PMC_CFG_C_CNTR                                                                                            \
    (IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED | IA32_PMC_CFG_C_CNTR_METRICS)
#define IA32_PMC_CFG_C_LBR          (UINT64_C(3) << 40)
#define DS_ARCH_LBR_NONE 0u
#define DS_ARCH_LBR_8    1u
#define DS_ARCH_LBR_16   2u
#define DS_ARCH_LBR_ALL  3u
#define IA32_PMC_CFG_C_XMM          DS_BIT(49) /* XER groups: bit 48 + the number of the XSAVE component */
#define IA32_PMC_CFG_C_YMMH         DS_BIT(50)
#define IA32_PMC_CFG_C_EGPR         DS_BIT(51) /* inferred */
#define IA32_PMC_CFG_C_OPMASK       DS_BIT(53)
#define IA32_PMC_CFG_C_ZMMH         DS_BIT(54)
#define IA32_PMC_CFG_C_H16ZMM       DS_BIT(55)
#define IA32_PMC_CFG_C_XER          (UINT64_C(0xFE) << 48)
#define IA32_PMC_CFG_C_GPR          DS_BIT(61)
#define IA32_PMC_CFG_C_AUX          DS_BIT(62)
#define IA32_PMC_CFG_C_EN           DS_BIT(63)
#define IA32_PMC_CFG_C_GROUPS       (UINT64_C(0x7FFFFFF0) << 32) /* those of CPUID.23H.4, without CNTR_ALLOW */
static inline unsigned ia32_pmc_cfg_c_lbr(uint64_t v) { return (unsigned)(v >> 40) & 3; } /* DS_ARCH_LBR_... */
static inline uint64_t ia32_pmc_cfg_c_with_lbr(unsigned lbr) { return (uint64_t)lbr << 40; }

#define IA32_PERFEVTSEL_RDPMC_USR_DISABLE DS_BIT(37) /* RDPMC of this counter reads 0 outside ring 0 */
#define IA32_FIXED_CTR_CTRL_METRICS_CLEAR DS_BIT(14) /* reading the metrics into a record clears them */

#define IA32_PERF_GLOBAL_STATUS_ARCH_PEBS DS_BIT(54) /* IA32_PEBS_INDEX reached its threshold */
/* clang-format on */

/* ================================================================ records */

/* In front of each record, or fragment of one. Then the groups that it names, in this order: basic, auxiliary, general
 * registers, extended registers, branch history, counters. */
struct ds_arch_header {
    uint64_t format;   /* 00: below */
    uint64_t reserved; /* 08 */
};
#define DS_ARCH_HEADER_SIZE   UINT64_C(0xFFFF) /* bytes, this header among them; a multiple of 16 */
#define DS_ARCH_HEADER_MODE64 DS_BIT(30)       /* the code ran in 64-bit mode */
#define DS_ARCH_HEADER_CONT   DS_BIT(31)       /* the record goes on in the fragment behind this one */
/* Where CFG_C has EN. The other groups are the bits of CFG_C; of the three of counters this is inferred. */
#define DS_ARCH_HEADER_BASIC  DS_BIT(63)
#define DS_ARCH_HEADER_GROUPS (DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_GROUPS)

static inline uint32_t ds_arch_header_size(uint64_t format)
{
    return (uint32_t)(format & DS_ARCH_HEADER_SIZE);
}

/* A null header: nothing but a size. The record goes on behind it. */
static inline bool ds_arch_header_null(uint64_t format)
{
    return ds_arch_header_size(format) && !(format & ~DS_ARCH_HEADER_SIZE);
}

struct ds_arch_basic {
    uint64_t eventing_ip; /* 00: of the instruction that caused the event */
    uint64_t counters;    /* 08: applicable counters */
    uint64_t tsc;         /* 10 */
    uint64_t retire;      /* 18: DS_ARCH_RETIRE_... */
    uint64_t reserved[2]; /* 20 */
};
#define DS_ARCH_RETIRE_LATENCY UINT64_C(0xFFFF)
#define DS_ARCH_RETIRE_VALID   DS_BIT(16)

struct ds_arch_aux {
    uint64_t data_linear_address; /* 00 */
    uint64_t reserved[4];         /* 08 */
    uint64_t data_source;         /* 28 */
    uint64_t latency;             /* 30: [15:0] of the instruction, [47:32] of the cache */
    uint64_t tx;                  /* 38 */
};

struct ds_arch_gpr {
    struct ds_pebs_gpr registers; /* 00: RIP is of the instruction after the event */
    uint64_t ssp;                 /* 90: shadow-stack pointer */
    uint64_t reserved;            /* 98 */
};

/* Then the areas that the record's header names, in the order of their bits. */
struct ds_arch_xer {
    uint64_t xstate; /* 00: the components whose values are there; of others the areas are, too */
    uint64_t reserved;
};
#define DS_ARCH_XMM_BYTES    256u
#define DS_ARCH_YMMH_BYTES   256u
#define DS_ARCH_EGPR_BYTES   128u
#define DS_ARCH_OPMASK_BYTES 64u
#define DS_ARCH_ZMMH_BYTES   512u
#define DS_ARCH_H16ZMM_BYTES 1024u

/* Then 8, 16 or `depth` entries (struct ds_pebs_lbr), as IA32_PMC_CFG_C.LBR says; the newest first (inferred). */
struct ds_arch_lbr {
    uint64_t reserved; /* 00 */
    uint64_t lbr_ctl;  /* 08: IA32_LBR_CTL */
    uint64_t depth;    /* 10: IA32_LBR_DEPTH */
    uint64_t ler_from; /* 18: of the last exception, and the next two */
    uint64_t ler_to;   /* 20 */
    uint64_t ler_info; /* 28 */
};

/* The group of counters is struct ds_pebs_cntr and its words, as in format 6. */

_Static_assert(sizeof(struct ds_arch_header) == 16, "header");
_Static_assert(sizeof(struct ds_arch_basic) == 48, "basic group");
_Static_assert(offsetof(struct ds_arch_basic, counters) == 0x08, "basic group: applicable counters");
_Static_assert(offsetof(struct ds_arch_basic, tsc) == 0x10, "basic group: TSC");
_Static_assert(offsetof(struct ds_arch_basic, retire) == 0x18, "basic group: retire latency");
_Static_assert(sizeof(struct ds_arch_aux) == 64, "auxiliary group");
_Static_assert(offsetof(struct ds_arch_aux, data_source) == 0x28, "auxiliary group: data source");
_Static_assert(offsetof(struct ds_arch_aux, latency) == 0x30, "auxiliary group: latencies");
_Static_assert(offsetof(struct ds_arch_aux, tx) == 0x38, "auxiliary group: TSX");
_Static_assert(sizeof(struct ds_arch_gpr) == 160, "general registers");
_Static_assert(offsetof(struct ds_arch_gpr, ssp) == 0x90, "general registers: SSP");
_Static_assert(sizeof(struct ds_arch_xer) == 16, "extended registers");
_Static_assert(sizeof(struct ds_arch_lbr) == 48, "branch history");
_Static_assert(offsetof(struct ds_arch_lbr, lbr_ctl) == 0x08, "branch history: IA32_LBR_CTL");
_Static_assert(offsetof(struct ds_arch_lbr, depth) == 0x10, "branch history: IA32_LBR_DEPTH");
_Static_assert(offsetof(struct ds_arch_lbr, ler_from) == 0x18, "branch history: LER");

/* Bytes of the areas of extended registers that `format` (or a CFG_C) names, their header among them; 0: none. */
static inline uint32_t ds_arch_xer_bytes(uint64_t format)
{
    /* clang-format off */
    return (format & IA32_PMC_CFG_C_XER    ? (uint32_t)sizeof(struct ds_arch_xer) : 0) +
           (format & IA32_PMC_CFG_C_XMM    ? DS_ARCH_XMM_BYTES : 0) +
           (format & IA32_PMC_CFG_C_YMMH   ? DS_ARCH_YMMH_BYTES : 0) +
           (format & IA32_PMC_CFG_C_EGPR   ? DS_ARCH_EGPR_BYTES : 0) +
           (format & IA32_PMC_CFG_C_OPMASK ? DS_ARCH_OPMASK_BYTES : 0) +
           (format & IA32_PMC_CFG_C_ZMMH   ? DS_ARCH_ZMMH_BYTES : 0) +
           (format & IA32_PMC_CFG_C_H16ZMM ? DS_ARCH_H16ZMM_BYTES : 0);
    /* clang-format on */
}

/* Entries of branch history that `format` (or a CFG_C) asks for; `depth` is IA32_LBR_DEPTH. */
static inline uint32_t ds_arch_lbr_entries(uint64_t format, uint32_t depth)
{
    const unsigned lbr = ia32_pmc_cfg_c_lbr(format);
    return lbr == DS_ARCH_LBR_ALL ? depth : lbr ? 8u * lbr : 0;
}

/* Bytes of a whole record with the groups of `cfg_c`: `words` counter values (two for the metrics among them), branch
 * history of `depth` entries. A multiple of 16: what is missing to one is padding behind the last group
 * (inferred). */
static inline uint32_t ds_arch_record_bytes(uint64_t cfg_c, uint32_t words, uint32_t depth)
{
    uint32_t size = sizeof(struct ds_arch_header) + sizeof(struct ds_arch_basic) + ds_arch_xer_bytes(cfg_c);
    if (cfg_c & IA32_PMC_CFG_C_AUX)
        size += sizeof(struct ds_arch_aux);
    if (cfg_c & IA32_PMC_CFG_C_GPR)
        size += sizeof(struct ds_arch_gpr);
    if (cfg_c & IA32_PMC_CFG_C_LBR)
        size += (uint32_t)sizeof(struct ds_arch_lbr) +
                ds_arch_lbr_entries(cfg_c, depth) * (uint32_t)sizeof(struct ds_pebs_lbr);
    if (cfg_c & IA32_PMC_CFG_C_CNTR)
        size += (uint32_t)sizeof(struct ds_pebs_cntr) + 8 * words;
    return (size + 15) / 16 * 16;
}

/* The largest record: every group, 32 entries of branch history, 10 general-purpose and 4 fixed counters, metrics. */
#define DS_ARCH_RECORD_MAX 3504u

/* Records are 16 bytes apart or a multiple, as IA32_PEBS_INDEX counts. Whether the size in a header counts the padding
 * is not found; it may or may not. */

/* Bytes of the record at `record`, of which `left` bytes can be read: its first fragment and all that continue it. 0 if
 * it is cut off, or if a size that it holds is invalid: then nothing after it can be found. */
static inline uint32_t ds_arch_record_size(const void *record, uint32_t left)
{
    uint32_t size = 0;
    for (;;) {
        if (left - size < sizeof(struct ds_arch_header))
            return 0;
        const uint64_t format = ((const struct ds_arch_header *)((const uint8_t *)record + size))->format;
        const uint32_t own = ds_arch_header_size(format);
        if (own < sizeof(struct ds_arch_header) || own % 8)
            return 0;
        const uint32_t fragment = (own + 15) / 16 * 16;
        if (fragment > left - size)
            return 0;
        size += fragment;
        if (!(format & DS_ARCH_HEADER_CONT) && !ds_arch_header_null(format))
            return size;
    }
}

/* Bytes of the record at `record` of any format: ds_pebs_record_size or ds_arch_record_size. */
static inline uint32_t ds_record_size_at(unsigned format, const void *record, uint32_t left)
{
    return format == DS_FORMAT_ARCH ? ds_arch_record_size(record, left) : ds_pebs_record_size(format, record, left);
}

/* ================================================================ in the trace, where the others have their DS area */

/* The registers of a drain: with architectural PEBS the Debug Store holds nothing of it. */
struct ds_arch_registers {
    uint64_t base;         /* 00: IA32_PEBS_BASE */
    uint64_t index;        /* 08: IA32_PEBS_INDEX, before WR goes back to 0 */
    uint64_t gp_cfg_c[32]; /* 10: IA32_PMC_GPi_CFG_C; 0: not used */
    uint64_t fx_cfg_c[16]; /* 110: IA32_PMC_FXi_CFG_C */
};
_Static_assert(sizeof(struct ds_arch_registers) == 0x190, "registers of a drain");
_Static_assert(offsetof(struct ds_arch_registers, gp_cfg_c) == 0x10, "registers of a drain: GP");
_Static_assert(offsetof(struct ds_arch_registers, fx_cfg_c) == 0x110, "registers of a drain: fixed");
