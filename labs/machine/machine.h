/* SPDX-License-Identifier: MIT */
/* What the parts of a lab's kernel have of each other. */
#pragma once

#include "labs/lab.h"

/* The Debug Store that the options name: ds=soft or ds=hw. 0, or a negative error with one line that says why. */
int lab_machine_init(char *error, size_t size);

/* Whether these bits of IA32_PERF_GLOBAL_CTRL exist: others raise #GP. */
bool lab_machine_counters(uint64_t counters);

/* The address space of the programs of lab_run_user: the physical address of its top table. 0: no memory. */
uint64_t lab_machine_space(void);

/* lab_log, as the student's code has it (labs/fence.py): the line begins with "| ". */
void lab_student_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ring3/exit.asm: what programs of lab_run_user return to. */
void lab_user_exit(void);

/* call.asm: run the program with counters or tracing on, and off again. Interrupts on, no timer. */
void lab_call_stepped(lab_program *program, uint64_t argument); /* the model's: single-stepped */
/* The processor's: a legal value of IA32_PERF_GLOBAL_CTRL, of IA32_DEBUGCTL. */
void lab_call_counted(lab_program *program, uint64_t argument, uint64_t counters);
void lab_call_traced(lab_program *program, uint64_t argument, uint64_t debugctl);
