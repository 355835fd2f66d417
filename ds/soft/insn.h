/* SPDX-License-Identifier: MIT */
/*
 * How long an x86-64 instruction is, and whether single-stepping or branch counting must know about it. Of its operands
 * it gives only the target of a direct branch; it has no names. 64-bit mode only. SDM vol. 2, "Instruction Format" and
 * appendix A, "Opcode Map".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DS_INSN_MAX 15u

enum ds_insn_kind {
    DS_INSN_OTHER,
    DS_INSN_REP_STRING,  /* one #DB an iteration, retires once */
    DS_INSN_SHADOW,      /* MOV SS, STI: may keep the next #DB back by one instruction */
    DS_INSN_PUSHF,       /* stores RFLAGS, TF included */
    DS_INSN_POPF,        /* may end stepping */
    DS_INSN_CONDITIONAL, /* from here on branches, which BR_INST_RETIRED.ALL_BRANCHES counts: Jcc, LOOP, JRCXZ */
    DS_INSN_JUMP,
    DS_INSN_CALL,
    DS_INSN_RETURN,
    DS_INSN_FAR,       /* from here on far branches: CALL, JMP and RET that load CS */
    DS_INSN_IRET,      /* may end stepping */
    DS_INSN_INTERRUPT, /* INT n, INT3, INT1 */
    DS_INSN_SYSTEM,    /* SYSCALL, SYSRET, SYSENTER, SYSEXIT */
    DS_INSN_KINDS
};

struct ds_insn {
    uint8_t length;
    uint8_t kind;         /* enum ds_insn_kind */
    uint8_t condition;    /* of a conditional branch, for ds_insn_taken */
    bool direct;          /* a branch that goes `displacement` bytes on from its successor */
    int32_t displacement; /* 0 where not direct */
};

static inline bool ds_insn_is_branch(const struct ds_insn *insn)
{
    return insn->kind >= DS_INSN_CONDITIONAL;
}

static inline bool ds_insn_is_far(const struct ds_insn *insn)
{
    return insn->kind >= DS_INSN_FAR;
}

/* Whether a conditional branch was taken, by the registers as they are after it. RIP tells the same, unless the
 * displacement is 0. */
bool ds_insn_taken(const struct ds_insn *insn, uint64_t rflags, uint64_t rcx);

/* Decodes at `code`, reading no byte beyond the instruction nor beyond `size`. Returns its length, 0 where it is no
 * instruction, longer than 15 bytes or cut off. */
unsigned ds_insn_decode(const uint8_t *code, size_t size, struct ds_insn *insn);
