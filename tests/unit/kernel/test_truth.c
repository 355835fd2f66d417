/* SPDX-License-Identifier: MIT */
/* Where the truth is kept: in order, by CPU, from one pool; what found no room is counted. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/machine.h"
#include "ds/truth/truth.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "kernel/truth/truth.h"
#include "tests/unit/support/cmocka.h"
#include "trace/frames.h"
#include "trace/truth/truth_frames.h"

static const struct ds_stepping stepping;
static const struct ds_machine steps = {.stepping = &stepping};
static struct kcpu cpu[2];
struct kcpu *kcpu_table[MAX_CPUS] = {&cpu[0], &cpu[1]};
uint32_t kcpu_count = 2;

static struct ds_caps cpu_caps[2];
static const struct ds_config no_events;
static struct kds store = {.caps = cpu_caps, .config = {&no_events, &no_events}};
const struct kds *const kds = &store;
struct kopt kopt;
static bool wanted;
static uint32_t record_truths;

uint32_t ds_truth_records(const struct ds_caps *caps, const struct ds_config *config)
{
    assert_true(caps >= cpu_caps && caps < cpu_caps + 2);
    assert_ptr_equal(config, &store.ds);
    return caps == cpu_caps ? 1 : record_truths; /* the most of all CPUs counts */
}

struct ksession *ksession_get(uint32_t number)
{
    static struct ksession session;
    session.masks = (struct perfinfo_groupmask){0};
    if (wanted)
        trace_group_add(&session.masks, PERF_DPC);
    return number == 2 ? &session : NULL;
}

static int init(uint64_t switches, uint32_t per_record, bool more)
{
    kopt.switches = switches;
    cpu[1].machine = per_record > 1 ? &steps : NULL;
    cpu[0].machine = cpu[1].machine;
    record_truths = per_record;
    wanted = more;
    return ktruth_reserve();
}

static void *memory;
static uint64_t free_pages, taken_pages;
static char printed[160];

uint64_t kmem_pages_available(void)
{
    return free_pages;
}

void *kmem_pages_alloc_uncleared(size_t count)
{
    assert_true(count <= free_pages);
    taken_pages = count;
    memory = aligned_alloc(ARCH_PAGE_SIZE, count * ARCH_PAGE_SIZE);
    return memset(memory, 0xA5, count * ARCH_PAGE_SIZE);
}

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(printed, sizeof printed, format, args);
    va_end(args);
}

static uint32_t dumped[2];

void trace_dump_truth(struct trace_dump *dump, uint16_t index, uint32_t first, const void *records, uint32_t count)
{
    assert_null(dump);
    assert_int_equal(first, dumped[index]);
    for (uint32_t i = 0; i < count; i++) {
        const struct cairn_truth_switch *t = (const void *)((const uint8_t *)records + i * CAIRN_TRUTH_BYTES);
        assert_int_equal(t->cpu, index);
        assert_int_equal(t->tsc, first + i);
    }
    dumped[index] += count;
}

static void write_one(unsigned index, uint64_t n)
{
    const struct cairn_truth_switch sw = {
        .kind = n % 3 ? CAIRN_TRUTH_SWITCH : CAIRN_TRUTH_PEBS, .cpu = (uint8_t)index, .tsc = n};
    ktruth_write(index, &sw);
}

static void too_little_memory(void **state)
{
    (void)state;
    free_pages = 100;
    assert_int_equal(init(200000, 1, false), -ENOMEM);
    assert_non_null(strstr(printed, "truth: 200000 switches need"));
    assert_non_null(strstr(printed, "400 KiB are free"));
    assert_false(ktruth_kept);
    assert_null(memory);
}

static void room_for_branches(void **state)
{
    (void)state;
    free_pages = 16384;
    assert_int_equal(init(1000, 1, false), 0);
    free(memory);
    uint64_t without = taken_pages;
    assert_int_equal(init(1000, 1, true), 0);
    free(memory);
    assert_int_equal(taken_pages, without + free_pages / 4);
    memory = NULL;
}

/* PEBS records have as much room for their truth as short periods need, up to a quarter of what is free. */
static void room_for_words(void **state)
{
    (void)state;
    enum { SWITCHES = 20000 };
    uint64_t pages[3];
    const uint64_t one = 16 * SWITCHES / KTRUTH_CHUNK_RECORDS * (KTRUTH_CHUNK / ARCH_PAGE_SIZE);
    free_pages = 1 << 20;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(init(SWITCHES, 1 + 4 * i, false), 0);
        free(memory);
        pages[i] = taken_pages;
    }
    assert_true(pages[1] - pages[0] >= 5 * one && pages[1] - pages[0] < 5 * one + 2048);
    assert_true(pages[2] - pages[1] >= 4 * one && pages[2] - pages[1] < 4 * one + 2048);
    free_pages = 4 * pages[0] + 1000;
    assert_int_equal(init(SWITCHES, 9, false), 0);
    free(memory);
    assert_true(taken_pages >= pages[0] && taken_pages <= free_pages / 4);
    free_pages = pages[0];
    assert_int_equal(init(SWITCHES, 9, false), 0);
    free(memory);
    assert_int_equal(taken_pages, pages[0]);
    memory = NULL;
}

static void in_order_until_it_is_full(void **state)
{
    (void)state;
    enum { SWITCHES = 5000 };
    free_pages = 1 << 20;
    assert_int_equal(init(SWITCHES, 1, false), 0);
    assert_true(ktruth_kept);
    struct ktruth_counts n = ktruth_counts(0);
    assert_true(!n.switches && !n.records && !n.lost);
    uint64_t written[2] = {0}; /* as much as was promised, unevenly: both CPUs grow in turn */
    for (uint64_t i = 0; i < 2 * SWITCHES; i++) {
        unsigned index = i % 4 == 0;
        write_one(index, written[index]++);
    }
    for (unsigned i = 0; i < 2; i++) {
        n = ktruth_counts(i);
        assert_int_equal(n.lost, 0);
        assert_int_equal(n.records, (written[i] + 2) / 3);
        assert_int_equal(n.switches, written[i] - n.records);
    }
    ktruth_dump(NULL);
    assert_int_equal(dumped[0], written[0]);
    assert_int_equal(dumped[1], written[1]);

    uint64_t room = written[0]; /* then CPU 0 takes all that is left */
    do
        for (unsigned i = 0; i < 1000; i++)
            write_one(0, room++);
    while (!ktruth_counts(0).lost);
    n = ktruth_counts(0);
    const uint64_t kept = room - n.lost;
    assert_in_range(n.lost, 1, 1000);
    assert_int_equal(n.switches + n.records, kept);
    for (unsigned i = 0; i < 9; i++) /* each counts, and there is room for none */
        write_one(0, room++);
    assert_int_equal(ktruth_counts(0).lost, n.lost + 9);
    write_one(1, written[1]); /* into the chunk it has begun */
    n = ktruth_counts(1);
    assert_true(n.lost == 0 && n.switches + n.records == written[1] + 1);
    dumped[0] = dumped[1] = 0;
    ktruth_dump(NULL);
    assert_int_equal(dumped[0], kept);
    assert_int_equal(dumped[1], written[1] + 1);
    free(memory); /* ASan: no record went beyond it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_little_memory),
        cmocka_unit_test(room_for_branches),
        cmocka_unit_test(room_for_words),
        cmocka_unit_test(in_order_until_it_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
