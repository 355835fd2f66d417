/* SPDX-License-Identifier: MIT */
/* Of the CPUs' TSCs against the boot processor's, measured when each CPU started. */
#pragma once

#include "arch/tscsync/exchange.h"

/* Of CPU `index`. `rounds` 0: not measured; the boot processor's never is. IA32_TSC_ADJUST is left as it is: only the
 * firmware, or a hypervisor, knows what else counts on it, and what a write would set right is known no better than
 * these bounds. */
const struct arch_tsc_bounds *arch_tsc_bounds(uint32_t index);
