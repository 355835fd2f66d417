/* SPDX-License-Identifier: MIT */
/* How far each CPU's TSC is from the boot processor's, as measured when the CPU started. */
#pragma once

#include "arch/tscsync/exchange.h"

/* The bounds of CPU `index`. `rounds` is 0 if it was not measured; the boot processor never is. The kernel does not
 * write IA32_TSC_ADJUST: only the firmware or a hypervisor knows what else relies on it, and the right value is known
 * only within these bounds. */
const struct arch_tsc_bounds *arch_tsc_bounds(uint32_t index);
