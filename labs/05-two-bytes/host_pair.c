/* SPDX-License-Identifier: MIT */
#include "host_pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labs/check.h"
#include "trace/session.h"

static struct pair *current;

const char *why_name(enum why why)
{
    static const char *const names[] = {"WHY_SPACE", "WHY_AGE", "WHY_DELTA", "WHY_TIDS", "WHY_STOP", "WHY_DRAIN"};
    return (unsigned)why < sizeof names / sizeof names[0] ? names[why] : "(no such reason)";
}

static const enum ccswap_close reasons[] = {
    [WHY_SPACE] = CCSWAP_CLOSE_SPACE, [WHY_AGE] = CCSWAP_CLOSE_AGE,   [WHY_DELTA] = CCSWAP_CLOSE_DELTA,
    [WHY_TIDS] = CCSWAP_CLOSE_TIDS,   [WHY_STOP] = CCSWAP_CLOSE_STOP, [WHY_DRAIN] = CCSWAP_CLOSE_DRAIN,
};

static uint32_t field(uint32_t word, unsigned shift, unsigned bits)
{
    return word >> shift & CCSWAP_MASK(bits);
}

const char *record_text(char out[128], const uint8_t *record, uint32_t left)
{
    uint32_t word[2] = {0};
    const uint32_t size = left ? ccswap_record_bytes(*record) : 0;
    if (!left || size > left) {
        snprintf(out, 128, "no whole record");
        return out;
    }
    memcpy(word, record, size);
    switch (word[0] & CCSWAP_TYPE_MASK) {
    case CCSWAP_IDLE_SHORT:
    case CCSWAP_IDLE:
        snprintf(out, 128, "%s, delta %" PRIu32, size == 2 ? "IDLE_SHORT" : "IDLE", word[0] >> CCSWAP_IDLE_DELTA_SHIFT);
        break;
    case CCSWAP_LITE:
        snprintf(out, 128, "LITE, slot %" PRIu32 ", priority base + %" PRIu32 ", state %" PRIu32 ", delta %" PRIu32,
                 field(word[0], CCSWAP_LITE_TID_SHIFT, CCSWAP_TID_BITS),
                 field(word[0], CCSWAP_LITE_PRIINC_SHIFT, CCSWAP_LITE_PRIINC_BITS),
                 field(word[0], CCSWAP_LITE_STATE_SHIFT, CCSWAP_STATE_BITS),
                 field(word[0], CCSWAP_LITE_DELTA_SHIFT, CCSWAP_LITE_DELTA_BITS));
        break;
    default:
        snprintf(out, 128,
                 "FULL, slot %" PRIu32 ", priority %" PRIu32 ", state %" PRIu32 ", wait %" PRIu32 ", delta %" PRIu32,
                 field(word[1], CCSWAP_FULL_TID_SHIFT, CCSWAP_TID_BITS),
                 field(word[1], CCSWAP_FULL_PRIORITY_SHIFT, CCSWAP_PRIORITY_BITS),
                 field(word[1], CCSWAP_FULL_STATE_SHIFT, CCSWAP_STATE_BITS),
                 field(word[1], CCSWAP_FULL_WAIT_SHIFT, CCSWAP_FULL_WAIT_BITS),
                 field(word[0], CCSWAP_FULL_DELTA_SHIFT, CCSWAP_FULL_DELTA_BITS));
    }
    return out;
}

/* ---- where two batches differ */

#define FAIL(p, ...) lab_fail((p)->scene->name, (p)->scene->hint, (p)->scene->read, __VA_ARGS__)

static void compare_header(const struct pair *p)
{
    struct ccswap_buffer is, right;
    memcpy(&is, p->is.bytes, sizeof is);
    memcpy(&right, p->right.bytes, sizeof right);
    if (is.first_time_stamp != right.first_time_stamp)
        FAIL(p, "FirstTimeStamp is %" PRId64 "; expected %" PRId64, is.first_time_stamp, right.first_time_stamp);
    for (unsigned i = 0; i < CCSWAP_TIDS; i++) {
        if (is.tid_table[i] != right.tid_table[i])
            FAIL(p, "TidTable: slot %u holds thread %" PRIu32 "; expected %" PRIu32, i, is.tid_table[i],
                 right.tid_table[i]);
        if (is.thread_base_priority[i] != right.thread_base_priority[i])
            FAIL(p, "ThreadBasePriority: slot %u holds %d; expected %d", i, is.thread_base_priority[i],
                 right.thread_base_priority[i]);
    }
}

static void compare_records(const struct pair *p)
{
    char is[128], right[128];
    uint32_t at = sizeof(struct ccswap_buffer);
    for (uint32_t n = 0; at < p->right.size; n++) {
        const uint32_t size = ccswap_record_bytes(p->right.bytes[at]);
        const bool there = at + size <= p->is.size;
        if (!there || memcmp(p->is.bytes + at, p->right.bytes + at, size) != 0)
            FAIL(p,
                 "record %" PRIu32 " of the batch: %s; expected %s (thread %" PRIu32
                 ", state %u, priority %d, base %d, "
                 "the next one waited %" PRIu32 " ticks)",
                 n, record_text(is, p->is.bytes + at, at < p->is.size ? p->is.size - at : 0),
                 record_text(right, p->right.bytes + at, size), p->closed[n].sw.old_tid, p->closed[n].sw.old_state,
                 p->closed[n].sw.old_priority, p->closed[n].sw.old_base, p->closed[n].sw.new_wait);
        at += size;
    }
    if (p->is.size != p->right.size)
        FAIL(p, "the batch has %" PRIu32 " bytes; expected %" PRIu32, p->is.size, p->right.size);
}

static void compare_closing(const struct pair *p)
{
    if (p->is_count > p->right_count)
        FAIL(p, "switch %" PRIu32 ": your encoder closes a batch of %" PRIu32 " bytes, %s; expected: it stays open",
             p->switches, p->is.size, why_name(p->is.why));
    if (p->is_count < p->right_count)
        FAIL(p,
             "switch %" PRIu32 ": your encoder closes no batch (lab_batch); expected one of %" PRIu32 " bytes, %" PRIu32
             " switches, %s",
             p->switches, p->right.size, p->right.switches, why_name(p->right.why));
    if (p->right_count && p->is.why != p->right.why)
        FAIL(p, "switch %" PRIu32 ": your encoder closes the batch for %s; expected %s", p->switches,
             why_name(p->is.why), why_name(p->right.why));
}

static void compare_batch(struct pair *p)
{
    compare_header(p);
    compare_records(p);
    if (p->is.switches != p->right.switches)
        FAIL(p, "lab_batch says %" PRIu32 " switches; expected %" PRIu32, p->is.switches, p->right.switches);
    if (p->is.time != p->right.time)
        FAIL(p, "lab_batch says that the batch is closed at %" PRId64 "; expected %" PRId64, p->is.time, p->right.time);
}

/* ---- the two encoders */

static void keep(struct batch *b, const void *bytes, uint32_t size, uint32_t switches, int64_t time, enum why why)
{
    *b = (struct batch){.size = size, .switches = switches, .time = time, .why = why};
    memcpy(b->bytes, bytes, size);
}

void lab_batch(struct encoder *e, const void *batch, uint32_t bytes, uint32_t switches, int64_t time, enum why why)
{
    struct pair *p = current;
    if (e != p->yours)
        FAIL(p, "lab_batch gets another encoder than yours was called with");
    if (bytes < sizeof(struct ccswap_buffer) || bytes > CCSWAP_BATCH_BYTES)
        FAIL(p, "lab_batch gets %" PRIu32 " bytes; a batch has %zu to %u, its header included", bytes,
             sizeof(struct ccswap_buffer), CCSWAP_BATCH_BYTES);
    keep(&p->is, batch, bytes, switches, time, why);
    p->is_count++;
}

static void cairn_batch(struct trace_ccswap *c, uint32_t size, uint32_t records, int64_t time, enum ccswap_close reason)
{
    struct pair *p = (struct pair *)((char *)c - offsetof(struct pair, cairn));
    unsigned why = 0;
    while (reasons[why] != reason)
        why++;
    keep(&p->right, c->batch.bytes, size, records, time, (enum why)why);
    memcpy(p->closed, p->open, p->open_count * sizeof p->open[0]);
    p->open_count = 0;
    p->right_count++;
    p->whys[why]++;
}

void pair_begin(struct pair *p, int64_t tick, bool encode, const struct scene *scene)
{
    memset(p, 0, sizeof *p);
    current = p;
    p->scene = scene;
    trace_ccswap_init(&p->cairn, (uint64_t)tick, cairn_batch);
    if (!encode)
        return;
    p->yours = malloc(encoder_bytes);
    if (!p->yours)
        exit(3);
    memset(p->yours, 0xA5, encoder_bytes);
    encoder_init(p->yours, tick);
}

/* Whether Cairn's encoder has closed a batch since there were `count`. Then both are looked at. */
static void look(struct pair *p, uint32_t count)
{
    if (p->yours)
        compare_closing(p);
    if (p->right_count == count)
        return;
    if (p->yours)
        compare_batch(p);
    if (p->each)
        p->each(p);
}

void pair_switch(struct pair *p, const struct cswitch *sw, int64_t time)
{
    const uint32_t count = p->right_count;
    const struct trace_switch whole = {.old_tid = sw->old_tid,
                                       .new_wait = sw->new_wait,
                                       .old_state = sw->old_state,
                                       .old_wait_reason = sw->old_wait_reason,
                                       .old_state_wr = ccswap_state_wr(sw->old_state, sw->old_wait_reason),
                                       .old_priority = sw->old_priority,
                                       .old_base = sw->old_base};
    trace_ccswap_switch(&p->cairn, &whole, time);
    if (p->yours)
        encoder_switch(p->yours, sw, time);
    look(p, count);
    p->open[p->open_count++] = (struct fed){*sw, time};
    p->switches++;
}

void pair_close(struct pair *p, int64_t time, enum why why)
{
    const uint32_t count = p->right_count;
    trace_ccswap_close(&p->cairn, time, reasons[why]);
    if (p->yours)
        encoder_close(p->yours, time, why);
    look(p, count);
}

void pair_end(struct pair *p, int64_t time)
{
    pair_close(p, time, WHY_STOP);
    free(p->yours);
    p->yours = NULL;
}
