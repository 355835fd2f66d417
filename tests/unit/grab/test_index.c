/* SPDX-License-Identifier: MIT */
/* PebsIndex of architectural PEBS at switches: known where what Linux read behind them leaves one value, and only
 * there.
 */
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/grab/base/index.h"

#define BASE UINT64_C(0x1360000)
#define MOST 8u

static struct grab_drained start;
static struct grab_switched switches[MOST];
static struct grab_one_cpu cpu;
static struct grab_cpu all;

static int setup(void **state)
{
    (void)state;
    const struct grab_registers registers = {.base = BASE | 4};
    memcpy(start.head.area, &registers, sizeof registers);
    cpu = (struct grab_one_cpu){.drains = &start, .drain_count = 1, .switches = switches};
    all = (struct grab_cpu){0};
    memset(switches, 0, sizeof switches);
    return 0;
}

/* Thread 4 leaves for 8. */
static struct grab_switch *change(uint64_t drains)
{
    struct grab_switched *s = &cpu.switches[cpu.switch_count++];
    s->s =
        (struct grab_switch){.number = all.switches++, .drains = drains, .read = all.read, .old_tid = 4, .new_tid = 8};
    return &s->s;
}

/* The first one behind the last switch. */
static void read_index(uint64_t drains, uint32_t bytes, uint32_t tid)
{
    all.read = (struct grab_read){all.switches, drains, bytes, tid};
}

static void expect(bool known, uint64_t within, uint64_t empty, uint64_t unknown)
{
    struct grab_index how = {0};
    assert_int_equal(grab_index_find(&cpu, &all, &how), known);
    assert_int_equal(how.within, within);
    assert_int_equal(how.empty, empty);
    assert_int_equal(how.unknown, unknown);
}

static void within_the_switch(void **state)
{
    (void)state;
    const struct grab_switch *one = change(3), *two;
    read_index(3, 640, 4);
    two = change(4);
    read_index(4, 0, 8);
    expect(true, 1, 1, 0);
    assert_int_equal(one->index, BASE + 640);
    assert_int_equal(two->index, BASE);
}

/* The thread behind it may have made records; or the kernel, before the counters were off. */
static void later(void **state)
{
    (void)state;
    const struct grab_switch *one = change(3), *two;
    read_index(3, 640, 8);
    two = change(4);
    change(4)->of_kernel = 1;
    read_index(4, 64, 4);
    expect(false, 0, 0, 3);
    assert_int_equal(one->index, 0);
    assert_int_equal(two->index, 0);
}

/* Nothing was read before the next switches: what was read behind them tells of this one, too, unless a drain is in
 * between. */
static void several_switches(void **state)
{
    (void)state;
    change(3);
    change(3);
    read_index(3, 64, 4);
    change(4);
    change(4);
    read_index(4, 0, 8);
    expect(false, 1, 2, 1);
    assert_int_equal(switches[1].s.index, BASE + 64);
    assert_int_equal(switches[0].s.index, 0); /* 64 at most */
    switches[2].s.drains = 5;
    switches[3].s.drains = 6;
    all.read.drains = 6;
    expect(false, 1, 1, 2);
}

/* An interrupt drained while the hook of the switch ran: what it read was before the switch, or is missing. */
static void interrupted(void **state)
{
    (void)state;
    change(3);
    read_index(2, 64, 4);
    change(3);
    read_index(3, 0, 8);
    expect(false, 0, 1, 1);
}

static void missing_switch(void **state)
{
    (void)state;
    change(3);
    all.switches++;
    read_index(3, 0, 8);
    change(3);
    read_index(3, 0, 8);
    expect(false, 0, 1, 1);
}

/* Nothing was read behind the last one. */
static void no_end(void **state)
{
    (void)state;
    change(3);
    read_index(3, 0, 4);
    change(3);
    expect(false, 0, 1, 1);
}

/* A drain may be missing anywhere. */
static void skipped(void **state)
{
    (void)state;
    struct grab_index how = {0};
    change(3);
    read_index(3, 0, 4);
    assert_false(grab_index_find(&cpu, NULL, &how));
    assert_int_equal(how.unknown, 1);
    assert_int_equal(switches[0].s.index, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(within_the_switch, setup), cmocka_unit_test_setup(later, setup),
        cmocka_unit_test_setup(several_switches, setup),  cmocka_unit_test_setup(interrupted, setup),
        cmocka_unit_test_setup(missing_switch, setup),    cmocka_unit_test_setup(no_end, setup),
        cmocka_unit_test_setup(skipped, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
