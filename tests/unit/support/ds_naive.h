/* SPDX-License-Identifier: MIT */
/*
 * A second implementation of what ds/model does, written another way: per counter a countdown in plain integers, rings
 * as lists, a record as the words one appends, no masks, no memory. The test sets the fields up; then both are given
 * the same instructions.
 */
#pragma once

#include "tests/unit/support/ds_bench.h"

enum {
    DS_NAIVE_GP = 10, /* counters below this are general-purpose ones, from it on fixed ones */
    DS_NAIVE_COUNTERS = DS_NAIVE_GP + 4,
    DS_NAIVE_HISTORY = 800, /* branches */
    DS_NAIVE_WORDS = 1024,
    DS_NAIVE_BTS_SLOTS = 16,
};

struct ds_naive_counter {
    bool exists, enabled, pebs, interrupts, precise, adaptive;
    bool ring[2];
    int event; /* -1: counts nothing */
    int by;    /* that many at once; 0: one */
    bool overflowed, armed;
    long long left, reset; /* events until it wraps; a wrapped counter starts again from a whole turn */
};

struct ds_naive_branch {
    uint64_t from, to;
    enum ds_model_prediction prediction;
};

struct ds_naive {
    struct ds_naive_counter counter[DS_NAIVE_COUNTERS];
    int format;
    long long whole_turn;
    struct ds_model_policy policy;

    bool gpr, memory, xmm, lbr_group, counter_group, metrics_group; /* what an adaptive record is to hold */
    unsigned lbr_entries;
    bool shown[DS_NAIVE_COUNTERS]; /* in the counter group */
    uint64_t data_cfg, perf_metrics;

    long room, used, threshold; /* in bytes */
    bool buffer_status, arch_status, masked, latched, branch_latched, handler_unmasks;
    unsigned pmis, stored, dropped, swallowed;
    uint64_t pmi_status; /* what the last PMI found */
    uint64_t image[DS_NAIVE_WORDS];
    unsigned words; /* of the last record made; 0 if this instruction made none */

    bool freezes[2], frozen[2]; /* branch history, counters: from version 4 on */
    bool freezes_by_status, counters_off, pebs_off;

    bool lbr, tr, bts, btint, off[2], predicts;
    struct ds_naive_branch history[DS_NAIVE_HISTORY];
    unsigned taken;
    struct ds_naive_branch slot[DS_NAIVE_BTS_SLOTS];
    long bts_room, bts_used, bts_threshold;
    unsigned bts_stored, bts_dropped;
};

struct ds_naive_step { /* what an instruction is */
    bool is[DS_MODEL_EVENTS];
    int ring;
    uint64_t load, store;
    bool branches;
    struct ds_naive_branch branch;
};

/* A counter's bit in IA32_PEBS_ENABLE and the like. */
uint64_t ds_naive_bit(int counter);
uint64_t ds_naive_value(const struct ds_naive *naive, int counter);
uint64_t ds_naive_status(const struct ds_naive *naive); /* IA32_PERF_GLOBAL_STATUS */
/* Bits of the status have been cleared. */
void ds_naive_acknowledged(struct ds_naive *naive);
/* An interrupt is raised, unless it is masked. */
void ds_naive_pmi(struct ds_naive *naive);
/* Of branch records. */
void ds_naive_branch_pmi(struct ds_naive *naive);
/* The same for a counter's overflow or the PEBS threshold, which freeze what is to be frozen. */
void ds_naive_counter_pmi(struct ds_naive *naive);
/* A branch is put into the history; into the BTS buffer: whether that wants an interrupt. */
void ds_naive_remember(struct ds_naive *naive, const struct ds_naive_branch *branch);
bool ds_naive_trace(struct ds_naive *naive, const struct ds_naive_branch *branch, int ring);
/* One instruction retires; the registers a record shows are those of the bench. */
void ds_naive_instruction(struct ds_naive *naive, const struct ds_naive_step *step, const struct ds_bench *host);
/* An interrupt or a fault: a branch that is no instruction. */
void ds_naive_interrupt(struct ds_naive *naive, const struct ds_naive_step *step);
