/* SPDX-License-Identifier: MIT */
/* The Debug Store by single-stepping: a machine (ds/machine.h) for each CPU, with a model of its own. */
#pragma once

#include "ds/ds.h"

/* One step, as hooks see it (struct ds_hooks). */
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

struct ds_soft;
struct ds_model_policy;
size_t ds_soft_bytes(void);
/* `preset`: the name of a ds_model_preset; -EINVAL: unknown. `policy` NULL: all defaults. raise_pmi sends
 * ARCH_VECTOR_PMI to its CPU. */
int ds_soft_init(struct ds_soft *soft, const char *preset, const struct ds_model_policy *policy);
const struct ds_machine *ds_soft_machine(struct ds_soft *soft);

/* See struct ds_stepping; `soft`: a struct ds_soft. */
bool ds_soft_step(void *soft, struct arch_trap_frame *frame);
void ds_soft_interrupted(void *soft, struct arch_trap_frame *frame);
void ds_soft_attach(void *soft, struct ds_cpu *ds, uint32_t (*tid)(const struct arch_trap_frame *frame));
void ds_soft_check_memory(void *soft, bool (*mapped)(const void *address, size_t size));
