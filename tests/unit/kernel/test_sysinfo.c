/* SPDX-License-Identifier: MIT */
/*
 * Control as in Windows: each information class with every length, with values that are right and wrong, in each state,
 * and what it answers. What the kernel would do is written down instead: what is refused must not get that far.
 * Longer than 500 lines: a test for each information class there is, on one pretended kernel.
 */
#include <stdbool.h>
#include <string.h>

#include "kernel/activity/sample_interval.h"
#include "kernel/control/session.h"
#include "kernel/lib/errno.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/pmc/pmc.h"
#include "kernel/windows/control_area.h"
#include "kernel/windows/sysinfo.h"
#include "tests/unit/support/cmocka.h"

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static int answer;       /* of all below */
static unsigned calls;   /* of those that change something */
static uint32_t session; /* asked about, or changed */
static struct perfinfo_groupmask masks;
static uint32_t on, off;
static int allocate; /* 1: allocated, 0: freed */

int ksession_masks(uint32_t number, struct perfinfo_groupmask *out)
{
    session = number;
    if (!answer)
        *out = masks;
    return answer;
}

int ksession_change(uint32_t number, const struct perfinfo_groupmask *to)
{
    session = number;
    masks = *to;
    calls++;
    return answer;
}

static uint32_t list[8], listed;
static bool of_hooks; /* the last list */

static int take_list(uint32_t number, const uint32_t *elements, uint32_t count, bool hooks)
{
    session = number;
    listed = count;
    of_hooks = hooks;
    memcpy(list, elements, count * sizeof *list);
    calls++;
    return answer;
}

int kpmc_set_counters(uint32_t number, const uint32_t *source, uint32_t count)
{
    return take_list(number, source, count, false);
}

int kpmc_set_hooks(uint32_t number, const uint32_t *hook, uint32_t count)
{
    return take_list(number, hook, count, true);
}

int ksession_stamp(uint32_t number, uint32_t turned_on, uint32_t turned_off)
{
    session = number;
    on = turned_on;
    off = turned_off;
    calls++;
    return answer;
}

static const struct trace_spinlock_sampling usual = {1, 1000, 1, 1000000, true};
static struct trace_spinlock_sampling sampling;

struct trace_spinlock_sampling klock_trace_sampling(void)
{
    return sampling;
}

void klock_trace_configure(struct trace_spinlock_sampling to)
{
    assert_true(trace_spinlock_sampling_valid(&to));
    sampling = to;
    calls++;
}

static uint32_t interval;

uint32_t ksample_interval(void)
{
    return interval;
}

void ksample_interval_set(uint32_t to)
{
    interval = to;
    calls++;
}

int kcontrol_area_allocate(uint64_t *address)
{
    allocate = 1;
    calls++;
    if (!answer || answer == -EEXIST)
        *address = 0x123456789A;
    return answer;
}

int kcontrol_area_free(void)
{
    allocate = 0;
    calls++;
    return answer;
}

static int begin(void **state)
{
    (void)state;
    answer = 0;
    calls = session = on = off = 0;
    allocate = -1;
    sampling = usual;
    for (unsigned i = 0; i < 8; i++)
        masks.masks[i] = 0x11111111 * (i + 1);
    return 0;
}

/* ---- buffers: at an odd address, with guards behind -------------------------------------------------------------- */

#define SIZE  0x60u
#define GUARD 0xC7

static uint8_t bytes[SIZE + 16];
#define BUFFER (bytes + 1)

static void put(uint32_t at, uint64_t value, uint32_t size)
{
    memcpy(BUFFER + at, &value, size);
}

static uint64_t get(uint32_t at, uint32_t size)
{
    uint64_t value = 0;
    memcpy(&value, BUFFER + at, size);
    return value;
}

/* A buffer of 1FH's `class` for a logger. */
static void fill(uint32_t class, uint64_t handle)
{
    memset(bytes, GUARD, sizeof bytes);
    put(0, class, 4);
    put(8, handle, 8);
}

static uint32_t returned;

static kntstatus query(uint32_t length)
{
    uint8_t before[sizeof bytes];
    memcpy(before, bytes, sizeof bytes);
    returned = 0xDEAD;
    kntstatus status = ksysinfo_query(0x1F, BUFFER, length, &returned);
    if (status != STATUS_SUCCESS)
        assert_memory_equal(bytes, before, sizeof bytes);
    else
        assert_memory_equal(BUFFER + length, before + 1 + length, SIZE - length);
    assert_int_equal(ksysinfo_query(0x1F, BUFFER, length, NULL), status);
    return status;
}

static kntstatus set(uint32_t length)
{
    uint8_t before[sizeof bytes];
    memcpy(before, bytes, sizeof bytes);
    kntstatus status = ksysinfo_set(0x1F, BUFFER, length);
    assert_memory_equal(bytes, before, sizeof bytes);
    return status;
}

/* ---- which class ------------------------------------------------------------------------------------------------- */

static void other_classes(void **state)
{
    (void)state;
    fill(1, 1);
    for (uint32_t class = 0; class < 0x200; class ++) {
        if (class != 0x1F) {
            returned = 7;
            assert_int_equal(ksysinfo_query(class, BUFFER, 0x30, &returned), STATUS_INVALID_INFO_CLASS);
            assert_int_equal(returned, 0);
        }
        if (class != 0x1F && class != 0x81)
            assert_int_equal(ksysinfo_set(class, BUFFER, 0x30), STATUS_INVALID_INFO_CLASS);
    }
    assert_int_equal(ksysinfo_set(0x8000001F, BUFFER, 0x30), STATUS_INVALID_INFO_CLASS);
    assert_int_equal(calls, 0);
}

static void other_trace_classes(void **state)
{
    (void)state;
    for (uint32_t class = 0; class < 0x120; class ++) {
        bool queried = class == 1 || class == 3 || class == 5;
        bool either = queried || class == 0x0B || class == 0x0E || class == 0x0F;
        fill(class, 1);
        for (uint32_t length = 0; length <= SIZE; length++) {
            kntstatus want = length < 4 ? STATUS_INFO_LENGTH_MISMATCH : STATUS_NOT_IMPLEMENTED;
            if (!queried || length < 4) {
                assert_int_equal(query(length), want);
                assert_int_equal(returned, 0);
            }
            if (!either || length < 4)
                assert_int_equal(set(length), want);
        }
    }
    assert_int_equal(calls, 0);
}

/* Of the class in the buffer: any but `right` is refused, and nobody is asked. */
static void wrong_lengths(uint32_t right)
{
    for (uint32_t length = 4; length <= SIZE; length++) {
        if (length == right)
            continue;
        assert_int_equal(query(length), STATUS_INFO_LENGTH_MISMATCH);
        assert_int_equal(returned, right);
        assert_int_equal(set(length), STATUS_INFO_LENGTH_MISMATCH);
    }
    assert_int_equal(calls, 0);
}

/* ---- GroupMask --------------------------------------------------------------------------------------------------- */

static void groupmask_lengths(void **state)
{
    (void)state;
    fill(1, 1);
    wrong_lengths(0x30);
    assert_int_equal(session, 0);
}

static void groupmask(void **state)
{
    (void)state;
    fill(1, 3);
    assert_int_equal(query(0x30), STATUS_SUCCESS);
    assert_int_equal(returned, 0x30);
    assert_int_equal(session, 3);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(get(0x10 + 4 * i, 4), 0x11111111 * (i + 1));
    assert_int_equal(get(0, 4), 1);
    assert_int_equal(get(8, 8), 3);

    fill(1, 5);
    for (unsigned i = 0; i < 8; i++)
        put(0x10 + 4 * i, 0x80000000 + i, 4);
    assert_int_equal(set(0x30), STATUS_SUCCESS);
    assert_int_equal(session, 5);
    assert_int_equal(calls, 1);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(masks.masks[i], 0x80000000 + i);
}

/* The lower 16 bits of the handle name the logger; all ones is the NT Kernel Logger. */
static void loggers(void **state)
{
    (void)state;
    static const struct {
        uint64_t handle;
        uint32_t number;
    } rows[] = {
        {0, 0}, {1, 1}, {8, 8}, {0xFFFE, 0xFFFE}, {0xFFFF, 1}, {UINT64_C(0x1234567800010002), 2}, {UINT64_MAX, 1},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fill(1, rows[i].handle);
        assert_int_equal(query(0x30), STATUS_SUCCESS);
        assert_int_equal(session, rows[i].number);
        session = 99;
        assert_int_equal(set(0x30), STATUS_SUCCESS);
        assert_int_equal(session, rows[i].number);
        fill(0x0B, rows[i].handle);
        session = 99;
        assert_int_equal(set(0x10), STATUS_SUCCESS);
        assert_int_equal(session, rows[i].number);
    }
}

static void no_such_logger(void **state)
{
    (void)state;
    static const int errors[] = {-ENOENT, -EINVAL}; /* none, or it does not run */
    for (unsigned i = 0; i < 2; i++) {
        answer = errors[i];
        fill(1, 2);
        assert_int_equal(query(0x30), STATUS_WMI_INSTANCE_NOT_FOUND);
        assert_int_equal(returned, 0);
        assert_int_equal(set(0x30), STATUS_WMI_INSTANCE_NOT_FOUND);
        fill(0x0B, 2);
        assert_int_equal(set(0x10), STATUS_WMI_INSTANCE_NOT_FOUND);
    }
}

/* ---- TimeProfile ------------------------------------------------------------------------------------------------- */

static void time_profile(void **state)
{
    (void)state;
    fill(3, 0);
    wrong_lengths(8);
    static const uint32_t values[] = {0,        1,         1221, 10000,
                                      10000000, UINT32_MAX}; /* kernel/activity/sample_interval.h rounds them all */
    for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
        memset(bytes, GUARD, sizeof bytes);
        put(0, 3, 4);
        put(4, values[i], 4);
        answer = i % 2 ? -ENOENT : 0; /* of no logger: none is asked */
        assert_int_equal(set(8), STATUS_SUCCESS);
        assert_int_equal(interval, values[i]);
        put(4, 0x5A5A5A5A, 4);
        assert_int_equal(query(8), STATUS_SUCCESS);
        assert_int_equal(returned, 8);
        assert_int_equal(get(0, 4), 3);
        assert_int_equal(get(4, 4), values[i]);
    }
    assert_int_equal(calls, 6);
    assert_int_equal(session, 0);
}

/* ---- Spinlock ---------------------------------------------------------------------------------------------------- */

enum { SPINS = 4, ACQUIRE_RATE = 8, CONTENTION_RATE = 12, HOLD = 16 }; /* where they lie */

static void fill_spinlock(uint32_t spins, uint32_t acquire_rate, uint32_t contention_rate, uint32_t hold)
{
    memset(bytes, GUARD, sizeof bytes);
    put(0, 5, 4);
    put(SPINS, spins, 4);
    put(ACQUIRE_RATE, acquire_rate, 4);
    put(CONTENTION_RATE, contention_rate, 4);
    put(HOLD, hold, 4);
}

static void spinlock_lengths(void **state)
{
    (void)state;
    fill_spinlock(1, 1000, 1, 0);
    for (uint32_t length = 4; length <= SIZE; length++) {
        if (length == 0x10 || length == 0x14)
            continue;
        assert_int_equal(query(length), STATUS_INFO_LENGTH_MISMATCH);
        assert_int_equal(returned, 0x14);
        assert_int_equal(set(length), STATUS_INFO_LENGTH_MISMATCH);
    }
    assert_int_equal(calls, 0);
}

static void spinlock(void **state)
{
    (void)state;
    for (uint32_t length = 0x10; length <= 0x14; length += 4) { /* both forms */
        sampling = (struct trace_spinlock_sampling){2, 1003, 4, 1000005, false};
        fill(5, 0);
        assert_int_equal(query(length), STATUS_SUCCESS);
        assert_int_equal(returned, length);
        assert_int_equal(get(0, 4), 5);
        assert_int_equal(get(SPINS, 4), 2);
        assert_int_equal(get(ACQUIRE_RATE, 4), 1003);
        assert_int_equal(get(CONTENTION_RATE, 4), 4);
        if (length == 0x14)
            assert_int_equal(get(HOLD, 4), 1000005);

        calls = 0;
        fill_spinlock(7, 2000, 9, 3000000);
        assert_int_equal(set(length), STATUS_SUCCESS);
        assert_int_equal(calls, 1);
        assert_int_equal(sampling.spin_threshold, 7);
        assert_int_equal(sampling.acquire_sample_rate, 2000);
        assert_int_equal(sampling.contention_sample_rate, 9);
        assert_int_equal(sampling.hold_threshold, length == 0x14 ? 3000000 : 1000005); /* the first form has none */
        assert_false(sampling.every);
    }
    sampling = usual;
    fill_spinlock(1, 1000, 1, 0); /* off */
    assert_int_equal(set(0x14), STATUS_SUCCESS);
    assert_int_equal(sampling.hold_threshold, 0);
    assert_true(sampling.every); /* Cairn's own, beside it */
    fill_spinlock(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    assert_int_equal(set(0x14), STATUS_SUCCESS);
}

/* Each minimum, from both sides. */
static void spinlock_minima(void **state)
{
    (void)state;
    static const struct {
        uint32_t at, value;
        bool good;
    } rows[] = {
        {SPINS, 0, false},
        {SPINS, 1, true},
        {ACQUIRE_RATE, 0, false},
        {ACQUIRE_RATE, 999, false},
        {ACQUIRE_RATE, 1000, true},
        {CONTENTION_RATE, 0, false},
        {CONTENTION_RATE, 1, true},
        {HOLD, 1, false},
        {HOLD, 999999, false},
        {HOLD, 1000000, true},
        {HOLD, 0, true},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t length = 0x10; length <= 0x14; length += 4) {
            bool good = rows[i].good || rows[i].at >= length;
            calls = 0;
            fill_spinlock(5, 5000, 5, 5000000);
            put(rows[i].at, rows[i].value, 4);
            assert_int_equal(set(length), good ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER);
            assert_int_equal(calls, good);
        }
}

/* ---- PebsTracing ------------------------------------------------------------------------------------------------- */

static void pebs_lengths(void **state)
{
    (void)state;
    fill(0x0B, 1);
    put(0x10, 0x524, 4);
    for (uint32_t length = 4; length <= SIZE; length++)
        if (length != 0x10 && length != 0x14)
            assert_int_equal(set(length), length < 0x10 ? STATUS_INFO_LENGTH_MISMATCH : STATUS_INVALID_PARAMETER);
    assert_int_equal(calls, 0);
}

static void pebs_hooks(void **state)
{
    (void)state;
    fill(0x0B, 1);
    for (uint64_t hook = 0; hook < 0x20000; hook++) {
        put(0x10, hook, 4);
        if (hook != 0x524 && hook != 0x525)
            assert_int_equal(set(0x14), STATUS_INVALID_PARAMETER);
    }
    put(0x10, UINT32_C(0x80000524), 4);
    assert_int_equal(set(0x14), STATUS_INVALID_PARAMETER);
    assert_int_equal(calls, 0);

    put(0x10, 0x524, 4);
    assert_int_equal(set(0x14), STATUS_SUCCESS);
    assert_true(on == CAIRN_STAMP_FULL && !off);
    put(0x10, 0x525, 4); /* Cairn's own */
    assert_int_equal(set(0x14), STATUS_SUCCESS);
    assert_true(on == CAIRN_STAMP_COMPACT && !off);
    assert_int_equal(set(0x10), STATUS_SUCCESS); /* what lies behind is not read */
    assert_true(!on && off == (CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT));
    assert_int_equal(calls, 3);
    answer = -ENODEV; /* PEBS runs nowhere */
    assert_int_equal(set(0x14), STATUS_NOT_SUPPORTED);
    assert_int_equal(set(0x10), STATUS_NOT_SUPPORTED);
}

/* ---- 81H --------------------------------------------------------------------------------------------------------- */

static void area_lengths(void **state)
{
    (void)state;
    uint8_t before[sizeof bytes];
    memset(bytes, 0, sizeof bytes);
    memcpy(before, bytes, sizeof bytes);
    for (uint32_t length = 0; length <= SIZE; length++)
        if (length != 0x10)
            assert_int_equal(ksysinfo_set(0x81, BUFFER, length), STATUS_INFO_LENGTH_MISMATCH);
    assert_memory_equal(bytes, before, sizeof bytes);
    assert_int_equal(calls, 0);
}

static void area(void **state)
{
    (void)state;
    static const struct {
        int answer;
        kntstatus allocate, free;
        uint64_t address; /* of allocate; of free always 0 */
    } rows[] = {
        {0, STATUS_SUCCESS, STATUS_SUCCESS, 0x123456789A},
        {-EEXIST, STATUS_ADDRESS_ALREADY_EXISTS, STATUS_ADDRESS_ALREADY_EXISTS, 0x123456789A},
        {-ENOENT, STATUS_MEMORY_NOT_ALLOCATED, STATUS_MEMORY_NOT_ALLOCATED, 0},
        {-ENOTSUP, STATUS_NOT_SUPPORTED, STATUS_NOT_SUPPORTED, 0},
        {-ENOMEM, STATUS_INSUFFICIENT_RESOURCES, STATUS_INSUFFICIENT_RESOURCES, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        answer = rows[i].answer;
        for (unsigned k = 0; k < 4; k++) { /* any Allocate but 0 allocates */
            static const uint8_t values[] = {0, 1, 2, 0xFF};
            memset(bytes, GUARD, sizeof bytes);
            put(8, values[k], 1);
            allocate = -1;
            assert_int_equal(ksysinfo_set(0x81, BUFFER, 0x10), k ? rows[i].allocate : rows[i].free);
            assert_int_equal(allocate, k != 0);
            assert_true(get(0, 8) == (k ? rows[i].address : 0));
            assert_int_equal(get(8, 1), values[k]);
            for (uint32_t at = 9; at < SIZE; at++)
                assert_int_equal(BUFFER[at], GUARD);
        }
    }
}

/* ---- ProfileEventList, ProfileCounterList ------------------------------------------------------------------------ */

static void put_list(uint32_t class, uint64_t handle, uint32_t count, const uint32_t *elements)
{
    fill(class, handle);
    for (uint32_t i = 0; i < count; i++)
        put(0x10 + 4 * i, elements[i], 4);
}

static const uint32_t hooks[] = {0x0524, 0x0F43, 0x0532, 0x0529, 0x0F2E}, sources[] = {26, 6, 0x12345678, 19, 25};

/* Whole elements, of hooks none to four, of sources one to four, each once. */
static void list_lengths(void **state)
{
    (void)state;
    for (uint32_t class = 0x0E; class <= 0x0F; class ++) {
        const uint32_t least = class == 0x0F;
        const uint32_t *elements = class == 0x0F ? sources : hooks;
        for (uint32_t length = 4; length <= SIZE; length++) {
            put_list(class, 3, 5, elements);
            uint32_t count = (length - 0x10) / 4;
            bool good = length >= 0x10 && length % 4 == 0 && count >= least && count <= 4;
            calls = 0;
            assert_int_equal(query(length), STATUS_NOT_IMPLEMENTED);
            assert_int_equal(set(length), length < 0x10 ? STATUS_INFO_LENGTH_MISMATCH
                                          : good        ? STATUS_SUCCESS
                                                        : STATUS_INVALID_PARAMETER);
            assert_int_equal(calls, good);
            if (!good)
                continue;
            assert_int_equal(session, 3);
            assert_int_equal(listed, count);
            assert_int_equal(of_hooks, class == 0x0E);
            assert_memory_equal(list, elements, 4 * count);
        }
        for (uint32_t i = 1; i < 4; i++) { /* the last is there already */
            uint32_t twice[4] = {elements[0], elements[1], elements[2], elements[3]};
            twice[i] = elements[i - 1];
            put_list(class, 3, i + 1, twice);
            calls = 0;
            assert_int_equal(set(0x10 + 4 * (i + 1)), STATUS_INVALID_PARAMETER);
            assert_int_equal(calls, 0);
        }
    }
}

static void list_hooks(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0,      0x0525, 0x0501, 0x0503, 0x0303,  0x1403,    0x0F30,
                                     0x0F48, 0x0F4B, 0xCA01, 0xCA10, 0x10524, 0xFFFFFFFF};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const uint32_t pair[] = {0x0524, wrong[i]};
        put_list(0x0E, 3, 2, pair);
        assert_int_equal(set(0x18), STATUS_INVALID_PARAMETER);
    }
    assert_int_equal(calls, 0);
}

static void list_states(void **state)
{
    (void)state;
    static const struct {
        int answer;
        kntstatus status;
    } rows[] = {
        {0, STATUS_SUCCESS},
        {-ENOENT, STATUS_WMI_INSTANCE_NOT_FOUND},
        {-EINVAL, STATUS_WMI_INSTANCE_NOT_FOUND},
        {-EEXIST, STATUS_WMI_ALREADY_ENABLED},
        {-ENODEV, STATUS_NOT_SUPPORTED},
    };
    for (uint32_t class = 0x0E; class <= 0x0F; class ++)
        for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            put_list(class, 0xFFFF, 1, class == 0x0F ? sources : hooks);
            answer = rows[i].answer;
            assert_int_equal(set(0x14), rows[i].status);
            assert_int_equal(session, 1); /* the NT Kernel Logger */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(other_classes, begin),
        cmocka_unit_test_setup(other_trace_classes, begin),
        cmocka_unit_test_setup(groupmask_lengths, begin),
        cmocka_unit_test_setup(groupmask, begin),
        cmocka_unit_test_setup(loggers, begin),
        cmocka_unit_test_setup(no_such_logger, begin),
        cmocka_unit_test_setup(spinlock_lengths, begin),
        cmocka_unit_test_setup(spinlock, begin),
        cmocka_unit_test_setup(spinlock_minima, begin),
        cmocka_unit_test_setup(time_profile, begin),
        cmocka_unit_test_setup(pebs_lengths, begin),
        cmocka_unit_test_setup(pebs_hooks, begin),
        cmocka_unit_test_setup(list_lengths, begin),
        cmocka_unit_test_setup(list_hooks, begin),
        cmocka_unit_test_setup(list_states, begin),
        cmocka_unit_test_setup(area_lengths, begin),
        cmocka_unit_test_setup(area, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
