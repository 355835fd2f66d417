/* SPDX-License-Identifier: MIT */
/* Detection: what its parts share (ds/driver/caps.c), and what ds/driver/detect.c calls of them. */
#pragma once

#include "ds/ds.h"
#include "kernel/lib/rows.h"

/* ---- for the mechanisms (ds/driver/mechanism.h) that detection asks for the rest */

struct ds_detection {
    const struct ds_machine *machine;
    struct ds_caps *caps;
    uint32_t leaves, leaf1[4]; /* the last basic leaf of CPUID; leaf 1 */
    bool hypervisor;
    bool possible;         /* PEBS, before the rows of DS_DETECT */
    uint64_t capabilities; /* IA32_PERF_CAPABILITIES; 0: there is none, */
    bool no_capabilities;  /* or reading it raises #GP */
};

void ds_detect_cpuid(const struct ds_detection *d, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
bool ds_detect_rdmsr(const struct ds_detection *d, uint32_t msr, uint64_t *value); /* false: #GP */
struct ds_test *ds_detect_row(struct ds_detection *d, const char *name, uint64_t value, bool ok, const char *verdict);
/* A row that must hold: the first that does not gives the reason. */
void ds_detect_require(struct ds_detection *d, const char *name, uint64_t value, bool ok, const char *yes,
                       const char *no);
/* Rows of IA32_MISC_ENABLE, but for what it says of PEBS; caps->bts. False: it cannot be read. */
bool ds_detect_misc_enable(struct ds_detection *d, uint64_t *value);
/* Rows that say whether IA32_PERF_CAPABILITIES can be read, as d->capabilities has been. */
bool ds_detect_capabilities(struct ds_detection *d);
#define DS_TEST_FORMAT   "IA32_PERF_CAPABILITIES.PEBS_FMT[11:8]"
#define DS_TEST_BASELINE "IA32_PERF_CAPABILITIES.PEBS_BASELINE[14]"
#define DS_TEST_TRAP     "IA32_PERF_CAPABILITIES.PEBS_TRAP[6]"
/* Whether counters are written at full width: a row. */
void ds_detect_full_width(struct ds_detection *d);
/* What records with groups may have: retire latency, branch history; a row each. */
void ds_detect_groups(struct ds_detection *d);
/* Its row of branch history; caps->lbr and what goes with it. ds/lbr defines it; by default there is none. */
void ds_detect_history(struct ds_detection *d);
#define DS_TEST_HISTORY "IA32_PERF_CAPABILITIES.LBR_FMT[5:0]"

/* ---- for the parts of detection */

/* One more row of the detection table. */
struct ds_test *ds_caps_row(struct ds_caps *caps, const char *name, uint64_t value, bool ok, const char *verdict);

/* No PEBS, and why: the first reason stays. */
void ds_caps_refuse(struct ds_caps *caps, const char *why);
/* No BTS, and why: where there was some, or no reason was given yet. */
void ds_caps_no_bts(struct ds_caps *caps, const char *why);

/* Fills caps->errata of the processor with CPUID.01H:EAX `signature`, a row each; some refuse PEBS. To be called when
 * record format and counters are known. Writes IA32_BIOS_SIGN_ID where the microcode's revision matters. ds/errata
 * defines it; the default adds a row that says that errata are not known. */
void ds_find_errata(const struct ds_machine *machine, uint32_t signature, struct ds_caps *caps);

/* Where errata.counters_stuck applies, counters have to hold these for a moment, each of the first four its own, with
 * IA32_PERF_GLOBAL_CTRL on: IA32_PERFEVTSELx. (AAK100, AAP53, BD53; what Linux writes.) */
#define DS_STUCK_COUNTERS 4u
extern const uint32_t ds_stuck_counters[DS_STUCK_COUNTERS] __attribute__((weak));

/* More of detection, by a part that need not be there: run last, once caps say all but whether it is PEBS. */
struct ds_detect_row {
    void (*find)(struct ds_detection *d);
};
ROWS(ds_detect, const struct ds_detect_row);
#define DS_DETECT(function)                                                                                            \
    static const struct ds_detect_row detects_##function = {function};                                                 \
    ROWS_ADD(ds_detect, detects_##function)
