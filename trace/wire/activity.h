/* SPDX-License-Identifier: MIT */
/*
 * Events of the NT Kernel Logger about what happens between switches, as Windows 10 build 10240 has them on x64: hook
 * IDs, versions, payloads. All have a PERFINFO_TRACE_HEADER. The kernel, the host tool and the tests compile this file;
 * it uses only fixed-width types.
 *
 * Sources: hook IDs and structures from NTWMI.H, as Microsoft's symbol files (PDB) and System Informer's phnt have
 * them; versions and the meaning of the fields from the MOF classes (Microsoft Learn, "Event Tracing", kernel trace
 * control API). Group and type make the hook ID: 05 thread, 0F performance.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* ================================================================ 0532H, ReadyThread: ETW_READY_THREAD_EVENT */

#define HOOK_READY_THREAD         0x0532u
#define HOOK_VERSION_READY_THREAD 2u

struct etw_ready_thread {
    uint32_t thread_id;      /* 00: the one made ready; who did it runs on this CPU */
    uint8_t adjust_reason;   /* 04: enum etw_adjust */
    int8_t adjust_increment; /* 05 */
    uint8_t flags;           /* 06 */
    uint8_t spare;           /* 07 */
};
_Static_assert(sizeof(struct etw_ready_thread) == 0x08, "ETW_READY_THREAD_EVENT");
_Static_assert(offsetof(struct etw_ready_thread, adjust_reason) == 0x04, "ETW_READY_THREAD_EVENT.AdjustReason");
_Static_assert(offsetof(struct etw_ready_thread, adjust_increment) == 0x05, "ETW_READY_THREAD_EVENT.AdjustIncrement");
_Static_assert(offsetof(struct etw_ready_thread, flags) == 0x06, "ETW_READY_THREAD_EVENT.Flags");

enum etw_adjust { ETW_ADJUST_NONE = 0, ETW_ADJUST_UNWAIT = 1, ETW_ADJUST_BOOST = 2 };
#define ETW_READY_EXECUTING_DPC 0x01u
#define ETW_READY_STACK_OUT     0x02u /* KernelStackNotResident; this and the next two: never here */
#define ETW_READY_PROCESS_OUT   0x04u /* ProcessOutOfMemory */
#define ETW_READY_DIRECT_SWITCH 0x08u /* DirectSwitchAttempt */

/* ================================================================ 0530H SetPriority, 0531H SetBasePriority */

#define HOOK_SET_PRIORITY         0x0530u
#define HOOK_SET_BASE_PRIORITY    0x0531u
#define HOOK_VERSION_SET_PRIORITY 3u /* of both */

struct etw_priority {        /* ETW_PRIORITY_EVENT */
    uint32_t thread_id;      /* 00 */
    int8_t old_priority;     /* 04: 0531H: of the base priority */
    int8_t new_priority;     /* 05: likewise */
    int8_t dynamic_priority; /* 06: the thread's priority after it */
    int8_t reserved;         /* 07 */
};
_Static_assert(sizeof(struct etw_priority) == 0x08, "ETW_PRIORITY_EVENT");
_Static_assert(offsetof(struct etw_priority, old_priority) == 0x04, "ETW_PRIORITY_EVENT.OldPriority");
_Static_assert(offsetof(struct etw_priority, new_priority) == 0x05, "ETW_PRIORITY_EVENT.NewPriority");
_Static_assert(offsetof(struct etw_priority, dynamic_priority) == 0x06, "ETW_PRIORITY_EVENT.DynamicPriority");

/* ================================================================ 0F22H, Mark: text of 8-bit characters, then a 0 */

#define HOOK_MARK         0x0F22u
#define HOOK_VERSION_MARK 0u
#define ETW_MARK_MAX      128u /* Cairn's own limit, the 0 included */

/* ================================================================ 0F2EH, SampleProf: PERFINFO_SAMPLED_PROFILE_... */

#define HOOK_SAMPLED_PROFILE         0x0F2Eu
#define HOOK_VERSION_SAMPLED_PROFILE 2u

struct perfinfo_sampled_profile {
    uint64_t instruction_pointer; /* 00: interrupted */
    uint32_t thread_id;           /* 08 */
    uint16_t count;               /* 0C: ticks it stands for */
    uint8_t flags;                /* 0E */
    uint8_t rank;                 /* 0F */
};
_Static_assert(sizeof(struct perfinfo_sampled_profile) == 0x10, "PERFINFO_SAMPLED_PROFILE_INFORMATION");
_Static_assert(offsetof(struct perfinfo_sampled_profile, thread_id) == 0x08, "PERFINFO_SAMPLED_PROFILE.ThreadId");
_Static_assert(offsetof(struct perfinfo_sampled_profile, count) == 0x0C, "PERFINFO_SAMPLED_PROFILE.Count");
_Static_assert(offsetof(struct perfinfo_sampled_profile, flags) == 0x0E, "PERFINFO_SAMPLED_PROFILE.Flags");
_Static_assert(offsetof(struct perfinfo_sampled_profile, rank) == 0x0F, "PERFINFO_SAMPLED_PROFILE.Rank");

#define PERFINFO_PROFILE_EXECUTING_DPC  0x01u /* what was interrupted */
#define PERFINFO_PROFILE_EXECUTING_ISR  0x02u
#define PERFINFO_PROFILE_PRIORITY_SHIFT 3 /* five bits: the thread's */

/* ================================================================ 0F2FH, PmcInterrupt: PERFINFO_PMC_SAMPLE_... */

#define HOOK_PMC_INTERRUPT         0x0F2Fu
#define HOOK_VERSION_PMC_INTERRUPT 2u

struct perfinfo_pmc_sample {
    uint64_t instruction_pointer; /* 00: interrupted */
    uint32_t thread_id;           /* 08 */
    uint16_t profile_source;      /* 0C: trace/pmc_sources.h */
    uint16_t reserved;            /* 0E */
};
_Static_assert(sizeof(struct perfinfo_pmc_sample) == 0x10, "PERFINFO_PMC_SAMPLE_INFORMATION");
_Static_assert(offsetof(struct perfinfo_pmc_sample, thread_id) == 0x08, "PERFINFO_PMC_SAMPLE.ThreadId");
_Static_assert(offsetof(struct perfinfo_pmc_sample, profile_source) == 0x0C, "PERFINFO_PMC_SAMPLE.ProfileSource");

/* ================================================================ 0F30H, PmcConfig: what PMC items are */

#define HOOK_PMC_CONFIG         0x0F30u
#define HOOK_VERSION_PMC_CONFIG 2u

struct perfinfo_pmc_config { /* so many UTF-16 names follow, each with its 0 */
    uint32_t counters;       /* 00 */
};
_Static_assert(sizeof(struct perfinfo_pmc_config) == 0x04, "PmcConfig");

/* ================================================================ 0F43H, ISR: PERFINFO_INTERRUPT_INFORMATION */

#define HOOK_INTERRUPT         0x0F43u
#define HOOK_VERSION_INTERRUPT 2u

struct __attribute__((packed)) perfinfo_interrupt {
    uint64_t initial_time;    /* 00: session clock, when it began; the event's own time: when it ended */
    uint64_t service_routine; /* 08 */
    uint8_t return_value;     /* 10: 1: it was its own */
    uint16_t vector;          /* 11 */
    uint8_t reserved;         /* 13 */
};
_Static_assert(sizeof(struct perfinfo_interrupt) == 0x14, "PERFINFO_INTERRUPT_INFORMATION");
_Static_assert(offsetof(struct perfinfo_interrupt, service_routine) == 0x08, "PERFINFO_INTERRUPT.ServiceRoutine");
_Static_assert(offsetof(struct perfinfo_interrupt, return_value) == 0x10, "PERFINFO_INTERRUPT.ReturnValue");
_Static_assert(offsetof(struct perfinfo_interrupt, vector) == 0x11, "PERFINFO_INTERRUPT.Vector");

/* ================================================================ 0F44H DPC, 0F45H TimerDPC */

#define HOOK_DPC         0x0F44u
#define HOOK_TIMER_DPC   0x0F45u
#define HOOK_VERSION_DPC 2u /* of both */

struct perfinfo_dpc {      /* PERFINFO_DPC_INFORMATION */
    uint64_t initial_time; /* 00: as above */
    uint64_t dpc_routine;  /* 08 */
};
_Static_assert(sizeof(struct perfinfo_dpc) == 0x10, "PERFINFO_DPC_INFORMATION");
_Static_assert(offsetof(struct perfinfo_dpc, dpc_routine) == 0x08, "PERFINFO_DPC_INFORMATION.DpcRoutine");
