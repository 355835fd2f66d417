/* SPDX-License-Identifier: MIT */
/* Sessions: buffers, events, PebsIndex items, and an account that is exact: in loss, in overwriting. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/session_inside.h"

/* ---- configuration ---------------------------------------------------------------------------------------------- */

static void test_config(void **state)
{
    (void)state;
    struct trace_clock clock;
    trace_clock_init(&clock, 2560000000, 0);
    const struct trace_config good = {
        .number = 1, .cpus = 4, .buffer_bytes = 4096, .buffers = 8, .clock = clock, .tick_units = 10000};
    struct trace_config bad[16];
    unsigned n = 0;
    for (unsigned i = 0; i < 16; i++)
        bad[i] = good;
    bad[n++].cpus = 0;
    bad[n++].cpus = 65;
    bad[n++].number = 0;
    bad[n++].number = 9;
    bad[n++].clock.type = 0;
    bad[n++].clock.type = 4;
    bad[n++].buffer_bytes = 4088;
    bad[n++].buffer_bytes = 4100;
    bad[n++].buffer_bytes = 1024 * 1024 + 8;
    bad[n++].buffers = 3;
    bad[n].circular = true;
    bad[n++].buffers = 4;
    bad[n++].buffers = 1024 * 1024 + 1;
    bad[n++].clock.multiplier = 0;
    bad[n++].tick_units = 0;
    bad[n++].tick_units = INT64_MAX / 1000 + 1;
    assert_true(trace_session_bytes(&good) > 8 * 4096);
    struct trace_config limit[8]; /* the last good values */
    unsigned limits = 0;
    for (unsigned i = 0; i < 8; i++)
        limit[i] = good;
    limit[limits++].cpus = 1;
    limit[limits].cpus = 256;
    limit[limits++].buffers = 256;
    limit[limits++].number = 8;
    limit[limits++].buffer_bytes = 1024 * 1024;
    limit[limits++].buffers = 1024 * 1024;
    limit[limits].circular = true;
    limit[limits++].buffers = 5;
    limit[limits++].tick_units = 1;
    limit[limits++].tick_units = INT64_MAX / 1000;
    for (unsigned i = 0; i < limits; i++)
        assert_true(trace_session_bytes(&limit[i]) >= (size_t)limit[i].buffers * limit[i].buffer_bytes);
    struct trace_session *s = NULL;
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(trace_session_bytes(&bad[i]), 0);
        assert_int_equal(trace_session_init(&s, &bad[i], (void *)64, SIZE_MAX), -EINVAL);
    }
    size_t size = trace_session_bytes(&good);
    uint8_t *memory = aligned_alloc(64, (size + 127) / 64 * 64);
    assert_int_equal(trace_session_init(&s, &good, memory, size - 1), -ENOMEM);
    assert_int_equal(trace_session_init(&s, &good, memory + 8, size), -EINVAL);
    assert_int_equal(trace_session_init(&s, &good, memory, size), 0);
    assert_non_null(trace_session_cpu(s, 3));
    assert_null(trace_session_cpu(s, 4));
    free(memory);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* With an index word every context-switch event carries the item, without one none does. */
static void test_pebs_items(void **state)
{
    (void)state;
    for (unsigned with = 0; with <= 1; with++) {
        struct box box;
        volatile uint64_t index = 0x1000;
        uint32_t cpu_buffer, at = 0, compact = 0, full = 0;
        box_open(&box, 1, BOX_COMPACT | BOX_FULL, false, 4, 8192);
        struct trace_hub_cpu *hub = &box.hub[0];
        box_start(&box, hub->index, with ? &index : NULL);
        for (uint32_t i = 1; i <= 20; i++) {
            struct trace_switch sw = box_switch_at(BOX_TSC(i), i);
            trace_hub_switch(hub, &sw);
            index += 0x10;
            if (i % 5 == 0) /* the stamp is the value when it is closed */
                trace_hub_close_batches(hub, BOX_TSC(i), CCSWAP_CLOSE_DRAIN);
        }
        box_stop(&box, hub->index, BOX_TSC(30));
        assert_int_equal(trace_session_buffers(box.session), 1);
        const uint8_t *buffer = (const uint8_t *)trace_session_buffer(box.session, 0, &cpu_buffer);
        struct naive_event e;
        bool ok;
        while (naive_other(buffer, &at, &e, &ok)) {
            assert_int_equal(e.has_index, with);
            if (e.hook == 0x0524)
                assert_int_equal(e.index, with ? 0x1000 + 0x10 * full : 0);
            else
                assert_int_equal(e.index, with ? 0x1000 + 0x50 * (compact + 1) : 0);
            *(e.hook == 0x0524 ? &full : &compact) += 1;
        }
        assert_true(ok);
        assert_int_equal(full, 20);
        assert_int_equal(compact, 4);
        box_close(&box);
    }
}

static void test_full_fields(void **state)
{
    (void)state;
    struct box box;
    uint32_t cpu_buffer, at = 0;
    box_open(&box, 2, BOX_FULL, false, 4, 4096);
    struct trace_hub_cpu *hub = &box.hub[1];
    const struct trace_cpu *cpu = trace_session_cpu(box.session, 1);
    const struct trace_switch sw = {.tsc = BOX_TSC(1000),
                                    .old_tid = 0x01020304,
                                    .new_tid = 0x11121314,
                                    .new_wait = 0x21222324,
                                    .old_quantum = -2,
                                    .old_state = 9,
                                    .old_wait_reason = 38,
                                    .old_priority = 31,
                                    .old_base = 8,
                                    .new_priority = 15,
                                    .old_ideal_processor = 7};
    box_start(&box, hub->index, NULL);
    trace_hub_switch(hub, &sw);
    struct trace_counts n; /* while the buffer is open */
    trace_cpu_counts(cpu, &n);
    assert_true(n.buffers_begun == 1 && n.full_tried == 1 && n.full_written == 1 && n.events_written == 2);
    box_stop(&box, hub->index, BOX_TSC(1001));
    trace_hub_switch(hub, &sw); /* stopped: nothing */
    assert_false(cpu->on);
    assert_int_equal(trace_session_buffers(box.session), 1);
    const uint8_t *buffer = (const uint8_t *)trace_session_buffer(box.session, 0, &cpu_buffer);
    struct naive_event e;
    bool ok;
    assert_true(naive_other(buffer, &at, &e, &ok));
    static const uint8_t expected[] = {0x14, 0x13, 0x12, 0x11, 4,    3,    2,    1,    15,   31,   0,    0,
                                       38,   0,    9,    7,    0x24, 0x23, 0x22, 0x21, 0xFE, 0xFF, 0xFF, 0xFF};
    assert_int_equal(e.size, sizeof(expected));
    assert_memory_equal(e.payload, expected, sizeof(expected));
    assert_int_equal(e.time, 1000);
    assert_int_equal(*(const uint16_t *)(const void *)(buffer + 0x28), 1);
    assert_false(naive_other(buffer, &at, &e, &ok));
    assert_true(ok);
    box_close(&box);
}

static void test_event_parts(void **state)
{
    (void)state;
    struct box box;
    uint8_t bytes[CAIRN_EVENT_MAX];
    uint32_t cpu_buffer, at = 0;
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i | 1);
    box_open(&box, 1, BOX_COMPACT, false, 4, 4096);
    struct trace_hub_cpu *hub = &box.hub[0];
    const struct trace_cpu *cpu = trace_session_cpu(box.session, 0);
    struct trace_part parts[2] = {{bytes, 100}, {bytes + 100, CAIRN_EVENT_MAX - 0x10 - 100}};
    assert_int_equal(trace_hub_event(hub, 0, 0, 0xCA01, 1, parts, 2), 0); /* no session runs: nobody's */
    box_start(&box, hub->index, NULL);
    assert_int_equal(trace_hub_event(hub, BOX_TSC(50), 0, 0xCA01, 1, parts, 2), 0);
    assert_int_equal(trace_hub_event(hub, BOX_TSC(40), 0, 0xCA01, 1, parts, 1), 0); /* time never goes back */
    parts[1].size++;
    assert_int_equal(trace_hub_event(hub, 0, 0, 0xCA01, 1, parts, 2), -E2BIG);
    parts[1].size = UINT32_MAX;
    assert_int_equal(trace_hub_event(hub, 0, 0, 0xCA01, 1, parts, 2), -E2BIG);
    assert_int_equal(trace_hub_event(hub, BOX_TSC(60), 0, 0x0F22, 7, NULL, 0), 0);
    box_stop(&box, hub->index, BOX_TSC(60));
    struct trace_counts n;
    trace_cpu_counts(cpu, &n);
    assert_int_equal(n.events_tried, 2 + 3); /* two acknowledgements */
    assert_int_equal(n.events_written, 2 + 3);
    trace_session_buffers(box.session);
    const uint8_t *buffer = (const uint8_t *)trace_session_buffer(box.session, 0, &cpu_buffer);
    struct naive_event e;
    bool ok;
    assert_true(naive_other(buffer, &at, &e, &ok));
    assert_int_equal(e.size, CAIRN_EVENT_MAX - 0x10);
    assert_memory_equal(e.payload, bytes, e.size);
    assert_true(naive_other(buffer, &at, &e, &ok));
    assert_int_equal(e.size, 100);
    assert_int_equal(e.time, 50);
    assert_true(naive_other(buffer, &at, &e, &ok));
    assert_int_equal(e.hook, 0x0F22);
    assert_int_equal(e.version, 7);
    assert_int_equal(e.size, 0);
    assert_true(box_account_holds(box.session));
    box_close(&box);
}

/* ---- loss ------------------------------------------------------------------------------------------------------- */

static void test_sequential_loss(void **state)
{
    (void)state;
    struct box box;
    uint64_t written = 0, lost = 0;
    box_open(&box, 2, BOX_COMPACT | BOX_FULL, false, 5, 4096);
    for (uint32_t c = 0; c < 2; c++)
        box_start(&box, c, NULL);
    for (uint32_t i = 1; i <= 5000; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(100 * i), i);
        trace_hub_switch(&box.hub[i % 5 == 0], &sw);
        if (i % 100 == 0) {
            struct trace_part part = {&sw, sizeof(sw)};
            int error = trace_hub_event(&box.hub[0], sw.tsc, 0, 0xCA01, 1, &part, 1);
            assert_true(error == 0 || error == -ENOSPC);
            assert_true(error == 0 || i > 100);
        }
    }
    for (uint32_t c = 0; c < 2; c++)
        box_stop(&box, c, BOX_TSC(600000));
    for (uint32_t c = 0; c < 2; c++) {
        struct trace_counts n;
        trace_cpu_counts(trace_session_cpu(box.session, c), &n);
        assert_int_equal(n.compact_tried, c ? 1000 : 4000);
        assert_int_equal(n.full_tried, c ? 1000 : 4000);
        assert_int_equal(n.switches_tried, c ? 2000 : 8000);
        assert_true(n.full_lost > 0 && n.compact_lost > 0);
        written += n.events_written;
        lost += n.events_lost;
    }
    assert_true(written > 0 && lost > 0);
    assert_true(box_account_holds(box.session));
    assert_int_equal(trace_session_buffers(box.session), 5);
    unsigned marked = 0; /* each CPU's last buffer says that something is missing after it */
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t cpu_buffer;
        const struct wmi_buffer_header *h = trace_session_buffer(box.session, i, &cpu_buffer);
        assert_int_equal(h->sequence_number, i + 1);
        marked += (h->buffer_flag & WMI_BUFFER_FLAG_EVENTS_LOST) != 0;
    }
    assert_int_equal(marked, 2);
    box_close(&box);
}

/* Lost events count as buffers that would just have held them: here 101 of 0524H each. */
static void test_buffers_lost(void **state)
{
    (void)state;
    struct box box;
    struct trace_counts n = {0};
    const uint32_t each = 101;
    box_open(&box, 1, BOX_FULL, false, 1, 0x48 + each * 0x28);
    box_start(&box, 0, NULL);
    for (uint32_t i = 1; n.events_lost <= 2 * each; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(100 * i), i);
        trace_hub_switch(&box.hub[0], &sw);
        trace_cpu_counts(trace_session_cpu(box.session, 0), &n);
        assert_int_equal(n.buffers_lost, (n.events_lost + each - 1) / each);
    }
    box_stop(&box, 0, BOX_TSC(600000));
    assert_true(box_account_holds(box.session));
    box_close(&box);
}

/* What is kept is the newest: a suffix of each CPU's stream, in order, without a hole. */
static void test_circular(void **state)
{
    (void)state;
    struct box box;
    uint32_t cpu_buffer, next[2] = {0}, last[2] = {0}, tried[2] = {0};
    box_open(&box, 2, BOX_FULL, true, 6, 4096);
    for (uint32_t c = 0; c < 2; c++)
        box_start(&box, c, NULL);
    for (uint32_t i = 1; i <= 20000; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(i), i);
        uint32_t c = i % 7 == 0;
        sw.new_wait = tried[c]++;
        trace_hub_switch(&box.hub[c], &sw);
    }
    for (uint32_t c = 0; c < 2; c++)
        box_stop(&box, c, BOX_TSC(20001));
    assert_true(box_account_holds(box.session));
    struct trace_overwritten over;
    trace_session_overwritten(box.session, &over);
    assert_int_equal(trace_session_buffers(box.session), 6);
    uint64_t present = 0;
    for (uint32_t i = 0; i < 6; i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(box.session, i, &cpu_buffer);
        struct naive_event e;
        uint32_t at = 0, c = h->processor_index;
        bool ok;
        assert_true(next[c] == 0 || cpu_buffer == next[c]);
        next[c] = cpu_buffer + 1;
        while (naive_other((const uint8_t *)h, &at, &e, &ok)) {
            uint32_t n = *(const uint32_t *)(const void *)(e.payload + 0x10);
            assert_true(last[c] == 0 || n == last[c] + 1);
            last[c] = n;
            present++;
        }
        assert_true(ok);
    }
    for (uint32_t c = 0; c < 2; c++)
        assert_int_equal(last[c], tried[c] - 1);
    assert_int_equal(over.full, 20000 - present);
    assert_int_equal(over.events, 20000 - present + 2); /* and each CPU's first acknowledgement */
    box_close(&box);
}

/* A CPU that fills its buffer slowly keeps it while the others go round. */
static void test_circular_slow_cpu(void **state)
{
    (void)state;
    struct box box;
    struct naive_event e;
    uint32_t cpu_buffer, events = 0;
    bool ok;
    box_open(&box, 2, BOX_FULL, true, 3, 4096);
    for (uint32_t c = 0; c < 2; c++)
        box_start(&box, c, NULL);
    for (uint32_t i = 0; i < 10000; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(i), i);
        trace_hub_switch(&box.hub[i % 1000 == 0], &sw);
    }
    for (uint32_t c = 0; c < 2; c++)
        box_stop(&box, c, BOX_TSC(20000));
    assert_true(box_account_holds(box.session));
    for (uint32_t i = 0; i < trace_session_buffers(box.session); i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(box.session, i, &cpu_buffer);
        for (uint32_t at = 0; h->processor_index == 1 && naive_other((const uint8_t *)h, &at, &e, &ok);)
            events++;
    }
    assert_int_equal(events, 10);
    box_close(&box);
}

/* ---- several CPUs at once --------------------------------------------------------------------------------------- */

struct runner {
    struct box *box;
    uint32_t cpu;
    uint32_t count;
    pthread_barrier_t *barrier;
};

static void *run_cpu(void *argument)
{
    struct runner *r = argument;
    struct trace_hub_cpu *hub = &r->box->hub[r->cpu];
    pthread_barrier_wait(r->barrier);
    for (uint32_t i = 1; i <= r->count; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(i), i);
        trace_hub_switch(hub, &sw);
        if (i % 64 == 0)
            trace_hub_close_batches(hub, BOX_TSC(i), CCSWAP_CLOSE_DRAIN);
    }
    box_stop(r->box, r->cpu, BOX_TSC(r->count + 1));
    return NULL;
}

static void run_threads(bool circular, uint32_t buffers)
{
    enum { CPUS = 4 };
    struct box box;
    struct runner runner[CPUS];
    pthread_t thread[CPUS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, CPUS);
    box_open(&box, CPUS, BOX_COMPACT | BOX_FULL, circular, buffers, 4096);
    for (uint32_t c = 0; c < CPUS; c++) {
        runner[c] = (struct runner){&box, c, 30000 + 5000 * c, &barrier};
        box_start(&box, c, NULL);
        assert_int_equal(pthread_create(&thread[c], NULL, run_cpu, &runner[c]), 0);
    }
    for (uint32_t c = 0; c < CPUS; c++)
        pthread_join(thread[c], NULL);
    assert_true(box_account_holds(box.session));
    for (uint32_t c = 0; c < CPUS; c++) {
        struct trace_counts n;
        trace_cpu_counts(trace_session_cpu(box.session, c), &n);
        assert_int_equal(n.switches_tried, 2 * runner[c].count);
        if (circular)
            assert_int_equal(n.switches_lost, 0);
    }
    assert_int_equal(trace_session_buffers(box.session), buffers);
    pthread_barrier_destroy(&barrier);
    box_close(&box);
}

static void test_threads(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        run_threads(false, 4);
        run_threads(false, 300);
        run_threads(true, 5);
        run_threads(true, 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config),          cmocka_unit_test(test_pebs_items),
        cmocka_unit_test(test_full_fields),     cmocka_unit_test(test_event_parts),
        cmocka_unit_test(test_sequential_loss), cmocka_unit_test(test_buffers_lost),
        cmocka_unit_test(test_circular),        cmocka_unit_test(test_circular_slow_cpu),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
