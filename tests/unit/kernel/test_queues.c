/* SPDX-License-Identifier: MIT */
/* The scheduler's pure parts: ready queue, priority rules. */
#include <string.h>

#include "kernel/lib/rand.h"
#include "kernel/sched/priority.h"
#include "kernel/sched/runq.h"
#include "kernel/thread.h"
#include "tests/unit/support/cmocka.h"

#define THREADS 64

static struct kthread threads[THREADS];

static void reset(void)
{
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct kthread){.tid = 8 + 4 * (uint32_t)i};
        memset(&threads[i].affinity, 0xFF, sizeof threads[i].affinity);
        klist_init(&threads[i].queue_link);
        klist_init(&threads[i].timer_link);
    }
}

static struct kthread *pop(struct krunq *q, uint32_t cpu)
{
    struct kthread *t = krunq_first(q, cpu);
    if (t)
        krunq_remove(q, t);
    return t;
}

static void queue_order(void **state)
{
    (void)state;
    struct krunq q;
    krunq_init(&q);
    reset();
    assert_int_equal(krunq_highest(&q), -1);
    assert_null(krunq_first(&q, 0));
    static const int8_t priority[] = {8, 31, 8, 0, 15, 8};
    for (int i = 0; i < 6; i++) {
        threads[i].priority = priority[i];
        krunq_add(&q, &threads[i], i == 5); /* the last one goes before its equals */
    }
    static const int order[] = {1, 4, 5, 0, 2, 3};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(krunq_highest(&q), threads[order[i]].priority);
        assert_ptr_equal(pop(&q, 0), &threads[order[i]]);
    }
    assert_int_equal(q.bitmap, 0);
}

static void queue_affinity(void **state)
{
    (void)state;
    struct krunq q;
    krunq_init(&q);
    reset();
    for (int i = 0; i < 3; i++) {
        threads[i].priority = (int8_t)(20 - i);
        threads[i].affinity = kcpuset_of(200 - 64 * (uint32_t)i);
        krunq_add(&q, &threads[i], false);
    }
    assert_null(krunq_first(&q, 0));
    assert_ptr_equal(pop(&q, 136), &threads[1]);
    assert_ptr_equal(pop(&q, 72), &threads[2]);
    assert_ptr_equal(pop(&q, 200), &threads[0]);
}

/* Against a plain search for the first of the highest priority. */
static void queue_random(void **state)
{
    (void)state;
    struct krunq q;
    struct krand r;
    uint64_t entered[THREADS] = {0}, now = 0;
    krunq_init(&q);
    krand_init(&r, 7);
    reset();
    for (int step = 0; step < 20000; step++) {
        uint32_t i = krand_below(&r, THREADS);
        if (!entered[i]) {
            threads[i].priority = (int8_t)krand_below(&r, 32);
            krunq_add(&q, &threads[i], false);
            entered[i] = ++now;
            continue;
        }
        int best = -1;
        for (int k = 0; k < THREADS; k++)
            if (entered[k] && (best < 0 || threads[k].priority > threads[best].priority ||
                               (threads[k].priority == threads[best].priority && entered[k] < entered[best])))
                best = k;
        assert_ptr_equal(pop(&q, krand_below(&r, 64)), &threads[best]);
        entered[best] = 0;
    }
}

static void priority_rules(void **state)
{
    (void)state;
    assert_int_equal(kpriority_boosted(8, 8, 0), 8);
    assert_int_equal(kpriority_boosted(8, 8, 1), 9);
    assert_int_equal(kpriority_boosted(12, 8, 1), 12); /* a greater boost stays */
    assert_int_equal(kpriority_boosted(8, 8, 20), 15); /* never real-time */
    assert_int_equal(kpriority_boosted(15, 15, 1), 15);
    assert_int_equal(kpriority_boosted(16, 16, 8), 16); /* real-time does not move */
    assert_int_equal(kpriority_boosted(31, 31, 8), 31);
    assert_int_equal(kpriority_decayed(15, 8), 14);
    assert_int_equal(kpriority_decayed(9, 8), 8);
    assert_int_equal(kpriority_decayed(8, 8), 8);
    assert_int_equal(kpriority_decayed(31, 31), 31);
}

static void random_numbers(void **state)
{
    (void)state;
    struct krand r;
    krand_init(&r, 1234567); /* the values of Vigna's own splitmix64.c for this seed */
    assert_int_equal(krand_next(&r), UINT64_C(6457827717110365317));
    assert_int_equal(krand_next(&r), UINT64_C(3203168211198807973));
    unsigned seen[10] = {0};
    for (int i = 0; i < 10000; i++) {
        uint32_t n = krand_below(&r, 10);
        assert_true(n < 10);
        seen[n]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 850, 1150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_order),    cmocka_unit_test(queue_affinity), cmocka_unit_test(queue_random),
        cmocka_unit_test(priority_rules), cmocka_unit_test(random_numbers),
    };
    return cmocka_run_group_tests_name("kernel queues", tests, NULL, NULL);
}
