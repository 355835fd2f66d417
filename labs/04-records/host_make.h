/* SPDX-License-Identifier: MIT */
/* Lab 4: records that the check makes, with a value of its own in every word, and what a reader should find in each. */
#pragma once

#include "task.h"

struct made {
    unsigned format;
    uint32_t size; /* bytes of the record: bytes[0..size) */
    uint32_t need; /* bytes that its groups take: less than `size` where something unknown follows them */
    uint8_t bytes[16384];
    struct record is;
};

/* A record of format 1 to 3. */
void make_fixed(struct made *made, unsigned format);
/* An adaptive record. `groups`: the head's bits 31:0; `gp`, `fixed`: counters whose values it has, if it has any;
 * `more`: bytes behind the groups that nobody knows; `latency`: the head's bits 47:32. */
void make_adaptive(struct made *made, unsigned format, uint32_t groups, uint32_t gp, uint32_t fixed, uint32_t more,
                   uint32_t latency);
/* A record of any format from 1 on; random groups that the format has. */
void make_any(struct made *made, unsigned format);
