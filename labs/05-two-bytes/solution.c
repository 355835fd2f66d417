/* SPDX-License-Identifier: MIT */
/*
 * Lab 5: a solution. Read it after yours has passed. It is plain: it searches the table from the beginning for each
 * switch. trace/ccswap.c is the same encoder with fewer instructions.
 */
#include "task.h"

struct encoder {
    int64_t last, deadline, oldest; /* the previous switch; the last time the open batch takes; how old it may become */
    uint32_t used;                  /* bytes of the open batch; 0: none is open */
    uint32_t switches, tids;        /* records, and slots of TidTable in use */
    union {
        struct ccswap_buffer header;
        uint8_t bytes[CCSWAP_BATCH_BYTES];
    } batch;
};
const size_t encoder_bytes = sizeof(struct encoder);

void encoder_init(struct encoder *e, int64_t tick)
{
    e->used = 0;
    e->oldest = tick * (int64_t)CCSWAP_BATCH_TICKS;
}

void encoder_close(struct encoder *e, int64_t time, enum why why)
{
    const uint32_t used = e->used;
    if (!used)
        return;
    e->used = 0;
    lab_batch(e, e->batch.bytes, used, e->switches, time, why);
}

static void begin(struct encoder *e, int64_t time)
{
    e->batch.header = (struct ccswap_buffer){.first_time_stamp = time};
    e->last = time;
    e->deadline = time + e->oldest;
    e->used = sizeof e->batch.header;
    e->switches = e->tids = 0;
}

/* The slot of a thread, or e->tids. */
static uint32_t find(const struct encoder *e, uint32_t tid)
{
    uint32_t slot = 0;
    while (slot < e->tids && e->batch.header.tid_table[slot] != tid)
        slot++;
    return slot;
}

/* Whether the open batch cannot take the switch; then *why. */
static bool refuses(const struct encoder *e, const struct cswitch *sw, int64_t time, enum why *why)
{
    if (e->used > CCSWAP_BATCH_BYTES - CCSWAP_BATCH_SPARE)
        *why = WHY_SPACE;
    else if (time > e->deadline)
        *why = WHY_AGE;
    else if (time - e->last > (int64_t)CCSWAP_MASK(CCSWAP_FULL_DELTA_BITS))
        *why = WHY_DELTA;
    else if (sw->old_tid && e->tids == CCSWAP_TIDS && find(e, sw->old_tid) == CCSWAP_TIDS)
        *why = WHY_TIDS;
    else
        return false;
    return true;
}

/* The lowest byte of the record comes first. */
static void put(struct encoder *e, uint64_t record, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        e->batch.bytes[e->used++] = (uint8_t)(record >> 8 * i);
    e->switches++;
}

static void add_busy(struct encoder *e, const struct cswitch *sw, uint64_t delta)
{
    struct ccswap_buffer *b = &e->batch.header;
    const uint64_t slot = find(e, sw->old_tid);
    const uint64_t state =
        sw->old_state == KTHREAD_WAITING ? sw->old_wait_reason : (uint64_t)sw->old_state + CCSWAP_MAXIMUM_WAIT_REASON;
    if (slot == e->tids) {
        b->tid_table[slot] = sw->old_tid;
        b->thread_base_priority[slot] = sw->old_base;
        e->tids++;
    }
    const int above = sw->old_priority - b->thread_base_priority[slot];
    if (delta <= CCSWAP_MASK(CCSWAP_LITE_DELTA_BITS) && sw->new_wait <= 1 && above >= 0 &&
        above <= (int)CCSWAP_MASK(CCSWAP_LITE_PRIINC_BITS)) {
        put(e,
            CCSWAP_LITE | slot << CCSWAP_LITE_TID_SHIFT | (uint64_t)above << CCSWAP_LITE_PRIINC_SHIFT |
                state << CCSWAP_LITE_STATE_SHIFT | delta << CCSWAP_LITE_DELTA_SHIFT,
            4);
        return;
    }
    const uint64_t most = CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS), wait = sw->new_wait < most ? sw->new_wait : most;
    const uint64_t second = slot << CCSWAP_FULL_TID_SHIFT | state << CCSWAP_FULL_STATE_SHIFT |
                            (uint64_t)sw->old_priority << CCSWAP_FULL_PRIORITY_SHIFT | wait << CCSWAP_FULL_WAIT_SHIFT;
    put(e, CCSWAP_FULL | delta << CCSWAP_FULL_DELTA_SHIFT | second << 32, 8);
}

void encoder_switch(struct encoder *e, const struct cswitch *sw, int64_t time)
{
    enum why why;
    if (e->used && refuses(e, sw, time, &why))
        encoder_close(e, time, why);
    if (!e->used)
        begin(e, time);
    const uint64_t delta = (uint64_t)(time - e->last);
    e->last = time;
    if (sw->old_tid)
        add_busy(e, sw, delta);
    else if (delta <= CCSWAP_MASK(CCSWAP_IDLE_SHORT_DELTA_BITS))
        put(e, CCSWAP_IDLE_SHORT | delta << CCSWAP_IDLE_SHORT_DELTA_SHIFT, 2);
    else
        put(e, CCSWAP_IDLE | delta << CCSWAP_IDLE_DELTA_SHIFT, 4);
}

/* ---- decoder */

static uint32_t field(uint64_t record, unsigned shift, unsigned bits)
{
    return (uint32_t)(record >> shift) & CCSWAP_MASK(bits);
}

static void set_state(struct decoded *d, uint32_t state)
{
    d->state = state < CCSWAP_MAXIMUM_WAIT_REASON ? KTHREAD_WAITING : (uint8_t)(state - CCSWAP_MAXIMUM_WAIT_REASON);
    d->wait_reason = state < CCSWAP_MAXIMUM_WAIT_REASON ? (uint8_t)state : 0;
}

/* One record. False: its slot is empty. */
static bool decode_record(const struct ccswap_buffer *b, uint64_t r, struct decoded *d)
{
    const uint32_t second = (uint32_t)(r >> 32);
    uint32_t slot = 0;
    *d = (struct decoded){.time = d->time, .form = (uint8_t)(r & CCSWAP_TYPE_MASK)};
    switch (d->form) {
    case CCSWAP_IDLE_SHORT:
        d->time += field(r, CCSWAP_IDLE_SHORT_DELTA_SHIFT, CCSWAP_IDLE_SHORT_DELTA_BITS);
        return true;
    case CCSWAP_IDLE:
        d->time += field(r, CCSWAP_IDLE_DELTA_SHIFT, CCSWAP_IDLE_DELTA_BITS);
        return true;
    case CCSWAP_LITE:
        slot = field(r, CCSWAP_LITE_TID_SHIFT, CCSWAP_TID_BITS);
        d->time += field(r, CCSWAP_LITE_DELTA_SHIFT, CCSWAP_LITE_DELTA_BITS);
        set_state(d, field(r, CCSWAP_LITE_STATE_SHIFT, CCSWAP_STATE_BITS));
        d->priority =
            (int8_t)(b->thread_base_priority[slot] + (int)field(r, CCSWAP_LITE_PRIINC_SHIFT, CCSWAP_LITE_PRIINC_BITS));
        break;
    default:
        slot = field(second, CCSWAP_FULL_TID_SHIFT, CCSWAP_TID_BITS);
        d->time += field(r, CCSWAP_FULL_DELTA_SHIFT, CCSWAP_FULL_DELTA_BITS);
        set_state(d, field(second, CCSWAP_FULL_STATE_SHIFT, CCSWAP_STATE_BITS));
        d->priority = (int8_t)field(second, CCSWAP_FULL_PRIORITY_SHIFT, CCSWAP_PRIORITY_BITS);
        d->wait = field(second, CCSWAP_FULL_WAIT_SHIFT, CCSWAP_FULL_WAIT_BITS);
    }
    d->tid = b->tid_table[slot];
    return d->tid != 0;
}

/* `bytes` bytes from any address on. */
static uint64_t load(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

uint32_t decode(const uint8_t *batch, uint32_t bytes, struct decoded *out, uint32_t room)
{
    struct ccswap_buffer b;
    uint32_t at = sizeof b, n = 0, size;
    if (bytes < sizeof b)
        return DECODE_BAD;
    for (uint32_t i = 0; i < sizeof b; i++)
        ((uint8_t *)&b)[i] = batch[i];
    int64_t time = b.first_time_stamp;
    for (; at < bytes && n < room; at += size, n++) {
        size = ccswap_record_bytes(batch[at]);
        out[n].time = time;
        if (size > bytes - at || !decode_record(&b, load(batch + at, size), &out[n]))
            return DECODE_BAD;
        time = out[n].time;
    }
    return n;
}
