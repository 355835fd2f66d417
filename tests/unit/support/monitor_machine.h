/* SPDX-License-Identifier: MIT */
/* A machine for the monitor's commands: some memory with a DS area in it, an MSR for each that the monitor knows, and
 * what has been printed. Also for the fuzzer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/monitor/inside.h"

#define MACHINE_MEMORY UINT64_C(0xFFFF800000100000) /* what can be read and written; 0 is not mapped */
#define MACHINE_BYTES  8192u
#define MACHINE_CODE   UINT64_C(0xFFFFFFFF80001000) /* a page that can only be read; symbol `code` */
#define MACHINE_AREA   (MACHINE_MEMORY + 256)       /* the DS area */
#define MACHINE_BUFFER (MACHINE_MEMORY + 4096)      /* the PEBS buffer: 8 records, 3 of them written */

extern const struct kmonitor_machine monitor_machine;
extern uint8_t monitor_memory[MACHINE_BYTES];
extern char monitor_said[65536]; /* NUL-terminated; what has no room is dropped */

/* As it was: memory with the area and the records of format 4, MSRs all 0 but IA32_DS_AREA, nothing said. */
void monitor_machine_reset(void);
/* The same with architectural PEBS: three records of registers, the second in fragments behind a null header; a DS area
 * without PEBS. */
void monitor_machine_reset_arch(void);
/* Nothing has been said. */
void monitor_machine_forget(void);
