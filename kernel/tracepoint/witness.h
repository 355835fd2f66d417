/* SPDX-License-Identifier: MIT */
/*
 * Where an account of what really happens is kept, beside the trace and not from what the trace was given. The
 * functions here do nothing; a kernel that keeps such an account is linked with others in their place: they are weak,
 * as the path of a switch has no room for a table. All are called on the CPU concerned with interrupts off. `tsc` is
 * what the trace was given.
 */
#pragma once

#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "trace/session.h"
#include "trace/wire/format.h"

/* After a switch, on the stack of `incoming`, which owns it. Counting paused, the dispatcher lock held. */
void kwitness_switch(struct kcpu *cpu, const struct kthread *incoming, const struct kthread *previous, uint64_t tsc);

/* `session` has begun, changed or ended on this CPU, in its life `life`, from 0. `masks`: those it has, or had. */
void kwitness_session(struct kcpu *cpu, const struct trace_session *session, enum cairn_session_what what,
                      uint32_t life, const struct perfinfo_groupmask *masks, uint64_t tsc);

/* Where the account lies in memory; NULL: nowhere. */
const void *kwitness_memory(void);
