/* SPDX-License-Identifier: MIT */
/* Lab 4: what you write. ds/layout.h has the names and offsets of every field, and you may use all that is in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/layout.h"

/* What a record has: a format, or the head of an adaptive record, decides. */
enum {
    HAS_EVENTING_IP = 1 << 0,
    HAS_COUNTERS = 1 << 1, /* the counters that the record is for */
    HAS_STATUS = 1 << 2,   /* IA32_PERF_GLOBAL_STATUS, which may have more bits than those */
    HAS_TSC = 1 << 3,
    HAS_MEMORY = 1 << 4, /* data address, data source, latency */
    HAS_TX = 1 << 5,
    HAS_GPR = 1 << 6, /* RFLAGS, RIP and the general-purpose registers */
    HAS_XMM = 1 << 7,
    HAS_LBR = 1 << 8,
    HAS_VALUES = 1 << 9,   /* values of counters */
    HAS_METRICS = 1 << 10, /* slots and PERF_METRICS */
};

struct record {   /* zeroed when you get it. What the record does not have stays 0 */
    uint32_t has; /* HAS_... */
    uint64_t eventing_ip;
    uint64_t counters, status; /* as the record has them */
    uint64_t tsc;
    uint64_t data_address, data_source, latency;
    uint64_t tx;
    uint64_t rflags, rip;
    uint64_t gpr[16];    /* RAX RCX RDX RBX RSP RBP RSI RDI R8 to R15: the order of the instruction encoding */
    uint64_t xmm[16][2]; /* low half first */
    uint32_t branches;   /* entries of branch history */
    struct ds_pebs_lbr lbr[256];
    uint32_t gp_mask, fixed_mask; /* whose values follow: bit i is counter i */
    uint64_t gp[32], fixed[32];   /* value of counter i at [i] */
    uint64_t slots, metrics;
};

/* The record of `format`, 1 to 6, at the beginning of `left` bytes, which can lie at any address. Format 4 and up are
 * adaptive. Fills in *r and returns how many bytes the record has; the next one follows. Returns 0 if these bytes are
 * no whole record: they end too early, or the size in the head is too small for the groups in the head, or not a
 * multiple of 8. Bits of the head that you do not know are for others: the size in the head counts. */
uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r);
