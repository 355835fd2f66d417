/* SPDX-License-Identifier: MIT */
/*
 * A panic while sessions come and go, at every single instruction of it: the scenario runs with RFLAGS.TF set, and
 * after each instruction that changes memory of hubs and sessions the SIGTRAP handler copies all of it, freezes the
 * copy as a panic would, and checks every session's account.
 */
#define _GNU_SOURCE /* REG_EFL */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/hub_bench.h"
#include "trace/session_inside.h"

#define SESSIONS 4u

static struct {
    struct hub_bench *b;
    uint8_t *copy, *seen;     /* seen: as the last panic found it, with so many switches done */
    uint32_t done, seen_done; /* switches handed in, the running one included */
    uint64_t steps, panics, failed_at;
    bool running;
} panic;

static void relocate(struct hub_bench *b, ptrdiff_t by)
{
#define MOVE(pointer) ((pointer) = (pointer) ? (void *)((uint8_t *)(uintptr_t)(pointer) + by) : NULL)
    MOVE(b->hub);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        MOVE(b->session[i]);
        struct trace_session *s = b->session[i];
        MOVE(s->cpu);
        MOVE(s->slot);
        MOVE(s->order);
        MOVE(s->buffers);
        for (uint32_t c = 0; c < HUB_CPUS; c++) {
            MOVE(s->cpu[c].session);
            MOVE(s->cpu[c].buffer);
            MOVE(s->cpu[c].encoder);
        }
    }
    for (uint32_t c = 0; c < HUB_CPUS; c++) {
        for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
            MOVE(b->hub[c].session[i]);
        for (unsigned t = 0; t < TRACE_CLOCK_TYPES; t++)
            MOVE(b->hub[c].encoder[t].hub);
    }
}

/* Of the same memory a panic makes the same. */
static bool as_before(void)
{
    const struct hub_bench *b = panic.b;
    if (panic.seen_done == panic.done && memcmp(panic.seen, b->memory, b->size) == 0)
        return true;
    panic.seen_done = panic.done;
    memcpy(panic.seen, b->memory, b->size);
    panic.panics++;
    return false;
}

static bool panic_now(void)
{
    struct hub_bench b = *panic.b;
    memcpy(panic.copy, b.memory, b.size);
    relocate(&b, panic.copy - b.memory);
    box_freeze(b.hub, HUB_CPUS, BOX_TSC(2000000));
    for (uint32_t i = 0; i < SESSIONS; i++)
        for (uint32_t c = 0; c < HUB_CPUS; c++) {
            struct trace_counts n = hub_counts(&b, c, i + 1);
            if (trace_session_cpu(b.session[i], c)->on || n.compact_tried + n.full_tried > 2 * panic.done)
                return false;
        }
    struct trace_counts first = hub_counts(&b, 0, 1); /* runs all the time: the switch in the making is there or not */
    if (first.compact_tried > panic.done || first.compact_tried + 1 < panic.done)
        return false;
    for (uint32_t i = 0; i < SESSIONS; i++)
        if (!box_account_holds(b.session[i]))
            return false;
    return true;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    if (!panic.running) {
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~INT64_C(0x100);
        return;
    }
    panic.steps++;
    if (!panic.failed_at && !as_before() && !panic_now())
        panic.failed_at = panic.steps;
}

static void on_start(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    panic.running = true;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100;
}

static void switches(struct hub_bench *b, uint32_t count)
{
    while (count--) {
        struct trace_switch sw = box_switch_at(BOX_TSC(10 * panic.done), panic.done);
        panic.done++;
        trace_hub_switch(&b->hub[0], &sw);
    }
}

static void come_and_go(struct hub_bench *b)
{
    uint64_t now = BOX_TSC(10 * panic.done);
    hub_start(b, 0, 4, box_masks(BOX_COMPACT), now); /* of the same clock as 1 */
    hub_start(b, 0, 2, box_masks(BOX_FULL), now);
    switches(b, 2);
    now = BOX_TSC(10 * panic.done);
    hub_change(b, 0, 4, box_masks(BOX_COMPACT | BOX_FULL), now);
    hub_change(b, 0, 2, box_masks(BOX_COMPACT), now);
    switches(b, 2);
    now = BOX_TSC(10 * panic.done);
    trace_hub_close_batches(&b->hub[0], now, CCSWAP_CLOSE_DRAIN);
    hub_change(b, 0, 4, box_masks(BOX_FULL), now);
    hub_stop(b, 0, 4, now);
    hub_stop(b, 0, 2, now);
    switches(b, 1);
}

static void step_through(uint32_t circular, uint32_t buffers, uint32_t before)
{
    struct hub_bench b;
    hub_open(&b, SESSIONS, circular, buffers, 4096);
    panic.b = &b;
    panic.copy = aligned_alloc(64, b.size);
    panic.seen = calloc(1, b.size);
    panic.done = 0;
    panic.failed_at = panic.steps = panic.panics = 0;
    hub_start(&b, 0, 1, box_masks(BOX_COMPACT), 0);
    hub_start(&b, 0, 3, box_masks(BOX_COMPACT), 0);
    switches(&b, before);
    for (unsigned i = 0; i < 3; i++) /* until sessions 2 and 4 have used up their buffers, or gone round */
        come_and_go(&b);
    raise(SIGUSR1);
    come_and_go(&b);
    panic.running = false;
    assert_int_equal(panic.failed_at, 0);
    assert_true(panic.steps > 5000 && panic.panics > 100);
    print_message("         stopped at %llu instructions, %llu of which change memory\n",
                  (unsigned long long)panic.steps, (unsigned long long)panic.panics);
    free(panic.copy);
    free(panic.seen);
    hub_close(&b);
}

static void test_freeze_anywhere(void **state)
{
    (void)state;
    struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    struct sigaction start = {.sa_sigaction = on_start, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &step, NULL);
    sigaction(SIGUSR1, &start, NULL);
    step_through(0, 8, 10);
    step_through(0, 2, 10);   /* without buffers */
    step_through(0xF, 3, 10); /* overwriting */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_freeze_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
