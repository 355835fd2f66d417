/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/truth_stream.h"

#include <string.h>

void cairn_truth_init(struct cairn_truth *t, const struct cairn_log *log, uint32_t cpu)
{
    memset(t, 0, offsetof(struct cairn_truth, links));
    t->log = log;
    t->cpu = &log->cpu[cpu];
    cairn_links_share(&t->links, &log->frames);
}

/* Goes to the next frame that has records, and may have some of these kinds. False: there is none. */
static bool next_frame(struct cairn_truth *t, uint32_t kinds)
{
    const uint32_t head = sizeof(struct cairn_truth_frame);
    struct cairn_frame frame;
    for (;;) {
        if (cairn_links_next(&t->links, &frame, t->payload)) {
            t->data = frame.payload + head;
            t->left = frame.size > head ? (frame.size - head) / CAIRN_TRUTH_BYTES : 0;
            if (t->left)
                return true;
            continue;
        }
        if (t->part == t->cpu->truth.count)
            return false;
        const struct cairn_truth_part *part = &t->cpu->truth.items[t->part++];
        const struct cairn_chain chain = cairn_truth_chain(part);
        t->gap |= part->first != t->expected;
        t->expected = part->first + part->count;
        if (part->kinds & kinds)
            cairn_links_begin(&t->links, &chain);
    }
}

static bool is_of(const uint8_t *record, uint32_t kinds)
{
    return kinds == CAIRN_TRUTH_ANY || (record[0] < 32 && kinds >> record[0] & 1);
}

/* The next record of these kinds, as it lies there. */
static const uint8_t *next(struct cairn_truth *t, uint32_t kinds)
{
    while (t->left || next_frame(t, kinds)) {
        const uint8_t *record = t->data;
        t->data += CAIRN_TRUTH_BYTES;
        t->left--;
        if (is_of(record, kinds))
            return record;
    }
    const struct cairn_cpu_end *e = &t->cpu->end;
    if (!e->truth_known || e->truth[2] || t->expected != e->truth[0] + e->truth[1])
        t->gap = true; /* the kernel had no room for all, or the rest is not in the log */
    return NULL;
}

const uint8_t *cairn_truth_next(struct cairn_truth *t, uint32_t kinds)
{
    const uint8_t *record = NULL;
    if (t->has_ahead) {
        t->has_ahead = false;
        t->gap |= t->gap_ahead;
        record = is_of(t->ahead, kinds) ? t->ahead : NULL;
    }
    if (!record)
        record = next(t, kinds);
    return record ? memcpy(t->record, record, sizeof(t->record)) : NULL;
}

const uint8_t *cairn_truth_follows(struct cairn_truth *t, uint8_t kind)
{
    if (!t->has_ahead) {
        const bool gap = t->gap;
        t->gap = false;
        const uint8_t *record = next(t, CAIRN_TRUTH_ANY);
        if (record)
            memcpy(t->ahead, record, sizeof(t->ahead));
        t->has_ahead = record != NULL;
        t->gap_ahead = t->gap;
        t->gap = gap;
    }
    if (!t->has_ahead || t->gap_ahead || t->ahead[0] != kind)
        return NULL;
    t->has_ahead = false;
    return memcpy(t->record, t->ahead, sizeof(t->record));
}
