/* SPDX-License-Identifier: MIT */
/* Lab 11: what you write. */
#pragma once

#include "labs/lab.h"

#define LAB_LINE_BYTES 64u

/* ---- 1: sampling */

struct lab_sampling {
    unsigned counter;   /* a general-purpose counter, 0 to 3 */
    uint64_t event;     /* IA32_PERFEVTSELx[15:0]: unit mask and event select */
    uint64_t period;    /* events until the counter overflows */
    unsigned width;     /* bits of a counter */
    uint32_t threshold; /* cycles: the event is that of load latency, and counts loads that take longer. 0: it is
                         * another event, whose records have an address, but no latency */
    unsigned format;    /* PEBS_FMT of IA32_PERF_CAPABILITIES: 3 or 4. From 4 on there is PEBS_BASELINE */
};

/* Programs a counter of the processor that it runs on, so that PEBS records the event once the counter runs in ring 0.
 * Each record shall have the data address, data source and latency. IA32_DS_AREA and the reset value in the DS area are
 * set already. It is called for several counters, one after the other: what it has set for others stays. 0, or the
 * error of the access that raised #GP. */
int lab_sample(const struct lab_sampling *s);

/* ---- 2: one record */

enum lab_source {
    LAB_UNKNOWN, /* all codes that the README's table does not have: other processors may use them otherwise */
    LAB_L1,
    LAB_FILL_BUFFER, /* it was on its way to the L1 */
    LAB_L2,
    LAB_L3,         /* no other core had changed it */
    LAB_OTHER_CORE, /* another core had changed it ("HITM") */
    LAB_MEMORY,
};

struct lab_access {
    uint64_t address;       /* of its first byte; a record does not say how many bytes it has */
    uint32_t cpu;           /* which processor made it; below 32 */
    bool load, store;       /* an instruction such as ADD to memory may be both */
    uint32_t latency;       /* cycles, of a load; 0 if it is only a store */
    enum lab_source source; /* of a load; LAB_UNKNOWN if it is only a store */
};

/* Reads a record, of format 3 or 4, which has the memory group. Counter `loads` counts loads, and counter `stores`
 * stores; the record may be of either or both. Sets all of *access but `cpu`. */
void lab_read_record(unsigned format, const uint8_t *record, unsigned loads, unsigned stores,
                     struct lab_access *access);

/* ---- 3: whose address is it? */

struct lab_object { /* a variable, or memory that was allocated; they do not overlap, and have no order */
    const char *name;
    uint64_t address, bytes;
};

/* The index of the object that `address` is in, and *offset, its distance from the object's first byte. -1: none; then
 * *offset stays as it is. */
int lab_find_object(const struct lab_object *objects, uint32_t count, uint64_t address, uint64_t *offset);

/* ---- 4: lines */

struct lab_line {
    uint64_t address; /* of its first byte: a multiple of LAB_LINE_BYTES */
    uint64_t latency; /* of all its loads together */
    uint32_t loads, stores;
    uint32_t changed; /* loads from LAB_OTHER_CORE */
};

/* Fills in a line for each line of memory that has an access; an access belongs to the line of its first byte. The
 * largest latency comes first; of equal ones the lower address. `lines` has room for as many lines as there are
 * accesses. Returns how many lines there are. */
uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines);

/* ---- 5: sharing */

enum lab_sharing {
    LAB_NOT_SHARED,    /* one processor alone uses the line, or nobody stores into it */
    LAB_TRUE_SHARING,  /* two processors use the same address in it, and at least one of them stores there */
    LAB_FALSE_SHARING, /* two processors use the line and somebody stores into it, but it is no true sharing */
};

/* How processors share the line at `line`, a multiple of LAB_LINE_BYTES. */
enum lab_sharing lab_shared(const struct lab_access *accesses, uint32_t count, uint64_t line);
