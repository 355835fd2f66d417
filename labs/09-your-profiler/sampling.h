/* SPDX-License-Identifier: MIT */
/* Lab 9: how the check takes samples of retired instructions, and the parts of the check. */
#pragma once

#include "task.h"

#define JOB_SYMBOLS 7u
#define JOB_ROUNDS  32u
#define LOOP_MORE   3u /* instructions of lab_loop beside the NOPs */

lab_program lab_job; /* program.asm, and what follows */
lab_program lab_loop;
extern const struct lab_symbol lab_job_symbols[JOB_SYMBOLS];
extern uint64_t lab_job_stack;
extern const uint8_t lab_loop_nops[];

struct sample { /* of a record */
    uint64_t ip, rbp, r12;
};

/* Before the others. Ends the lab if there is no memory. */
void sampling_init(void);
/* Whether the counter's event has precise distribution: records are `period` instructions apart, and not period + 1. */
bool sampling_precise(void);
/* Runs the program. The first record comes after `first` instructions, or one later. Returns how many records there
 * are; sampling_get reads them. */
uint32_t sampling_run(lab_program *program, uint64_t argument, uint64_t period, uint64_t first);
struct sample sampling_get(uint32_t record);
/* The same, but each record is passed to `taken` by an interrupt right after it, with the stack pointer of then. */
void sampling_run_with_stacks(lab_program *program, uint64_t argument, uint64_t period,
                              void (*taken)(const struct sample *sample, uint64_t rsp));

/* ---- check_stacks.c: lab_stack and lab_fold. `instructions`: of lab_job with JOB_ROUNDS */
void check_stacks(uint32_t instructions);

/* ---- check_flame.c: a picture of folded stacks, printed as a file */
struct folded {
    struct lab_calls calls; /* the outermost first */
    uint32_t samples;
};
/* Sorts them. */
void flame_draw(struct folded *lines, uint32_t count);
