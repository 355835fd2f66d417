/* SPDX-License-Identifier: MIT */
/* What the files of the library share, and nobody else sees: its symbols are hidden. */
#pragma once

#include "ds/layout.h"
#include "ds/pebs23_layout.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are read as they lie in memory");

static inline uint64_t cairn_pebs_get64(const uint8_t *at)
{
    uint64_t v;
    __builtin_memcpy(&v, at, sizeof(v)); /* 8 bytes: one instruction, and no call */
    return v;
}

#define CAIRN_PEBS_ADAPTIVE 4u /* the first format that is made of groups */

/* Bytes that a fragment of architectural PEBS takes: its size may or may not count its padding. 0: there is no such
 * size. */
static inline uint32_t cairn_pebs_fragment_bytes(uint64_t format)
{
    const uint32_t own = ds_arch_header_size(format);
    return own >= sizeof(struct ds_arch_header) && own % 8 == 0 ? (own + 15) / 16 * 16 : 0;
}

static inline bool cairn_pebs_goes_on(uint64_t format)
{
    return format & DS_ARCH_HEADER_CONT || ds_arch_header_null(format);
}

static inline unsigned cairn_pebs_count(uint32_t bits) /* the builtin calls a library where there is no POPCNT */
{
    unsigned n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

/* names.c. What word `i` of a group is called, and what it is, for `field`. */
struct cairn_pebs_field;
struct cairn_pebs_walk;
void cairn_pebs_put(char *out, const char *text);
/* Word walk->index of a group of counters: what the first two say is noted in `walk`. */
void cairn_pebs_name_cntr(struct cairn_pebs_walk *walk, struct cairn_pebs_field *field);
/* `i` among the words of all entries. */
void cairn_pebs_name_lbr(unsigned i, struct cairn_pebs_field *field);
void cairn_pebs_name_xmm(uint16_t i, struct cairn_pebs_field *field);
/* Halves of vector registers: which of its words of 8 bytes, as the whole register has them. False: no such group. */
bool cairn_pebs_name_vector(unsigned group, unsigned i, struct cairn_pebs_field *field);
