/* SPDX-License-Identifier: MIT */
/*
 * A session stopped by a panic, at every single instruction of a switch: the account stays exact. The scenario runs
 * with RFLAGS.TF set. After each instruction that changes its memory the SIGTRAP handler copies the whole session, lets
 * the other CPU of the copy go on where `intrude` says so, freezes the copy as a panic would, and checks everything
 * about it.
 */
#define _GNU_SOURCE /* REG_EFL */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/session_inside.h"

static struct {
    struct box *box;
    uint8_t *copy, *seen;     /* seen: as the last panic found it, with so many switches done */
    uint32_t done, seen_done; /* switches handed in, the running one included */
    uint32_t intrude;         /* switches of CPU 1 between the stop of CPU 0 and the freeze */
    uint64_t steps, panics, failed_at;
    bool running;
} panic;

static void relocate(struct trace_session *s, struct trace_hub_cpu *hub, ptrdiff_t by)
{
#define MOVE(pointer) ((pointer) = (void *)((uint8_t *)(uintptr_t)(pointer) + by))
    MOVE(s->cpu);
    MOVE(s->slot);
    MOVE(s->order);
    MOVE(s->buffers);
    for (uint32_t i = 0; i < s->config.cpus; i++) {
        MOVE(s->cpu[i].session);
        if (s->cpu[i].buffer)
            MOVE(s->cpu[i].buffer);
        if (s->cpu[i].encoder)
            MOVE(s->cpu[i].encoder);
        if (hub[i].session[0])
            MOVE(hub[i].session[0]);
        for (unsigned t = 0; t < TRACE_CLOCK_TYPES; t++)
            MOVE(hub[i].encoder[t].hub);
    }
}

/* Of the same memory a panic makes the same. */
static bool as_before(void)
{
    const struct box *box = panic.box;
    if (panic.seen_done == panic.done && memcmp(panic.seen, box->memory, box->size) == 0)
        return true;
    panic.seen_done = panic.done;
    memcpy(panic.seen, box->memory, box->size);
    panic.panics++;
    return false;
}

static bool panic_now(void)
{
    struct trace_session *s = (struct trace_session *)(void *)panic.copy;
    memcpy(panic.copy, panic.box->memory, panic.box->size);
    struct trace_hub_cpu *hub = (void *)(panic.copy + ((uint8_t *)panic.box->hub - (uint8_t *)panic.box->memory));
    relocate(s, hub, panic.copy - (uint8_t *)panic.box->memory);
    for (uint32_t i = 0; i < panic.intrude; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(1000000 + i), i);
        trace_hub_switch(&hub[1], &sw);
    }
    box_freeze(hub, 2, BOX_TSC(2000000));
    struct trace_counts n;
    trace_cpu_counts(&s->cpu[0], &n);
    /* The switch in the making is there or not, and is the only one that may be neither written nor lost by rule. */
    if (n.compact_tried > panic.done || n.compact_tried + 1 < panic.done || n.full_tried > panic.done ||
        n.full_tried + 1 < panic.done)
        return false;
    trace_cpu_counts(&s->cpu[1], &n);
    if (n.compact_tried != panic.intrude || n.events_lost)
        return false;
    return box_account_holds(s) && !s->cpu[0].on;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    ucontext_t *u = context;
    if (!panic.running) {
        u->uc_mcontext.gregs[REG_EFL] &= ~INT64_C(0x100);
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

static void step_through(bool circular, uint32_t buffers, uint32_t before, uint32_t stepped, uint32_t intrude)
{
    struct box box;
    volatile uint64_t index = 0x4000;
    box_open(&box, 2, BOX_COMPACT | BOX_FULL, circular, buffers, 4096);
    panic.box = &box;
    panic.copy = aligned_alloc(64, (box.size + 63) / 64 * 64);
    panic.seen = calloc(1, box.size);
    panic.done = panic.failed_at = panic.steps = panic.panics = 0;
    panic.intrude = intrude;
    struct trace_hub_cpu *hub = &box.hub[0];
    box_start(&box, hub->index, &index);
    box_start(&box, 1, NULL);
    for (uint32_t i = 0; i < before + stepped; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(10 * i), i);
        struct trace_part part = {&sw, sizeof(sw)};
        panic.done++;
        if (i == before)
            raise(SIGUSR1);
        trace_hub_switch(hub, &sw);
        if (i % 16 == 0)
            trace_hub_close_batches(hub, sw.tsc, CCSWAP_CLOSE_DRAIN);
        if (i % 16 == 0)
            trace_hub_event(hub, sw.tsc, 0, 0xCA01, 1, &part, 1);
    }
    box_stop(&box, hub->index, BOX_TSC(100000));
    panic.running = false;
    assert_int_equal(panic.failed_at, 0);
    assert_true(panic.steps > 500 && panic.panics > 100);
    print_message("         stopped at %llu instructions, %llu of which change memory\n",
                  (unsigned long long)panic.steps, (unsigned long long)panic.panics);
    free(panic.copy);
    free(panic.seen);
    box_close(&box);
}

static void test_freeze_anywhere(void **state)
{
    (void)state;
    struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    struct sigaction start = {.sa_sigaction = on_start, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &step, NULL);
    sigaction(SIGUSR1, &start, NULL);
    step_through(false, 8, 70, 6, 0);    /* into a new buffer */
    step_through(false, 2, 140, 30, 0);  /* into loss */
    step_through(true, 3, 300, 20, 0);   /* overwriting */
    step_through(true, 3, 300, 20, 400); /* and the other CPU goes round the pool before the panic is noticed */
}

/* ---- held up ---------------------------------------------------------------------------------------------------- */

static struct {
    struct box *box;
    uint32_t at, rounds; /* so many instructions behind its ticket CPU 0 stands still: CPU 1 fills so many buffers */
    uint64_t ticket;     /* the next one, before CPU 0 has drawn it */
    uint32_t steps, switches; /* CPU 0's instructions from then on, until it has a slot; CPU 1's switches */
} held;

static void fill_buffers(uint32_t count)
{
    const struct trace_cpu *cpu = trace_session_cpu(held.box->session, 1);
    struct trace_counts n;
    trace_cpu_counts(cpu, &n);
    for (const uint64_t enough = n.buffers_begun + count; n.buffers_begun < enough; trace_cpu_counts(cpu, &n)) {
        struct trace_switch sw = box_switch_at(BOX_TSC(1000000 + held.switches), held.switches);
        held.switches++;
        trace_hub_switch(&held.box->hub[1], &sw);
    }
}

static void on_held_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    const struct trace_session *s = held.box->session;
    const bool taken = s->slot[held.ticket % s->config.buffers].state == ((held.ticket + 1) << 2 | TRACE_SLOT_TAKEN);
    if (s->next_ticket != held.ticket && !taken && ++held.steps == held.at)
        fill_buffers(held.rounds);
    if (!panic.running || taken || held.steps == held.at)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~INT64_C(0x100);
}

/* Whether what is left of each CPU's buffers are its newest ones. */
static bool newest_are_there(struct trace_session *s)
{
    for (uint32_t c = 0; c < s->config.cpus; c++) {
        struct trace_counts n;
        trace_cpu_counts(trace_session_cpu(s, c), &n);
        uint64_t count = 0, oldest = n.buffers_begun;
        for (uint32_t i = 0; i < s->config.buffers; i++)
            if ((s->slot[i].state & TRACE_SLOT_PHASE) == TRACE_SLOT_FULL && s->slot[i].cpu == c) {
                count++;
                oldest = s->slot[i].cpu_buffer < oldest ? s->slot[i].cpu_buffer : oldest;
            }
        if (oldest + count != n.buffers_begun)
            return false;
    }
    return true;
}

/* CPU 0 takes a new buffer, and stands still `at` instructions after it has drawn a ticket for it. False: by then it
 * has it. */
static bool hold_at(uint32_t at, uint32_t rounds)
{
    struct box box;
    volatile uint64_t index = 0x4000;
    box_open(&box, 2, BOX_FULL, true, 4, 4096);
    held.box = &box;
    held.at = at;
    held.rounds = rounds;
    held.steps = held.switches = 0;
    box_start(&box, 0, &index);
    box_start(&box, 1, NULL);
    struct trace_switch sw = box_switch_at(BOX_TSC(10), 0);
    trace_hub_switch(&box.hub[0], &sw);
    trace_cpu_close_buffer(trace_session_cpu(box.session, 0));
    fill_buffers(2);
    held.ticket = box.session->next_ticket;
    sw = box_switch_at(BOX_TSC(20), 1);
    raise(SIGUSR1);
    trace_hub_switch(&box.hub[0], &sw);
    panic.running = false;
    box_stop(&box, 0, BOX_TSC(900000));
    box_stop(&box, 1, BOX_TSC(9000000));
    assert_true(box_account_holds(box.session));
    if (!newest_are_there(box.session))
        fail_msg("held up %u instructions behind its ticket, while %u buffers were filled: an older buffer than one "
                 "that was overwritten is left",
                 at, rounds);
    box_close(&box);
    return held.steps >= at;
}

/* Circular: a CPU that stands still anywhere in taking a buffer, while another goes round the pool, takes none that is
 * newer than what it leaves. */
static void test_held_up_anywhere(void **state)
{
    (void)state;
    struct sigaction step = {.sa_sigaction = on_held_step, .sa_flags = SA_SIGINFO};
    struct sigaction start = {.sa_sigaction = on_start, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &step, NULL);
    sigaction(SIGUSR1, &start, NULL);
    for (uint32_t rounds = 4; rounds <= 6; rounds++) {
        uint32_t at = 1;
        while (hold_at(at, rounds))
            at++;
        assert_true(at > 5);
    }
}

/* CPU 0 of a new box has got 30 switches in 3 batches, and its own start. Returns where the second of them begins. */
static uint64_t fill_a_bit(struct box *box)
{
    uint64_t second = 0;
    box_open(box, 1, BOX_COMPACT, false, 1, 4096);
    struct trace_hub_cpu *hub = &box->hub[0];
    box_start(box, hub->index, NULL);
    for (uint32_t sent = 1; sent <= 30; sent++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(sent), sent);
        trace_hub_switch(hub, &sw);
        if (sent % 10 == 0)
            trace_hub_close_batches(hub, BOX_TSC(sent), CCSWAP_CLOSE_DRAIN);
        if (sent == 10)
            second = trace_session_cpu(box->session, 0)->used;
    }
    return second;
}

/* A panic whose cause has written over the trace: what is before that counts, the rest is lost, and nothing beyond the
 * buffer is looked at (the sanitizer watches: it is the last one of the session's memory). */
static void test_freeze_of_what_was_overwritten(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0, 15, 0xFFFF};
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct box box;
        struct trace_counts n;
        const uint64_t second = fill_a_bit(&box);
        const struct trace_cpu *cpu = trace_session_cpu(box.session, 0);
        memcpy(cpu->buffer + second + 4, &sizes[i], 2);
        box_freeze(box.hub, 1, BOX_TSC(40));
        trace_cpu_counts(cpu, &n);
        assert_int_equal(n.events_tried, 1 + 3);
        assert_int_equal(n.compact_tried, 30);
        assert_int_equal(n.events_written, 1 + 1);
        assert_int_equal(n.events_lost, 2);
        assert_int_equal(n.compact_written, 10);
        assert_int_equal(n.compact_lost, 20);
        box_close(&box);
    }
}

/* Where its cause has written over the offset of the next event, what was counted is there, and no byte outside the
 * buffer is read or written. */
static void test_freeze_where_the_offset_was_overwritten(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {0, 0x40, 0x4C, 4097, 4104, UINT64_MAX & ~UINT64_C(7), UINT64_MAX};
    for (unsigned i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        struct box box;
        struct trace_counts n;
        fill_a_bit(&box);
        struct trace_cpu *cpu = trace_session_cpu(box.session, 0);
        const uint64_t used = cpu->used;
        cpu->used = offsets[i];
        box_freeze(box.hub, 1, BOX_TSC(40));
        trace_cpu_counts(cpu, &n);
        assert_int_equal(n.events_written, 1 + 3);
        assert_int_equal(n.compact_written, 30);
        assert_int_equal(n.events_lost, 0);
        assert_int_equal(((const struct wmi_buffer_header *)(const void *)cpu->buffer)->saved_offset, used);
        assert_true(box_account_holds(box.session));
        box_close(&box);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freeze_anywhere),
        cmocka_unit_test(test_held_up_anywhere),
        cmocka_unit_test(test_freeze_of_what_was_overwritten),
        cmocka_unit_test(test_freeze_where_the_offset_was_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
