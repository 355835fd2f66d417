/* SPDX-License-Identifier: MIT */
/* The events of a log, by what came to the counters of two CPUs. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/frame/text_streams.h"
#include "tools/cairn/model/counters.h"
#include "tools/grab/counted.h"

static struct grab_store store;
static struct grab_enabled told[2][3];
static struct cairn_text text;

static int setup(void **state)
{
    (void)state;
    store = (struct grab_store){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cairn_text_free(&text);
    return 0;
}

static void put(void *to, const char *data, size_t size)
{
    fwrite(data, 1, size, to);
}

/* What a reader of the log finds on a CPU. */
static void dump(struct cairn_counters *counters, unsigned cpu, uint64_t untold)
{
    static struct trace_dump d;
    char *dumped;
    size_t size;
    FILE *to = open_memstream(&dumped, &size);
    const struct trace_sink sink = {put, to};
    struct cairn_frames frames;
    trace_dump_init(&d, &sink);
    trace_dump_print(&d, CAIRN_STREAM_HEADER, "cairn.format=1");
    grab_counted_dump(&d, &store, 2, untold);
    trace_dump_flush(&d);
    fclose(to);
    struct cairn_input input = {.name = "log", .data = dumped, .size = size};
    cairn_deframe(&frames, &input, 0, 0, NULL);
    cairn_text_free(&text);
    cairn_text_read(&text, &frames);
    cairn_frames_free(&frames);
    free(dumped);
    cairn_counters_read(counters, &text, cpu);
}

/* On the counter of a CPU; `period` 0: it takes no samples. */
static void enable(unsigned cpu, unsigned counter, uint64_t config, uint64_t period)
{
    const struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE, .config = config, .sample_period = period, .precise_ip = 2, .exclude_kernel = 1};
    struct grab_enabled *e = &told[cpu][store.cpu[cpu].enabled_count++];
    *e = (struct grab_enabled){.kind = GRAB_ENABLED, .counter = counter};
    memcpy(e->attr, &attr, sizeof e->attr);
    store.cpu[cpu].enabled = told[cpu];
}

static void expect(const struct cairn_counters *on, unsigned counter, const char *name, uint64_t period)
{
    const struct cairn_counter *c = cairn_counters_find(on, counter);
    assert_non_null(c);
    assert_true(cairn_slice_is(c->event, name));
    assert_int_equal(c->period, period);
}

static void test_two_events(void **state)
{
    (void)state;
    struct cairn_counters on;
    enable(0, 32, PERF_COUNT_HW_INSTRUCTIONS, 1009);
    enable(0, 1, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0); /* it takes no samples */
    enable(0, 1, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 59);
    enable(1, 2, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 59);
    dump(&on, 0, 0);
    assert_true(on.known);
    assert_int_equal(on.count, 2);
    expect(&on, 32, "instructions", 1009);
    expect(&on, 1, "branches", 59);
    dump(&on, 1, 0);
    assert_true(on.known);
    assert_int_equal(on.count, 1);
    expect(&on, 2, "branches", 59);
    dump(&on, 0, 1); /* a ring was full for one more */
    assert_false(on.known);
}

static void test_a_counter_changes_hands(void **state)
{
    (void)state;
    struct cairn_counters on;
    enable(0, 1, PERF_COUNT_HW_INSTRUCTIONS, 1009);
    enable(0, 1, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 59);
    dump(&on, 0, 0);
    assert_false(on.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_events, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_counter_changes_hands, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
