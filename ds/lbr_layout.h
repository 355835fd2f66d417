/* SPDX-License-Identifier: MIT */
/* Branch history as the processor lays it out: bits of its registers and of its entries. The registers that hold the
 * entries are in ds/layout.h, whose rules hold here. SDM vol. 3B, "Last Branch Records". */
#pragma once

#include "ds/layout.h"

/* clang-format off */
/* CPUID.1CH:EAX[7:0]: if bit n is set, IA32_LBR_DEPTH may be 8 * (n + 1). Returns the largest such depth. */
static inline unsigned cpuid_1ch_eax_depth(uint32_t eax)
{
    return eax & 0xFF ? 8 * (32 - (unsigned)__builtin_clz(eax & 0xFF)) : 0;
}

/* ---- DEBUGCTL.LBR */

/* IA32_PERF_CAPABILITIES.LBR_FMT */
#define LBR_FMT_EIP           2u
#define LBR_FMT_EIP_FLAGS     3u
#define LBR_FMT_EIP_FLAGS_TSX 4u

#define MSR_LASTBRANCH_TOS 0x1C9u /* which entry is the newest */
#define MSR_LASTBRANCH_CORE_0_FROM_IP 0x040u /* + i, Core 2 */
#define MSR_LASTBRANCH_CORE_0_TO_IP   0x060u
#define DS_LBR_FROM_MISPRED DS_BIT(63)            /* LBR_FMT 3 and 4 have it here, and sign extension below */
#define DS_LBR_FROM_FLAGS   (UINT64_C(7) << 61)   /* LBR_FMT 4: IN_TX and TSX_ABORT as well */

#define MSR_LBR_SELECT 0x1C8u /* branches that DEBUGCTL.LBR leaves out, by ring and type; not with ARCH_LBR */
#define MSR_LBR_SELECT_CPL_EQ_0      (1u << 0) /* by where they end */
#define MSR_LBR_SELECT_CPL_NEQ_0     (1u << 1)
#define MSR_LBR_SELECT_JCC           (1u << 2)
#define MSR_LBR_SELECT_NEAR_REL_CALL (1u << 3)
#define MSR_LBR_SELECT_NEAR_IND_CALL (1u << 4)
#define MSR_LBR_SELECT_NEAR_RET      (1u << 5)
#define MSR_LBR_SELECT_NEAR_IND_JMP  (1u << 6)
#define MSR_LBR_SELECT_NEAR_REL_JMP  (1u << 7)
#define MSR_LBR_SELECT_FAR_BRANCH    (1u << 8)
#define MSR_LBR_SELECT_EN_CALLSTACK  (1u << 9) /* from Haswell on: a near return removes the newest entry */

/* ---- architectural LBR */

#define IA32_LBR_CTL   0x14CEu /* with CPUID.07H:EDX.ARCH_LBR, and the next */
#define IA32_LBR_CTL_LBREN    DS_BIT(0)
#define IA32_LBR_CTL_OS       DS_BIT(1)
#define IA32_LBR_CTL_USR      DS_BIT(2)
#define IA32_LBR_CTL_CALL_STACK DS_BIT(3)
#define IA32_LBR_CTL_BRANCHES (UINT64_C(0x7F) << 16) /* each type of branch */
#define IA32_LBR_CTL_VALID (IA32_LBR_CTL_BRANCHES | 0xF)
/* Types: 0 JCC, 1 NEAR_REL_JMP, 2 NEAR_IND_JMP, 3 NEAR_REL_CALL, 4 NEAR_IND_CALL, 5 NEAR_RET, 6 OTHER_BRANCH. */
static inline uint64_t ia32_lbr_ctl_branch(unsigned type) { return DS_BIT(16 + type); }
#define IA32_LBR_DEPTH 0x14CFu /* a write clears the history */

/* ---- INFO of an entry */

#define DS_LBR_INFO_MISPRED DS_BIT(63)
#define DS_LBR_INFO_VALID   UINT64_C(0xE00000000000FFFF) /* before architectural LBR: flags, and cycles */
/* Event logging: how often the event of PMCn, below DS_LBR_LOGGED, has occurred since the entry before; 3: or more. */
#define DS_LBR_LOGGED_MOST UINT64_C(3)
static inline uint64_t ds_lbr_info_logged(uint64_t info, unsigned n) { return info >> (32 + 2 * n) & 3; }
static inline uint64_t ds_lbr_info_log(uint64_t times, unsigned n) { return times << (32 + 2 * n); }
/* clang-format on */
