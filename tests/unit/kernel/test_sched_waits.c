/* SPDX-License-Identifier: MIT */
/* What threads wait for: events, semaphores, mutexes; how long they waited by the account of the switch. */
#include "kernel/sched/time.h"
#include "kernel/workloads/mutex.h"
#include "kernel/workloads/priority.h"
#include "kernel/workloads/semaphore.h"
#include "tests/unit/kernel/sched/sched_machine.h"

static struct kevent go;

static void wait_go(void *unused)
{
    (void)unused;
    int e = kevent_wait(&go, KWAIT_USER_REQUEST, 50);
    kthread_exit(e);
}

static int end_of(struct kthread *t)
{
    int code = 99;
    assert_int_equal(kthread_join(t, KWAIT_FOREVER, &code), 0);
    return code;
}

static void events_body(void)
{
    struct kthread *t[3];
    kevent_init(&go, true, false); /* manual: wakes all, stays */
    for (int i = 0; i < 3; i++)
        t[i] = sched_thread(8, 0, wait_go, NULL);
    sched_work();
    assert_int_equal(kthread_join(t[0], 0, NULL), -ETIMEDOUT);
    kevent_set(&go, KWAIT_INCREMENT);
    for (int i = 0; i < 3; i++)
        assert_int_equal(end_of(t[i]), 0);
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), 0);
    kevent_reset(&go);
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), -ETIMEDOUT);

    kevent_init(&go, false, false); /* auto: wakes the first; the others time out */
    for (int i = 0; i < 3; i++)
        t[i] = sched_thread(9, 1, wait_go, NULL); /* each waits before the next is made */
    kevent_set(&go, KWAIT_INCREMENT);
    uint64_t begin = ktime_ticks();
    assert_int_equal(end_of(t[0]), 0);
    assert_int_equal(end_of(t[1]), -ETIMEDOUT);
    assert_int_equal(end_of(t[2]), -ETIMEDOUT);
    assert_in_range(ktime_ticks() - begin, 49, 52);
    kevent_set(&go, KWAIT_INCREMENT);
    kevent_set(&go, KWAIT_INCREMENT); /* no more than set */
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), 0);
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), -ETIMEDOUT);
}

static void events(void **state)
{
    (void)state;
    sched_simulate(1, 1, 3, events_body);
    sched_simulate(3, 2, 3, events_body);
}

static struct ksem sem;

static void semaphores_body(void)
{
    ksem_init(&sem, 1, 3);
    assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 5), 0);
    uint64_t begin = ktime_ticks();
    assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 5), -ETIMEDOUT);
    assert_int_equal(ktime_ticks() - begin, 5);
    assert_int_equal(ksem_post(&sem, 4, 1), -EOVERFLOW);
    assert_int_equal(ksem_post(&sem, 3, 1), 0);
    assert_int_equal(ksem_post(&sem, 1, 1), -EOVERFLOW);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 0), 0);
    assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 0), -ETIMEDOUT);
}

static void semaphores(void **state)
{
    (void)state;
    sched_simulate(1, 1, 2, semaphores_body);
}

static struct kmutex mutex;

static void lock_twice(void *unused)
{
    (void)unused;
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, KWAIT_FOREVER), 0);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 0), 0);
    kthread_sleep(10, KWAIT_DELAY_EXECUTION);
    assert_int_equal(kmutex_unlock(&mutex, KWAIT_INCREMENT), 0);
    assert_int_equal(kmutex_unlock(&mutex, KWAIT_INCREMENT), 0);
}

static void lock_and_tell(void *letter)
{
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, KWAIT_FOREVER), 0);
    sched_tell((char)(uintptr_t)letter);
    assert_int_equal(kmutex_unlock(&mutex, KWAIT_INCREMENT), 0);
}

static void mutexes_body(void)
{
    kmutex_init(&mutex);
    assert_int_equal(kmutex_unlock(&mutex, 1), -EPERM);
    struct kthread *t = sched_thread(9, 1, lock_twice, NULL);
    assert_ptr_equal(mutex.owner, t);
    assert_int_equal(mutex.depth, 2);
    assert_int_equal(kmutex_unlock(&mutex, 1), -EPERM);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 3), -ETIMEDOUT);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 50), 0);
    assert_ptr_equal(mutex.owner, kthread_from_stack());
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 0), 0);

    story[0] = '\0';
    struct kthread *a = sched_thread(11, 1, lock_and_tell, LETTER('a'));
    struct kthread *b = sched_thread(12, 1, lock_and_tell, LETTER('b'));
    assert_int_equal(kmutex_unlock(&mutex, 1), 0);
    assert_string_equal(story, "");
    assert_int_equal(kmutex_unlock(&mutex, 1), 0); /* to `a`, the first who waited, whatever the priorities */
    kthread_join(a, KWAIT_FOREVER, NULL);
    kthread_join(b, KWAIT_FOREVER, NULL);
    assert_string_equal(story, "ab");
    assert_int_equal(mutex.free.object.signal, 1);
}

static void mutexes(void **state)
{
    (void)state;
    sched_simulate(1, 1, 3, mutexes_body);
}

/* The soonest first, equal ones as they came; one whose object is signalled before is no longer among them. */
static void sleep_and_tell(void *letter)
{
    static const uint64_t due[] = {5, 3, 5, 9, 3};
    kthread_sleep(due[(uintptr_t)letter - 'a'], KWAIT_DELAY_EXECUTION);
    sched_teller(letter);
}

static void sleeps_body(void)
{
    struct kthread *t[6];
    story[0] = '\0';
    kevent_init(&go, false, false);
    t[5] = sched_thread(9, 1, wait_go, NULL);
    for (int i = 0; i < 5; i++)
        t[i] = sched_thread(9, 1, sleep_and_tell, LETTER('a' + i));
    kevent_set(&go, 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(end_of(t[i]), 0);
    assert_string_equal(story, "beacd");
}

static void sleeps(void **state)
{
    (void)state;
    sched_simulate(1, 1, 3, sleeps_body);
}

static uint32_t last_waited(uint32_t tid)
{
    for (uint64_t i = seen_count; i; i--)
        if (seen[(i - 1) % SEEN].new_tid == tid)
            return seen[(i - 1) % SEEN].waited;
    fail_msg("thread %u never came in", tid);
    return 0;
}

/* A new thread has waited since its creation, on an idle CPU too. */
static void new_wait_time_body(void)
{
    kthread_sleep(9, KWAIT_DELAY_EXECUTION);
    kevent_init(&go, true, true);
    struct kthread *t = sched_thread(8, 2, wait_go, NULL);
    uint32_t tid = t->tid;
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_true(last_waited(tid) <= 1);
}

/* Wait time: from the begin of the wait where the CPU was idle, from the entry into the queue where it was not. */
static void wait_time_body(void)
{
    kthread_sleep(7, KWAIT_DELAY_EXECUTION);
    assert_int_equal(kthread_from_stack()->waited, 7);
    kevent_init(&go, false, false);
    struct kthread *t = sched_thread(9, 1, wait_go, NULL);
    for (int i = 0; i < 4; i++)
        sched_interrupt(ARCH_VECTOR_TIMER);
    kpriority_set(12);
    kevent_set(&go, 1); /* 10: queued behind this thread */
    sched_interrupt(ARCH_VECTOR_TIMER);
    uint32_t tid = t->tid;
    assert_int_equal(t->state, KTHREAD_READY);
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_int_equal(last_waited(tid), 1);
}

static void wait_time(void **state)
{
    (void)state;
    sched_simulate(1, 1, 2, wait_time_body); /* ticks while idle; the thread itself asks for its own */
    sched_simulate(2, 1, 2, new_wait_time_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events), cmocka_unit_test(semaphores), cmocka_unit_test(mutexes),
        cmocka_unit_test(sleeps), cmocka_unit_test(wait_time),
    };
    return cmocka_run_group_tests_name("kernel waits", tests, NULL, NULL);
}
