/* SPDX-License-Identifier: MIT */
/* Lab 11: the parts of the check. */
#pragma once

#include "task.h"

#define TASK "labs/11-which-line/task.h"
#define PAGE "labs/11-which-line/README.md, \"Background\""

#define WHICH_CPUS         2u
#define WHICH_LOAD_LATENCY ia32_perfevtsel(0xCD, 1)    /* MEM_TRANS_RETIRED.LOAD_LATENCY */
#define WHICH_ALL_STORES   ia32_perfevtsel(0xD0, 0x82) /* MEM_INST_RETIRED.ALL_STORES */

/* A number below `limit`, from the seed of this boot. */
uint32_t which_below(uint32_t limit);

void which_check_sampling(void);
void which_check_records(void);
void which_check_objects(void);
void which_check_lists(void);
void which_check_machine(void);

/* ---- check_lists.c */

#define LIST_MAX 2048u /* accesses */

extern const char *const which_sharing[]; /* words for enum lab_sharing */

/* Gives the accesses to lab_lines and lab_shared, and fails the lab where they are wrong. Returns how many lines there
 * are, and *lines, which stay until the next call. */
uint32_t which_judge_list(const struct lab_access *accesses, uint32_t count, const struct lab_line **lines);
/* How processors share a line. */
enum lab_sharing which_expected(const struct lab_access *accesses, uint32_t count, uint64_t line);

/* ---- check_objects.c */
/* Fails the lab unless lab_find_object finds what it should for this address. Returns that. */
int which_judge_object(const struct lab_object *objects, uint32_t count, uint64_t address, uint64_t *offset);
