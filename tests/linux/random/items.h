/* SPDX-License-Identifier: MIT */
/* What blocks of random programs consist of between their ends. Each adds a few instructions to `e`. */
#pragma once

#include "tests/linux/random/emit.h"

/* One to three instructions that change registers, flags and data only. */
void random_straight(struct random_emit *e);
void random_straights(struct random_emit *e, unsigned count);

/* Branches within the block: over what follows, also over nothing, and small loops. */
void random_skip(struct random_emit *e);
void random_loop(struct random_emit *e);

void random_string(struct random_emit *e);  /* REP string instructions, of data, cold and guarded memory */
void random_flags(struct random_emit *e);   /* PUSHF, POPF, LAHF and the like */
void random_memory(struct random_emit *e);  /* cold and guarded memory */
void random_syscall(struct random_emit *e); /* SYSCALL and INT 80H, of calls that return the same each time */
void random_fault(struct random_emit *e);   /* an exception, whose handler goes on behind it */
void random_modify(struct random_emit *e);  /* code that changes code, ahead in this block or anywhere */
void random_odd(struct random_emit *e);     /* CPUID, PAUSE, MOV SS, vectors, ... */
