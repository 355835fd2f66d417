/* SPDX-License-Identifier: MIT */
/* What is read out of the memory that Linux shares: samples of several sizes, what it lost, and what is neither. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/support/cmocka.h"
#include "tools/grab/report/samples.h"

static uint8_t *ring;
static struct perf_event_mmap_page *page;

/* As a file, as an event would be one. */
static void *map_file(void)
{
    const int file = memfd_create("event", 0);
    assert_int_equal(ftruncate(file, sysconf(_SC_PAGESIZE) + (1 << 20)), 0);
    void *map = grab_samples_map(file);
    assert_non_null(map);
    close(file);
    page = map;
    ring = (uint8_t *)map + sysconf(_SC_PAGESIZE);
    return map;
}

static void put(uint32_t type, unsigned words, const uint64_t *word)
{
    const struct perf_event_header head = {type, 0, (uint16_t)(sizeof head + 8 * words)};
    memcpy(ring + page->data_head, &head, sizeof head);
    memcpy(ring + page->data_head + sizeof head, word, 8 * words);
    page->data_head += head.size;
}

static void samples(void **state)
{
    (void)state;
    static const uint64_t four[] = {1, 2, 3, 4}, two[] = {5, 6}, six[] = {7, 8, 9, 10, 11, 12}, lost[] = {0, 90};
    static const uint64_t want[3][GRAB_SAMPLE_WORDS] = {{1, 2, 3, 4}, {5, 6, 0, 0}, {7, 8, 9, 10}};
    struct grab_samples got = {0};
    void *map = map_file();
    put(PERF_RECORD_SAMPLE, 4, four);
    put(PERF_RECORD_LOST, 2, lost);
    put(PERF_RECORD_SAMPLE, 2, two);
    put(PERF_RECORD_THROTTLE, 2, two);
    put(PERF_RECORD_LOST, 2, lost);
    put(PERF_RECORD_SAMPLE, 6, six);
    grab_samples_take(&got, map);
    assert_int_equal(got.count, 3);
    assert_int_equal(got.lost, 180);
    assert_memory_equal(got.items, want, sizeof want);
    free(got.items);
}

static void none(void **state)
{
    (void)state;
    struct grab_samples got = {0};
    grab_samples_take(&got, map_file());
    assert_int_equal(got.count, 0);
    assert_int_equal(got.lost, 0);
    assert_null(grab_samples_map(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
