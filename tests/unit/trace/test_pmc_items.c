/* SPDX-License-Identifier: MIT */
/* What events may carry beside their payload's own bytes: PMC items, times in each session's clock. */
#include <stdio.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/pmc/pmc_items.h"

static struct box box;
static struct trace_pmc items;

static void open_with(uint32_t pmcs, uint32_t buffers, uint32_t buffer_bytes)
{
    box_open(&box, 1, BOX_FULL, false, buffers, buffer_bytes);
    items = (struct trace_pmc){.count = pmcs, .hooks = 2, .hook = {0x0532, 0x0524}};
    for (uint32_t i = 0; i < pmcs; i++)
        items.counter[i] = (uint8_t)(pmcs - 1 - i); /* the other way round */
    box.config.items = &items;
    trace_pmc_read = NULL;
    assert_int_equal(trace_session_init(&box.session, &box.config, box.memory, box.size), 0);
}

/* The first event of this hook, header and all, in hexadecimal. */
static const char *event_of(uint16_t hook)
{
    static char text[2 * 128 + 1];
    uint32_t cpu_buffer;
    assert_int_equal(trace_session_buffers(box.session), 1);
    const uint8_t *buffer = (const void *)trace_session_buffer(box.session, 0, &cpu_buffer);
    const struct wmi_buffer_header *h = (const void *)buffer;
    for (uint32_t at = sizeof(*h); at < h->offset;) {
        const struct perfinfo_trace_header *e = (const void *)(buffer + at);
        for (uint32_t i = 0; e->hook_id == hook && i < e->size; i++)
            snprintf(text + 2 * i, 3, "%02x", buffer[at + i]);
        if (e->hook_id == hook)
            return text;
        at += WMI_EVENT_ALIGN(e->size);
    }
    fail_msg("no event %04XH", hook);
    return NULL;
}

static const struct trace_switch sw = {.tsc = BOX_TSC(1000),
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
#define CONTEXTSWAP "14131211040302010f1f00002600090724232221feffffff"

static uint64_t counter[TRACE_PMC_MAX];
static unsigned reads;

static void read_counters(uint32_t cpu, uint64_t values[TRACE_PMC_MAX])
{
    assert_int_equal(cpu, 0);
    memcpy(values, counter, sizeof counter);
    reads++;
}

static void count(void)
{
    trace_pmc_read = read_counters;
    reads = 0;
    counter[0] = 0x2122232425262728;
    counter[1] = 0x3132333435363738;
}

/* PebsIndex first, then the counters in the session's order, then the payload. */
static void values(void **state)
{
    volatile uint64_t pebs_index = 0xFFFF8000001000C0;
    (void)state;
    open_with(2, 4, 4096);
    count();
    box_start(&box, 0, &pebs_index);
    trace_hub_switch(&box.hub[0], &sw);
    box_stop(&box, 0, BOX_TSC(2000));
    assert_string_equal(event_of(0x0524), "028211c040002405e803000000000000" /* 8000H, two counters, version 2 */
                                          "c00010000080ffff"
                                          "3837363534333231"
                                          "2827262524232221" CONTEXTSWAP);
    assert_int_equal(reads, 1);
    box_close(&box);

    open_with(1, 4, 4096);
    count();
    box_start(&box, 0, NULL); /* without a Debug Store's index */
    trace_hub_switch(&box.hub[0], &sw);
    box_stop(&box, 0, BOX_TSC(2000));
    assert_string_equal(event_of(0x0524), "020111c030002405e803000000000000"
                                          "2827262524232221" CONTEXTSWAP);
    box_close(&box);

    open_with(1, 4, 4096);
    box_start(&box, 0, NULL); /* nobody can read them */
    trace_hub_switch(&box.hub[0], &sw);
    box_stop(&box, 0, BOX_TSC(2000));
    assert_string_equal(event_of(0x0524), "020111c030002405e803000000000000"
                                          "0000000000000000" CONTEXTSWAP);
    box_close(&box);
}

static void write_others(void)
{
    const struct trace_part part = {"abcdefgh", 8};
    trace_hub_event(&box.hub[0], BOX_TSC(0x1000), 0, 0x0532, 2, &part, 1);
    trace_hub_event(&box.hub[0], BOX_TSC(0x1001), 0, 0x0530, 3, &part, 1);
}
#define BARE_READY                                                                                                     \
    "020011c018003205"                                                                                                 \
    "0010000000000000"                                                                                                 \
    "6162636465666768"
#define BARE_PRIORITY                                                                                                  \
    "030011c018003005"                                                                                                 \
    "0110000000000000"                                                                                                 \
    "6162636465666768"

/* Events of the session's hooks alone, and none once it is told so; the counters are read for nothing else. */
static void hooks(void **state)
{
    const struct perfinfo_groupmask masks = box_masks(BOX_FULL);
    const struct trace_system system = {.thread_id = 8};
    const struct trace_part part = {"abcdefgh", 8};
    const struct trace_hub_pebs pebs = {0};
    (void)state;
    for (unsigned told = 0; told < 3; told++) {
        open_with(2, 4, 4096);
        count();
        box_start(&box, 0, NULL);
        struct trace_pmc pmc = items;
        if (told) { /* no hooks any more; hooks, but no counters */
            pmc.hooks = told == 1 ? 0 : pmc.hooks;
            pmc.count = told == 2 ? 0 : pmc.count;
            trace_pmc_set(box.session, &pmc);
            assert_int_equal(trace_hub_act(&box.hub[0], box.session, CAIRN_SESSION_MASKS, &masks, &pebs, BOX_TSC(10)),
                             0);
        }
        write_others();
        trace_hub_event_to(&box.hub[0], BOX_TSC(0x1002), 1, &system, 0x0524, 2, &part, 1); /* no bits for them there */
        box_stop(&box, 0, BOX_TSC(0x2000));
        assert_string_equal(event_of(0x0532), told ? BARE_READY
                                                   : "020211c028003205"
                                                     "0010000000000000"
                                                     "3837363534333231"
                                                     "2827262524232221"
                                                     "6162636465666768");
        assert_string_equal(event_of(0x0530), BARE_PRIORITY);
        assert_string_equal(event_of(0x0524), "020002c028002405"
                                              "0800000000000000"
                                              "0210000000000000"
                                              "0000000000000000"
                                              "6162636465666768");
        assert_int_equal(reads, told ? 0 : 1);
        box_close(&box);
    }
}

/* No event is over CAIRN_EVENT_MAX, its items included: where there are any, room for four of them is kept. */
static void too_large(void **state)
{
    static const uint8_t bytes[CAIRN_EVENT_MAX];
    (void)state;
    open_with(1, 4, 4096);
    count();
    box_start(&box, 0, NULL);
    for (unsigned with = 0; with < 2; with++) {
        const uint16_t hook = with ? 0x0532 : 0x0530;
        struct trace_part part = {bytes, CAIRN_EVENT_MAX - 16 - with * 8 * TRACE_PMC_MAX};
        assert_int_equal(trace_hub_event(&box.hub[0], BOX_TSC(0x1000), 0, hook, 2, &part, 1), 0);
        part.size++;
        assert_int_equal(trace_hub_event(&box.hub[0], BOX_TSC(0x1000), 0, hook, 2, &part, 1), -E2BIG);
    }
    box_stop(&box, 0, BOX_TSC(2000));
    box_close(&box);
}

/* Which hooks may at all, and whose events they are in. */
static void which_hooks(void **state)
{
    static const uint16_t may[] = {0x0524, 0x0529, 0x0530, 0x0531, 0x0532, 0x0F22,
                                   0x0F2E, 0x0F2F, 0x0F43, 0x0F44, 0x0F45};
    const struct perfinfo_groupmask none = {0}, full = box_masks(BOX_FULL), compact = box_masks(BOX_COMPACT);
    unsigned found = 0;
    (void)state;
    for (uint32_t hook = 0; hook <= UINT16_MAX; hook++) {
        bool listed = false;
        struct perfinfo_groupmask masks = {0};
        for (unsigned i = 0; i < sizeof may / sizeof may[0]; i++)
            listed |= may[i] == hook;
        assert_int_equal(trace_pmc_group((uint16_t)hook) != 0, listed);
        trace_group_add(&masks, trace_pmc_group((uint16_t)hook));
        assert_int_equal(trace_pmc_writes(&masks, (uint16_t)hook), listed);
        assert_false(trace_pmc_writes(&none, (uint16_t)hook));
        found += listed;
    }
    assert_int_equal(found, 11);
    assert_true(trace_pmc_writes(&full, 0x0524));
    assert_false(trace_pmc_writes(&compact, 0x0524));
}

static void account(void **state)
{
    struct trace_counts n;
    (void)state;
    open_with(TRACE_PMC_MAX, 2, 4096);
    box_start(&box, 0, NULL);
    for (unsigned i = 0; i < 500; i++) {
        trace_hub_switch(&box.hub[0], &sw);
        write_others();
    }
    box_stop(&box, 0, BOX_TSC(2000));
    assert_true(box_account_holds(box.session));
    trace_cpu_counts(trace_session_cpu(box.session, 0), &n);
    assert_true(n.full_lost > 300 && n.full_written > 10);
    assert_int_equal(n.full_tried, n.full_written + n.full_lost);
    assert_int_equal(n.events_tried, n.events_written + n.events_lost);
    box_close(&box);
}

static void times(void **state)
{
    const uint64_t tsc = BOX_TSC(0x1234);
    const struct trace_part parts[] = {{"ab", 2}, {&tsc, TRACE_PART_TIME}, {"cdefgh", 6}};
    (void)state;
    box_open(&box, 1, BOX_COMPACT, false, 4, 4096);
    box_start(&box, 0, NULL);
    assert_int_equal(trace_hub_event(&box.hub[0], BOX_TSC(0x2000), 0, 0x0F43, 2, parts, 3), 0);
    box_stop(&box, 0, BOX_TSC(0x3000));
    assert_string_equal(event_of(0x0F43), "020011c02000430f"
                                          "0020000000000000"
                                          "6162"
                                          "3412000000000000"
                                          "636465666768");
    box_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),    cmocka_unit_test(hooks),
                                       cmocka_unit_test(too_large), cmocka_unit_test(which_hooks),
                                       cmocka_unit_test(account),   cmocka_unit_test(times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
