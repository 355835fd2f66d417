/* SPDX-License-Identifier: MIT */
/*
 * Proofs that a record of a batch decodes to the switch that it was encoded from (trace/ccswap.h,
 * tools/cairn/model/switches.h). What a proof is about takes each value by itself, all else takes all values at once.
 */
#include "tools/cairn/model/switches.c" /* one record is decoded by a function that is static */

#include "trace/ccswap.h"
#include "trace/session.h"

#define BEGIN 1000 /* of the batch; only differences of times matter */
#define TID   44u
#define BASE  8

static struct trace_ccswap encoder;
static struct cairn_item item;
static uint16_t states[CCSWAP_MASK(CCSWAP_STATE_BITS) + 1];

void cairn_walk_changed(const struct cairn_walk *walk)
{
    (void)walk;
}

static void no_write(struct trace_ccswap *c, uint32_t size, uint32_t records, int64_t time, enum ccswap_close reason)
{
    //@ check no_batch_is_closed: \false;
}

/* Two switches, of which the second is `delta` behind the first. Decodes the second. */
static void two_switches(const struct trace_switch *second, uint64_t delta)
{
    const struct trace_switch first = {.old_tid = TID, .old_priority = BASE, .old_base = BASE};
    trace_ccswap_init(&encoder, INT64_C(1) << 32, no_write);
    trace_ccswap_switch(&encoder, &first, BEGIN);
    const uint64_t at = encoder.used;
    trace_ccswap_switch(&encoder, second, (int64_t)(BEGIN + delta));
    for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        states[i] = (uint16_t)(i | i << 8);
    struct batch b = {.table = encoder.batch.bytes, .time = BEGIN, .state = states};
    decode_record(&item, &b, cairn_record_load(encoder.batch.bytes + at, encoder.batch.bytes + encoder.used));
}

void round_trip_lite(void)
{
    uint8_t state = Frama_C_unsigned_char_interval(0, CCSWAP_MASK(CCSWAP_STATE_BITS));
    uint8_t rise = Frama_C_unsigned_char_interval(0, CCSWAP_MASK(CCSWAP_LITE_PRIINC_BITS));
    struct trace_switch sw = {.old_tid = TID, .old_base = BASE, .new_wait = Frama_C_unsigned_int_interval(0, 1)};
    //@ split state;
    //@ split rise;
    sw.old_state_wr = state;
    sw.old_priority = (int8_t)(BASE + rise);
    two_switches(&sw, Frama_C_unsigned_long_interval(0, CCSWAP_MASK(CCSWAP_LITE_DELTA_BITS)));
    //@ check form: item.sw.form == CCSWAP_LITE;
    //@ check tid: item.sw.old_tid == TID;
    //@ check state: item.sw.state == state && item.sw.reason == state;
    //@ check priority: item.sw.priority == BASE + rise && item.sw.base == BASE;
    PROVE_END();
}

static void lite_delta(uint64_t delta)
{
    const struct trace_switch sw = {.old_tid = TID, .old_state_wr = 45, .old_base = BASE, .old_priority = BASE};
    two_switches(&sw, delta);
    //@ check form: item.sw.form == CCSWAP_LITE;
}

void round_trip_lite_low(void)
{
    uint64_t low = Frama_C_unsigned_long_interval(0, 511);
    //@ split low;
    lite_delta(low + 512 * Frama_C_unsigned_long_interval(0, 255));
    //@ check low: (item.time - BEGIN) % 512 == low;
    PROVE_END();
}

void round_trip_lite_high(void)
{
    uint64_t high = Frama_C_unsigned_long_interval(0, 255);
    //@ split high;
    lite_delta(512 * high + Frama_C_unsigned_long_interval(0, 511));
    //@ check high: (item.time - BEGIN) / 512 == high;
    PROVE_END();
}

static void idle_delta(uint64_t delta)
{
    const struct trace_switch sw = {.old_tid = 0};
    two_switches(&sw, delta);
    //@ check form: item.sw.form == CCSWAP_IDLE_SHORT && item.sw.old_tid == 0;
}

void round_trip_idle_low(void)
{
    uint64_t low = Frama_C_unsigned_long_interval(0, 127);
    //@ split low;
    idle_delta(low + 128 * Frama_C_unsigned_long_interval(0, 127));
    //@ check low: (item.time - BEGIN) % 128 == low;
    PROVE_END();
}

void round_trip_idle_high(void)
{
    uint64_t high = Frama_C_unsigned_long_interval(0, 127);
    //@ split high;
    idle_delta(128 * high + Frama_C_unsigned_long_interval(0, 127));
    //@ check high: (item.time - BEGIN) / 128 == high;
    PROVE_END();
}

/* ---- FULL; it is put together with ORs, of which Eva follows less: each proof is for one delta ---- */

static void full(uint8_t state, uint8_t priority, uint32_t wait)
{
    const struct trace_switch sw = {
        .old_tid = TID, .old_state_wr = state, .old_base = BASE, .old_priority = (int8_t)priority, .new_wait = wait};
    two_switches(&sw, 5);
    //@ check form: item.sw.form == CCSWAP_FULL && item.sw.old_tid == TID && item.time == BEGIN + 5;
}

static uint32_t any_wait(void)
{
    return Frama_C_unsigned_int_interval(2, CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS));
}

void round_trip_full_state(void)
{
    uint8_t state = Frama_C_unsigned_char_interval(0, CCSWAP_MASK(CCSWAP_STATE_BITS));
    //@ split state;
    full(state, Frama_C_unsigned_char_interval(0, 31), any_wait());
    //@ check state: item.sw.state == state && item.sw.reason == state;
    PROVE_END();
}

void round_trip_full_priority(void)
{
    uint8_t priority = Frama_C_unsigned_char_interval(0, 31);
    //@ split priority;
    full(45, priority, any_wait());
    //@ check priority: item.sw.priority == priority && item.sw.base == BASE;
    PROVE_END();
}

void round_trip_full_wait(void)
{
    uint32_t high = Frama_C_unsigned_int_interval(1, 255);
    //@ split high;
    full(45, BASE, 512 * high + Frama_C_unsigned_int_interval(0, 511));
    //@ check high: item.sw.wait / 512 == high;
    PROVE_END();
}
