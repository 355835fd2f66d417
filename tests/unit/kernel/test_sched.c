/* SPDX-License-Identifier: MIT */
/* Who runs when, and where: preemption, quanta, boosts and their decay, placement; and everything at once. */
#include "kernel/workloads/mutex.h"
#include "kernel/workloads/priority.h"
#include "kernel/workloads/semaphore.h"
#include "tests/unit/kernel/sched/sched_machine.h"

/* A user thread begins in ring 3, and gives its address space back when it is joined. */
static void user_body(void)
{
    struct kuser user = {.space = 0x5000, .argument = {7, 1}};
    struct kthread_params params = {.name = "user",
                                    .priority = 8,
                                    .flags = KTHREAD_SAMPLED | KTHREAD_USER,
                                    .entry = sched_user_begin,
                                    .argument = &user,
                                    .user = &user,
                                    .process_id = &user.process_id,
                                    .gone = sched_user_gone};
    struct kthread *t;
    int code = 0;
    begun = freed = 0;
    assert_int_equal(kthread_create(&t, &params), 0);
    while (kthread_join(t, 0, &code) != 0) {
        assert_int_equal(freed, 0);
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
    }
    assert_int_equal(code, 7);
    assert_int_equal(begun, 1);
    assert_int_equal(freed, 1);
}

static void user_threads(void **state)
{
    (void)state;
    sched_simulate(1, 1, 3, user_body);
    sched_simulate(3, 2, 3, user_body);
}

static void preemption_body(void)
{
    story[0] = '\0';
    uint32_t me = kthread_from_stack()->tid;
    struct kthread *low = sched_thread(7, 1, sched_teller, LETTER('l'));
    struct kthread *equal = sched_thread(8, 1, sched_teller, LETTER('e'));
    sched_tell('m');
    struct kthread *high = sched_thread(9, 1, sched_teller, LETTER('h')); /* runs before this call returns */
    sched_tell('m');
    assert_int_equal(sched_last_out(me)->state, KTHREAD_READY);
    assert_int_equal(sched_last_out(me)->reason, KWAIT_WR_PREEMPTED);
    kthread_yield(); /* to the equal one, not to the low one */
    sched_tell('m');
    assert_int_equal(sched_last_out(me)->reason, KWAIT_WR_YIELD_EXECUTION);
    assert_int_equal(sched_last_out(equal->tid)->state, KTHREAD_TERMINATED);
    kthread_yield(); /* nobody */
    assert_int_equal(kthread_join(low, KWAIT_FOREVER, NULL), 0);
    assert_int_equal(kthread_join(equal, KWAIT_FOREVER, NULL), 0);
    assert_int_equal(kthread_join(high, KWAIT_FOREVER, NULL), 0);
    assert_string_equal(story, "mhmeml");
}

static void preemption(void **state)
{
    (void)state;
    sched_simulate(1, 1, 0, preemption_body);
}

static void count_turns(void *letter)
{
    for (int i = 0; i < 3; i++) {
        sched_tell((char)(uintptr_t)letter);
        sched_interrupt(ARCH_VECTOR_TIMER);
        sched_interrupt(ARCH_VECTOR_TIMER); /* the quantum's end */
    }
}

static void quantum_body(void)
{
    story[0] = '\0';
    struct kthread *a = sched_thread(6, 1, count_turns, LETTER('a')), *b = sched_thread(6, 1, count_turns, LETTER('b'));
    uint32_t tid = a->tid;
    kthread_sleep(5, KWAIT_DELAY_EXECUTION); /* two ticks a letter */
    assert_string_equal(story, "aba");
    /* by this thread, in the middle of its second turn */
    assert_int_equal(sched_last_out(tid)->reason, KWAIT_WR_PREEMPTED);
    assert_int_equal(sched_last_out(tid)->quantum, 1);
    kthread_sleep(1, KWAIT_DELAY_EXECUTION); /* it goes on with what is left */
    assert_string_equal(story, "aba");
    assert_int_equal(sched_last_out(tid)->reason, KWAIT_WR_QUANTUM_END);
    assert_int_equal(sched_last_out(tid)->quantum, 0);
    kthread_sleep(2, KWAIT_DELAY_EXECUTION);
    assert_string_equal(story, "abab");
    assert_int_equal(kthread_join(a, KWAIT_FOREVER, NULL), 0);
    assert_int_equal(kthread_join(b, KWAIT_FOREVER, NULL), 0);
}

static void quantum(void **state)
{
    (void)state;
    sched_simulate(1, 1, 0, quantum_body);
}

static struct kevent go;

static void boosted(void *levels)
{
    int8_t *level = levels;
    assert_int_equal(kevent_wait(&go, KWAIT_WR_QUEUE, KWAIT_FOREVER), 0);
    for (int i = 0; i < 6; i++) {
        level[i] = kthread_from_stack()->priority;
        sched_interrupt(ARCH_VECTOR_TIMER);
        sched_interrupt(ARCH_VECTOR_TIMER);
    }
}

static void boost_body(void)
{
    static int8_t dynamic[6], real_time[6];
    boosts = decays = 0;
    kpriority_set(4);
    kevent_init(&go, false, false);
    struct kthread *t = sched_thread(10, 1, boosted, dynamic); /* runs until it waits */
    assert_int_equal(t->state, KTHREAD_WAITING);
    assert_int_equal(sched_last_out(t->tid)->reason, KWAIT_WR_QUEUE);
    kevent_set(&go, 3);
    assert_memory_equal(dynamic, ((int8_t[]){13, 12, 11, 10, 10, 10}), 6);
    assert_int_equal(boosts, 1);
    assert_int_equal(decays, 3);
    kthread_join(t, KWAIT_FOREVER, NULL);
    t = sched_thread(20, 1, boosted, real_time);
    kevent_set(&go, 3);
    assert_memory_equal(real_time, ((int8_t[]){20, 20, 20, 20, 20, 20}), 6);
    kthread_join(t, KWAIT_FOREVER, NULL);
    t = sched_thread(15, 1, boosted, dynamic);
    kevent_set(&go, 8);
    assert_int_equal(dynamic[0], 15);
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_int_equal(kpriority_set(0), -EINVAL);
    assert_int_equal(kpriority_set(32), -EINVAL);
}

static void boost_and_decay(void **state)
{
    (void)state;
    sched_simulate(1, 1, 0, boost_body);
}

static void run_until_told(void *where)
{
    while (!go.object.signal) {
        *(uint64_t *)where |= UINT64_C(1) << here;
        sched_work();
    }
}

/* Pinned threads stay where they belong; a thread that lost its CPU moves to an idle one. */
static void placement_body(void)
{
    uint64_t where[4] = {0};
    kevent_init(&go, true, false);
    struct kthread *free_one = sched_thread(8, 0, run_until_told, &where[0]); /* ideal CPU 1 */
    for (int i = 0; i < 100; i++)
        sched_work();
    assert_int_equal(where[0], 2);
    struct kthread *pinned = sched_thread(10, 2, run_until_told, &where[1]); /* pushes it off CPU 1 */
    for (int i = 0; i < 100; i++)
        sched_work();
    assert_int_equal(where[1], 2);
    assert_int_equal(where[0], 2 | 4);
    assert_int_equal(free_one->cpu, 2);
    struct kthread *t = NULL;
    struct kthread_params nowhere = {.name = "nowhere", .priority = 8, .affinity = {{8}}, .entry = run_until_told};
    assert_int_equal(kthread_create(&t, &nowhere), -EINVAL); /* there is no CPU 3 */
    kevent_set(&go, 0);
    kthread_join(free_one, KWAIT_FOREVER, NULL);
    kthread_join(pinned, KWAIT_FOREVER, NULL);
}

static void placement(void **state)
{
    (void)state;
    sched_simulate(3, 5, 0, placement_body);
}

/* ---- everything at once */
#define STORM 40

static struct kevent storm_event[2];
static struct ksem storm_sem;
static struct kmutex storm_mutex[3];
static uint32_t inside[3];
static bool storm_over;

static void storm_thread(void *number)
{
    struct krand r;
    krand_init(&r, (uintptr_t)number + 77);
    while (!storm_over) {
        uint32_t n = krand_below(&r, 12), m = krand_below(&r, 3);
        sched_work();
        if (n < 2)
            kevent_set(&storm_event[n], (int)krand_below(&r, 9));
        else if (n < 4)
            kevent_wait(&storm_event[n - 2], KWAIT_USER_REQUEST, 1 + krand_below(&r, 20));
        else if (n == 4)
            kevent_reset(&storm_event[0]);
        else if (n == 5)
            ksem_post(&storm_sem, 1 + (int)krand_below(&r, 2), 1);
        else if (n == 6)
            ksem_wait(&storm_sem, KWAIT_WR_QUEUE, 1 + krand_below(&r, 20));
        else if (n == 7)
            kthread_sleep(krand_below(&r, 6), KWAIT_DELAY_EXECUTION);
        else if (n == 8)
            kthread_yield();
        else if (n == 9)
            kpriority_set(1 + (int)krand_below(&r, 31));
        else if (kmutex_lock(&storm_mutex[m], KWAIT_WR_MUTEX, 1 + krand_below(&r, 30)) != -ETIMEDOUT) {
            assert_int_equal(inside[m]++, 0);
            sched_work();
            inside[m]--;
            kmutex_unlock(&storm_mutex[m], KWAIT_INCREMENT);
        }
    }
}

/* How many threads wait in queues and may run on CPU `i`. */
static uint32_t queued_for(uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < kcpu_count; c++)
        for (int p = 0; p < KPRIORITIES; p++)
            for (struct klist *l = cpus[c].ready.list[p].next; l != &cpus[c].ready.list[p]; l = l->next)
                n += kcpuset_has(&KLIST_ITEM(l, struct kthread, queue_link)->affinity, i);
    return n;
}

/* Nobody waits in a queue for a CPU that idles, but those for whom a CPU has been asked to come. */
static void assert_no_idle_waste(void)
{
    uint32_t coming = 0;
    for (uint32_t i = 0; i < kcpu_count; i++)
        coming += ipis[i] && !cpus[i].standby;
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (cpus[i].current == cpus[i].idle && !cpus[i].standby && !ipis[i])
            assert_true(queued_for(i) <= coming);
}

static void storm_body(void)
{
    struct kthread *t[STORM];
    uintptr_t made = 0;
    storm_over = false;
    memset(inside, 0, sizeof inside);
    kevent_init(&storm_event[0], true, false);
    kevent_init(&storm_event[1], false, false);
    ksem_init(&storm_sem, 0, 5);
    for (int i = 0; i < 3; i++)
        kmutex_init(&storm_mutex[i]);
    kpriority_set(31);
    for (; made < STORM; made++)
        t[made] =
            sched_thread(1 + (int)made % 31, made % 5 == 0 ? 1 + made % kcpu_count : 0, storm_thread, (void *)made);
    for (int i = 0; i < 3000; i++) {
        uint32_t k = (uint32_t)i % STORM;
        if (kthread_join(t[k], 0, NULL) == 0)
            t[k] = sched_thread(1 + i % 31, 0, storm_thread, (void *)made++);
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
        assert_no_idle_waste();
    }
    storm_over = true;
    for (int i = 0; i < STORM; i++)
        assert_int_equal(kthread_join(t[i], KWAIT_FOREVER, NULL), 0);
}

static void storm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (uint32_t n = 1; n <= CPUS; n += n == 1 ? 1 : 2)
            sched_simulate(n, seed, 20, storm_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preemption), cmocka_unit_test(quantum),      cmocka_unit_test(boost_and_decay),
        cmocka_unit_test(placement),  cmocka_unit_test(user_threads), cmocka_unit_test(storm),
    };
    return cmocka_run_group_tests_name("kernel scheduler", tests, NULL, NULL);
}
