/* SPDX-License-Identifier: MIT */
/*
 * The groups of events in a PERFINFO_GROUPMASK. The upper three bits of a group's value are the number of its mask, the
 * other bits are its bits in that mask. Names and values as in Microsoft's NTWMI.H.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire/format.h"

#define PERF_MASK_SHIFT 29
#define PERF_MASK_BITS  0x1FFFFFFFu

#define PERF_PROCESS         0x00000001u
#define PERF_THREAD          0x00000002u
#define PERF_PROC_THREAD     (PERF_PROCESS | PERF_THREAD)
#define PERF_LOADER          0x00000004u
#define PERF_NO_SYSCONFIG    0x10000000u
#define PERF_PROFILE         0x20000002u
#define PERF_CONTEXT_SWITCH  0x20000004u
#define PERF_DPC             0x20000080u
#define PERF_COMPACT_CSWITCH 0x20000100u
#define PERF_DISPATCHER      0x20000200u
#define PERF_PMC_PROFILE     0x20000400u
#define PERF_PRIORITY        0x20002000u
#define PERF_INTERRUPT       0x20004000u
#define PERF_SPINLOCK        0x20010000u
#define PERF_SYSCALL         0x40000040u
#define PERF_CPU_CONFIG      0x40010000u
#define PERF_SYSCFG_SYSTEM   0xC0000001u
/* Cairn's own, in the mask Windows has for flags that change behaviour, at its other end: a session with
 * PERF_COMPACT_CSWITCH gets each switch as 0524H besides. */
#define PERF_CAIRN_BOTH_CSWITCH 0xF0000000u
#define PERF_CAIRN_MARK         0xE8000000u /* marks: Windows' have no group, every session gets them */

/* Whether any bit of `group` is on; group 0, every session's, is on in every mask. */
static inline bool trace_group_on(const struct perfinfo_groupmask *mask, uint32_t group)
{
    return !group || (mask->masks[group >> PERF_MASK_SHIFT] & group & PERF_MASK_BITS) != 0;
}

static inline void trace_group_add(struct perfinfo_groupmask *mask, uint32_t group)
{
    mask->masks[group >> PERF_MASK_SHIFT] |= group & PERF_MASK_BITS;
}

/* What a session with these masks writes of context switches: 0525H with both bits, 0524H with the first alone. */
static inline bool trace_group_compact(const struct perfinfo_groupmask *mask)
{
    return trace_group_on(mask, PERF_CONTEXT_SWITCH) && trace_group_on(mask, PERF_COMPACT_CSWITCH);
}
static inline bool trace_group_full(const struct perfinfo_groupmask *mask)
{
    return trace_group_on(mask, PERF_CONTEXT_SWITCH) &&
           (!trace_group_on(mask, PERF_COMPACT_CSWITCH) || trace_group_on(mask, PERF_CAIRN_BOTH_CSWITCH));
}

/* One more form of switch events, 0525H or 0524H: with the other, if that is there, both. */
static inline void trace_group_add_switches(struct perfinfo_groupmask *mask, bool compact)
{
    if (compact ? trace_group_full(mask) : trace_group_on(mask, PERF_COMPACT_CSWITCH))
        trace_group_add(mask, PERF_CAIRN_BOTH_CSWITCH);
    trace_group_add(mask, PERF_CONTEXT_SWITCH);
    if (compact)
        trace_group_add(mask, PERF_COMPACT_CSWITCH);
}
