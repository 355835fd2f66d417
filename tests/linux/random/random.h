/* SPDX-License-Identifier: MIT */
/*
 * Random x86-64 programs for the Linux guest: what they are made of and where they lie. One is a function of its seed:
 * code, data and the path through it, whatever runs it. It always ends: every way back costs fuel.
 *
 * All of a program that the tracer reads or repairs is in one shared file: private code, code that is mapped at three
 * addresses, data, stack.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANDOM_PAGE 4096u

#define RANDOM_CODE    UINT64_C(0x10000000)
#define RANDOM_DATA    UINT64_C(0x40000000)
#define RANDOM_COLD    UINT64_C(0x50000000) /* anonymous memory, at first not there */
#define RANDOM_GUARD   UINT64_C(0x60000000) /* the same, at first not accessible: a handler makes it so */
#define RANDOM_ABSENT  UINT64_C(0x68000000) /* nothing */
#define RANDOM_STACK   UINT64_C(0x70000000)
#define RANDOM_ALIASES 3u
extern const uint64_t random_alias[RANDOM_ALIASES]; /* where the shared code is mapped */

/* pages */
enum {
    RANDOM_CODE_PAGES = 16,
    RANDOM_SHARED_PAGES = 4,
    RANDOM_STACK_PAGES = 16,
    RANDOM_DATA_PAGES = 8,
    RANDOM_COLD_PAGES = 32,
    RANDOM_GUARD_PAGES = 16,
};

/* bytes in the file */
enum {
    RANDOM_CODE_AT = 0,
    RANDOM_SHARED_AT = RANDOM_CODE_AT + RANDOM_CODE_PAGES * (int)RANDOM_PAGE,
    RANDOM_STACK_AT = RANDOM_SHARED_AT + RANDOM_SHARED_PAGES * (int)RANDOM_PAGE,
    RANDOM_DATA_AT = RANDOM_STACK_AT + RANDOM_STACK_PAGES * (int)RANDOM_PAGE,
    RANDOM_FILE_SIZE = RANDOM_DATA_AT + RANDOM_DATA_PAGES * (int)RANDOM_PAGE,
    RANDOM_CODE_SIZE = RANDOM_STACK_AT,
};

/* What an instruction is to the tracer. The generator says so: it needs no decoder that could be wrong like another. */
enum random_kind {
    RANDOM_NONE, /* no instruction begins here */
    RANDOM_PLAIN,
    RANDOM_UNDEFINED, /* leaves flags that the manual does not define: QEMU's then depend on the block */
    RANDOM_REP,
    RANDOM_PUSHF,
    RANDOM_SHADOW, /* MOV SS: a single step goes on to behind the next instruction */
    RANDOM_LOCKED, /* with LOCK: must not be followed by the #DB of single-stepping */
    RANDOM_JCC,    /* from here on branches */
    RANDOM_LOOP,   /* and JRCXZ */
    RANDOM_JUMP,
    RANDOM_CALL,
    RANDOM_RETURN,
    RANDOM_FAR, /* JMP, RET and IRET that load CS; from here on far branches */
    RANDOM_SYSCALL,
    RANDOM_INT80,
    RANDOM_INT3,
    RANDOM_INT4,
    RANDOM_UD,         /* from here on no branches; raises #UD */
    RANDOM_DIVIDE,     /* raises #DE */
    RANDOM_PROTECTION, /* raises #GP */
    RANDOM_KINDS
};

struct random_insn {
    uint8_t length;
    uint8_t kind;
};

struct random_program {
    uint64_t seed;
    uint8_t *file;                              /* RANDOM_FILE_SIZE bytes */
    struct random_insn insns[RANDOM_CODE_SIZE]; /* by where they begin in the file */
    uint64_t entry;                             /* an INT3, which is the last the tracer waits for */
    uint64_t handler, restorer;                 /* of signals */
};

/* Writes the program of the seed into program->file. */
void random_generate(struct random_program *program, uint64_t seed);

/* Place in the file of an address of code or stack; -1: not in there. */
long random_place(uint64_t address);

/* The instruction that begins at the address; NULL: none. */
const struct random_insn *random_at(const struct random_program *program, uint64_t address);

/* In a child that its parent traces: maps the file, sets signal handlers and goes to the entry. */
_Noreturn void random_enter(const struct random_program *program, int fd);
