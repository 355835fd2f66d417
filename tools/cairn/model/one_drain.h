/* SPDX-License-Identifier: MIT */
/* Takes one drain of a CPU out of the log, with its records: nothing else of the log has to be kept. */
#pragma once

#include "tools/cairn/model/timeline.h"

#define CAIRN_TAKE_FIRST UINT64_MAX /* for `number`: the first drain with records, else the first */

struct cairn_taken {
    struct cairn_epoch epoch;
    uint32_t first, last; /* numbers of the CPU's epochs in the log, whatever passes */
    struct {
        struct cairn_item *items;
        size_t count, room;
    } records; /* as they lay in the buffer */
    /* what these point to */
    uint8_t *area;
    struct {
        struct cairn_taken_record {
            struct cairn_record record;
            uint8_t bytes[];
        } * *items;
        size_t count, room;
    } held;
};

/* The drain of epoch `number`, of those that pass the filter's times (filter.h), with all of its records;
 * CAIRN_TAKE_FIRST with a filter by thread: the first with a record of those threads. Records' threads by the rule
 * `by`. False: there is none. cairn_taken_free after either. */
bool cairn_take(struct cairn_taken *taken, const struct cairn_log *log, uint32_t cpu, uint64_t number,
                enum cairn_by by);
/* Whether that record is of a thread that the filter wants. */
bool cairn_taken_is_wanted(const struct cairn_item *item);
void cairn_taken_free(struct cairn_taken *taken);
