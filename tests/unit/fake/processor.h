/* SPDX-License-Identifier: MIT */
/*
 * The processor of unit tests. In them arch/instructions.h, arch/register_access.h, kernel/this_cpu.h and
 * kernel/this_thread.h are those of this folder, so that the kernel's sources call functions in place of instructions.
 * A test sets and reads the state below, and defines itself what it wants otherwise: each function of processor.c is
 * weak. What has no state fails the test.
 */
#pragma once

#include "kernel/cpu.h"

extern struct processor {
    struct kcpu *cpu; /* the one that runs */
    bool irq_on;
    uint64_t tsc, step; /* RDTSC and PAUSE add `step` first */
} processor;
