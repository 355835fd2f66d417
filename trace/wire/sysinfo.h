/* SPDX-License-Identifier: MIT */
/*
 * What NtQuerySystemInformation and NtSetSystemInformation take to control the NT Kernel Logger and the Debug Store:
 * the 64-bit layouts, with Microsoft's names. docs/reference/control.md says what Cairn does with each. The file uses
 * only fixed-width types, and format.h for the masks.
 *
 * Sources: for the classes of SystemPerformanceTraceInformation, Microsoft's NTETW.H as phnt has it
 * (winsiderss/systeminformer, phnt/include/ntexapi.h) and Geoff Chappell's pages on it
 * (studies/windows/km/ntoskrnl/inc/api/ntetw, .../api/etw/tracesup/system_event.htm); for
 * SystemProcessorProfileControlArea, his page .../api/ex/sysinfo/processor_profile_control_area.htm.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/wire/format.h"

/* SYSTEM_INFORMATION_CLASS */
enum system_information_class {
    SYSTEM_PERFORMANCE_TRACE_INFORMATION = 0x1F,
    SYSTEM_PROCESSOR_PROFILE_CONTROL_AREA = 0x81,
};

struct system_processor_profile_control_area {
    uint64_t processor_profile_control_area; /* 00, out: its address */
    uint8_t allocate;                        /* 08, in: 0: free it */
    uint8_t padding[7];                      /* 09 */
};
_Static_assert(sizeof(struct system_processor_profile_control_area) == 0x10, "SYSTEM_PROCESSOR_PROFILE_CONTROL_AREA");
_Static_assert(offsetof(struct system_processor_profile_control_area, allocate) == 8, "Allocate");

/* EVENT_TRACE_INFORMATION_CLASS: the first four bytes of everything below. */
enum event_trace_information_class {
    EVENT_TRACE_GROUP_MASK_INFORMATION = 0x01,           /* query and set */
    EVENT_TRACE_TIME_PROFILE_INFORMATION = 0x03,         /* query and set */
    EVENT_TRACE_SPINLOCK_INFORMATION = 0x05,             /* query and set */
    EVENT_TRACE_PEBS_TRACING_INFORMATION = 0x0B,         /* set */
    EVENT_TRACE_PROFILE_EVENT_LIST_INFORMATION = 0x0E,   /* set */
    EVENT_TRACE_PROFILE_COUNTER_LIST_INFORMATION = 0x0F, /* set */
};

/* TRACEHANDLE: its lower 16 bits are the logger's number. */
#define TRACE_HANDLE_LOGGER           0xFFFFu
#define TRACE_HANDLE_NT_KERNEL_LOGGER 0xFFFFu /* KERNEL_LOGGER_ID, NTWMI_X.H */

struct event_trace_groupmask_information {
    uint32_t information_class;            /* 00: EVENT_TRACE_GROUP_MASK_INFORMATION */
    uint32_t padding;                      /* 04 */
    uint64_t trace_handle;                 /* 08 */
    struct perfinfo_groupmask group_masks; /* 10 */
};
_Static_assert(sizeof(struct event_trace_groupmask_information) == 0x30, "EVENT_TRACE_GROUPMASK_INFORMATION");
_Static_assert(offsetof(struct event_trace_groupmask_information, trace_handle) == 0x08, "TraceHandle");
_Static_assert(offsetof(struct event_trace_groupmask_information, group_masks) == 0x10, "EventTraceGroupMasks");

struct event_trace_time_profile_information {
    uint32_t information_class; /* 00: EVENT_TRACE_TIME_PROFILE_INFORMATION */
    uint32_t profile_interval;  /* 04: in units of 100 ns */
};
_Static_assert(sizeof(struct event_trace_time_profile_information) == 0x08, "EVENT_TRACE_TIME_PROFILE_INFORMATION");
_Static_assert(offsetof(struct event_trace_time_profile_information, profile_interval) == 0x04, "ProfileInterval");

struct event_trace_spinlock_information {
    uint32_t information_class;      /* 00: EVENT_TRACE_SPINLOCK_INFORMATION */
    uint32_t spin_threshold;         /* 04 */
    uint32_t acquire_sample_rate;    /* 08 */
    uint32_t contention_sample_rate; /* 0C */
    uint32_t hold_threshold;         /* 10: TSC cycles; not before Windows 8.1 */
};
_Static_assert(sizeof(struct event_trace_spinlock_information) == 0x14, "EVENT_TRACE_SPINLOCK_INFORMATION");
_Static_assert(offsetof(struct event_trace_spinlock_information, spin_threshold) == 0x04, "SpinLockSpinThreshold");
_Static_assert(offsetof(struct event_trace_spinlock_information, acquire_sample_rate) == 0x08, "AcquireSampleRate");
_Static_assert(offsetof(struct event_trace_spinlock_information, contention_sample_rate) == 0x0C, "contended rate");
_Static_assert(offsetof(struct event_trace_spinlock_information, hold_threshold) == 0x10, "SpinLockHoldThreshold");
#define EVENT_TRACE_SPINLOCK_INFORMATION_V1_BYTES 0x10u

/* What precedes HookId[] or ProfileSource[], 32 bits each, to the end of the buffer:
 * EVENT_TRACE_SYSTEM_EVENT_INFORMATION (PebsTracing and ProfileEventList) and EVENT_TRACE_PROFILE_COUNTER_INFORMATION
 * (ProfileCounterList). sizeof counts one element and padding behind it, 0x18; what the function wants is these 0x10
 * bytes and whole elements. */
struct event_trace_list_information {
    uint32_t information_class; /* 00 */
    uint32_t padding;           /* 04 */
    uint64_t trace_handle;      /* 08 */
};
_Static_assert(sizeof(struct event_trace_list_information) == 0x10, "up to HookId, ProfileSource");
_Static_assert(offsetof(struct event_trace_list_information, trace_handle) == 0x08, "TraceHandle");

/* ETW_PMC_SUPPORT: HookId[4]; ETW_MAX_PMC_COUNTERS of Windows 6.2 to 1607 (build 10240's) */
#define ETW_MAX_PMC_EVENTS   4u
#define ETW_MAX_PMC_COUNTERS 4u
