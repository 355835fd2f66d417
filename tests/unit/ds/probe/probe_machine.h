/* SPDX-License-Identifier: MIT */
/*
 * The experiments' bench for their tests (test_probe*.c): a machine whose registers are the model's and whose
 * instructions are a list; what is otherwise than the model's is in `fake`.
 */
#pragma once

#include "ds/model/model.h"
#include "ds/probe/probe.h"

/* ---- the machine, since set_up ----------------------------------------------------------------------------------- */

extern struct probe_fake {
    struct ds_model model;
    struct ds_caps caps;
    uint64_t ip, next; /* of the instruction that retires */
    uint32_t pmis;
    unsigned before;    /* instructions around the code, every other one a branch */
    uint32_t forbidden; /* MSR that raises #GP */
    bool shadow;        /* NOPs behind divisions are not seen */
    bool late, early;   /* EventingIP is the next instruction's; RIP is the instruction's own */
    bool hides;         /* no overflow shows in GLOBAL_STATUS */
    bool hung;          /* counters went on with a PEBS buffer of more than a page, where that hangs */
    uint64_t time;      /* in quarters of a cycle */
    uint64_t way;       /* of a PMI, in cycles */
    uint64_t due;       /* when the PMI has come that was raised first since the code began; 0: none was */
    bool blind;         /* the last jump is not counted */
    bool disarms;       /* a record disarms counters of branches */
    uint32_t fewer;     /* bytes that the head of a record with `of_groups` says; 0 of these: of any record */
    uint64_t of_groups;
    bool no_slots;  /* reset values are elsewhere: counters are set to 0 */
    uint64_t first; /* the period that counter 1 begins with */
    bool erroneous; /* INST_RETIRED.PREC_DIST has run with a period that an erratum makes wrong */
    bool posted;    /* a write to LVTPC, of `lvtpc`, is on its way */
    uint32_t lvtpc;
    uint64_t base_bits; /* of IA32_PEBS_BASE that raise #GP, whatever the model does */
    bool rounds;        /* the address there is rounded down to a multiple of the buffer's size */
    bool spills;        /* a record that finds no room is written as far as it goes, behind the buffer, too */
    bool hypervisor;    /* CPUID has its bit, though the preset is a processor */
    bool freed;         /* counters have been set free, where they would not count before */
} fake;

extern struct ds_probe_bench bench;

/* Of that preset; NULL: the default policies. */
void set_up(const struct ds_model_preset *preset, const struct ds_model_policy *policy);

/* ---- what is found ----------------------------------------------------------------------------------------------- */

extern struct ds_probe_result results[DS_PROBE_ROWS];
extern struct ds_probe_cost costs[DS_PROBE_COSTS];

/* Asks and measures. */
void probe(void);
const struct ds_probe_result *result(const char *name);
const struct ds_probe_cost *cost(const char *name);
