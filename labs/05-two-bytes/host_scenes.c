/* SPDX-License-Identifier: MIT */
#include "host_scenes.h"

#include "labs/check.h"
#include "labs/host/random.h"

#define FORMAT "docs/reference/format.md, section 6"
#define TICK   INT64_C(1000000000000) /* age closes no batch with it */
#define BITS14 ((INT64_C(1) << 14) - 1)
#define BITS17 ((INT64_C(1) << 17) - 1)
#define BITS30 ((INT64_C(1) << 30) - 1)

static const struct cswitch idle = {.old_state = KTHREAD_RUNNING};

static struct cswitch busy(uint32_t tid)
{
    return (struct cswitch){.old_tid = tid,
                            .old_state = KTHREAD_WAITING,
                            .old_wait_reason = KWAIT_USER_REQUEST,
                            .old_priority = 8,
                            .old_base = 8};
}

static int64_t now;

static void begin(struct pair *p, const struct scene *scene)
{
    pair_begin(p, TICK, true, scene);
    now = 1000;
}

static void feed(struct pair *p, struct cswitch sw, int64_t delta)
{
    now += delta;
    pair_switch(p, &sw, now);
}

static void end(struct pair *p)
{
    now += 7;
    pair_end(p, now);
}

static void first(struct pair *p)
{
    static const struct scene scene = {
        "batch",
        "A batch begins with struct ccswap_buffer: the time of the first switch, and the "
        "threads that leave. Records follow. The first record has delta 0. "
        "encoder_close gives the batch to lab_batch.",
        FORMAT};
    begin(p, &scene);
    feed(p, busy(12), 0);
    end(p);
    begin(p, &scene);
    feed(p, busy(16), 0);
    feed(p, busy(16), 5);
    end(p);
}

static void forms_of_idle(struct pair *p)
{
    static const struct scene scene = {
        "idle",
        "When the idle thread leaves (thread 0), the record holds only the delta: 2 bytes "
        "if it fits in 14 bits, else 4. The idle thread has no slot in TidTable.",
        FORMAT};
    begin(p, &scene);
    feed(p, idle, 0);
    feed(p, idle, 1);
    feed(p, idle, BITS14);
    feed(p, idle, BITS14 + 1);
    feed(p, busy(12), 9);
    feed(p, idle, BITS30);
    end(p);
}

static void states(struct pair *p)
{
    static const struct scene scene = {"state",
                                       "The state field of a waiting thread is its wait reason. Of any other thread it "
                                       "is 39 (CCSWAP_MAXIMUM_WAIT_REASON) plus the state.",
                                       FORMAT};
    begin(p, &scene);
    for (unsigned state = 0; state < KTHREAD_STATES; state++) {
        struct cswitch sw = busy(12);
        sw.old_state = (uint8_t)state;
        sw.old_wait_reason = (uint8_t)(state * 4 % CCSWAP_MAXIMUM_WAIT_REASON);
        feed(p, sw, 3);
        sw.new_wait = 9;
        feed(p, sw, 3);
    }
    end(p);
}

static void priorities(struct pair *p)
{
    static const struct scene scene = {
        "priority",
        "LITE holds the priority as 0 to 7 above the base priority in the header. That is "
        "the base of the thread when it was first switched out in this batch, even if it "
        "has another one now. A lower or much higher priority needs FULL.",
        FORMAT};
    begin(p, &scene);
    for (int priority = 0; priority < 32; priority++) {
        struct cswitch sw = busy(priority % 2 ? 12 : 16);
        sw.old_base = (int8_t)(priority < 8 ? 8 : 9);
        sw.old_priority = (int8_t)(priority ? priority : 8);
        feed(p, sw, 3);
    }
    end(p);
}

static void waits(struct pair *p)
{
    static const uint32_t wait[] = {0, 1, 2, 500, 0x1FFFE, 0x1FFFF, 0x20000, 0x20001, UINT32_MAX};
    static const struct scene scene = {
        "wait",
        "LITE has no field for the wait of the incoming thread, so it may stand only for 0 "
        "or 1 ticks. FULL has 17 bits: a longer wait is stored as 1FFFFH.",
        FORMAT};
    begin(p, &scene);
    for (unsigned i = 0; i < sizeof wait / sizeof wait[0]; i++) {
        struct cswitch sw = busy(12), leaves = idle;
        sw.new_wait = leaves.new_wait = wait[i];
        feed(p, sw, 3);
        feed(p, leaves, 3);
    }
    end(p);
}

static void deltas(struct pair *p)
{
    static const struct scene scene = {
        "long-delta",
        "LITE has 17 bits for the delta. A longer one needs FULL, which has 30. The delta is "
        "the time since the record before, whoever left there.",
        FORMAT};
    begin(p, &scene);
    feed(p, busy(12), 0);
    feed(p, busy(12), BITS17);
    feed(p, busy(12), BITS17 + 1);
    feed(p, busy(16), BITS30);
    feed(p, idle, 2);
    feed(p, busy(16), 2);
    end(p);
}

static void table(struct pair *p)
{
    static const struct scene scene = {"table",
                                       "TidTable has the threads that leave, in the order in which each left first. A "
                                       "thread that is in it already keeps its slot. Unused slots are 0.",
                                       FORMAT};
    begin(p, &scene);
    for (uint32_t i = 0; i < 100; i++)
        feed(p, busy(4 + 4 * (i * i % 16)), 3);
    for (uint32_t i = 0; i < 8; i++) /* the same 64 buckets further on */
        feed(p, busy(4 + 4 * 64 * i), 3);
    end(p);
}

static void tids(struct pair *p)
{
    static const struct scene scene = {
        "tids",
        "TidTable has 16 slots. A 17th thread closes the batch (WHY_TIDS) and begins the "
        "next one, whose table is empty. The idle thread needs no slot, and a thread that "
        "has a slot fits even if the table is full.",
        FORMAT};
    begin(p, &scene);
    for (uint32_t i = 1; i <= 16; i++)
        feed(p, busy(4 * i), 3);
    feed(p, idle, 3);
    feed(p, busy(64), 3);
    feed(p, busy(68), 3);
    feed(p, busy(4), 3);
    end(p);
}

static void space(struct pair *p)
{
    static const struct scene scene = {
        "space",
        "Fewer than 8 bytes left of 400H: the next switch closes the batch (WHY_SPACE), even "
        "if its own record would fit. With exactly 8 bytes left, one more is added.",
        FORMAT};
    for (uint32_t idles = 0; idles < 4; idles++) {
        begin(p, &scene);
        for (uint32_t i = 0; i < idles; i++)
            feed(p, idle, 3);
        for (uint32_t i = 0; i < 250; i++)
            feed(p, busy(12), 3);
        for (uint32_t i = 0; i < 120; i++)
            feed(p, busy(16), BITS17 + 1);
        for (uint32_t i = 0; i < 480; i++)
            feed(p, idle, 3);
        end(p);
    }
}

static void age(struct pair *p)
{
    static const struct scene scene = {"age",
                                       "A switch more than 500 ticks after the first one of its batch closes the batch "
                                       "(WHY_AGE). It is the age of the batch that counts, not the time since the last "
                                       "switch, and 500 ticks exactly are not more.",
                                       FORMAT};
    for (int64_t tick = 10; tick < 20000; tick *= 37) {
        pair_begin(p, tick, true, &scene);
        now = 1000;
        for (unsigned i = 0; i <= 500; i++) {
            if (i % 2)
                feed(p, idle, tick);
            else
                feed(p, busy(12), tick);
        }
        feed(p, idle, 1);
        feed(p, busy(16), 500 * tick);
        feed(p, busy(16), 1);
        pair_close(p, now, WHY_DRAIN);
        feed(p, busy(12), 0); /* few switches: only the age can close the batch */
        feed(p, busy(12), 250 * tick);
        feed(p, busy(12), 250 * tick);
        feed(p, busy(12), 1);
        end(p);
    }
}

static void delta(struct pair *p)
{
    static const struct scene scene = {
        "delta",
        "No form holds a delta of more than 30 bits. Such a switch closes the batch "
        "(WHY_DELTA), also if the idle thread leaves, and begins the next one with delta 0.",
        FORMAT};
    begin(p, &scene);
    feed(p, busy(12), 0);
    feed(p, busy(12), BITS30 + 1);
    feed(p, idle, BITS30);
    feed(p, idle, BITS30 + 1);
    feed(p, busy(16), INT64_C(1) << 40);
    end(p);
}

static void order(struct pair *p)
{
    static const struct scene scene = {
        "order",
        "If several conditions hold, the first of these is the reason: space, age, delta, "
        "tids.",
        FORMAT};
    for (unsigned which = 0; which < 3; which++) {
        pair_begin(p, which == 2 ? TICK : BITS30 / 100, true, &scene);
        now = 1000;
        for (uint32_t i = 1; i <= 16; i++)
            feed(p, busy(4 * i), 3);
        for (uint32_t i = 0; which == 0 && i < 216; i++)
            feed(p, busy(4), 3);
        if (which == 0)
            feed(p, idle, 3); /* 6 bytes are left */
        feed(p, busy(400), 10 * BITS30);
        end(p);
    }
}

static void close_twice(struct pair *p)
{
    static const struct scene scene = {
        "close",
        "encoder_close closes what is open, and nothing else. After it no batch is open, so "
        "the next switch begins one. An empty batch is never written.",
        FORMAT};
    begin(p, &scene);
    pair_close(p, now, WHY_DRAIN);
    feed(p, busy(12), 0);
    feed(p, busy(16), 4);
    pair_close(p, now + 1, WHY_DRAIN);
    pair_close(p, now + 2, WHY_STOP);
    feed(p, busy(16), 9);
    pair_close(p, now, WHY_DRAIN);
    feed(p, idle, 9);
    end(p);
}

void feed_random(struct pair *p, uint32_t count)
{
    static const int64_t longest[] = {100, 1 << 15, 1 << 18, RANDOM_TICK, INT64_C(1) << 31};
    uint32_t threads = 1;
    now = 1000;
    for (uint32_t i = 0; i < count; i++) {
        struct cswitch sw = lab_below(4) ? busy(4 + 4 * lab_below(threads)) : idle;
        if (lab_below(100) == 0)
            threads = 1 + lab_below(24);
        sw.old_state = (uint8_t)lab_below(KTHREAD_STATES);
        sw.old_wait_reason = (uint8_t)lab_below(CCSWAP_MAXIMUM_WAIT_REASON);
        sw.old_base = (int8_t)lab_below(24);
        sw.old_priority = (int8_t)(sw.old_base + (lab_below(10) ? lab_below(8) : 0));
        sw.new_wait = lab_below(3) ? lab_below(2) : lab_below(1u << lab_below(20));
        if (lab_below(200) == 0)
            pair_close(p, now, WHY_DRAIN);
        feed(p, sw, lab_below((uint32_t)longest[lab_below(200) ? lab_below(3) : lab_below(5)]));
    }
}

void check_encoder(struct pair *p)
{
    static void (*const scenes[])(struct pair *) = {first, forms_of_idle, states, priorities, waits, deltas,     table,
                                                    tids,  space,         age,    delta,      order, close_twice};
    static const struct scene scene = {"random",
                                       "Each property alone is right, but not all together. Compare the record that "
                                       "differs with the table of forms.",
                                       FORMAT};
    for (unsigned i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        scenes[i](p);
    lab_pass("forms", "each form, each reason to close a batch");
    pair_begin(p, RANDOM_TICK, true, &scene);
    feed_random(p, 50000);
    pair_end(p, now);
    lab_pass("random", "%u random switches: batches closed for space %u, age %u, delta %u, tids %u, drains %u",
             p->switches, p->whys[WHY_SPACE], p->whys[WHY_AGE], p->whys[WHY_DELTA], p->whys[WHY_TIDS],
             p->whys[WHY_DRAIN]);
}
