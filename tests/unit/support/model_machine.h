/* SPDX-License-Identifier: MIT */
/*
 * A machine for the driver whose registers are those of ds/model, so that what is programmed also counts and records.
 * Memory is the test's own; #GP can be injected, and writes are remembered.
 */
#pragma once

#include "ds/ds.h"
#include "ds/machine.h"
#include "ds/model/model.h"

#define MODEL_MACHINE_WRITES 64u
#define MODEL_MACHINE_LVTPC  0xFFFFFFFFu /* among the writes: LVTPC's */

struct model_machine_write {
    uint32_t msr;
    uint64_t value;
};

extern struct model_machine {
    struct ds_model model;
    uint64_t unavailable;                /* bits of IA32_MISC_ENABLE that the model does not have */
    unsigned accesses, fault_at;         /* to MSRs; this one (from 1) raises #GP; 0: none */
    struct model_machine_write injected; /* what that access was, if there has been one; a read's value is 0 */
    bool pmi;                            /* one was raised, with the kernel's vector */
    bool held;                           /* the stepped machine is paused */
    struct model_machine_write writes[MODEL_MACHINE_WRITES];
    unsigned written;
    uint64_t now; /* the number of the instruction, which is its address, too, and the complement of its RAX */
} model_machine;

/* As after RESET, paused, nothing injected, nothing written; `unavailable` stays. `registers`: NULL, they read 0. */
void model_machine_reset(const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                         void (*registers)(void *context, struct ds_model_registers *out));

/* The machine without stepping: GLOBAL_CTRL holds its counters. */
extern const struct ds_machine model_machine_hw;
/* The same where stepping holds them; it counts no steps. */
extern const struct ds_machine model_machine_stepped;

/* `registers` of instruction `now`. */
void model_machine_numbered(void *context, struct ds_model_registers *out);

void model_machine_set(uint32_t msr, uint64_t value); /* must not fault */
/* Every register is as it was; but what was stale in GLOBAL_STATUS may be gone. */
void model_machine_expect(const struct ds_model *before);

/* For hosts of a model: memory is the test's own; registers read 0. */
bool model_machine_read(void *context, uint64_t address, void *to, uint32_t size);
bool model_machine_write(void *context, uint64_t address, const void *from, uint32_t size);
void model_machine_no_registers(void *context, struct ds_model_registers *out);

/* Hooks that do nothing. */
void model_machine_before_drain(void *context, uint32_t cpu, uint64_t tsc);
void model_machine_drained(void *context, uint32_t cpu, const struct ds_drain *drain);
