/* SPDX-License-Identifier: MIT */
/*
 * How the check of a lab judges. A check is one function. Where something is not right it ends with lab_fail, so that
 * a student reads one hint at a time. The same functions exist in the kernel (labs/machine) and on the host
 * (labs/host).
 *
 * A lab is README.md, task.h, lab.c, solution.c, boots (one line per boot) and either check.c, which is linked into the
 * kernel, or host.c, a program that gets the logs of the boots. Each wrong solution in wrong/ names the hint that it
 * must get. The programs in right/ are unusual, and must pass. tests/labs holds the lab to that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- each check.c defines */
extern const char lab_title[]; /* "1 First record" */
void lab_check(void);          /* in the kernel */

/* ---- verdicts */

/* PASS: NAME: text */
void lab_pass(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* FAIL: NAME: text, which says what was seen and what was expected; then the hint, and the section of the manual to
 * read. Ends the lab. `name` is the hint's, too: each of a lab's hints has its own. */
_Noreturn void lab_fail(const char *name, const char *hint, const char *read, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What a check draws its numbers from, so that no student knows them before. In the kernel it is another one in each
 * boot: the option seed=. Each lab's solution passes with each seed. labs/judge.py draws the same for the host. */
uint64_t lab_seed(void);

/* ---- for checks in the kernel */

/* lab_memory of labs/lab.h; fails the lab if there is none left. */
void *lab_need_memory(size_t bytes);
/* What a register holds; 0: it does not exist. */
uint64_t lab_msr(uint32_t msr);
/* Whether the Debug Store is the model. */
bool lab_is_model(void);
/* Records, or branch records, that the model has dropped, since the beginning: exact. 0 on hw, which does not tell. */
uint64_t lab_model_dropped(void);
/* Where the model looked for the DS area or a buffer, and no memory is mapped; 0: nowhere. */
uint64_t lab_model_fault(void);
/* How many interrupts LAB_PMI_VECTOR have come since the beginning, and the address that the last one interrupted. */
uint32_t lab_pmis(void);
uint64_t lab_pmi_address(void);
/* Whether the last write by lab_wrmsr that raised #GP was of this register; then *value is what was written. */
bool lab_refused(uint32_t msr, uint64_t *value);
/* Whether a handler has ever unmasked LVTPC while OvfBuf of IA32_PERF_GLOBAL_STATUS was set. */
bool lab_unmasked_early(void);
/* Whether programs of lab_run_user run with interrupts on, as they do at first. With false they wait until the program
 * has ended, and come before lab_run_user returns. */
void lab_user_interrupts(bool on);
/* Calls work(cpu) on every processor at the same time, in a thread that stays on that processor: registers are its own
 * there, and so is what lab_run counts. Returns how many processors there are, when all calls have returned. */
uint32_t lab_on_each_cpu(void (*work)(uint32_t cpu));
