/* SPDX-License-Identifier: MIT */
/* Proofs about the encoder of context switches (trace/ccswap.h). */
#include "trace/ccswap.h"

#include "trace/session.h"

/* Times are counts of a clock since it began: 63 bits of them are more than any clock has. */
#define TIME_MOST (INT64_MAX / 4)

static struct trace_ccswap encoder;

static void written(struct trace_ccswap *c, uint32_t size, uint32_t records, int64_t time, enum ccswap_close reason)
{
    //@ check size: sizeof(struct ccswap_buffer) <= size <= CCSWAP_BATCH_BYTES;
    //@ check closed: c->used == TRACE_CCSWAP_CLOSED;
    //@ check reason: reason < CCSWAP_CLOSE_REASONS;
}

static int64_t any_time(void)
{
    return Frama_C_long_interval(0, TIME_MOST);
}

/* Any state that the encoder can be in: what is checked of it afterwards holds before. */
static void any_state(void)
{
    PROVE_ANY(encoder);
    uint64_t tids = Frama_C_unsigned_long_interval(0, CCSWAP_TIDS);
    //@ split tids;
    encoder.tids = tids;
    encoder.last = any_time();
    encoder.age_limit = any_time();
    encoder.deadline = Frama_C_long_interval(0, 2 * TIME_MOST);
    encoder.write = written;
    for (unsigned i = 0; i < TRACE_CCSWAP_BUCKETS; i++)
        encoder.bucket[i] = Frama_C_unsigned_char_interval(0, CCSWAP_TIDS - 1);
    int open = Frama_C_interval(0, 2); /* 1: with room for another record */
    //@ split open;
    const uint64_t room = CCSWAP_BATCH_BYTES - CCSWAP_BATCH_SPARE;
    encoder.used = open == 0   ? TRACE_CCSWAP_CLOSED
                   : open == 1 ? 2 * Frama_C_unsigned_long_interval(sizeof(struct ccswap_buffer) / 2, room / 2)
                               : 2 * Frama_C_unsigned_long_interval(room / 2 + 1, CCSWAP_BATCH_BYTES / 2);
}

static void check_state(void)
{
    uint64_t used = encoder.used, tids = encoder.tids;
    //@ check used: used == TRACE_CCSWAP_CLOSED || sizeof(struct ccswap_buffer) <= used <= CCSWAP_BATCH_BYTES;
    //@ check even: used == TRACE_CCSWAP_CLOSED || used % 2 == 0;
    //@ check tids: tids <= CCSWAP_TIDS;
    //@ check bucket: \forall integer i; 0 <= i < TRACE_CCSWAP_BUCKETS ==> encoder.bucket[i] < CCSWAP_TIDS;
    //@ check times: 0 <= encoder.last <= TIME_MOST && 0 <= encoder.deadline <= 2 * TIME_MOST;
}

/* One switch from any state leads to such a state: so do all sequences of switches. */
void ccswap_switch(void)
{
    struct trace_switch sw;
    any_state();
    PROVE_ANY(sw);
    trace_ccswap_switch(&encoder, &sw, any_time());
    check_state();
    PROVE_END();
}

void ccswap_close(void)
{
    any_state();
    trace_ccswap_close(&encoder, any_time(), CCSWAP_CLOSE_STOP);
    check_state();
    PROVE_END();
}

void ccswap_init(void)
{
    trace_ccswap_init(&encoder, Frama_C_unsigned_long_interval(0, TIME_MOST / CCSWAP_BATCH_TICKS), written);
    check_state();
    PROVE_END();
}
