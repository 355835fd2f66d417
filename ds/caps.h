/* SPDX-License-Identifier: MIT */
/* What one CPU has of PEBS, of either kind, and of BTS, and how that was found out. Part of ds/ds.h, whose rules hold
 * here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/layout.h"
#include "ds/machine.h"

#define DS_TESTS_MAX 40u

struct ds_test {      /* one row of the detection table, in the order the tests were made */
    const char *name; /* "CPUID.01H:EDX.DS[21]" */
    uint64_t value;   /* as read */
    bool faulted;     /* the read raised #GP */
    bool ok;
    const char *verdict; /* what follows from it, in words */
};

/* This processor's errata, and what the driver does about them: ds/errata/errata.c. */
struct ds_errata {
    bool pebs_unusable;        /* no PEBS */
    bool pebs_needs_microcode; /* no PEBS with the microcode it has */
    bool one_page_buffer;      /* the PEBS buffer stays within one page */
    bool counters_stuck;       /* before they are set up counters are set free, see ds/driver/driver.c */
    bool period_32;            /* shorter periods are refused */
    bool period_128;           /* likewise, of INST_RETIRED.PREC_DIST */
    bool period_64;            /* of INST_RETIRED.PREC_DIST: multiples of 64, from 128 on */
    bool pmc3_taken;           /* PMC3 is not used */
};

/* which register turns on branch history */
enum ds_lbr {
    DS_LBR_NONE,
    DS_LBR_DEBUGCTL,
    DS_LBR_ARCHITECTURAL, /* IA32_LBR_CTL */
    DS_LBR_LEFT_OUT,      /* of this kernel */
};

struct ds_caps {
    bool pebs, bts, bts_cpl;
    uint8_t generation;              /* enum ds_generation (ds/generation.h); 0: no list of its events is known */
    const char *const *event_errata; /* of each kind of event; NULL: none */
    uint8_t core_type;               /* CPUID.1AH:EAX[31:24] of a hybrid processor, else 0 */
    uint8_t perfmon_version, gp_counters, gp_width, fixed_counters, fixed_width;
    uint8_t format; /* PEBS record format: 0..6; 15: architectural PEBS */
    /* The name of the PEBS that works without the Debug Store; only BTS uses the Debug Store then. NULL: PEBS uses
     * it. */
    const char *instead;
    bool baseline; /* PEBS_BASELINE: adaptive records, PEBS_DATA_CFG, all counters */
    bool adaptive; /* records have groups to choose from: with the baseline, or with what is there instead */
    bool full_width_writes;
    bool no_load_latency, no_frontend; /* a hypervisor hides MSR_PEBS_LD_LAT, MSR_PEBS_FRONTEND */
    uint8_t lbr;                       /* enum ds_lbr */
    uint8_t lbr_depth;                 /* entries; 0: not told */
    uint64_t lbr_ctl;                  /* IA32_LBR_CTL for all branches */
    const struct ds_history *history;  /* who turns it on; NULL: there is none */
    uint64_t pebs_counters;            /* those PEBS can be enabled for, numbered as in GLOBAL_STATUS */
    uint64_t pdist_counters;           /* those with precise distribution; only architectural PEBS tells */
    uint64_t acr_counters;             /* those with IA32_PMC_GPn_CFG_B, likewise */
    uint64_t arch_groups;   /* CPUID.23H.4: groups that IA32_PMC_GPn_CFG_C may name, and CNTR_ALLOW; likewise */
    uint32_t area_bytes;    /* 0x60, 0xA0 or 0x1C0: the form of PROCESSOR_PROFILE_CONTROL_AREA this format needs; 0x60
                             * where it is for BTS alone */
    const char *reason;     /* one sentence: why there is or is not PEBS; may point to in_use */
    const char *bts_reason; /* likewise BTS */
    struct ds_errata errata;
    uint64_t counters_in_use; /* enabled before anybody asked, numbered as in GLOBAL_STATUS */
    bool area_in_use;         /* IA32_DS_AREA set, PEBS or BTS on */
    char in_use[288];         /* one sentence that names them; or "" */
    uint32_t tests;
    struct ds_test test[DS_TESTS_MAX];
};

/* Runs all tests of detection, in the order of ds/driver/detect.c, on this CPU, through `machine`. It writes no
 * register but IA32_BIOS_SIGN_ID, which must be written before it is read, and, where ds/trial is linked and there is a
 * hypervisor, those that it tries and restores: IA32_DS_AREA, IA32_DEBUGCTL, IA32_PEBS_BASE, IA32_PEBS_INDEX. Never
 * faults. Returns 0 if caps->pebs, else -ENODEV; caps->bts may be set in either case. */
int ds_detect(const struct ds_machine *machine, struct ds_caps *caps);

/* The row of detection that says whether records contain the retire latency: IA32_PERF_CAPABILITIES[17]. */
#define DS_TEST_TIMING "IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO[17]"
