/* SPDX-License-Identifier: MIT */
/*
 * The compact context-switch encoder. trace_ccswap_switch packs the two common records, IDLE_SHORT and LITE. In rarer
 * cases it makes a tail call with all that it has computed so far, so that the common path saves no registers. Records
 * are aligned to 2 bytes.
 */
#include "trace/ccswap.h"

#include "kernel/lib/string.h"
#include "trace/session.h"

#define LAST_USABLE (CCSWAP_BATCH_BYTES - CCSWAP_BATCH_SPARE) /* with more in use, fewer than 8 bytes remain */
#define NOINLINE    __attribute__((noinline))

typedef uint16_t record16 __attribute__((may_alias));
typedef uint32_t record32 __attribute__((may_alias, aligned(2)));

void trace_ccswap_init(struct trace_ccswap *c, uint64_t tick_units,
                       void (*write)(struct trace_ccswap *, uint32_t, uint32_t, int64_t, enum ccswap_close))
{
    memset(c, 0, sizeof(*c));
    c->used = TRACE_CCSWAP_CLOSED;
    c->age_limit = (int64_t)(tick_units * CCSWAP_BATCH_TICKS);
    c->write = write;
}

/* Thread IDs are multiples of 4, given out in order: neighbours never share a bucket. The hash is one instruction. */
static inline unsigned bucket_of(uint32_t tid)
{
    return tid % TRACE_CCSWAP_BUCKETS;
}

/* The bit of `buckets_used` for that bucket and its three neighbours, which have no threads. */
static inline uint64_t bucket_bit(unsigned bucket)
{
    return UINT64_C(1) << bucket / 4;
}

/* The record counts from the store of `used` on: a CPU stopped before it (panic) has not added the switch. */
static inline void commit(struct trace_ccswap *c, uint64_t used)
{
    c->switches++;
    __atomic_store_n(&c->used, used, __ATOMIC_RELEASE);
}

static inline void add_idle_short(struct trace_ccswap *c, uint64_t delta, uint64_t used)
{
    *(record16 *)(c->batch.bytes + used) = (uint16_t)(CCSWAP_IDLE_SHORT | delta << CCSWAP_IDLE_SHORT_DELTA_SHIFT);
    commit(c, used + 2);
}

static void begin(struct trace_ccswap *c, int64_t time)
{
    c->batch.header = (struct ccswap_buffer){.first_time_stamp = time};
    c->last = time; /* so the first record's delta is 0 */
    c->deadline = time + c->age_limit;
    c->batch_start = c->switches;
    c->buckets_used = 0;
    c->tids = 0;
    __atomic_store_n(&c->used, sizeof(c->batch.header), __ATOMIC_RELEASE);
}

void trace_ccswap_close(struct trace_ccswap *c, int64_t time, enum ccswap_close reason)
{
    uint64_t size = c->used;
    if (size == TRACE_CCSWAP_CLOSED)
        return;
    __atomic_store_n(&c->used, TRACE_CCSWAP_CLOSED, __ATOMIC_RELEASE);
    c->write(c, (uint32_t)size, (uint32_t)(c->switches - c->batch_start), time, reason);
}

static void add_after_miss(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time, uint64_t delta);

static NOINLINE void add_to_new_batch(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time,
                                      enum ccswap_close reason)
{
    trace_ccswap_close(c, time, reason);
    begin(c, time);
    if (sw->old_tid)
        add_after_miss(c, sw, time, 0);
    else
        add_idle_short(c, 0, c->used);
}

/* IDLE: an idle thread leaves after 2^14 units or more. */
static NOINLINE void add_idle(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time, uint64_t delta)
{
    if (delta > CCSWAP_MASK(CCSWAP_IDLE_DELTA_BITS)) {
        add_to_new_batch(c, sw, time, CCSWAP_CLOSE_DELTA);
        return;
    }
    uint64_t used = c->used;
    *(record32 *)(c->batch.bytes + used) = CCSWAP_IDLE | (uint32_t)delta << CCSWAP_IDLE_DELTA_SHIFT;
    commit(c, used + 4);
}

/* FULL: all that LITE cannot say. */
static NOINLINE void add_full(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time, uint64_t delta,
                              uint64_t slot)
{
    if (delta > CCSWAP_MASK(CCSWAP_FULL_DELTA_BITS)) {
        add_to_new_batch(c, sw, time, CCSWAP_CLOSE_DELTA);
        return;
    }
    uint32_t wait = sw->new_wait;
    if (wait > CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS))
        wait = CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS); /* saturates: "at least this long" */
    uint64_t used = c->used;
    record32 *record = (record32 *)(c->batch.bytes + used);
    record[0] = CCSWAP_FULL | (uint32_t)delta << CCSWAP_FULL_DELTA_SHIFT;
    record[1] = (uint32_t)slot << CCSWAP_FULL_TID_SHIFT | (uint32_t)sw->old_state_wr << CCSWAP_FULL_STATE_SHIFT |
                ((uint32_t)sw->old_priority & CCSWAP_MASK(CCSWAP_PRIORITY_BITS)) << CCSWAP_FULL_PRIORITY_SHIFT |
                wait << CCSWAP_FULL_WAIT_SHIFT;
    commit(c, used + 8);
}

/* LITE where it fits, else FULL. */
static inline void add_busy(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time, uint64_t delta,
                            uint64_t slot, uint64_t used)
{
    /* Type, slot and increase. A larger increase needs more bits, and a priority below the base wraps round. */
    const uint32_t low = c->lite[slot] + ((uint32_t)sw->old_priority << CCSWAP_LITE_PRIINC_SHIFT);
    if (low > CCSWAP_MASK(CCSWAP_LITE_STATE_SHIFT) || sw->new_wait > 1 || delta > CCSWAP_MASK(CCSWAP_LITE_DELTA_BITS)) {
        add_full(c, sw, time, delta, slot);
        return;
    }
    /* From the top, each shift by the width of what follows: ADDs where masks and ORs take more. */
    const uint32_t high = ((uint32_t)delta << CCSWAP_STATE_BITS) + sw->old_state_wr;
    *(record32 *)(c->batch.bytes + used) = (high << CCSWAP_LITE_STATE_SHIFT) + low;
    commit(c, used + 4);
}

/* The guess was wrong: a thread new to this batch, or two threads that share a bucket. */
static NOINLINE void add_after_miss(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time, uint64_t delta)
{
    uint32_t tid = sw->old_tid;
    uint64_t slot = c->tids;
    unsigned bucket = bucket_of(tid);
    if (c->buckets_used & bucket_bit(bucket))
        for (slot = 0; slot < c->tids && c->batch.header.tid_table[slot] != tid; slot++)
            ;
    if (slot == c->tids) {
        bool too_late = delta > CCSWAP_MASK(CCSWAP_FULL_DELTA_BITS);
        if (too_late || slot == CCSWAP_TIDS) {
            add_to_new_batch(c, sw, time, too_late ? CCSWAP_CLOSE_DELTA : CCSWAP_CLOSE_TIDS);
            return;
        }
        c->batch.header.tid_table[slot] = tid;
        c->batch.header.thread_base_priority[slot] = sw->old_base;
        c->lite[slot] = (CCSWAP_LITE | (uint32_t)slot << CCSWAP_LITE_TID_SHIFT) -
                        ((uint32_t)sw->old_base << CCSWAP_LITE_PRIINC_SHIFT);
        c->tids = slot + 1;
        c->buckets_used |= bucket_bit(bucket);
    }
    c->bucket[bucket] = (uint8_t)slot;
    add_busy(c, sw, time, delta, slot, c->used);
}

/* No batch is open, or it can take no switch at this time. */
static NOINLINE void add_beyond(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time)
{
    add_to_new_batch(c, sw, time, c->used > LAST_USABLE ? CCSWAP_CLOSE_SPACE : CCSWAP_CLOSE_AGE);
}

void trace_ccswap_switch(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time)
{
    uint64_t used = c->used;
    if (used > LAST_USABLE || time > c->deadline) { /* TRACE_CCSWAP_CLOSED is the largest `used` of all */
        add_beyond(c, sw, time);
        return;
    }
    uint64_t delta = (uint64_t)(time - c->last); /* time gone backwards: too large for any record */
    c->last = time;
    uint32_t tid = sw->old_tid;
    if (tid == 0) {
        if (delta > CCSWAP_MASK(CCSWAP_IDLE_SHORT_DELTA_BITS)) {
            add_idle(c, sw, time, delta);
            return;
        }
        add_idle_short(c, delta, used);
        return;
    }
    uint64_t slot = c->bucket[bucket_of(tid)];
    if (c->batch.header.tid_table[slot] != tid) {
        add_after_miss(c, sw, time, delta);
        return;
    }
    add_busy(c, sw, time, delta, slot, used);
}
