/* SPDX-License-Identifier: MIT */
/*
 * The driver for its tests (test_driver*.c): on a machine of MSRs (ds_fake.h), CPU 7, with hooks that note what is
 * drained and when.
 */
#pragma once

#include "arch/arch.h"
#include "tests/unit/support/ds_fake.h"

extern struct ds_fake fake;
extern struct ds_caps caps;
extern struct ds_cpu *ds;
extern void *buffer;
extern uint64_t area[512];

/* ---- what the hooks saw ------------------------------------------------------------------------------------------ */

extern char order[256]; /* since driver_init: b: before_drain, d: drained */
extern struct ds_drain last;
extern uint64_t before_index, last_index; /* PebsIndex at the two hooks */
extern bool panic_in_drain;               /* the next one */

void driver_before_drain(void *context, uint32_t cpu, uint64_t tsc);
void driver_drained(void *context, uint32_t cpu, const struct ds_drain *drain);

/* ---- what tests do ----------------------------------------------------------------------------------------------- */

/* Detects what `fake` is and plans; as ds_cpu_init. */
int driver_init(const char *events, const char *groups, uint32_t records, uint32_t threshold, char *error, size_t size);
/* On a new machine, with PEBS_BASELINE or of format 3; 8 records, threshold 6. */
void driver_begin(bool baseline, const char *events, const char *groups);
void driver_start(void);
/* Stores so many records of 176 bytes, as the processor would. */
void driver_records(unsigned n);

struct driver_write {
    uint32_t msr;
    uint64_t value;
};
/* The writes to MSRs from number `from` on are these, and no others. */
void driver_expect(const struct driver_write *expected, size_t n, unsigned from);
#define EXPECT(list, from) driver_expect(list, sizeof(list) / sizeof(list)[0], from)
#define MINUS(n)           (-(uint64_t)(n) & (DS_BIT(48) - 1))
