/* SPDX-License-Identifier: MIT */
/* What a CPU's end of a log tells of drains that are missing; records that are larger than an event; and when PebsIndex
 * of architectural PEBS is known. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ds/pebs23_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/grab/session.h"
#include "trace/session_inside.h"

#define BASE UINT64_C(0xFFFFFE0000001000)

static struct grab_store store;
static struct grab_cpu of_kernel; /* what the BPF programs have counted */
static struct grab_pair pairs[] = {{3000, 0, 10}, {3000003000, 1000000000, 10}};
static const struct grab_clock clock_of_three = {pairs, 2, 2};
static struct grab_session session;
static uint64_t skipped_switches;

const struct grab_cpu *grab_rings_cpu(const struct grab_rings *rings, unsigned cpu)
{
    (void)rings, (void)cpu;
    return &of_kernel;
}

void grab_rings_skipped(const struct grab_rings *rings, uint64_t *drains, uint64_t *switches)
{
    (void)rings;
    *drains = 0;
    *switches = skipped_switches;
}

static int setup(void **state)
{
    (void)state;
    of_kernel = (struct grab_cpu){0};
    skipped_switches = 0;
    return grab_store_begin(&store, "/tmp/none.log");
}

static int teardown(void **state)
{
    (void)state;
    const struct trace_config *c = trace_session_config(session.session);
    munmap(session.session, trace_session_bytes(c));
    free(store.cpu[0].drains);
    free(store.cpu[0].switches);
    free(store.cpu[0].partial[0].bytes);
    free(store.cpu[0].partial[1].bytes);
    return close(store.file);
}

/* A START, or a drain with one record. */
static void drain(enum grab_kind kind, uint64_t number, uint64_t time)
{
    const uint64_t bytes = kind == GRAB_START ? 0 : sizeof(struct ds_pebs_basic);
    struct grab_drain head = {.kind = kind, .number = number, .time = time, .bytes = bytes, .first = BASE};
    const struct ds_area_60 area = {
        .pebs_buffer_base = BASE, .pebs_index = BASE + bytes, .pebs_absolute_maximum = BASE + 0x10000};
    const struct ds_pebs_basic record = {.head = ds_pebs_head(0, sizeof record), .tsc = 3 * time};
    struct grab_records part = {GRAB_RECORDS, sizeof record, number, 0, {0}};
    head.capabilities = 4 << 8; /* the format */
    memcpy(head.area, &area, sizeof area);
    memcpy(part.data, &record, sizeof record);
    grab_store_drain(&store, 0, &head, sizeof head);
    if (bytes)
        grab_store_drain(&store, 0, &part, sizeof part);
}

static void change(uint64_t number, uint64_t time, uint64_t drains)
{
    const struct grab_switch s = {
        .number = number, .time = time, .index = BASE, .drains = drains, .old_tid = 4, .new_tid = 8};
    grab_store_switch(&store, 0, &s, sizeof s);
}

static struct trace_counts play(void)
{
    const struct grab_log log = {.store = &store, .clock = &clock_of_three, .cpus = 1};
    struct trace_counts counts;
    assert_int_equal(grab_store_end(&store), 0);
    assert_int_equal(grab_session_make(&session, &log), 0);
    trace_cpu_counts(trace_session_cpu(session.session, 0), &counts);
    return counts;
}

/* Events that the log lacks. */
static uint64_t lost(void)
{
    return play().events_lost;
}

/* A START, or a drain of architectural PEBS with two records of so many bytes each. */
static void drain_arch(enum grab_kind kind, uint64_t number, uint32_t record_bytes)
{
    static uint8_t bytes[2 * DS_ARCH_RECORD_MAX];
    const uint32_t size = kind == GRAB_START ? 0 : 2 * record_bytes;
    const struct grab_registers registers = {.base = 0x1360000 | 4, .index = ia32_pebs_index(size, 16)};
    const struct ds_arch_header header = {.format = DS_ARCH_HEADER_BASIC | record_bytes};
    struct grab_drain head = {.kind = kind, .number = number, .time = 2000, .bytes = size};
    head.capabilities = DS_FORMAT_ARCH << 8;
    memcpy(head.area, &registers, sizeof registers);
    for (unsigned i = 0; i < 2; i++)
        memcpy(bytes + i * record_bytes, &header, sizeof header);
    grab_store_drain(&store, 0, &head, sizeof head);
    for (uint32_t at = 0; at < size; at += GRAB_PIECE) {
        struct grab_records part = {GRAB_RECORDS, size - at < GRAB_PIECE ? size - at : GRAB_PIECE, number, at, {0}};
        memcpy(part.data, bytes + at, part.bytes);
        grab_store_drain(&store, 0, &part, sizeof part);
    }
}

/* Two small records are in one event; of two of the largest, each takes three. */
static void test_records_in_parts(void **state)
{
    uint64_t events[2];
    for (unsigned i = 0; i < 2; i++) {
        drain_arch(GRAB_START, 0, 0);
        drain_arch(GRAB_STOP, 0, i ? DS_ARCH_RECORD_MAX : 64);
        of_kernel.drains = 1;
        const struct trace_counts counts = play();
        assert_int_equal(counts.events_lost, 0);
        assert_int_equal(session.cpu[0].records, 2);
        assert_int_equal(session.cpu[0].lost_bytes, 0);
        events[i] = counts.events_written;
        if (!i) {
            teardown(state);
            setup(state);
        }
    }
    assert_int_equal(events[1] - events[0], 5);
}

static void test_all_is_there(void **state)
{
    (void)state;
    drain(GRAB_START, 0, 1000);
    drain(GRAB_DRAIN, 0, 2000);
    change(0, 3000, 1);
    drain(GRAB_STOP, 1, 4000);
    of_kernel = (struct grab_cpu){.drains = 2, .switches = 1};
    assert_int_equal(lost(), 0);
    assert_false(session.cpu[0].lost_unknown);
    assert_int_equal(session.cpu[0].drains, 2);
}

/* Nothing comes behind it. */
static void test_the_stop_found_the_ring_full(void **state)
{
    (void)state;
    drain(GRAB_START, 0, 1000);
    drain(GRAB_DRAIN, 0, 2000);
    change(0, 3000, 1);
    of_kernel = (struct grab_cpu){.drains = 2, .switches = 1, .lost_drains = 1, .lost_bytes = 32};
    assert_int_equal(lost(), 1);
    assert_true(session.cpu[0].lost_unknown);
    assert_int_equal(session.cpu[0].lost_bytes, 32);
}

static void test_a_drain_before_the_stop_is_missing(void **state)
{
    (void)state;
    drain(GRAB_START, 0, 1000);
    drain(GRAB_STOP, 1, 4000);
    of_kernel = (struct grab_cpu){.drains = 2, .lost_drains = 1, .lost_bytes = 32};
    assert_int_equal(lost(), 1);
    assert_true(session.cpu[0].lost_unknown);
}

/* Behind the last of each. */
static void test_the_end_is_missing(void **state)
{
    (void)state;
    drain(GRAB_START, 0, 1000);
    change(0, 3000, 0);
    of_kernel = (struct grab_cpu){.drains = 3, .bts_drains = 1, .switches = 5, .lost_drains = 4, .lost_switches = 4};
    assert_in_range(lost(), 3, UINT64_MAX);
    assert_true(session.cpu[0].lost_unknown && session.cpu[0].bts_lost_unknown);
}

/* Of architectural PEBS, at the only switch that the log has: Linux read 0 behind it. */
static void expect_index(uint64_t empty, uint64_t unknown)
{
    const struct grab_registers registers = {.base = 0x1360000 | 4};
    struct grab_drain start = {.kind = GRAB_START, .time = 1000, .capabilities = DS_FORMAT_ARCH << 8};
    memcpy(start.area, &registers, sizeof registers);
    grab_store_drain(&store, 0, &start, sizeof start);
    change(0, 2000, 0);
    of_kernel = (struct grab_cpu){.switches = 1, .read = {.switches = 1}};
    assert_int_equal(lost(), 0);
    assert_int_equal(session.index.empty, empty);
    assert_int_equal(session.index.unknown, unknown);
}

static void test_the_index_at_a_switch(void **state)
{
    (void)state;
    expect_index(1, 0);
}

/* It may be that behind which the index was read. */
static void test_a_switch_was_skipped(void **state)
{
    (void)state;
    skipped_switches = 1;
    expect_index(0, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_all_is_there),
        TEST(test_records_in_parts),
        TEST(test_the_stop_found_the_ring_full),
        TEST(test_a_drain_before_the_stop_is_missing),
        TEST(test_the_end_is_missing),
        TEST(test_the_index_at_a_switch),
        TEST(test_a_switch_was_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
