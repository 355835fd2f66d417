/* SPDX-License-Identifier: MIT */
/*
 * The processor as the Debug Store driver sees it: CPUID, MSRs and LVTPC of the current CPU. It has two real
 * implementations, ds/driver/hw.c (the instructions) and that of backend soft (a model). The tests have a fake one that
 * injects faults.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_trap_frame;
struct ds_cpu;

struct ds_stepped {     /* since the beginning, exact */
    uint64_t dropped;   /* records that found the buffer full, or memory that is not there */
    uint64_t swallowed; /* samples without a record: armed counters that another's record reloaded */
    uint64_t branches;  /* that were to be stored by BTS */
    uint64_t steps;     /* #DBs that counted */
};

/* A machine whose counters count by single-stepping: its GLOBAL_CTRL stays on while a session runs, and counting pauses
 * when threads are not stepped. All functions act on the current CPU, interrupts off. */
struct ds_stepping {
    void (*pause)(void);
    void (*resume)(void); /* the caller's thread is stepped from this function's return on */
    void (*resume_frame)(const struct arch_trap_frame *frame); /* steps again if the frame's RFLAGS.TF is set */
    bool (*paused)(void);
    struct ds_stepped (*counts)(void *context);

    /* What the kernel tells it. The #DB handler's part; false: the #DB is not a step of this machine. */
    bool (*step)(void *context, struct arch_trap_frame *frame);
    /* Before ds_pause, when an interrupt, or a program's fault, has come with `frame`: counts what has retired without
     * a #DB of its own. */
    void (*interrupted)(void *context, struct arch_trap_frame *frame);
    /* Before ds_pause, when a stepped program has entered the kernel by SYSCALL: counts that instruction and ends the
     * stepping. */
    void (*system_call)(void *context, struct arch_trap_frame *frame);
    /* Connects it to the driver's state of its CPU, for the hooks; `tid` returns the thread whose registers a frame
     * contains. A machine without this call only counts. */
    void (*attach)(void *context, struct ds_cpu *ds, uint32_t (*tid)(const struct arch_trap_frame *frame));
    /* From now on it calls `mapped` before it accesses DS memory. */
    void (*check_memory)(void *context, bool (*mapped)(const void *address, size_t size));
    /* Whether a counter has precise distribution. */
    bool (*pdist)(void *context, unsigned counter);
    /* How it answers the question of this name (ds/policy/table/policy.c); NULL: there is no such question. */
    const char *(*policy)(void *context, const char *name);
};

struct ds_machine {
    const char *backend; /* "hw" or "soft", as it shows in every output */
    void (*cpuid)(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
    int (*rdmsr)(void *context, uint32_t msr, uint64_t *value); /* 0, or -EFAULT for #GP */
    int (*wrmsr)(void *context, uint32_t msr, uint64_t value);
    uint32_t (*lvtpc_read)(void *context);
    void (*lvtpc_write)(void *context, uint32_t value);
    const struct ds_stepping *stepping; /* NULL: counting is held by GLOBAL_CTRL, drops are not counted */
    void *context;
    /* The physical address of what lies at `address`; only architectural PEBS needs it. NULL: they are the same. */
    uint64_t (*physical)(void *context, const void *address);
    /* Whether the kernel can read all of this memory; only a panic asks, which may be about that. NULL: it can. */
    bool (*readable)(const void *address, size_t bytes);
};
