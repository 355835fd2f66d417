/* SPDX-License-Identifier: MIT */
/*
 * A second implementation of architectural PEBS, written another way than ds/model/pebs23 and from its sources alone:
 * a counter's groups are booleans, a fragment is the words one appends, auto counter reload is a table of who reloads
 * whom. Counting, interrupts, branches and their records are ds_naive's.
 */
#pragma once

#include "tests/unit/support/ds_naive.h"

enum {
    DS_NAIVE_ARCH_WORDS = 8192, /* of physical memory */
};

struct ds_naive_arch_counter {
    /* CFG_C */
    bool on, allow, gp, fixed, metrics, xmm, gpr, aux;
    unsigned lbr;   /* entries; DS_NAIVE_ARCH_ALL: the depth */
    int32_t reload; /* 0: none after a record */
    bool recorded;  /* PEBS records its event, there */
    /* CFG_B */
    bool reloaded_by[DS_NAIVE_COUNTERS], clears_metrics;
    /* CFG_A */
    unsigned cmask; /* 0: none; then the next two mean nothing */
    bool inverted, equal, edge, asserted;
};
enum { DS_NAIVE_ARCH_ALL = 99 };

struct ds_naive_arch {
    struct ds_naive n;
    struct ds_naive_arch_counter counter[DS_NAIVE_COUNTERS];
    bool on, full;                  /* IA32_PEBS_INDEX */
    long at, threshold, base, size; /* bytes; base: from the beginning of `physical` */
    uint64_t lbr_ctl, depth;        /* branch history */
    bool metrics_clear;             /* taking the metrics clears them */
    uint64_t physical[DS_NAIVE_ARCH_WORDS];
};

/* What a counter's CFG_C, CFG_B or CFG_A says, whose bits all exist. */
void ds_naive_arch_cfg_c(struct ds_naive_arch *naive, int counter, uint64_t value);
void ds_naive_arch_cfg_b(struct ds_naive_arch *naive, int counter, uint64_t value);
void ds_naive_arch_index(struct ds_naive_arch *naive, uint64_t value);
uint64_t ds_naive_arch_index_read(const struct ds_naive_arch *naive);
void ds_naive_arch_instruction(struct ds_naive_arch *naive, const struct ds_naive_step *step,
                               const struct ds_bench *host);
