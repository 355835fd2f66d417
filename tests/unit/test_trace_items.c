/* SPDX-License-Identifier: MIT */
/* What events may carry beside their payload's own bytes: PMC items on 0524H, times in each session's clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/errno.h"
#include "tests/unit/trace_support.h"

static struct box box;

static void open_with(uint32_t pmcs, uint32_t buffers, uint32_t buffer_bytes)
{
    box_open(&box, 1, BOX_FULL, false, buffers, buffer_bytes);
    box.config.pmcs = pmcs;
    for (uint32_t i = 0; i < pmcs; i++)
        box.config.pmc[i] = (uint8_t)(pmcs - 1 - i); /* the other way round */
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

static const struct trace_switch sw = {.tsc = BOX_TSC(1000), .old_tid = 0x01020304, .new_tid = 0x11121314,
                                       .new_wait = 0x21222324, .old_quantum = -2, .old_state = 9, .old_wait_reason = 38,
                                       .old_priority = 31, .old_base = 8, .new_priority = 15, .old_ideal_processor = 7};
#define CONTEXTSWAP "14131211040302010f1f00002600090724232221feffffff"

/* PebsIndex first, then the counters in the session's order, then the payload. */
static void values(void **state)
{
    const uint64_t counters[] = {0x2122232425262728, 0x3132333435363738};
    volatile uint64_t pebs_index = 0xFFFF8000001000C0;
    struct trace_switch with = sw;
    (void)state;
    with.counters = counters;
    open_with(2, 4, 4096);
    box_start(&box, 0, &pebs_index);
    trace_hub_switch(&box.hub[0], &with);
    box_stop(&box, 0, BOX_TSC(2000));
    assert_string_equal(event_of(0x0524), "028211c040002405e803000000000000" /* 8000H, two counters, version 2 */
                                          "c00010000080ffff" "3837363534333231" "2827262524232221" CONTEXTSWAP);
    box_close(&box);

    open_with(1, 4, 4096);
    box_start(&box, 0, NULL); /* without a Debug Store's index */
    trace_hub_switch(&box.hub[0], &with);
    box_stop(&box, 0, BOX_TSC(2000));
    assert_string_equal(event_of(0x0524), "020111c030002405e803000000000000" "2827262524232221" CONTEXTSWAP);
    box_close(&box);

    open_with(1, 4, 4096);
    box_start(&box, 0, NULL); /* nobody has read them */
    trace_hub_switch(&box.hub[0], &sw);
    box_stop(&box, 0, BOX_TSC(2000));
    assert_string_equal(event_of(0x0524), "020111c030002405e803000000000000" "0000000000000000" CONTEXTSWAP);
    box_close(&box);
}

static void account(void **state)
{
    const uint64_t counters[TRACE_PMC_MAX] = {1, 2, 3, 4};
    struct trace_switch with = sw;
    struct trace_counts n;
    (void)state;
    with.counters = counters;
    open_with(TRACE_PMC_MAX, 2, 4096);
    box_start(&box, 0, NULL);
    for (unsigned i = 0; i < 500; i++)
        trace_hub_switch(&box.hub[0], &with);
    box_stop(&box, 0, BOX_TSC(2000));
    trace_cpu_counts(trace_session_cpu(box.session, 0), &n);
    assert_true(n.full_lost > 300 && n.full_written > 50);
    assert_int_equal(n.full_tried, n.full_written + n.full_lost);
    assert_int_equal(n.events_tried, n.events_written + n.events_lost);
    box_close(&box);

    box_open(&box, 1, BOX_FULL, false, 4, 4096);
    box.config.pmcs = TRACE_PMC_MAX + 1;
    assert_int_equal(trace_session_bytes(&box.config), 0); /* more than there may be */
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
    assert_string_equal(event_of(0x0F43), "020011c02000430f" "0020000000000000" "6162" "3412000000000000"
                                          "636465666768");
    box_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(account), cmocka_unit_test(times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
