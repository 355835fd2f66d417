/* SPDX-License-Identifier: MIT */
/* The registers of architectural PEBS, and the headers of its records, bit by bit: for `cairn ds` and for pages. */
#pragma once

#include <stdint.h>

#include "tools/cairn/log/show.h"

struct cairn_bits {
    const char *name; /* NULL: the end */
    uint8_t low, count;
};
extern const struct cairn_bits cairn_bits_base[], cairn_bits_index[], cairn_bits_cfg_c[], cairn_bits_header[];

/* The bits of all of them. */
uint64_t cairn_bits_all(const struct cairn_bits *bits);

/* "EN[63], LBR[41:40]=3, RELOAD[31:0]=FFFFD8F0H": fields that are not 0 (`zeros`: those as well), the highest first,
 * and what is set beside them. */
#define CAIRN_SHOWN_BITS (3u * CAIRN_SHOWN)
const char *cairn_show_all_bits(char out[CAIRN_SHOWN_BITS], const struct cairn_bits *bits, uint64_t value, bool zeros);

/* "BASIC AUX GPR XMM LBR=8 CNTR METRICS": the groups of a record's header, or those that a CFG_C asks for. */
const char *cairn_show_groups(char out[CAIRN_SHOWN], uint64_t groups);
