/* SPDX-License-Identifier: MIT */
/*
 * The live events, byte by byte as trace/wire/activity.h has them, and their truth; and that each goes to the
 * sessions that want it and to no other.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/gate.h"
#include "kernel/this_thread.h"
#include "kernel/thread.h"
#include "kernel/truth/truth.h"
#include "tests/unit/support/cmocka.h"

static struct kcpu machine;
static struct kthread running, other;
static uint64_t now;

#include "tests/unit/fake/processor.h"

uint64_t arch_rdtsc(void)
{
    return now;
}

struct kthread *kthread_from_stack(void)
{
    return &running;
}

#include "ds/ds.h"

static unsigned pauses, resumes;

void ds_pause(struct ds_cpu *ds)
{
    (void)ds;
    pauses++;
}

void ds_resume(struct ds_cpu *ds)
{
    (void)ds;
    resumes++;
}

#include "kernel/activity/events.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/tracepoint/witness_activity.h"
#include "tests/unit/support/trace_support.h"
#include "trace/pmc_sources.h"

uint16_t kactivity_source(uint32_t cpu, uint32_t event)
{
    assert_true(cpu == machine.arch.index && event == 7);
    return TRACE_PMC_INSTRUCTION_RETIRED;
}

static uint8_t truth[CAIRN_TRUTH_BYTES];
static unsigned truths;
bool ktruth_kept = true;

void ktruth_write(uint32_t index, const void *record)
{
    assert_int_equal(index, machine.arch.index);
    memcpy(truth, record, sizeof truth);
    truths++;
}

/* ---- one session that wants `group` ------------------------------------------------------------------------------ */

static struct box box;

static void begin(uint32_t group)
{
    box_open(&box, 1, BOX_COMPACT, false, 4, 8192);
    machine = (struct kcpu){.trace = &box.hub[0], .current = &running, .irq_depth = 1};
    running = (struct kthread){.tid = 0x20, .priority = 9, .base_priority = 8, .state = KTHREAD_RUNNING};
    other = (struct kthread){.tid = 0x1234, .priority = 12, .base_priority = 8, .state = KTHREAD_WAITING};
    truths = 0;
    processor = (struct processor){.cpu = &machine};
    box.config.masks = (struct perfinfo_groupmask){0};
    if (group)
        trace_group_add(&box.config.masks, group);
    box_start(&box, 0, NULL);
    now = BOX_TSC(0x2233445566);
}

/* The only event besides the session's own has these bytes, header and all. */
static void end(const char *hex)
{
    uint32_t cpu_buffer, at = 0;
    struct naive_event event;
    bool ok, found = false;
    char text[2 * 256 + 1] = "";
    box_stop(&box, 0, BOX_TSC(0x3000000000));
    assert_int_equal(trace_session_buffers(box.session), 1);
    const uint8_t *buffer = (const void *)trace_session_buffer(box.session, 0, &cpu_buffer);
    while (naive_other(buffer, &at, &event, &ok)) {
        assert_false(found);
        found = true;
        const uint8_t *p = event.payload - 16;
        for (uint32_t i = 0; i < event.size + 16; i++)
            snprintf(text + 2 * i, 3, "%02x", p[i]);
    }
    assert_true(ok);
    assert_string_equal(text, hex);
    box_close(&box);
}

#define HEADER(version, size, hook) version "0011c0" size "00" hook "6655443322000000"

/* ---- */

static void ready(void **state)
{
    (void)state;
    begin(PERF_DISPATCHER);
    assert_int_equal(kactivity_ready(&machine, &other, ETW_ADJUST_UNWAIT, 2), now);
    end(HEADER("02", "18", "3205") "34120000"
                                   "01020000");
    begin(PERF_DISPATCHER);
    machine.in_dpc = true;
    assert_int_equal(kactivity_ready(&machine, &other, ETW_ADJUST_NONE, 0), now);
    end(HEADER("02", "18", "3205") "34120000"
                                   "00000100");
}

static void priority(void **state)
{
    (void)state;
    begin(PERF_PRIORITY);
    assert_int_equal(kactivity_priority(&machine, &other, 8, 8), now);
    end(HEADER("03", "18", "3005") "34120000"
                                   "080c0c00");
    begin(PERF_PRIORITY);
    other.base_priority = 12;
    assert_int_equal(kactivity_priority(&machine, &other, 12, 8), now);
    end(HEADER("03", "18", "3105") "34120000"
                                   "080c0c00");
    begin(PERF_PRIORITY);
    assert_int_equal(kactivity_priority(&machine, &other, 12, 8), 0); /* nothing has changed */
    end("");
}

static void profile(void **state)
{
    const struct arch_trap_frame frame = {.rip = 0xFFFFFFFF80123456, .vector = ARCH_VECTOR_TIMER};
    (void)state;
    begin(PERF_PROFILE);
    assert_int_equal(kactivity_profile(&machine, &frame), now);
    end(HEADER("02", "20", "2e0f") "56341280ffffffff"
                                   "20000000"
                                   "01004800");
    begin(PERF_PROFILE);
    machine.in_dpc = true;
    machine.irq_depth = 2;
    running.priority = 31;
    assert_int_equal(kactivity_profile(&machine, &frame), now);
    end(HEADER("02", "20", "2e0f") "56341280ffffffff"
                                   "20000000"
                                   "0100f900");
}

static void pmc(void **state)
{
    const struct arch_trap_frame frame = {.rip = 0x401000, .vector = ARCH_VECTOR_PMI};
    (void)state;
    begin(PERF_PMC_PROFILE);
    assert_int_equal(kactivity_pmc(&machine, &frame, TRACE_PMC_INSTRUCTION_RETIRED), now);
    end(HEADER("02", "20", "2f0f") "0010400000000000"
                                   "20000000"
                                   "1a000000");
}

static void handler(struct arch_trap_frame *frame)
{
    (void)frame;
}

/* The address of a function of this program is not known beforehand. */
static const char *with_address(const char *before, const void *address, const char *behind)
{
    static char text[256];
    uint64_t a = (uintptr_t)address;
    int n = snprintf(text, sizeof text, "%s", before);
    for (unsigned i = 0; i < 8; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%02x", (unsigned)(a >> 8 * i & 0xFF));
    snprintf(text + n, sizeof text - (size_t)n, "%s", behind);
    return text;
}

static void interrupt(void **state)
{
    (void)state;
    begin(PERF_INTERRUPT);
    uint64_t began = kactivity_begin(&machine, PERF_INTERRUPT);
    assert_int_equal(began, now);
    now += BOX_TSC(0x10);
    assert_int_equal(kactivity_interrupt(&machine, ARCH_VECTOR_TIMER, handler, began), now);
    end(with_address("020011c02400430f76554433220000006655443322000000", (const void *)handler, "01e00000"));
    begin(PERF_INTERRUPT);
    assert_int_equal(kactivity_interrupt(&machine, ARCH_VECTOR_TIMER, handler, 0), 0); /* it began before the session */
    end("");
}

static void dpc(void **state)
{
    (void)state;
    begin(PERF_DPC);
    assert_int_equal(kactivity_dpc(&machine, (const void *)handler, false, BOX_TSC(0x2233445500)), now);
    end(with_address(HEADER("02", "20", "440f") "0055443322000000", (const void *)handler, ""));
    begin(PERF_DPC);
    assert_int_equal(kactivity_dpc(&machine, (const void *)handler, true, BOX_TSC(0x2233445500)), now);
    end(with_address(HEADER("02", "20", "450f") "0055443322000000", (const void *)handler, ""));
}

static void mark(void **state)
{
    char text[ETW_MARK_MAX + 2], hex[2 * ETW_MARK_MAX + 64] = HEADER("00", "90", "220f");
    (void)state;
    begin(PERF_CAIRN_MARK);
    processor.irq_on = true;
    kactivity_mark("here");
    assert_true(processor.irq_on);
    end(HEADER("00", "15", "220f") "6865726500");
    begin(PERF_CAIRN_MARK);
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    kactivity_mark(text);
    assert_false(processor.irq_on);
    for (unsigned i = 0; i < ETW_MARK_MAX - 1; i++)
        strcat(hex, "61");
    end(strcat(hex, "00"));
}

/* A sampled thread is not stepped while it writes; in an interrupt of its counting is paused anyway. */
static void sampled_mark(void **state)
{
    (void)state;
    begin(PERF_CAIRN_MARK);
    running.flags = KTHREAD_SAMPLED;
    pauses = resumes = 0;
    kactivity_mark("it");
    assert_true(pauses == 0 && resumes == 0);
    machine.irq_depth = 0;
    machine.trace = NULL;
    kactivity_mark("he");
    assert_true(pauses == 1 && resumes == 1);
    assert_int_equal(running.gate_depth, 0);
    machine.trace = &box.hub[0];
    end(HEADER("00", "13", "220f") "697400");
}

/* A session that wants none of it gets none, and there is nothing to witness. */
static void unwanted(void **state)
{
    const struct arch_trap_frame frame = {.vector = ARCH_VECTOR_TIMER};
    static const uint32_t groups[] = {0,        PERF_DISPATCHER, PERF_PRIORITY,  PERF_PROFILE,
                                      PERF_DPC, PERF_INTERRUPT,  PERF_CAIRN_MARK};
    (void)state;
    for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        begin(groups[i]);
        uint32_t at = 0, cpu_buffer;
        unsigned events = 0;
        struct naive_event event;
        bool ok;
        assert_int_equal(kactivity_ready(&machine, &other, ETW_ADJUST_NONE, 0) != 0, groups[i] == PERF_DISPATCHER);
        assert_int_equal(kactivity_priority(&machine, &other, 1, 8) != 0, groups[i] == PERF_PRIORITY);
        assert_int_equal(kactivity_profile(&machine, &frame) != 0, groups[i] == PERF_PROFILE);
        assert_int_equal(kactivity_begin(&machine, PERF_DPC) != 0, groups[i] == PERF_DPC);
        assert_int_equal(kactivity_begin(&machine, PERF_INTERRUPT) != 0, groups[i] == PERF_INTERRUPT);
        /* It may have been stopped since the beginning. */
        assert_int_equal(kactivity_dpc(&machine, (const void *)handler, false, 1) != 0, groups[i] == PERF_DPC);
        assert_int_equal(kactivity_interrupt(&machine, 0xE0, handler, 1) != 0, groups[i] == PERF_INTERRUPT);
        kactivity_mark("x");
        kwitness_sample(&machine, &frame, 0, 0);
        kwitness_thread(&machine, KACTIVITY_READY, &other, kactivity_look(&other), 0);
        kwitness_interrupt(&machine, &frame, handler, 0, 0);
        kwitness_dpc(&machine, (const void *)handler, false, 0, 0);
        assert_int_equal(truths, 0);
        box_stop(&box, 0, now);
        assert_int_equal(trace_session_buffers(box.session), 1);
        while (naive_other((const void *)trace_session_buffer(box.session, 0, &cpu_buffer), &at, &event, &ok))
            events++;
        assert_int_equal(events, groups[i] != 0);
        box_close(&box);
    }
    machine = (struct kcpu){.current = &running};
    assert_int_equal(kactivity_ready(&machine, &other, ETW_ADJUST_NONE, 0), 0); /* no session at all yet */
    kactivity_mark("x");
}

/* ---- the truth */
static void witness(void **state)
{
    const struct arch_trap_frame frame = {.rip = 0x401000, .vector = ARCH_VECTOR_TIMER};
    struct cairn_truth_thread t;
    struct cairn_truth_interrupt i;
    (void)state;
    machine = (struct kcpu){.arch.index = 3, .irq_depth = 1, .in_dpc = true};
    running = (struct kthread){.tid = 0x20, .priority = 9};
    other = (struct kthread){.tid = 0x44, .priority = 8, .base_priority = 8, .state = KTHREAD_WAITING};
    struct kactivity_before before = kactivity_look(&other);
    other.priority = 10;
    other.state = KTHREAD_STANDBY;
    kwitness_thread(&machine, KACTIVITY_READY, &other, before, 77);
    memcpy(&t, truth, sizeof t);
    const struct cairn_truth_thread ready_truth = {
        .kind = CAIRN_TRUTH_THREAD,
        .cpu = 3,
        .what = CAIRN_THREAD_READY,
        .level = CAIRN_LEVEL_DPC,
        .tid = 0x44,
        .tsc = 77,
        .old_priority = 8,
        .new_priority = 10,
        .old_base = 8,
        .new_base = 8,
        .waited = 1,
        .state = KTHREAD_STANDBY,
    };
    assert_memory_equal(&t, &ready_truth, sizeof t);

    machine.irq_depth = 2;
    kwitness_sample(&machine, &frame, 0, 78);
    memcpy(&i, truth, sizeof i);
    const struct cairn_truth_interrupt sample = {
        .kind = CAIRN_TRUTH_INTERRUPT,
        .cpu = 3,
        .what = CAIRN_INTERRUPT_PROFILE,
        .level = CAIRN_LEVEL_DPC,
        .tid = 0x20,
        .tsc = 78,
        .address = 0x401000,
        .priority = 9,
    };
    assert_memory_equal(&i, &sample, sizeof i);

    machine.irq_depth = 1;
    machine.in_dpc = false;
    kwitness_interrupt(&machine, &frame, handler, 70, 79);
    memcpy(&i, truth, sizeof i);
    const struct cairn_truth_interrupt handled = {
        .kind = CAIRN_TRUTH_INTERRUPT,
        .cpu = 3,
        .what = CAIRN_INTERRUPT_HANDLED,
        .tid = 0x20,
        .begin = 70,
        .tsc = 79,
        .address = (uintptr_t)handler,
        .vector = ARCH_VECTOR_TIMER,
        .priority = 9,
    };
    assert_memory_equal(&i, &handled, sizeof i);

    kwitness_dpc(&machine, (const void *)handler, true, 71, 80);
    memcpy(&i, truth, sizeof i);
    const struct cairn_truth_interrupt timer = {
        .kind = CAIRN_TRUTH_INTERRUPT,
        .cpu = 3,
        .what = CAIRN_INTERRUPT_TIMER_DPC,
        .tid = 0x20,
        .begin = 71,
        .tsc = 80,
        .address = (uintptr_t)handler,
        .priority = 9,
    };
    assert_memory_equal(&i, &timer, sizeof i);
    assert_int_equal(truths, 4);
    ktruth_kept = false; /* truth=0 */
    kwitness_dpc(&machine, (const void *)handler, true, 71, 80);
    assert_int_equal(truths, 4);
}

/* What the kernel calls: as many truths as there are events, in a session of all groups; none without. */
static void hooks(void **state)
{
    const struct arch_trap_frame frame = {.vector = ARCH_VECTOR_TIMER}, overflow = {.vector = ARCH_VECTOR_PMI};
    static const uint32_t groups[] = {PERF_DISPATCHER,  PERF_PRIORITY, PERF_PROFILE,
                                      PERF_PMC_PROFILE, PERF_DPC,      PERF_INTERRUPT};
    struct cairn_truth_interrupt i;
    struct cairn_truth_thread t;
    (void)state;
    ktruth_kept = true;
    for (unsigned all = 0; all < 2; all++) {
        begin(0);
        for (unsigned g = 0; all && g < sizeof groups / sizeof groups[0]; g++)
            trace_group_add(&machine.trace->wanted, groups[g]);
        const uint64_t began = now;
        kactivity_interrupt_begins(&machine); /* in its DPC another one comes */
        kactivity_tick(&machine, &frame);
        now++;
        kactivity_dpc_begins(&machine);
        machine.in_dpc = true;
        machine.irq_depth = 2;
        now++;
        kactivity_interrupt_begins(&machine);
        kactivity_overflow(&machine, &overflow, 7);
        now++;
        kactivity_interrupt_ends(&machine, &overflow, handler);
        memcpy(&i, truth, sizeof i);
        assert_true(!all || (i.begin == began + 2 && i.tsc == began + 3 && i.vector == ARCH_VECTOR_PMI));
        machine.irq_depth = 1;
        machine.in_dpc = false;
        kactivity_dpc_ends(&machine, (const void *)handler, false);
        memcpy(&i, truth, sizeof i);
        assert_true(!all || (i.begin == began + 1 && i.what == CAIRN_INTERRUPT_DPC));
        kactivity_interrupt_ends(&machine, &frame, handler);
        memcpy(&i, truth, sizeof i);
        assert_true(!all || (i.begin == began && i.vector == ARCH_VECTOR_TIMER));
        assert_int_equal(truths, all ? 5 : 0);

        const struct kactivity_before before = {KTHREAD_WAITING, 8, 8};
        other.state = KTHREAD_STANDBY;
        kactivity_thread(&machine, KACTIVITY_READY, &other, before, 4); /* ready, and higher */
        memcpy(&t, truth, sizeof t);
        assert_int_equal(truths, all ? 7 : 0);
        assert_true(!all || (t.what == CAIRN_THREAD_BOOST && t.old_priority == 8 && t.new_priority == 12));
        kactivity_thread(&machine, KACTIVITY_DECAY, &other, (struct kactivity_before){KTHREAD_RUNNING, 13, 8}, 0);
        kactivity_thread(&machine, KACTIVITY_SET, &other, kactivity_look(&other), 0); /* to what it was */
        memcpy(&t, truth, sizeof t);
        assert_int_equal(truths, all ? 8 : 0);
        assert_true(!all || (t.what == CAIRN_THREAD_DECAY && t.old_priority == 13));
        memset(&machine.trace->wanted, 0, sizeof machine.trace->wanted);
        box_stop(&box, 0, now);
        box_close(&box);
    }
}

static int no_truths(void **state)
{
    (void)state;
    truths = 0;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready),     cmocka_unit_test(priority),
        cmocka_unit_test(profile),   cmocka_unit_test(pmc),
        cmocka_unit_test(interrupt), cmocka_unit_test(dpc),
        cmocka_unit_test(mark),      cmocka_unit_test(sampled_mark),
        cmocka_unit_test(unwanted),  cmocka_unit_test_setup(witness, no_truths),
        cmocka_unit_test(hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
