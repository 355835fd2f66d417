/* SPDX-License-Identifier: MIT */
/*
 * The callers of the function in which a PEBS record was found, as far as branch records show them: those of the
 * record's own LBR group, else those that BTS drained for the thread's time on the CPU. Both are windows: calls made
 * before they begin are not known, so no stack claims that its last frame is the outermost. Whether a branch was a call
 * or a return, its instruction shows; for that the kernel's file of the same build is needed.
 *
 * BTS records hold no times. If execution passed a record's instruction more than once between two drains, only what is
 * true of each of these moments is given; if branches were lost in between, nothing is.
 */
#pragma once

#include "tools/cairn/model/elf.h"
#include "tools/cairn/model/timeline.h"

#define CAIRN_CALLS 62u /* that are told; of more the innermost */

struct cairn_callstack {
    uint64_t call[CAIRN_CALLS]; /* addresses of call instructions, the innermost first; of an interrupt: what it met */
    unsigned count;             /* 0: who called is not known */
};

struct cairn_branches { /* BTS records of each CPU, as far as its records have come. Zeroed: none */
    struct cairn_branches_cpu *cpu[CAIRN_CPUS_MOST];
};
void cairn_branches_free(struct cairn_branches *branches);

/* `item` is a record; those of a CPU come in the order of time. False: no branches tell anything of it, or their
 * instructions are not known. */
bool cairn_callstack_read(struct cairn_callstack *stack, struct cairn_branches *branches, const struct cairn_log *log,
                          struct cairn_elf *elf, const struct cairn_item *item);
