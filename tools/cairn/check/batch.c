/* SPDX-License-Identifier: MIT */
/* What must hold in each compact batch and from one batch to the next, and why each was closed. */
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/base/names.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/model/switches.h"

#define FAIL(w, rule, time, ...) cairn_fail((w)->check, rule, (int)(w)->n, time, __VA_ARGS__)
#define SPACE                    (CCSWAP_BATCH_BYTES - CCSWAP_BATCH_SPARE) /* a batch of more takes no switch */

/* Behind the `used` slots that records name there is nothing, thus no thread twice either. */
static void check_table(struct cairn_batches *w, const struct ccswap_buffer *b, unsigned used, int64_t time)
{
    for (unsigned i = used; i < CCSWAP_TIDS; i++)
        if (b->tid_table[i] || b->thread_base_priority[i])
            FAIL(w, CAIRN_RULE_BATCHES, &time, "TidTable: slot %u holds thread %" PRIu32 ", which no record names", i,
                 b->tid_table[i]);
}

/* Whether the encoder had to take this form and no smaller one. */
static bool smallest(const struct cairn_switch *sw, uint64_t delta, int base)
{
    if (sw->form == CCSWAP_IDLE)
        return delta > CCSWAP_MASK(CCSWAP_IDLE_SHORT_DELTA_BITS);
    if (sw->form != CCSWAP_FULL)
        return true;
    int increase = sw->priority - base;
    return sw->wait > 1 || delta > CCSWAP_MASK(CCSWAP_LITE_DELTA_BITS) || increase < 0 ||
           increase > (int)CCSWAP_MASK(CCSWAP_LITE_PRIINC_BITS);
}

static unsigned slot_of(const struct ccswap_buffer *b, uint32_t tid)
{
    unsigned i = 0;
    while (i < CCSWAP_TIDS && b->tid_table[i] != tid)
        i++;
    return i;
}

static uint64_t oldest(const struct cairn_batches *w)
{
    return w->check->log->session.tick_units * CCSWAP_BATCH_TICKS;
}

/* The batch before this one was closed by the switch that begins this one: for which of the encoder's reasons, in the
 * encoder's order? */
static void find_reason(struct cairn_batches *w, const struct cairn_switch *next)
{
    enum ccswap_close reason;
    if (!oldest(w))
        return; /* the session stream is missing: nothing says how old a batch may become */
    if (w->bytes > SPACE)
        reason = CCSWAP_CLOSE_SPACE;
    else if (next->time > w->first && (uint64_t)next->time - (uint64_t)w->first > oldest(w))
        reason = CCSWAP_CLOSE_AGE;
    else if ((uint64_t)next->time - (uint64_t)w->last > CCSWAP_MASK(CCSWAP_FULL_DELTA_BITS))
        reason = CCSWAP_CLOSE_DELTA;
    else if (next->old_tid && w->table.tid_table[CCSWAP_TIDS - 1] && slot_of(&w->table, next->old_tid) == CCSWAP_TIDS)
        reason = CCSWAP_CLOSE_TIDS;
    else {
        FAIL(w, CAIRN_RULE_BATCHES, &next->time, "the previous batch was closed, although it had room for this switch");
        return;
    }
    w->check->closed[w->n][reason]++;
}

/* The cursor decodes the batch, as it decodes all, from a stream of this one event. */
void cairn_batches_next(struct cairn_batches *w, const struct cairn_event *e)
{
    struct ccswap_buffer b;
    memcpy(&b, e->payload, sizeof(b));
    struct cairn_piece piece = {.data = e->payload - e->head, .size = e->space, .hole = CAIRN_NO_HOLE};
    struct cairn_cpu alone = {.pieces = &piece, .piece_count = 1, .tail = CAIRN_NO_HOLE};
    struct cairn_cursor c;
    struct cairn_switch sw;
    const bool own = w->check->log->own; /* what Windows does beyond the layout is not known */
    unsigned used = 0, records = 0;
    uint32_t bytes = sizeof(b);
    int64_t time = b.first_time_stamp, first = time;
    cairn_cursor_begin(&c, w->check->log, &alone, true);
    w->check->compared[CAIRN_RULE_BATCHES]++;
    if (w->has_last && first < w->last)
        cairn_check_backwards(w->check, w->n, first, "a batch begins earlier than the previous switch");
    while (cairn_cursor_next(&c, &sw)) {
        uint64_t delta = (uint64_t)sw.time - (uint64_t)time;
        w->check->compared[CAIRN_RULE_TIMES]++;
        if (sw.time < time) /* time wrapped */
            FAIL(w, CAIRN_RULE_TIMES, &time, "switch times wrap around");
        if (records == 0 && w->open)
            find_reason(w, &sw);
        if (records++ == 0 && delta && own)
            FAIL(w, CAIRN_RULE_BATCHES, &first, "the first delta is %" PRIu64 ", not 0", delta);
        unsigned slot = sw.old_tid ? slot_of(&b, sw.old_tid) : CCSWAP_TIDS;
        if (sw.old_tid && slot > used)
            FAIL(w, CAIRN_RULE_BATCHES, &sw.time, "TidTable: slot %u used before slot %u", slot, used);
        used += sw.old_tid && slot == used;
        if (own && !smallest(&sw, delta, slot < CCSWAP_TIDS ? b.thread_base_priority[slot] : 0))
            FAIL(w, CAIRN_RULE_BATCHES, &sw.time, "%s record where a smaller one would do", cairn_form_name(sw.form));
        if (oldest(w) && (uint64_t)sw.time - (uint64_t)first > oldest(w))
            FAIL(w, CAIRN_RULE_BATCHES, &sw.time, "added to a batch of over %u ticks", CCSWAP_BATCH_TICKS);
        if (own && bytes > SPACE)
            FAIL(w, CAIRN_RULE_BATCHES, &sw.time, "added to a batch with fewer than %u bytes left", CCSWAP_BATCH_SPARE);
        bytes += ccswap_record_bytes(sw.form);
        time = sw.time;
    }
    if (!records && own)
        FAIL(w, CAIRN_RULE_BATCHES, &first, "no record in it");
    if (own)
        check_table(w, &b, used, first);
    if (e->time < time)
        cairn_check_backwards(w->check, w->n, e->time, "batch written before its last switch");
    if (w->has_drain && first < w->drain)
        FAIL(w, CAIRN_RULE_EPOCHS, &first, "a batch that began before the drain was written after it");
    w->open = w->has_last = true;
    w->first = first;
    w->last = time;
    w->bytes = bytes;
    w->table = b;
}

void cairn_batches_drained(struct cairn_batches *w, const struct cairn_epoch *e)
{
    if (w->open)
        w->check->closed[w->n][CCSWAP_CLOSE_DRAIN]++;
    w->open = false;
    w->has_drain = true;
    w->drain = e->time;
}

void cairn_batches_told(struct cairn_batches *w)
{
    if (w->open)
        w->check->closed[w->n][CCSWAP_CLOSE_STOP]++;
    w->open = false;
}

void cairn_batches_hole(struct cairn_batches *w, const struct cairn_hole *hole)
{
    if (w->open && hole->kind == CAIRN_HOLE_STOPPED) /* the masks changed; the buffer that tells so is the next one */
        w->check->closed[w->n][CCSWAP_CLOSE_STOP]++;
    w->open = w->has_drain = false;
}

void cairn_batches_end(struct cairn_batches *w)
{
    if (w->open)
        w->check->closed[w->n][w->check->log->panic ? CCSWAP_CLOSE_PANIC : CCSWAP_CLOSE_STOP]++;
}
