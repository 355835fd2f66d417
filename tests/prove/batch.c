/* SPDX-License-Identifier: MIT */
/* Proofs about the decoder of batches (tools/cairn/model/switches.h). */
#include "tools/cairn/model/switches.c" /* one batch is decoded by a function that is static */

#define MOST 12u /* bytes of records */

static struct {
    struct ccswap_buffer header;
    uint8_t records[16]; /* without padding behind them */
} batch;
static struct cairn_log log_;
static struct cairn_block block;
static struct cairn_cursor cursor;

/* Says that the log has changed: nothing here. */
void cairn_walk_changed(const struct cairn_walk *walk)
{
    (void)walk;
}

/* Any records: every sequence of forms by itself, all other bits at once. The last one may be cut off. */
void batch_decode(void)
{
    unsigned size = Frama_C_unsigned_int_interval(0, MOST), room = Frama_C_unsigned_int_interval(1, 4);
    //@ split size;
    //@ split room;
    PROVE_ANY(batch);
    uint8_t *records = PROVE_LAST(batch.records, size);
    for (unsigned at = 0; at < size; at += ccswap_record_bytes(records[at])) {
        uint8_t form = (uint8_t)Frama_C_interval_split(0, CCSWAP_TYPE_MASK);
        records[at] = (uint8_t)(Frama_C_unsigned_char_interval(0, 63) * 4 + form);
    }
    struct making m = {.block = &block, .next = block.item + 1, .end = block.item + 1 + room, .events = 1};
    PROVE_ANY(block.event[0]);
    log_.session.maximum_wait_reason = Frama_C_unsigned_int_interval(0, UINT32_MAX);
    cursor.log = &log_;
    cursor.event.payload = (const uint8_t *)&batch;
    cursor.hole = Frama_C_unsigned_int_interval(0, UINT32_MAX);
    cursor.time = Frama_C_long_interval(INT64_MIN, INT64_MAX);
    cursor.slots = Frama_C_unsigned_int_interval(0, CCSWAP_TIDS);
    PROVE_ANY(cursor.state);
    cursor.next = records;
    cursor.stop = records + size;
    decode_batch(&cursor, &m);
    //@ check items: block.item + 1 <= m.next <= m.end;
    PROVE_END();
}
