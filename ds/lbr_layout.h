/* SPDX-License-Identifier: MIT */
/* Event logging in architectural LBR. INFO of an entry: how often the event of PMCn, below DS_LBR_LOGGED, has occurred
 * since the entry before; 3: or more. Sources: see ds/pebs23_layout.h. */
#pragma once

#include "ds/layout.h"

/* clang-format off */
#define CPUID_1CH_ECX_EVENT_LOGGING (0xFu << 16) /* bit 16 + n: PMCn has EN_LBR_LOG */
#define IA32_PERFEVTSEL_EN_LBR_LOG DS_BIT(35)
#define DS_LBR_LOGGED      4u
#define DS_LBR_LOGGED_MOST UINT64_C(3)
static inline uint64_t ds_lbr_info_logged(uint64_t info, unsigned n) { return info >> (32 + 2 * n) & 3; }
static inline uint64_t ds_lbr_info_log(uint64_t times, unsigned n) { return times << (32 + 2 * n); }
/* clang-format on */
