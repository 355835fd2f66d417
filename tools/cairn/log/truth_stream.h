/* SPDX-License-Identifier: MIT */
/* The truth of one CPU (docs/reference/format.md), record after record, in whichever frames it is. */
#pragma once

#include "tools/cairn/log/log.h"

struct cairn_truth {
    const struct cairn_log *log;
    const struct cairn_cpu *cpu;
    bool gap; /* truth is missing before the record that came last, or at the end behind all; who has seen it clears it
               */
    size_t part;               /* the next */
    uint32_t expected;         /* ordinal that should come */
    const uint8_t *data;       /* the records of the frame at hand, */
    uint32_t left;             /* so many of them are to come */
    bool has_ahead, gap_ahead; /* the next record was looked at already */
    uint8_t ahead[CAIRN_TRUTH_BYTES], record[CAIRN_TRUTH_BYTES];
    struct cairn_links links; /* this and what follows is large, and not zeroed */
    uint8_t payload[CAIRN_PAYLOAD_MOST];
};

void cairn_truth_init(struct cairn_truth *truth, const struct cairn_log *log, uint32_t cpu);
#define CAIRN_TRUTH_OF(kind) (UINT32_C(1) << (kind))
#define CAIRN_TRUTH_ANY      UINT32_MAX
/* The next record of these kinds, valid until the next call; NULL: none. Frames without any are not read. */
const uint8_t *cairn_truth_next(struct cairn_truth *truth, uint32_t kinds);
/* The record right behind the last one, if it is of `kind` and no truth is missing between; else NULL, and it stays the
 * next. */
const uint8_t *cairn_truth_follows(struct cairn_truth *truth, uint8_t kind);
