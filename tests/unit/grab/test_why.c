/* SPDX-License-Identifier: MIT */
/* What --why tells of drains and records that are made here. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ds/layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/grab/why.h"

#define BASE UINT64_C(0xFFFFFE0000001000)

static struct grab_store store;

static int setup(void **state)
{
    (void)state;
    return grab_store_begin(&store, "/tmp/none.log");
}

static int teardown(void **state)
{
    (void)state;
    free(store.cpu[0].drains);
    free(store.cpu[0].bytes);
    return close(store.file);
}

/* `count` records of `size` bytes of these counters; PMC1 has a period of 1009. */
static void drain(uint64_t number, unsigned count, uint32_t size, uint64_t counters, uint64_t threshold, uint64_t room)
{
    struct grab_drain head = {.kind = GRAB_DRAIN, .number = number, .interrupt = number == 0, .bytes = size * count};
    const struct ds_area_60 area = {.pebs_buffer_base = BASE,
                                    .pebs_index = BASE + size * count,
                                    .pebs_interrupt_threshold = BASE + threshold,
                                    .pebs_absolute_maximum = BASE + room,
                                    .pebs_counter_reset = {0, (UINT64_C(1) << 48) - 1009}};
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

static char *said(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_int_equal(grab_store_end(&store), 0);
    grab_why(to, &store, 4);
    fclose(to);
    return text;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        print_error("%s\n is not in\n%s", part, text);
    assert_non_null(strstr(text, part));
}

static void test_large(void **state)
{
    (void)state;
    drain(0, 10, 32, 2, 3200, 6400);
    drain(1, 5, 176, DS_BIT(32) | 2, 3200, 6400);
    char *text = said();
    expect(text, "format 4: 2 drains, 1 of them by an interrupt\n");
    expect(text, "  PMC1              1009         15        2       7.5  32 to 176\n");
    expect(text, "  fixed 0       by Linux          5        1       5.0  176\n");
    expect(text, "groups: basic, registers\n");
    expect(text, "Linux collects records (large PEBS), and no buffer was full: nothing to change.\n");
    free(text);
}

static void test_single_and_full(void **state)
{
    (void)state;
    drain(0, 1, 32, 2, 32, 6400);
    drain(1, 10, 32, 2, 320, 320);
    char *text = said();
    expect(text, "In 1 of the drains Linux had asked for an interrupt at each record (single\nPEBS).");
    expect(text, "In 1 of the drains the buffer was full");
    assert_null(strstr(text, "nothing to change"));
    free(text);
}

static void test_none(void **state)
{
    (void)state;
    char *text = said();
    expect(text, "No counter wrote a PEBS record.");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_single_and_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
