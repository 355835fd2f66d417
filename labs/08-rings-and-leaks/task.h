/* SPDX-License-Identifier: MIT */
/* Lab 8: what you write. */
#pragma once

#include "labs/lab.h"

#define LAB_RING_0 1u
#define LAB_RING_3 2u

/* Writes 0 to a counter and makes it count in the rings `rings` (LAB_RING_0, LAB_RING_3 or both), without PEBS and
 * without an interrupt. `counter` is its number in IA32_PERF_GLOBAL_CTRL: a general-purpose one, which counts `event`
 * (IA32_PERFEVTSELx[15:0]), or DS_COUNTER_FIXED + i, which has an event of its own. Other counters stay as they are. 0,
 * or the error of the access that raised #GP. */
int lab_count(unsigned counter, uint64_t event, unsigned rings);

/* Decides what the program in ring 3 may see of a record, and changes the record in place. The program may see what is
 * its own: records of its own instructions, and the registers that these leave, whatever numbers it keeps there. It may
 * not learn where the kernel's code lies. If RIP is an address of the kernel, RIP becomes 0. If `from` or `to` of an
 * LBR entry is one, all of `from`, `to` and `info` become 0. Nothing else changes. False: the program may not see the
 * record at all. How many LBR entries there are follows from the record's size, which its head contains. `format` is
 * PEBS_FMT of IA32_PERF_CAPABILITIES: 3 or 4. Kernel addresses have bit 63 set. */
bool lab_scrub(unsigned format, uint8_t *record);

enum lab_fitness {
    LAB_FIT,
    LAB_EXPOSED,   /* ring 3 can access a page of it, in one of the address spaces */
    LAB_ABSENT,    /* a page is not mapped, in one of the address spaces */
    LAB_READ_ONLY, /* a page cannot be written */
    LAB_UNTOUCHED, /* a page has its Accessed or its Dirty bit clear */
};

/* Whether the processor can use [address, address + bytes) as DS memory in both address spaces, whichever is active
 * when a record is due. If several things are wrong, returns the fault that stands first in enum lab_fitness: an
 * EXPOSED page comes before an ABSENT one, and so on. `bytes` is at least 1. */
enum lab_fitness lab_ds_memory(uint64_t address, uint64_t bytes);
