/* SPDX-License-Identifier: MIT */
/*
 * The playground's program: up to 24 instructions by name, as in "set:5,load,dec,jnz:1". They do what x86's do, with
 * three simplifications: each takes 4 bytes, ZF is the only status flag, and 256 bytes of data and 128 of stack repeat
 * through the address space, so that no address is wrong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/model/model.h"
#include "ds/pebs23_layout.h"
#include "ds/soft/insn.h"

#define PLAY_PROGRAM_MAX 24u /* instructions that the user writes */
#define PLAY_PROGRAM_ALL (PLAY_PROGRAM_MAX + 3u)
#define PLAY_INSN_BYTES  4u
#define PLAY_DATA_WORDS  32u
#define PLAY_STACK_WORDS 16u
#define PLAY_CODE        UINT64_C(0x401000)
#define PLAY_KERNEL_CODE UINT64_C(0xFFFFFFFF80001000)
#define PLAY_PMI_CODE    UINT64_C(0xFFFFFFFF80002000)
#define PLAY_DATA        UINT64_C(0x500000)
#define PLAY_STACK       UINT64_C(0x7FF000)

enum play_op {
    PLAY_NOP,
    PLAY_ADD,
    PLAY_SET,
    PLAY_DEC,
    PLAY_LOAD,
    PLAY_STORE,
    PLAY_JNZ,
    PLAY_JMP,
    PLAY_CALL,
    PLAY_RET,
    PLAY_SYSCALL,
    PLAY_SYSRET, /* the kernel's; a user cannot write it */
    PLAY_OPS
};

struct play_op_row {
    const char *name; /* in the settings' text */
    const char *mnemonic;
    const char *text; /* what it does */
    bool operand;     /* a number follows: a target by its place in the program, or a value */
    uint8_t kind;     /* enum ds_insn_kind, which says what it is counted as */
    uint8_t access;   /* 1: it loads, 2: it stores */
};
extern const struct play_op_row play_ops[PLAY_OPS];

struct play_insn {
    uint8_t op; /* enum play_op */
    uint16_t operand;
};

/* The user's instructions, then what is always there: a JMP to the first, and with SYSCALL the kernel's two. */
struct play_program {
    uint32_t written, count; /* written: by the user */
    struct play_insn insn[PLAY_PROGRAM_ALL];
};

struct play_cpu {
    struct ds_model_registers registers; /* rip: of the next instruction */
    uint32_t at, cpl;                    /* the next instruction's place in the program */
    uint64_t data[PLAY_DATA_WORDS], stack[PLAY_STACK_WORDS];
};

/* What executing one instruction was. */
struct play_executed {
    struct ds_model_retired retired;
    struct ds_model_branch branch;
    uint32_t at; /* which instruction */
};

/* `size` characters of text, as in the settings. 0; -EINVAL: `error` says in one line what is wrong. */
int play_program_read(struct play_program *program, const char *text, size_t size, char *error, size_t error_size);
void play_program_write(const struct play_program *program, char *text, size_t size);
uint64_t play_program_address(const struct play_program *program, uint32_t at);
/* "JNZ 401004H", "MOV RBX, 5". */
void play_program_show(const struct play_program *program, uint32_t at, char *text, size_t size);

void play_cpu_reset(struct play_cpu *cpu, const struct play_program *program, uint32_t cpl);
/* Executes the next instruction. The branch stays in `executed`. */
void play_cpu_execute(struct play_cpu *cpu, const struct play_program *program, struct play_executed *executed);
