/* SPDX-License-Identifier: MIT */
/*
 * A machine that is nothing but a file of MSRs: each exists or raises #GP, each access is logged, and the n-th access
 * can be made to fault. For the driver's order of things; it counts nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/ds.h"
#include "ds/pebs23_layout.h"

#define DS_FAKE_MSRS  96u
#define DS_FAKE_LOG   512u
#define DS_FAKE_LVTPC 0xFFFFFFFFu /* stands for LVTPC in the log and the file */

struct ds_fake_msr {
    uint32_t msr;
    uint64_t value;
    bool dropped;     /* writes are accepted and forgotten */
    uint64_t refuses; /* bits that raise #GP where they are written */
};

struct ds_fake {
    struct ds_machine machine;
    uint32_t leaf[0x24][4];     /* CPUID, subleaf 0 */
    uint32_t leaf_7_1[4];       /* CPUID.07H.1 */
    uint32_t subleaf_23h[6][4]; /* CPUID.23H, from subleaf 1 on */
    uint32_t hypervisor[4];     /* CPUID.40000000H */
    uint64_t microcode;         /* CPUID.01H loads it into IA32_BIOS_SIGN_ID, where there is one */
    struct ds_fake_msr msr[DS_FAKE_MSRS];
    unsigned msrs;
    struct {
        uint32_t msr;
        uint64_t value;
    } log[DS_FAKE_LOG]; /* writes */
    unsigned logged;
    unsigned accesses; /* MSR reads and writes so far */
    unsigned fault_at; /* this access (from 1) raises #GP; 0: none */
    struct {
        uint32_t msr;
        bool write;
        uint64_t value;
    } faulted; /* the last access that raised #GP */
};

/* An Intel processor: format 4 with the baseline, 8 GP and 4 fixed counters of 48 bits; or (baseline false) format 3,
 * 4 GP and 3 fixed. Every MSR the driver needs exists, with values left behind by firmware. */
void ds_fake_init(struct ds_fake *fake, bool baseline);
/* An Intel processor with architectural PEBS and BTS: 8 GP and 4 fixed counters of 48 bits, auto counter reload on PMC2
 * and up and on the first two fixed ones, precise distribution on PMC0, PMC1 and fixed counter 0, every group but
 * registers beyond XMM. */
void ds_fake_init_arch(struct ds_fake *fake);
/* NULL: raises #GP. */
struct ds_fake_msr *ds_fake_find(struct ds_fake *fake, uint32_t msr);
uint64_t ds_fake_value(struct ds_fake *fake, uint32_t msr);
void ds_fake_add(struct ds_fake *fake, uint32_t msr, uint64_t value);
void ds_fake_remove(struct ds_fake *fake, uint32_t msr);
/* PEBS' registers as after RESET: firmware has left nothing behind. */
void ds_fake_reset(struct ds_fake *fake);

/* The row of the table of detection whose name contains `name`; find: NULL if there is none, which else fails. */
const struct ds_test *ds_fake_find_test(const struct ds_caps *caps, const char *name);
const struct ds_test *ds_fake_test(const struct ds_caps *caps, const char *name);
/* The whole table of detection, a line for each row, as people read it; `expected` ends with NULL. */
void ds_fake_whole_table(const struct ds_caps *caps, const char *const *expected);
/* Detects: there is no PEBS, and the reason contains `because`. */
void ds_fake_refused(struct ds_fake *fake, struct ds_caps *caps, const char *because);
