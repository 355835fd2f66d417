/* SPDX-License-Identifier: MIT */
/* The DS area in words, for those that show one: the name of each field, who writes it, and what its value says. All
 * functions are inline, so only files that show an area contain them. */
#pragma once

#include "ds/layout.h"
#include "kernel/lib/string.h"

enum { DS_WORD_BASE, DS_WORD_INDEX, DS_WORD_MAXIMUM, DS_WORD_THRESHOLD, DS_WORD_POINTERS }; /* of BTS, then of PEBS, */
enum { DS_WORD_BTS = 0, DS_WORD_PEBS = DS_WORD_POINTERS, DS_WORD_RESETS = 2 * DS_WORD_POINTERS }; /* then resets */
_Static_assert(offsetof(struct ds_area_60, pebs_buffer_base) == 8 * DS_WORD_PEBS, "words of the DS area");
_Static_assert(offsetof(struct ds_area_60, pebs_counter_reset) == 8 * DS_WORD_RESETS, "reset values follow");

/* Windows' name of word `n`. Of a reset value without *counter, the number among its kind. */
static inline const char *ds_word_name(unsigned format, unsigned n, unsigned *counter)
{
    static const char *const pointers[DS_WORD_RESETS] = {
        "BtsBufferBase",  "BtsIndex",  "BtsAbsoluteMaximum",  "BtsInterruptThreshold",
        "PebsBufferBase", "PebsIndex", "PebsAbsoluteMaximum", "PebsInterruptThreshold"};
    const unsigned fixed = ds_area_reset(format, ds_counter_fixed(0)) / 8;
    *counter = n < fixed ? n - DS_WORD_RESETS : n - fixed;
    return n < DS_WORD_RESETS ? pointers[n]
           : format < 4       ? "PebsCounterReset"
           : n < fixed        ? "PebsGpCounterReset"
                              : "PebsFixedCounterReset";
}

/* 'd': the driver writes it; 'p': the processor does, once the driver has set it to base. */
static inline char ds_word_by(unsigned n)
{
    return n == DS_WORD_BTS + DS_WORD_INDEX || n == DS_WORD_PEBS + DS_WORD_INDEX ? 'p' : 'd';
}

/* "base + 24 records + 1"; `bytes`: of a record, 0: not known. Returns `out`. */
static inline const char *ds_word_place(char *out, size_t size, uint64_t base, uint64_t at, uint64_t bytes)
{
    const uint64_t offset = at - base, records = bytes ? offset / bytes : 0, rest = offset - records * bytes;
    int n = snprintf(out, size, at < base ? "below base" : offset >> 32 ? "not in the buffer" : "base");
    if (at < base || offset >> 32)
        return out;
    if (records)
        n += snprintf(out + n, size - (size_t)n, " + %llu record%s", (unsigned long long)records,
                      records == 1 ? "" : "s");
    if (rest && (size_t)n < size) /* else it is full */
        snprintf(out + n, size - (size_t)n, " + %llu", (unsigned long long)rest);
    return out;
}

/* What pointer `i` of a buffer's four says. */
static inline void ds_word_pointer(char *out, size_t size, const uint64_t pointer[4], unsigned i, uint64_t bytes)
{
    static const char *const before[] = {"", "next: ", "end: ", "PMI: "};
    if (!pointer[DS_WORD_BASE])
        snprintf(out, size, "no buffer");
    else if (i == DS_WORD_BASE)
        snprintf(out, size, "where the buffer begins");
    else if (i == DS_WORD_THRESHOLD && pointer[i] > pointer[DS_WORD_MAXIMUM])
        snprintf(out, size, "no PMI: beyond the end");
    else {
        const size_t used = (size_t)snprintf(out, size, "%s", before[i]);
        ds_word_place(out + used, size - used, pointer[DS_WORD_BASE], pointer[i], bytes);
    }
}

/* A reset value is minus the period, in the width of the counter: "-2003 in 48 bits". */
static inline void ds_word_reset(char *out, size_t size, uint64_t value, unsigned width)
{
    const uint64_t mask = width && width < 64 ? DS_BIT(width) - 1 : UINT64_MAX;
    if ((value & mask) == value && value >> (width ? width - 1 : 63))
        snprintf(out, size, "-%llu in %u bits", (unsigned long long)(mask - value + 1), width);
    else
        snprintf(out, size, "%llu", (unsigned long long)value);
}

/* ---- a buffer to scale, `columns` wide --------------------------------------------------------------------------- */

static inline unsigned ds_word_column(uint64_t offset, uint64_t span, unsigned columns)
{
    return offset >= span ? columns : (unsigned)(offset * columns / span);
}

/* Recorded, free, beyond the threshold, beyond the maximum. `pointer`: a buffer's, which may lie anywhere. `end`: of
 * its memory, 0: not known. Returns how many bytes the picture spans; 0: there is no buffer. */
static inline uint64_t ds_word_picture(char *out, unsigned columns, const uint64_t pointer[4], uint64_t end)
{
    uint64_t offset[DS_WORD_POINTERS], span = end > pointer[DS_WORD_BASE] ? end - pointer[DS_WORD_BASE] : 0;
    for (unsigned i = 0; i < DS_WORD_POINTERS; i++) { /* an index can overrun, a threshold be out of reach */
        offset[i] = pointer[i] - pointer[DS_WORD_BASE];
        span = offset[i] > span ? offset[i] : span;
    }
    if (!offset[DS_WORD_MAXIMUM] || span >> 32)
        return 0;
    for (unsigned c = 0; c < columns; c++)
        out[c] = c < ds_word_column(offset[DS_WORD_INDEX], span, columns)        ? '#'
                 : c >= ds_word_column(offset[DS_WORD_MAXIMUM], span, columns)   ? '_'
                 : c >= ds_word_column(offset[DS_WORD_THRESHOLD], span, columns) ? '.'
                                                                                 : '-';
    out[columns] = '\0';
    return span;
}
