/* SPDX-License-Identifier: MIT */
/*
 * How long is this x86-64 instruction, and is it one that single-stepping or branch counting must know about? No
 * operands, no names. 64-bit mode only. SDM vol. 2, "Instruction Format" and appendix A, "Opcode Map".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DS_INSN_MAX 15u

enum ds_insn_kind {
    DS_INSN_OTHER,
    DS_INSN_REP_STRING, /* one #DB an iteration, retires once */
    DS_INSN_SHADOW,     /* MOV SS, STI: may keep the next #DB back by one instruction */
    DS_INSN_PUSHF,      /* stores RFLAGS, TF included */
    DS_INSN_POPF,       /* may end stepping */
    DS_INSN_HLT,
    DS_INSN_BRANCH,                    /* from here on: BR_INST_RETIRED.ALL_BRANCHES counts it */
    DS_INSN_IRET = DS_INSN_BRANCH + 1, /* may end stepping */
    DS_INSN_INTERRUPT,                 /* INT n, INT3, INT1 */
    DS_INSN_SYSTEM,                    /* SYSCALL, SYSRET, SYSENTER, SYSEXIT */
};

struct ds_insn {
    uint8_t length;
    uint8_t kind; /* enum ds_insn_kind */
};

static inline int ds_insn_is_branch(const struct ds_insn *insn)
{
    return insn->kind >= DS_INSN_BRANCH;
}

/* Decodes at `code`, reading no byte beyond the instruction nor beyond `size`. Returns its length, 0 where it is no
 * instruction, longer than 15 bytes or cut off. */
unsigned ds_insn_decode(const uint8_t *code, size_t size, struct ds_insn *insn);
