/* SPDX-License-Identifier: MIT */
#include "tests/faults/handed.h"

#include <inttypes.h>
#include <string.h>

#define STORED_MOST 16384u
#define RECORD_MOST 512u

static struct stored {
    uint32_t size;
    uint8_t bytes[RECORD_MOST];
} stored[STORED_MOST];

static struct {
    unsigned stored, handed, missed;
    unsigned next; /* of those stored: the first behind the last that was handed over */
    uint64_t drained_lost, branches, branches_lost;
    uint64_t last_branch;
    bool unknown, branches_unknown;
} truth;

void handed_begin(void)
{
    memset(&truth, 0, sizeof truth);
}

void handed_recorded(void *context, const struct ds_model_record *record)
{
    (void)context;
    if (!record->stored)
        return;
    struct stored *s = &stored[truth.stored++];
    memcpy(s->bytes, (const void *)(uintptr_t)record->address, record->size);
    s->size = record->size;
}

/* The record at `at` is the next that was stored, or a later one: those in between have not been handed over. */
static uint32_t find(const uint8_t *at, uint32_t left)
{
    for (unsigned i = truth.next; i < truth.stored; i++)
        if (stored[i].size <= left && !memcmp(at, stored[i].bytes, stored[i].size)) {
            truth.missed += i - truth.next;
            truth.next = i + 1;
            truth.handed++;
            return stored[i].size;
        }
    return 0;
}

void handed_drained(const struct ds_drain *d, const uint8_t *buffer, size_t size)
{
    const uint8_t *records = d->records;
    if (d->lost == CAIRN_DS_LOST_UNKNOWN)
        truth.unknown = true;
    else
        truth.drained_lost += d->lost;
    if (d->bytes && (records < buffer || records + d->bytes > buffer + size)) {
        lie("%u bytes outside the buffer are handed over", d->bytes);
        return;
    }
    for (uint32_t at = 0, found; at < d->bytes; at += found)
        if (!(found = find(records + at, d->bytes - at))) {
            lie("a record is handed over that was not stored, or again, behind %u of %u", truth.handed, truth.stored);
            return;
        }
}

void handed_branches(void *context, uint32_t cpu, const struct ds_bts_drain *d)
{
    (void)context, (void)cpu;
    if (d->lost == CAIRN_DS_LOST_UNKNOWN)
        truth.branches_unknown = true;
    else
        truth.branches_lost += d->lost;
    truth.branches += d->records;
    for (unsigned r = 0; r < 2; r++)
        for (uint32_t i = 0; i < d->run[r].count; i++) {
            const struct ds_bts_record *b = &d->run[r].at[i];
            if (b->from <= truth.last_branch || b->to != b->from + 64)
                lie("a branch is handed over that was not taken, or again");
            truth.last_branch = b->from;
        }
}

void handed_judge(const struct ds_counts *counts, const struct ds_model *model, bool stepped, bool branches)
{
    const unsigned missing = truth.missed + truth.stored - truth.next;
    const uint64_t lost = model->dropped + model->lost;
    const bool hidden = !stepped && model->lost;
    if (counts->records != truth.handed)
        lie("%" PRIu64 " records are counted, %u were handed over", counts->records, truth.handed);
    if (missing && !counts->lost_unknown)
        lie("%u records were stored and not handed over, and nobody says so", missing);
    if (!hidden && lost > truth.drained_lost && !counts->lost_unknown)
        lie("%" PRIu64 " records were lost, %" PRIu64 " are called so", lost, truth.drained_lost);
    if (truth.drained_lost > lost)
        lie("%" PRIu64 " records are called lost, %" PRIu64 " were", truth.drained_lost, lost);
    if (truth.unknown && !counts->lost_unknown)
        lie("a drain says that its loss is unknown, the sum does not");
    const uint64_t taken = model->bts_records + model->bts_dropped;
    if (branches && !truth.branches_unknown && truth.branches + truth.branches_lost != taken)
        lie("%" PRIu64 " branches were stored or lost, %" PRIu64 " are handed over or called so", taken,
            truth.branches + truth.branches_lost);
}
