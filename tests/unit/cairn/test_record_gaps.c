/* SPDX-License-Identifier: MIT */
/* Where PEBS records are missing: by the numbers of drains and the addresses of records. */
#include <string.h>

#include "ds/layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/export/record_gaps.h"

#define BASE   UINT64_C(0x10000)
#define RECORD 0xB0u

static const struct ds_area_60 area = {.pebs_buffer_base = BASE};
static struct cairn_record_gaps gaps;
static struct cairn_record_gap out[CAIRN_RECORD_GAPS];

static void begin(void)
{
    cairn_record_gaps_begin(&gaps, 0);
}

/* A record of an epoch, the nth in its buffer. */
static void record(uint32_t epoch, unsigned n, int64_t time)
{
    const struct cairn_record r = {
        .epoch = epoch, .address = BASE + n * RECORD, .size = RECORD, .time = time, .timed = true};
    cairn_record_gaps_record(&gaps, &r);
}

/* Its drain, which had `written` records; `seen` are there. */
static unsigned drain(uint32_t epoch, unsigned written, unsigned seen, int64_t time)
{
    const struct cairn_epoch e = {.area = (const uint8_t *)&area,
                                  .area_bytes = sizeof(area),
                                  .number = epoch,
                                  .reason = CAIRN_DS_THRESHOLD,
                                  .record_bytes = written * RECORD,
                                  .bytes_seen = seen * RECORD,
                                  .time = time};
    return cairn_record_gaps_drain(&gaps, &e, out);
}

static void is_gap(unsigned n, int64_t from, int64_t to, const char *text)
{
    assert_string_equal(out[n].text, text);
    assert_int_equal(out[n].from, from);
    assert_int_equal(out[n].to, to);
}

static void test_nothing_is_missing(void **state)
{
    (void)state;
    begin();
    record(0, 0, 10);
    record(0, 1, 20);
    assert_int_equal(drain(0, 2, 2, 30), 0);
    assert_int_equal(drain(1, 0, 0, 40), 0);
}

static void test_places_in_an_epoch(void **state)
{
    (void)state;
    begin();
    record(0, 1, 10);
    record(0, 4, 20);
    assert_int_equal(drain(0, 6, 2, 30), 3);
    is_gap(0, 0, 10, "176 bytes of PEBS records of epoch 0");
    is_gap(1, 10, 20, "352 bytes of PEBS records of epoch 0");
    is_gap(2, 20, 30, "176 bytes of PEBS records of epoch 0");
    assert_int_equal(drain(1, 2, 0, 40), 1);
    is_gap(0, 30, 40, "352 bytes of PEBS records of epoch 1");
}

/* What is missing at the beginning of an epoch is told where whole ones are missing before it, too. */
static void test_epochs_and_bytes(void **state)
{
    (void)state;
    begin();
    assert_int_equal(drain(0, 0, 0, 5), 0);
    record(3, 2, 40);
    assert_int_equal(drain(3, 4, 1, 50), 2);
    is_gap(0, 5, 40, "drains of 2 epochs, 1 to 2, and their PEBS records; 352 bytes of those of epoch 3");
    is_gap(1, 40, 50, "176 bytes of PEBS records of epoch 3");
    assert_int_equal(drain(5, 2, 0, 60), 1);
    is_gap(0, 50, 60, "the drain of epoch 4, and its PEBS records; 352 bytes of those of epoch 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_missing),
        cmocka_unit_test(test_places_in_an_epoch),
        cmocka_unit_test(test_epochs_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
