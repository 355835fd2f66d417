/* SPDX-License-Identifier: MIT */
/* Points of a run at which other parts of the kernel, unknown to the run, can do something. */
#pragma once

#include <stdbool.h>

#include "kernel/lib/rows.h"

struct boot_info;

enum kphase {
    KPHASE_OPTIONS,          /* options are known, the loader's page tables are in force; boot processor, no threads */
    KPHASE_MEMORY,           /* memory and devices can be mapped; boot processor, no threads */
    KPHASE_CLOCK,            /* the TSC's frequency and the serial port are known; boot processor, no threads */
    KPHASE_ALONE,            /* as KPHASE_CLOCK; the last phase before the other CPUs start */
    KPHASE_PROCESSORS,       /* all CPUs run, nothing else has begun; thread context */
    KPHASE_PLANNED,          /* all CPUs run, it is known what each is to sample, nothing is set up; thread context */
    KPHASE_READY,            /* as KPHASE_BEFORE_RUN, but earlier: before a prompt may wait there */
    KPHASE_BEFORE_RUN,       /* all CPUs run, nothing is recorded yet; thread context */
    KPHASE_RECORDING_BEGINS, /* recording is about to begin, all sessions of the options are made; thread context */
    KPHASE_RUN_BEGINS,       /* recording, the workload's threads exist; thread context */
    KPHASE_HALF,             /* half of the switches have happened; thread context */
    KPHASE_RUN_OVER,         /* as KPHASE_RUN_BEGINS; not after a failure */
    KPHASE_RECORDING_ENDS,   /* it is about to end; after a failure it has ended, or never began; thread context */
    KPHASE_RUN_ENDS,         /* recording has ended, the workload's threads have, too; thread context */
    KPHASE_VERDICT,          /* what is to be reported of the run; thread context */
    KPHASE_PANIC,            /* before the dump; all other CPUs are stopped, interrupts are off */
    KPHASE_DUMP,             /* a dump is about to be written; as KPHASE_RUN_ENDS, or as KPHASE_PANIC */
    KPHASE_DUMPED,           /* a dump is written: what is to be reported of it; as KPHASE_DUMP */
    KPHASE_SUMMARY,          /* all is said but what the parts that are run here add to it; any context */
    KPHASE_END,              /* all is said, the machine is about to end as option end= says; any context */
    KPHASE_LAST_WORDS,       /* a failure or a panic is about to be told, perhaps before KPHASE_MEMORY; any context */
};

struct kphase_row {
    enum kphase phase;
    void (*run)(const struct boot_info *info); /* NULL in KPHASE_PLANNED, and from KPHASE_RECORDING_BEGINS on */
};
ROWS(kphase, const struct kphase_row);

/* `function` is run in this phase. At file scope. */
#define KPHASE(which, function)                                                                                        \
    static const struct kphase_row in_phase_##function = {.phase = (which), .run = (function)};                        \
    ROWS_ADD(kphase, in_phase_##function)

/* Runs what is to be run in this phase. */
void kphase_run(enum kphase phase, const struct boot_info *info);

/* NMIs that another CPU sends to hold this one for a while. */
struct knmi_row {
    /* False: the NMI is not one of these. Else it returns when this CPU may go on; false if `give_up` said so. */
    bool (*hold)(bool (*give_up)(void));
};
ROWS(knmi, const struct knmi_row);
