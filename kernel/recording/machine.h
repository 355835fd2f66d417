/* SPDX-License-Identifier: MIT */
/* What machine this is. */
#pragma once

/* True where CPUID names QEMU's TCG: cycles are then emulated. */
int kmachine_emulated(void);
/* True where CPUID says that there is a hypervisor: what registers do may then be its answer. */
int kmachine_virtual(void);
