/* SPDX-License-Identifier: MIT */
/*
 * The driver on a processor with architectural PEBS that is a machine of MSRs (driver_machine.h), which stores records
 * where its registers say. Physical addresses are the test's own, but for what a test says of them.
 */
#pragma once

#include "tests/unit/ds/driver/driver_machine.h"

#define ARCH_RECORD 224u /* bytes of a record with registers */

/* As driver_begin: 8 records, threshold 6, so a buffer of a page. */
void arch_begin(const char *events, const char *groups);
/* As driver_init, on what `fake` is. */
int arch_init(const char *events, const char *groups, uint32_t records, uint32_t threshold, char *error, size_t size);

/* Stores so many records of ARCH_RECORD bytes, numbered from arch_stored + 1 on in their TSC, as the processor would:
 * one that does not fit sets FULL. */
void arch_records(unsigned n);
extern uint64_t arch_stored;

/* IA32_PEBS_INDEX as the driver wants it: position, threshold, EN. */
uint64_t arch_index(uint32_t wr);
/* Bytes, records and the number of the first of the last drain. */
void arch_expect_drained(uint32_t records, uint64_t first);

/* Where arch_expect_drained looks, noted by the hook: the registers handed over, and the index at both hooks. */
extern struct ds_arch_registers arch_registers;
extern uint64_t arch_index_before, arch_index_after;
/* Called from within the hook of a drain that is no start. NULL: nothing. */
extern void (*arch_in_drain)(void);

extern unsigned arch_reads; /* RDMSR of IA32_PEBS_INDEX so far */
