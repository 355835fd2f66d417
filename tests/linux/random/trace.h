/* SPDX-License-Identifier: MIT */
/* What a program does, step by step, and how that is told. */
#pragma once

#include "tests/linux/random/random.h"

#include <sys/types.h>

/* how an instruction enters the kernel by what it is */
enum random_entry {
    RANDOM_ENTRY_NONE,
    RANDOM_ENTRY_SYSCALL,
    RANDOM_ENTRY_INT80,
    RANDOM_ENTRY_INT3,
    RANDOM_ENTRY_INT4,
    RANDOM_ENTRY_UD,
    RANDOM_ENTRY_DIVIDE,
    RANDOM_ENTRY_PROTECTION,
    RANDOM_ENTRY_PAGE_FAULT,
    RANDOM_ENTRIES
};

struct random_registers {
    uint64_t r[16]; /* as instructions number them */
    uint64_t rip, rflags;
};

struct random_step {
    uint64_t rip;
    uint8_t kind; /* enum random_kind; 0: nothing can be fetched there */
    uint8_t length;
    uint8_t entry; /* enum random_entry */
    bool retired;  /* else it faulted */
    bool taken;    /* a branch, and `after.rip` is where it went */
    bool known;    /* `after` holds */
    struct random_registers after;
};

#define RANDOM_STEPS_MAX 20000u /* one more where the last is two */

struct random_trace {
    struct random_step *steps;
    unsigned count, room;
    uint64_t retired;                              /* of the steps */
    uint8_t left[RANDOM_DATA_PAGES * RANDOM_PAGE]; /* data at the end, with the registers in it */
};

/* Starts the program in a child, which stands at its entry then; -1: cannot. */
pid_t random_start(const struct random_program *program, int fd);
/* Reads what a child that has ended left: 0, or a line of what is wrong. */
const char *random_ended(int status);

/* Runs the child to its end one instruction at a time. NULL, or what went wrong (static). */
const char *random_step(const struct random_program *program, pid_t child, struct random_trace *trace);

/* Up to `n` steps before `at` and itself, with their bytes. */
void random_show(const struct random_program *program, const struct random_trace *trace, unsigned at, unsigned n);
