/* SPDX-License-Identifier: MIT */
/* What the files of the soft backend share; private to ds/soft. */
#pragma once

#include "arch/trapframe.h"
#include "ds/machine.h"
#include "ds/model/model.h"
#include "ds/soft/insn.h"
#include "ds/soft/soft.h"

#define DS_SOFT_DECODED 2048u /* a power of two */

struct ds_soft {
    struct ds_model model;
    struct ds_machine machine;
    struct ds_cpu *ds;
    uint32_t (*tid)(const struct arch_trap_frame *frame);

    struct ds_soft_step step;                         /* in progress, for the model's questions and for the hooks */
    uint8_t cpl;                                      /* of its instruction */
    uint64_t record_tsc;                              /* of the last step that was asked for registers */
    bool (*mapped)(const void *address, size_t size); /* NULL: all DS memory is there */
    uint64_t steps;

    struct { /* policy residual: the step that records still to come are of, see ds_model_late */
        struct ds_soft_step step;
        struct arch_trap_frame frame;
        uint64_t tsc;
    } late;
    struct ds_log *log; /* NULL: none is kept */

    struct ds_soft_decoded {
        uint64_t ip; /* 0: empty */
        struct ds_insn insn;
    } decoded[DS_SOFT_DECODED];
};

/* What the instruction at `ip`, after which execution stands at `next`, means for the counters. False: it asks for a
 * #DB of the program's own. */
bool ds_soft_account(struct ds_soft *soft, struct arch_trap_frame *frame, uint64_t ip, uint64_t next);

/* Hooks of wings, called where they are there. ds/soft/log: the model has done all it does at an instruction of
 * `length` bytes; 0: at a write of LVTPC. */
void ds_soft_acted(struct ds_soft *soft, unsigned length) __attribute__((weak));
/* ds/soft/late: after each instruction; before each access to an MSR. */
void ds_soft_remember(struct ds_soft *soft) __attribute__((weak));
void ds_soft_late(struct ds_soft *soft) __attribute__((weak));

/* ds/soft/user. Decodes an instruction of one. */
void ds_soft_decode_user(uint64_t ip, struct ds_insn *insn) __attribute__((weak));
/* What PUSHF has stored loses TF. */
void ds_soft_clear_user_tf(const struct ds_soft *soft) __attribute__((weak));
/* The #DB is right at the kernel's entry: it is that of what came before SYSCALL, or of SYSCALL. */
void ds_soft_at_syscall(struct ds_soft *soft, struct arch_trap_frame *frame) __attribute__((weak));
void ds_soft_system_call(void *soft, struct arch_trap_frame *frame) __attribute__((weak));
