/* SPDX-License-Identifier: MIT */
/* One step of the soft backend, as its hooks see it (ds/ds.h). */
#pragma once

#include <stdint.h>

struct arch_trap_frame;

#define DS_SOFT_BRANCHES 32u

struct ds_soft_step {                    /* the instruction that caused a record, or is a branch */
    const struct arch_trap_frame *frame; /* after it */
    uint64_t ip, next;                   /* its address, and where execution went on */
    uint64_t tsc_first, tsc_last;        /* between these the record was written */
    uint32_t tid;
    struct ds_soft_history { /* the branches taken last: a ring of its own, beside the model's */
        struct {
            uint64_t from, to;
        } branch[DS_SOFT_BRANCHES];
        uint32_t next;
    } history;
};
