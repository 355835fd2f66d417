/* SPDX-License-Identifier: MIT */
/* What --why tells of drains and records that are made here. */
#include <asm/perf_regs.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ds/pebs23_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/grab/base/events.h"
#include "tools/grab/why.h"

#define BASE UINT64_C(0xFFFFFE0000001000)

static struct grab_store store;
static int refused; /* errno of an event with PEBS */
static uint64_t untold, throttled;
static bool single; /* Linux wants an interrupt at each record of an event by itself */

int grab_event_try(const struct perf_event_attr *of)
{
    (void)of;
    return refused;
}

static int setup(void **state)
{
    (void)state;
    return grab_store_begin(&store, "/tmp/none.log");
}

static int teardown(void **state)
{
    (void)state;
    single = false;
    throttled = 0;
    free(store.cpu[0].drains);
    free(store.cpu[0].partial[0].bytes);
    free(store.cpu[0].partial[1].bytes);
    free(store.cpu[0].enabled);
    return close(store.file);
}

/* `count` records of `size` bytes of these counters. */
static void drain(uint64_t number, unsigned count, uint32_t size, uint64_t counters, uint64_t threshold, uint64_t room)
{
    struct grab_drain head = {.kind = GRAB_DRAIN, .number = number, .interrupt = number == 0, .bytes = size * count};
    const struct ds_area_60 area = {.pebs_buffer_base = BASE,
                                    .pebs_index = BASE + size * count,
                                    .pebs_interrupt_threshold = BASE + threshold,
                                    .pebs_absolute_maximum = BASE + room};
    struct grab_records part = {GRAB_RECORDS, size * count, number, 0, {0}};
    memcpy(head.area, &area, sizeof area);
    for (unsigned i = 0; i < count; i++) {
        const uint32_t groups = size > 32 ? (uint32_t)MSR_PEBS_DATA_CFG_GPR : 0;
        const struct ds_pebs_basic record = {.head = ds_pebs_head(groups, size), .counters = counters};
        memcpy(part.data + size * i, &record, sizeof record);
    }
    grab_store_drain(&store, 0, &head, sizeof head);
    grab_store_drain(&store, 0, &part, sizeof part);
}

/* Comes to a counter of CPU 0 before drain `drains`; Linux collects records with these samples. */
static void enable(unsigned counter, uint64_t drains, const struct perf_event_attr *attr)
{
    struct grab_enabled e = {.kind = GRAB_ENABLED,
                             .counter = counter,
                             .drains = drains,
                             /* EN, INT, OS, USR; once PEBS has been on ADAPTIVE, and no INT */
                             .config = drains ? 0x4004300C0 : 0x5300C0,
                             .flags = single ? 0 : GRAB_COLLECTS,
                             .large =
                                 PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER};
    memcpy(e.attr, attr, sizeof e.attr);
    grab_store_drain(&store, 0, &e, sizeof e);
}

static struct perf_event_attr instructions(unsigned precise)
{
    return (struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
                                    .config = PERF_COUNT_HW_INSTRUCTIONS,
                                    .sample_period = 1009,
                                    .sample_type = PERF_SAMPLE_IP,
                                    .precise_ip = precise & 3,
                                    .exclude_kernel = 1};
}

/* `count` records of architectural PEBS, of PMC1. `index`: besides the bytes of records. */
static void drain_registers(uint64_t number, unsigned count, uint64_t index)
{
    struct {
        struct ds_arch_header header;
        struct ds_arch_basic basic;
        struct ds_arch_gpr gpr;
    } record = {.header = {DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_GPR | sizeof record, 0}, .basic = {.counters = 2}};
    const uint32_t bytes = count * (uint32_t)sizeof record;
    struct grab_drain head = {.kind = GRAB_DRAIN, .number = number, .interrupt = 1, .bytes = bytes};
    const struct grab_registers registers = {.base = 0x100000, .index = index | bytes};
    struct grab_records part = {GRAB_RECORDS, bytes, number, 0, {0}};
    memcpy(head.area, &registers, sizeof registers);
    for (unsigned i = 0; i < count; i++)
        memcpy(part.data + i * sizeof record, &record, sizeof record);
    grab_store_drain(&store, 0, &head, sizeof head);
    grab_store_drain(&store, 0, &part, sizeof part);
}

static char *said_of(unsigned format, bool certain)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_int_equal(grab_store_end(&store), 0);
    grab_why(to, &store, format, &(struct grab_known){untold, throttled, certain});
    fclose(to);
    for (char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_in_range(strchr(line, '\n') - line, 0, 80);
    return text;
}

static char *said(bool certain)
{
    return said_of(4, certain);
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        print_error("%s\n is not in\n%s", part, text);
    assert_non_null(strstr(text, part));
}

static void test_throttled(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(2);
    enable(1, 0, &attr);
    drain(0, 1, 32, 2, 32, 6400);
    throttled = 2;
    char *text = said(true);
    expect(text, "Linux throttled events with PEBS 2 times: an event with too many interrupts in a\ntick is paused");
    expect(text, "kernel.perf_event_max_sample_rate=1000000");
    expect(text, "  lost       no record, but samples: Linux may have throttled the event (above)\n");
    free(text);
    throttled = UINT64_MAX;
    text = said(true);
    expect(text, "It is unknown whether Linux throttled events and samples are missing.\n");
    free(text);
}

static void test_large(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(2);
    enable(1, 0, &attr);
    drain(0, 10, 32, 2, 3200, 6400);
    enable(1, 1, &attr); /* again: it is no other event */
    drain(1, 5, 176, 2, 3200, 6400);
    char *text = said(true);
    expect(text, "format 4: 2 drains, 1 of them by an interrupt\n");
    expect(text, "\ninstructions:upp\n"
                 "  PEBS       yes, large: Linux collects records\n");
    expect(text, "/event=0xc0,umask=0x0/\n"
                 "  period     1009\n"
                 "  counter    PMC1\n"
                 "  records    15 of 32 to 176 bytes: basic, registers\n"
                 "  drains     2, 1 of them by an interrupt; 7.5 records a drain\n"
                 "  lost       none\n"
                 "  to change  nothing\n");
    free(text);
}

static void test_architectural(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(2);
    enable(1, 0, &attr);
    drain_registers(0, 3, ia32_pebs_index(0, 0xF00));
    drain_registers(1, 1, ia32_pebs_index(0, 16));
    drain_registers(2, 2, ia32_pebs_index(0, 0xF00) | IA32_PEBS_INDEX_FULL);
    char *text = said_of(DS_FORMAT_ARCH, true);
    expect(text, "format 15: 3 drains, 3 of them by an interrupt\n");
    expect(text, "  PEBS       yes, single in a part of the drains, else large\n");
    expect(text, "  records    6 of 224 bytes: basic, registers\n");
    expect(text, "  lost       unknown: the buffer was full in 1 of the drains\n");
    free(text);
}

/* A counter's records are those of the event that it has at the drain. */
static void test_a_counter_changes_hands(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(2), fixed = {.type = PERF_TYPE_RAW,
                                                                  .config = 0x40C4,
                                                                  .config1 = 7,
                                                                  .sample_period = 11,
                                                                  .precise_ip = 1};
    enable(1, 0, &attr);
    drain(0, 3, 32, 2, 3200, 6400);
    enable(1, 1, &fixed);
    drain(1, 5, 32, 2, 3200, 6400);
    enable(0, 2, &fixed);
    enable(1, 2, &attr);
    drain(2, 2, 32, 1, 3200, 6400);
    drain(3, 1, 32, 3, 3200, 6400);
    char *text = said(false);
    expect(text, "  counter    PMC1\n  records    4 of 32 bytes: basic\n");
    expect(text, "/event=0xc4,umask=0x40,config1=0x7/p\n"); /* of cpu, or of cpu_core */
    expect(text, "  counter    PMC0, PMC1\n  records    8 of 32 bytes: basic\n");
    expect(text, "  lost       unknown: the kernel may have skipped hooks\n");
    free(text);
}

static void test_single(void **state)
{
    (void)state;
    struct perf_event_attr attr = instructions(1);
    attr.freq = 1;
    attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    single = true;
    enable(1, 0, &attr);
    drain(0, 1, 32, 2, 32, 6400);
    char *text = said(true);
    expect(text, "  PEBS       yes, single: an interrupt at each record\n");
    expect(text, "  frequency  1009 a second\n");
    expect(text, "  to change  give a fixed period (perf record -c N)");
    expect(text, "the call graph out (-g): records");
    free(text);
}

/* What --why wants changed of an event with these samples, for which Linux wants an interrupt at each record. */
static void expect_change(uint64_t sample_type, uint64_t registers, bool kernel, const char *change)
{
    struct perf_event_attr attr = instructions(2);
    attr.sample_type |= sample_type;
    attr.sample_regs_intr = registers;
    attr.exclude_kernel = !kernel;
    single = true;
    enable(1, 0, &attr);
    drain(0, 1, 32, 2, 32, 6400);
    char *text = said(true);
    expect(text, change);
    free(text);
}

static void test_single_because_of_xmm(void **state)
{
    (void)state;
    expect_change(PERF_SAMPLE_REGS_INTR, DS_BIT(PERF_REG_X86_CX) | DS_BIT(PERF_REG_X86_XMM15), false,
                  "  to change  name general-purpose registers (--intr-regs=ax,cx): with XMM");
}

static void test_single_because_of_registers_of_programs(void **state)
{
    (void)state;
    expect_change(PERF_SAMPLE_REGS_USER, 0, true, "  to change  count in programs only (:u)");
}

/* It is not another event. */
static void test_single_because_of_something(void **state)
{
    (void)state;
    expect_change(PERF_SAMPLE_REGS_INTR, DS_BIT(PERF_REG_X86_CX) | DS_BIT(PERF_REG_X86_R15), false,
                  "  to change  unknown: Linux wants an interrupt at each record of this event");
}

static void test_single_because_of_another(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(1);
    enable(1, 0, &attr);
    drain(0, 1, 32, 2, 32, 6400);
    char *text = said(true);
    expect(text, "  to change  nothing in this event: another PEBS event on the same CPU");
    free(text);
}

static void test_full(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(1);
    enable(1, 0, &attr);
    drain(0, 10, 32, 2, 320, 320);
    char *text = said(true);
    expect(text, "  lost       unknown: the buffer was full in 1 of the drains\n");
    expect(text, "  to change  a buffer was full: use a longer period");
    free(text);
}

static void test_a_drain_is_missing(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(1);
    enable(1, 0, &attr);
    drain(1, 10, 32, 2, 3200, 6400);
    char *text = said(true);
    expect(text, "  lost       unknown: 1 drains were copied only in part");
    free(text);
}

static void test_no_pebs(void **state)
{
    (void)state;
    const struct perf_event_attr plain = instructions(0), silent = instructions(2);
    struct perf_event_attr counts = instructions(0), cycles = instructions(0);
    counts.sample_period = cycles.sample_period = 0;
    cycles.config = PERF_COUNT_HW_CPU_CYCLES;
    enable(0, 0, &plain);
    refused = 0;
    char *text = said(true);
    expect(text, "\ninstructions:u\n  PEBS       no: without :p its samples come by interrupts\n");
    expect(text, "  to change  add a p after instructions:u\n");
    free(text);
    refused = EINVAL;
    enable(2, 0, &silent);
    enable(3, 0, &cycles);
    enable(4, 0, &counts);
    text = said(true);
    expect(text, "  to change  Linux has no PEBS for this event here (Invalid argument)");
    expect(text, "  PEBS       yes, but it wrote no record\n");
    expect(text,
           "\n\nCounted without samples (by perf stat, or by perf record as a trial): cycles:u,\n  instructions:u\n");
    free(text);
}

/* Records of a counter of which nothing was told are shown. */
static void test_unknown(void **state)
{
    (void)state;
    drain(0, 1, 32, DS_BIT(32), 3200, 6400);
    char *text = said(true);
    expect(text, "\nan event\n  PEBS       yes\n  counter    fixed 0\n  records    1 of 32 bytes: basic\n");
    expect(text, "  to change  unknown: Linux did not say what its counter counts\n");
    free(text);
}

/* Whose records are then told of another event. */
static void test_events_of_counters_are_lost(void **state)
{
    (void)state;
    const struct perf_event_attr attr = instructions(2);
    enable(1, 0, &attr);
    drain(0, 10, 32, 2, 3200, 6400);
    untold = 3;
    char *text = said(true);
    untold = 0;
    expect(text, "\nunknown: a ring was full 3 times when an event came to a counter.");
    free(text);
    text = said(true);
    assert_null(strstr(text, "unknown"));
    free(text);
}

static void test_none(void **state)
{
    (void)state;
    char *text = said(true);
    expect(text, "No event was counted.\n");
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_throttled),
        TEST(test_large),
        TEST(test_a_counter_changes_hands),
        TEST(test_single),
        TEST(test_single_because_of_another),
        TEST(test_full),
        TEST(test_a_drain_is_missing),
        TEST(test_no_pebs),
        TEST(test_unknown),
        TEST(test_none),
        TEST(test_architectural),
        TEST(test_events_of_counters_are_lost),
        TEST(test_single_because_of_xmm),
        TEST(test_single_because_of_registers_of_programs),
        TEST(test_single_because_of_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
