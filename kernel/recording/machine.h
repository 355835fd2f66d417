/* SPDX-License-Identifier: MIT */
/* What machine this is. kernel/inventory adds the rest to the dump's machine stream. */
#pragma once

#include <stdint.h>

/* System time at a TSC value, in units of 100 ns since 1601-01-01: from the firmware's clock when the loader started,
 * as UTC where it names no zone. Without a clock as if that had been 1601-01-01. */
int64_t kmachine_filetime(uint64_t tsc);
/* True where CPUID names QEMU's TCG: cycles are then emulated. */
int kmachine_emulated(void);
/* True where CPUID says that there is a hypervisor: what registers do may then be its answer. */
int kmachine_virtual(void);
