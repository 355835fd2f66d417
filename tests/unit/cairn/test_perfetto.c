/* SPDX-License-Identifier: MIT */
/*
 * Call stacks in a Perfetto trace: what a viewer, which keeps what was interned until it is told to forget, finds for
 * each sample.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/export/perfetto/writer.h"

#define IIDS 65536u

static struct {
    bool valid;
    struct {
        uint64_t address; /* of the frame of that IID */
        bool frame;
        uint64_t frames[CAIRN_PF_DEPTH];
        size_t depth; /* of the call stack; 0: none */
        bool ever;    /* was written as a call stack once */
    } iid[IIDS];
    uint32_t packets, forgotten, samples;
    uint64_t stack; /* of the last sample */
    bool cut;       /* that one: it is not all */
} viewer;

static struct cairn_callstack called; /* what branches tell */

static struct cairn_log viewed;
static struct cairn_output shown = {.log = &viewed};
static struct cairn_pf_stacks interned;

/* ---- in place of the rest of the writer -------------------------------------------------------------------------- */

const char *cairn_out_function(const struct cairn_output *o, uint64_t address, char out[CAIRN_SHOWN])
{
    (void)o;
    (void)address;
    (void)out;
    return NULL;
}

int32_t cairn_pf_process(const struct cairn_output *o, uint32_t tid)
{
    (void)o;
    return tid ? CAIRN_PF_KERNEL_PROCESS : CAIRN_PF_IDLE_PROCESS;
}

int64_t cairn_out_ns(const struct cairn_output *o, int64_t time)
{
    (void)o;
    return time;
}

bool cairn_callstack_read(struct cairn_callstack *stack, struct cairn_branches *branches, const struct cairn_log *log,
                          struct cairn_elf *elf, const struct cairn_item *item)
{
    (void)branches;
    (void)log;
    (void)elf;
    (void)item;
    *stack = called;
    return called.count;
}

static void see_interned(const Pf__InternedData *data)
{
    for (size_t i = 0; i < data->n_frames; i++) {
        const Pf__Frame *f = data->frames[i];
        assert_in_range(f->iid, 1, IIDS - 1);
        assert_false(viewer.iid[f->iid].frame);
        viewer.iid[f->iid].frame = true;
        viewer.iid[f->iid].address = f->rel_pc;
    }
    for (size_t i = 0; i < data->n_callstacks; i++) {
        const Pf__Callstack *c = data->callstacks[i];
        assert_in_range(c->iid, 1, IIDS - 1);
        assert_in_range(c->n_frame_ids, 1, CAIRN_PF_DEPTH);
        assert_false(viewer.iid[c->iid].ever); /* it never means another */
        viewer.iid[c->iid].ever = true;
        viewer.iid[c->iid].depth = c->n_frame_ids;
        memcpy(viewer.iid[c->iid].frames, c->frame_ids, c->n_frame_ids * sizeof(uint64_t));
    }
}

void cairn_pf_put(struct cairn_output *o, Pf__TracePacket *p, enum cairn_pf_sequence sequence)
{
    const uint32_t flags = p->has_sequence_flags ? p->sequence_flags : 0;
    assert_ptr_equal(o, &shown);
    assert_int_equal(sequence, CAIRN_PF_SAMPLES);
    viewer.packets++;
    if (flags & PF__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED) {
        viewer.valid = true;
        viewer.forgotten++;
        for (size_t i = 0; i < IIDS; i++) {
            viewer.iid[i].frame = false;
            viewer.iid[i].depth = 0;
        }
    }
    if (flags & PF__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE)
        assert_true(viewer.valid);
    if (p->interned_data)
        see_interned(p->interned_data);
    if (p->perf_sample) {
        viewer.samples++;
        viewer.stack = p->perf_sample->callstack_iid;
        viewer.cut = p->perf_sample->has_unwind_error;
    }
}

/* ---- the tests --------------------------------------------------------------------------------------------------- */

static int begin(void **state)
{
    (void)state;
    memset(&viewer, 0, sizeof(viewer));
    memset(&interned, 0, sizeof(interned));
    called.count = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(interned.mapped);
    return 0;
}

static void expect_stack(uint64_t iid, const uint64_t *address, size_t depth)
{
    assert_in_range(iid, 1, IIDS - 1);
    assert_int_equal(viewer.iid[iid].depth, depth);
    for (size_t i = 0; i < depth; i++) {
        const uint64_t frame = viewer.iid[iid].frames[i];
        assert_in_range(frame, 1, IIDS - 1);
        assert_true(viewer.iid[frame].frame);
        assert_int_equal(viewer.iid[frame].address, address[i]);
    }
}

static void sample_at(uint64_t ip)
{
    const struct cairn_record record = {.ip = ip};
    const struct cairn_item item = {.kind = CAIRN_ITEM_RECORD, .record = &record};
    cairn_pf_sample(&shown, &interned, &item);
    expect_stack(viewer.stack, &ip, 1);
}

static void test_samples_find_their_address_however_many_there_are(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 3; round++)
        for (uint64_t i = 0; i < 2 * CAIRN_PF_NODES; i++)
            sample_at(UINT64_C(0xFFFFFFFF80000000) + i * 3);
    assert_int_equal(viewer.samples, 6 * CAIRN_PF_NODES);
    assert_in_range(viewer.forgotten, 3, 8);
}

static void test_what_the_viewer_has_is_not_written_again(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        sample_at(i % 10);
    assert_int_equal(viewer.forgotten, 1);
    assert_in_range(viewer.packets, 1000 + 2 * 10, 1000 + 2 * 10 + 5);
}

static uint64_t stack_of(const uint64_t *address, size_t depth)
{
    struct cairn_pf_place places[CAIRN_PF_DEPTH] = {0};
    for (size_t i = 0; i < depth; i++)
        places[i].address = address[i];
    return cairn_pf_stack(&shown, &interned, places, depth);
}

static void test_stacks_of_any_depth(void **state)
{
    static const uint64_t a[] = {1, 2, 3, 2, 1}, b[] = {3, 2, 1};
    uint64_t deep[CAIRN_PF_DEPTH], first[6];
    (void)state;
    for (size_t i = 0; i < CAIRN_PF_DEPTH; i++)
        deep[i] = i * i;
    for (int again = 0; again < 2; again++) {
        for (size_t depth = 1; depth <= 5; depth++) {
            const uint64_t iid = stack_of(a, depth);
            expect_stack(iid, a, depth);
            if (again)
                assert_int_equal(iid, first[depth]);
            first[depth] = iid;
        }
        expect_stack(stack_of(b, 3), b, 3);
        expect_stack(stack_of(deep, CAIRN_PF_DEPTH), deep, CAIRN_PF_DEPTH);
        expect_stack(stack_of(deep + 1, CAIRN_PF_DEPTH - 1), deep + 1, CAIRN_PF_DEPTH - 1);
    }
    assert_int_equal(viewer.forgotten, 1);
}

static void test_who_had_called_comes_first_and_is_never_all(void **state)
{
    static const uint64_t expected[] = {30, 20, 10, 5};
    const struct cairn_record record = {.ip = 5};
    const struct cairn_item item = {.kind = CAIRN_ITEM_RECORD, .record = &record};
    (void)state;
    called = (struct cairn_callstack){.call = {10, 20, 30}, .count = 3};
    cairn_pf_sample(&shown, &interned, &item);
    expect_stack(viewer.stack, expected, 4);
    assert_true(viewer.cut);
    called.count = 0;
    cairn_pf_sample(&shown, &interned, &item);
    expect_stack(viewer.stack, expected + 3, 1);
    assert_false(viewer.cut);
}

static void test_deep_stacks_do_not_fill_the_tree(void **state)
{
    uint64_t deep[CAIRN_PF_DEPTH];
    (void)state;
    for (uint64_t n = 0; n < 100; n++) {
        for (size_t i = 0; i < CAIRN_PF_DEPTH; i++)
            deep[i] = n << 32 | i;
        expect_stack(stack_of(deep, CAIRN_PF_DEPTH), deep, CAIRN_PF_DEPTH);
        assert_true(interned.used <= CAIRN_PF_NODES);
    }
    assert_true(viewer.forgotten > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_samples_find_their_address_however_many_there_are, begin, end),
        cmocka_unit_test_setup_teardown(test_what_the_viewer_has_is_not_written_again, begin, end),
        cmocka_unit_test_setup_teardown(test_stacks_of_any_depth, begin, end),
        cmocka_unit_test_setup_teardown(test_who_had_called_comes_first_and_is_never_all, begin, end),
        cmocka_unit_test_setup_teardown(test_deep_stacks_do_not_fill_the_tree, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
