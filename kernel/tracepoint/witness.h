/* SPDX-License-Identifier: MIT */
/*
 * Where an account of what really happens is kept, beside the trace and not from what the trace was given. The path of
 * a switch has no room for a table: these functions are weak, and only a kernel that keeps such an account has them.
 * All are called on the CPU concerned with interrupts off. `tsc` is what the trace was given.
 */
#pragma once

#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "trace/session.h"
#include "trace/wire/format.h"

/* After a switch, on the stack of `incoming`, which owns it. Counting paused, the dispatcher lock held. */
void kwitness_switch(struct kcpu *cpu, const struct kthread *incoming, const struct kthread *previous, uint64_t tsc)
    __attribute__((weak));

/* `session` has begun, changed or ended on this CPU, in its life `life`, from 0. `masks`: those it has, or had. */
void kwitness_session(struct kcpu *cpu, const struct trace_session *session, enum cairn_session_what what,
                      uint32_t life, const struct perfinfo_groupmask *masks, uint64_t tsc) __attribute__((weak));

/* Where the account lies in memory; NULL: nowhere. */
const void *kwitness_memory(void) __attribute__((weak));
