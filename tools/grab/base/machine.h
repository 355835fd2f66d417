/* SPDX-License-Identifier: MIT */
/* What the log says of the machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/frames.h"

/* Where the records come from, and how sure that is: "Linux 6.12.5 on Intel Xeon ..., real processor", or "under a
 * hypervisor (KVM)", "under QEMU's emulator (...)". */
struct grab_source {
    char text[256];
    char hypervisor[16]; /* as CPUID has it, "none" */
    bool emulated;
};
void grab_source_find(struct grab_source *source, const char *release);

/* One more than the highest number of a CPU that is online. Linux leaves room for others, which may never come. */
unsigned grab_machine_cpus(void);
/* Has this thread run on that CPU alone. False: it is not online. */
bool grab_machine_go(unsigned cpu);
/* Of the microcode, as Linux has it; empty: it does not say. */
void grab_machine_microcode(char text[64], unsigned cpu);
/* CPUID.23H: PEBS is architectural, and has no part in the Debug Store. */
bool grab_machine_architectural(void);
/* CPUID.1AH of a hybrid: the kind of this thread's CPU. 0: all are of one kind. */
unsigned grab_machine_core_type(void);

/* Lines of the machine's stream: CPUs, CPUID, registers, memory. `cpus`: 0 to cpus - 1. */
void grab_machine_dump(struct trace_dump *dump, unsigned cpus);
