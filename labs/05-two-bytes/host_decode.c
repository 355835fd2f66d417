/* SPDX-License-Identifier: MIT */
#include "host_decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_scenes.h"
#include "labs/check.h"

#define FORMAT "docs/reference/format.md, section 6"

/* In memory of its own, so that a sanitizer sees what lies beyond its ends. */
static uint32_t decode_copy(const uint8_t *bytes, uint32_t size, struct decoded *out, uint32_t room)
{
    uint8_t *copy = malloc(size + !size);
    struct decoded *mine = calloc(room + !room, sizeof *mine);
    if (!copy || !mine)
        exit(3);
    memcpy(copy, bytes, size);
    const uint32_t count = decode(copy, size, mine, room);
    memcpy(out, mine, room * sizeof *mine);
    free(copy);
    free(mine);
    return count;
}

/* What can be known of a switch from a record of this form. */
static struct decoded told(const struct fed *f, uint8_t form)
{
    struct decoded d = {.time = f->time, .form = form};
    if (form < CCSWAP_LITE)
        return d;
    d.tid = f->sw.old_tid;
    d.state = f->sw.old_state;
    d.wait_reason = d.state == KTHREAD_WAITING ? f->sw.old_wait_reason : 0;
    d.priority = f->sw.old_priority;
    if (form == CCSWAP_FULL)
        d.wait = f->sw.new_wait < 0x1FFFF ? f->sw.new_wait : 0x1FFFF;
    return d;
}

static void compare_one(uint32_t n, const uint8_t *record, uint32_t left, const struct decoded *is,
                        const struct decoded *right)
{
    char text[128];
    const struct {
        const char *name, *what, *hint;
        int64_t is, right;
    } fields[] = {
        {"decode-form", "form", "Bits 1:0 of the first byte of a record are its form.", is->form, right->form},
        {"decode-time", "time",
         "The first record is at FirstTimeStamp. Each delta counts from the record before, in all forms.", is->time,
         right->time},
        {"decode-thread", "tid", "The slot leads to TidTable. The idle forms have none: their thread is 0.", is->tid,
         right->tid},
        {"decode-state", "state",
         "A state field below 39 (CCSWAP_MAXIMUM_WAIT_REASON) is the wait reason of a waiting thread "
         "(KTHREAD_WAITING). From 39 on it is 39 plus the state. The idle forms have none: 0.",
         is->state, right->state},
        {"decode-state", "wait_reason", "Only a waiting thread has a wait reason.", is->wait_reason,
         right->wait_reason},
        {"decode-priority", "priority",
         "LITE has the difference to ThreadBasePriority of its slot, FULL the priority itself. The idle forms have "
         "none: 0.",
         is->priority, right->priority},
        {"decode-wait", "wait", "Only FULL holds the wait of the incoming thread: bits 31:15 of its second word.",
         is->wait, right->wait},
    };
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].is != fields[i].right)
            lab_fail(fields[i].name, fields[i].hint, FORMAT,
                     "record %" PRIu32 " (%s): decode says that .%s is %" PRId64 "; expected %" PRId64, n,
                     record_text(text, record, left), fields[i].what, fields[i].is, fields[i].right);
}

void decode_batch(struct pair *p)
{
    static struct decoded out[BATCH_SWITCHES];
    const struct batch *b = &p->right;
    const uint32_t count = decode_copy(b->bytes, b->size, out, b->switches + 1); /* room beyond the last one */
    uint32_t at = sizeof(struct ccswap_buffer);
    if (count != b->switches)
        lab_fail(
            "decode-count",
            "Records follow the header up to the end of the batch, and each has the size of its form: 2, 4, 4 or 8 "
            "bytes.",
            FORMAT, "a batch of %" PRIu32 " bytes: decode returns %" PRIu32 "; expected %" PRIu32, b->size, count,
            b->switches);
    for (uint32_t n = 0; n < count; n++) {
        const struct decoded right = told(&p->closed[n], b->bytes[at] & CCSWAP_TYPE_MASK);
        compare_one(n, b->bytes + at, b->size - at, &out[n], &right);
        at += ccswap_record_bytes(b->bytes[at]);
    }
}

/* ---- damaged batches */

static void expect_bad(const uint8_t *bytes, uint32_t size, const char *what)
{
    static struct decoded out[BATCH_SWITCHES];
    const uint32_t count = decode_copy(bytes, size, out, BATCH_SWITCHES);
    if (count != DECODE_BAD)
        lab_fail(
            "decode-bad",
            "A batch comes from a file, so it may be anything. Before you read a record, look whether all of it is "
            "there; and whether its slot is in use.",
            FORMAT, "%s: decode returns %" PRIu32 "; expected DECODE_BAD", what, count);
}

static void damage(struct pair *p)
{
    struct batch b = p->right;
    static struct decoded out[BATCH_SWITCHES];
    uint32_t at = sizeof(struct ccswap_buffer), last = at, full = 0;
    decode_batch(p);
    for (; at < b.size; at += ccswap_record_bytes(b.bytes[at])) {
        last = at;
        if (!full && (b.bytes[at] & CCSWAP_TYPE_MASK) >= CCSWAP_LITE)
            full = at;
    }
    expect_bad(b.bytes, sizeof(struct ccswap_buffer) - 1 - p->right_count % 80, "a header that is cut off");
    expect_bad(b.bytes, last + 1, "a last record that is cut off");
    const uint32_t none = decode_copy(b.bytes, sizeof(struct ccswap_buffer), out, BATCH_SWITCHES);
    if (none)
        lab_fail("decode-count", "A header without records is whole, and has no switch.", FORMAT,
                 "a batch of %zu bytes: decode returns %" PRIu32 "; expected 0", sizeof(struct ccswap_buffer), none);
    const uint32_t half = b.switches / 2, count = decode_copy(b.bytes, b.size, out, half);
    if (count != half)
        lab_fail("decode-room", "decode writes no more than `room` switches, and then returns `room`.", FORMAT,
                 "a batch of %" PRIu32 " switches, room for %" PRIu32 ": decode returns %" PRIu32, b.switches, half,
                 count);
    if (!full)
        return;
    memset(b.bytes + offsetof(struct ccswap_buffer, tid_table), 0, sizeof(uint32_t) * CCSWAP_TIDS);
    expect_bad(b.bytes, b.size, "a record whose slot of TidTable is 0");
}

void check_decoder(struct pair *p)
{
    static const struct scene none = {"", "", ""};
    pair_begin(p, RANDOM_TICK, false, &none);
    p->each = decode_batch;
    feed_random(p, 20000);
    pair_begin(p, RANDOM_TICK, false, &none);
    p->each = damage;
    feed_random(p, 5000);
    lab_pass("decoder", "random batches, whole and damaged");
}
