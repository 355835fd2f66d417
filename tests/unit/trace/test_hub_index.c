/* SPDX-License-Identifier: MIT */
/* PebsIndex that has to be read first: when the hub has that done. */
#include <stdlib.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/hub_bench.h"
#include "trace/pebs23/hub_index.h"

static struct hub_bench *refreshed;
static unsigned refreshes;

static void refresh(uint32_t cpu)
{
    assert_int_equal(cpu, 1);
    refreshed->pebs_index = 0x1000 + ++refreshes;
}

/* An index that is in a register is read once for each batch, which carries it then; never for a switch. */
static void test_refreshed_index(void **state)
{
    (void)state;
    struct hub_bench b;
    hub_open(&b, 1, 0, 4, 65536);
    refreshed = &b;
    refreshes = 0;
    trace_hub_refresh_index(&b.hub[1], refresh);
    assert_int_equal(hub_start(&b, 1, 1, box_masks(BOX_COMPACT), 0), 0);
    assert_false(trace_hub_full(&b.hub[1]) || trace_hub_full(NULL));
    for (uint32_t i = 1; i <= 1000; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(100 * i), i);
        trace_hub_switch(&b.hub[1], &sw);
    }
    assert_true(refreshes > 3 && refreshes < 100);
    trace_hub_close_batches(&b.hub[1], BOX_TSC(110000), CCSWAP_CLOSE_DRAIN);
    trace_hub_close_batches(&b.hub[1], BOX_TSC(110000), CCSWAP_CLOSE_DRAIN); /* none is open */
    const unsigned closed = refreshes;
    assert_int_equal(hub_change(&b, 1, 1, box_masks(BOX_COMPACT | BOX_FULL), BOX_TSC(120000)), 0);
    assert_true(trace_hub_full(&b.hub[1]));
    hub_stop(&b, 1, 1, BOX_TSC(200000));
    assert_int_equal(refreshes, closed);
    unsigned batches = 0;
    bool ok = true;
    for (uint32_t n = 0, unused; n < trace_session_buffers(b.session[0]); n++) {
        const uint8_t *buffer = (const uint8_t *)trace_session_buffer(b.session[0], n, &unused);
        uint32_t at = 0;
        for (struct naive_event e; naive_next(buffer, &at, &e, &ok);)
            if (e.hook == 0x0525)
                assert_int_equal(e.index, 0x1000 + ++batches);
    }
    assert_true(ok && batches == closed);
    hub_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refreshed_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
