/* SPDX-License-Identifier: MIT */
/* Lab 2: what you write. */
#pragma once

#include "labs/lab.h"

/* The instructions that the program executes, by address, in the order of execution. A loop repeats its addresses. */
struct lab_path {
    const uint64_t *instruction;
    uint32_t count;
};

struct lab_place {        /* what a record says */
    uint64_t eventing_ip; /* 0: the format has none */
    uint64_t rip;
};

/* Reads the two addresses from a record. `format` is PEBS_FMT of IA32_PERF_CAPABILITIES: 1, 3 or 4. Records of format 4
 * have the GPR group, and may have others: the head of each record says which. */
struct lab_place lab_read_record(unsigned format, const uint8_t *record);

/* The instruction that the processor has executed right before the one at `rip`. 0: the path does not tell, because it
 * comes to `rip` from several instructions, or from none. Twice from the same instruction is not several. */
uint64_t lab_before(const struct lab_path *path, uint64_t rip);

/* The smallest k >= 0 with path->instruction[event + k] == address; -1 if there is none. `event` is below path->count.
 */
int32_t lab_skid(const struct lab_path *path, uint32_t event, uint64_t address);

/* Sampling without PEBS. Makes general-purpose counter `counter` count `event` (IA32_PERFEVTSELx[15:0]) in ring 0 and
 * interrupt when it overflows, after `period` events. WRMSR of IA32_PMCx takes 32 bits, as in lab 1. 0, or the error of
 * the access that raised #GP. */
int lab_pmi_start(unsigned counter, uint64_t event, uint64_t period);

/* Called after the program has run: leaves the counter, its select register and LVTPC as they were before
 * lab_pmi_start (0, 0 and masked). Returns frame->rip of the interrupt, which your handler has kept. 0: no interrupt
 * has come since lab_pmi_start. */
uint64_t lab_pmi_stop(unsigned counter);
