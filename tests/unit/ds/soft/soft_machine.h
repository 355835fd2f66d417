/* SPDX-License-Identifier: MIT */
/*
 * The stepping backend for its tests (test_soft*.c, and none else: what the processor layer offers is played here):
 * a model, a driver on it, #DB frames made by hand; what the driver reports is kept. GS base points at a struct
 * arch_cpu as in the kernel.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "ds/bts/bts.h"
#include "ds/soft/inside.h"
#include "ds/soft/log/log.h"
#include "ds/soft/soft.h"
#include "ds/truth/truth.h"

#define SOFT_PHYSICAL (UINT64_C(1) << 40) /* what a physical address is more than that in this program */

#define TF     ARCH_RFLAGS_TF
#define PERIOD UINT64_C(1000000000)

#define COUNT_BOTH   "instructions:1000000000,branches:1000000000"
#define COUNT_USER   "instructions:1000000000:u,branches:1000000000:u"
#define COUNT_KERNEL "instructions:1000000000:k,branches:1000000000:k"

extern struct arch_cpu cpu;
extern struct ds_soft *soft;
extern struct ds_cpu *ds;
extern struct ds_log model_log; /* zeroed by soft_begin */
extern unsigned ipis;
extern uint64_t hole;                   /* the page of a program's memory that is not there */
extern const uint8_t syscall_entry[16]; /* arch_syscall_entry */
extern struct arch_trap_frame frame;    /* made by hand: thread 4711's */

/* ---- for soft_begin ---------------------------------------------------------------------------------------------- */

extern uint64_t groups;                      /* of MSR_PEBS_DATA_CFG; GPR */
extern const struct ds_model_policy *policy; /* NULL: all defaults; events that no list names are recorded, too */

/* ---- what the driver has reported since soft_begin --------------------------------------------------------------- */

#define SEEN 4096
extern struct cairn_truth_pebs seen[SEEN];
extern unsigned seen_count, drained_bytes;
extern uint64_t drained_lost;
extern uint64_t words[CAIRN_TRUTH_GROUPS][CAIRN_TRUTH_WORDS_MAX]; /* of the record seen last */
extern unsigned words_seen[CAIRN_TRUTH_GROUPS];
extern struct cairn_truth_branch branch_seen[SEEN];
extern unsigned branches_seen;
extern struct ds_bts_drain bts_last;

#define LOGGED 8
struct soft_logged {
    struct cairn_model_entry entry;
    struct cairn_model_action action[8];
};
extern struct soft_logged logged_seen[LOGGED];
extern unsigned entries_seen;

/* ---- what tests do ----------------------------------------------------------------------------------------------- */

/* A model of `preset` and a driver that counts `events`, started, on CPU 3. */
void soft_begin(const char *preset, const char *events, uint32_t records);
uint64_t soft_read_msr(uint32_t msr); /* both must not fault */
void soft_write_msr(uint32_t msr, uint64_t value);
/* Events counted with COUNT_..., each of whose counters began at -PERIOD. */
uint64_t soft_instructions(void);
uint64_t soft_branches(void);
/* Steps on at `ip`; the #DB comes with RIP at `next`. */
bool soft_step(const uint8_t *ip, const uint8_t *next, uint64_t rflags);
/* SYSCALL at `ip`, stepping on before it at `from`, as the kernel's entry sees it. */
void soft_system_call(const uint8_t *from, const uint8_t *ip);
