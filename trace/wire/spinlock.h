/* SPDX-License-Identifier: MIT */
/* Events of spin locks: 0529H, WMI_SPINLOCK (version 2), and 0F4BH. For all else the rules of trace/wire/format.h
 * apply. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HOOK_SPINLOCK                0x0529u /* PERFINFO_LOG_TYPE_SPINLOCK */
#define HOOK_SPINLOCK_DC_START       0x0F4Bu /* PERFINFO_SPINLOCK_CONFIG as a session begins, and after a change */
#define HOOK_SPINLOCK_DC_END         0x0F4Cu /* and as it ends */
#define HOOK_VERSION_SPINLOCK        2u
#define HOOK_VERSION_SPINLOCK_CONFIG 3u

struct wmi_spinlock {
    uint64_t spin_lock_address;   /* 00 */
    uint64_t caller_address;      /* 08: where the release returns to */
    uint64_t acquire_time;        /* 10: TSC */
    uint64_t release_time;        /* 18: TSC */
    uint32_t wait_time_in_cycles; /* 20: from the first query to AcquireTime */
    uint32_t spin_count;          /* 24: queries after the first one */
    uint32_t thread_id;           /* 28: that released it */
    uint32_t interrupt_count;     /* 2C: of this CPU, from the first query to the release */
    uint8_t irql;                 /* 30: at the release */
    uint8_t acquire_depth;        /* 31: locks this CPU held at the release, this one included */
    uint8_t flags;                /* 32: AcquireMode and WMI_SPINLOCK_... */
    uint8_t reserved[5];          /* 33 */
};
_Static_assert(sizeof(struct wmi_spinlock) == 0x38, "WMI_SPINLOCK");
_Static_assert(offsetof(struct wmi_spinlock, acquire_time) == 0x10, "WMI_SPINLOCK.AcquireTime");
_Static_assert(offsetof(struct wmi_spinlock, wait_time_in_cycles) == 0x20, "WMI_SPINLOCK.WaitTimeInCycles");
_Static_assert(offsetof(struct wmi_spinlock, thread_id) == 0x28, "WMI_SPINLOCK.ThreadId");
_Static_assert(offsetof(struct wmi_spinlock, irql) == 0x30, "WMI_SPINLOCK.Irql");
_Static_assert(offsetof(struct wmi_spinlock, flags) == 0x32, "WMI_SPINLOCK.Flags");
_Static_assert(offsetof(struct wmi_spinlock, reserved) == 0x33, "WMI_SPINLOCK.Reserved");

#define WMI_SPINLOCK_MODE_MASK   0x3Fu /* enum spinlock_mode */
#define WMI_SPINLOCK_EXECUTE_DPC 0x40u
#define WMI_SPINLOCK_EXECUTE_ISR 0x80u

/* AcquireMode */
enum spinlock_mode {
    SPINLOCK_ORDINARY = 0,
    SPINLOCK_QUEUED = 1,
    SPINLOCK_SHARED = 2, /* this and the rest: executive */
    SPINLOCK_EXCLUSIVE = 3,
    SPINLOCK_CONVERTED = 4, /* shared first, then exclusive */
    SPINLOCK_MODES = 5,
};

struct perfinfo_spinlock_config {    /* version 3; version 2 ends before hold_threshold */
    uint32_t spin_threshold;         /* 00 */
    uint32_t contention_sample_rate; /* 04 */
    uint32_t acquire_sample_rate;    /* 08 */
    uint32_t hold_threshold;         /* 0C: TSC cycles, 0: off */
};
_Static_assert(sizeof(struct perfinfo_spinlock_config) == 0x10, "PERFINFO_SPINLOCK_CONFIG");
_Static_assert(offsetof(struct perfinfo_spinlock_config, acquire_sample_rate) == 8,
               "PERFINFO_SPINLOCK_CONFIG.AcquireSampleRate");
