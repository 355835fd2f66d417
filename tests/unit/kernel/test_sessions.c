/* SPDX-License-Identifier: MIT */
/*
 * Sessions made, started, changed, stopped and unmade at run time: what each call answers, what it takes of memory and
 * gives back, and what the truth holds of it.
 */
#include "tests/unit/kernel/sessions/sessions_machine.h"

#include <stdio.h>

#include "kernel/pmc/options.h"
#include "kernel/pmc/pmc.h"
#include "kernel/sessions/sessions.h"
#include "trace/pmc_sources.h"
#include "trace/session_inside.h"
#include "trace/wire/activity.h"

static char error[256];

static void too_slow_a_clock(void **state)
{
    (void)state;
    tsc_hz = 2 * TRACE_CLOCK_HZ;
    assert_int_equal(ksession_init(error, sizeof error), -ERANGE);
    assert_string_equal(error, "the TSC runs at 20000000 Hz, the trace clock needs more than 20 MHz");
}

/* Sizes that are too small or too large: one line each, and nothing is taken. */
static void absurd_sizes(void **state)
{
    (void)state;
    static const struct {
        struct ksession_params p;
        int e;
        const char *line;
    } rows[] = {
        {{.number = 2, .clock = 1, .buffer_kib = 4, .buffers = 2}, -EINVAL, "2 trace buffers are too few for 3 CPUs"},
        {{.number = 2, .clock = 1, .circular = true, .buffer_kib = 4, .buffers = 3}, -EINVAL, "give at least 4"},
        {{.number = 2, .clock = 1, .buffer_kib = 1024, .buffers = 1024 * 1024}, -ENOMEM, "are free: ask for fewer"},
        {{.number = 2, .clock = 1, .buffer_kib = 1024, .buffers = 4}, -ENOMEM, "need 4097 KiB, "},
    };
    size_t taken = pages_taken;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        error[0] = '\0';
        assert_int_equal(ksession_create(&rows[i].p, error, sizeof error), rows[i].e);
        if (!strstr(error, rows[i].line))
            fail_msg("%s", error);
        assert_null(strchr(error, '\n'));
        assert_null(ksession_find(2));
        assert_int_equal(pages_taken, taken);
    }
}

/* What is counted, and what the options ask for of it. */
static void ask(const char *sources, const char *hooks, uint32_t counting)
{
    static const struct ds_config some = {.events = 1};
    snprintf(kpmc_options.counters, sizeof kpmc_options.counters, "%s", sources);
    snprintf(kpmc_options.hooks, sizeof kpmc_options.hooks, "%s", hooks);
    kds_store = (struct kds){.pebs = true, .ds.counting = counting, .config = {&some, &some, &some}};
}

static int prepare(struct ksession_params *p, bool *automatic)
{
    return ksession_prepare(p, automatic, error, sizeof error);
}

/* How often the session's buffers of a CPU name its items. */
static unsigned named(uint32_t number, uint32_t cpu)
{
    static const char names[] = "T\0o\0t\0a\0l\0C\0y\0c\0l\0e\0s\0\0\0I\0n\0s\0t\0r\0u\0c\0t\0i\0o\0n\0"
                                "R\0e\0t\0i\0r\0e\0d\0\0";
    const struct trace_session *s = ksession_find(number);
    const struct trace_cpu *c = trace_session_cpu(ksession_find(number), cpu);
    unsigned n = 0;
    for (uint32_t i = 0; i < s->config.buffers; i++) {
        const uint8_t *buffer = trace_slot_buffer(s, i);
        const struct wmi_buffer_header *h = (const void *)buffer;
        if (!s->slot[i].state || s->slot[i].cpu != cpu)
            continue;
        const uint64_t end = &s->slot[i] == trace_cpu_slot(c) ? c->used : h->offset;
        for (uint64_t at = sizeof *h; at < end;) {
            const struct perfinfo_trace_header *e = (const void *)(buffer + at);
            at += WMI_EVENT_ALIGN(e->size);
            if (e->hook_id != HOOK_PMC_CONFIG)
                continue;
            assert_int_equal(e->size, sizeof *e + 4 + sizeof names);
            assert_int_equal(*(const uint32_t *)(const void *)(e + 1), 2);
            assert_memory_equal((const uint8_t *)(e + 1) + 4, names, sizeof names);
            n++;
        }
    }
    return n;
}

/* PMC items of the options: of sessions that write such events; their names are told on CPU 0 whenever the session
 * begins. */
static void items(void **state)
{
    (void)state;
    struct ksession_params p = control_params(2, "none"), other = control_params(3, "compact");
    bool automatic = true, not = false;
    ask("none", "0x0524", 0);
    assert_int_equal(prepare(&p, &automatic), 0);
    assert_true(automatic && !p.items && !trace_group_full(&p.masks));
    ask("TotalCycles,InstructionRetired", "0x0524", 2);
    assert_int_equal(prepare(&p, &automatic), 0);
    assert_int_equal(prepare(&other, &not ), 0);
    assert_true(!automatic && trace_group_full(&p.masks) && p.items && !other.items);
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    assert_int_equal(ksession_create(&other, error, sizeof error), 0);
    for (unsigned life = 0; life < 2; life++)
        for (uint32_t number = 2; number < 4; number++) {
            assert_int_equal(ksession_start(number, NULL), 0);
            assert_int_equal(ksession_stop(number), 0);
            assert_int_equal(named(number, 0), number == 2 ? life + 1 : 0);
        }
    assert_int_equal(named(2, 1) + named(2, 2), 0);
    assert_true(p.items->count == 2 && p.items->counter[0] == 0 && p.items->counter[1] == 1);
    uint64_t values[TRACE_PMC_MAX] = {0};
    here = 2;
    trace_pmc_read(2, values);
    here = 0;
    assert_true(values[0] == 2000 && values[1] == 2001);
}

/* Each CPU has to count them. */
static void items_where_pebs_is_not(void **state)
{
    static const struct ds_config none;
    struct ksession_params p = control_params(2, "full");
    bool automatic = false;
    (void)state;
    ask("TotalCycles", "0x0524", 1);
    kds_store.config[2] = &none;
    assert_int_equal(prepare(&p, &automatic), -ENODEV);
    assert_string_equal(error,
                        "session.pmc=TotalCycles counts beside PEBS only, which CPU 2 does not have: it is small");
    kds_store.pebs = false;
    snprintf(kds_store.reason, sizeof kds_store.reason, "no PEBS");
    assert_int_equal(prepare(&p, &automatic), -ENODEV);
    assert_string_equal(error, "session.pmc=TotalCycles counts beside PEBS only, which is not available: no PEBS");
}

/* The PMC items that CPU's events of this session carry. */
static const struct trace_pmc *carried(uint32_t number, uint32_t cpu)
{
    static const struct trace_pmc none;
    const struct trace_pmc *items_here = trace_session_cpu(ksession_find(number), cpu)->items;
    return items_here ? items_here : &none;
}

/* Counters, once, and hooks, again and again, of a session that runs: on every CPU, over all of its lives. */
static void items_at_run_time(void **state)
{
    (void)state;
    const struct ksession_params p = control_params(2, "full");
    const uint32_t good[] = {TRACE_PMC_TOTAL_CYCLES, TRACE_PMC_INSTRUCTION_RETIRED};
    const uint32_t bad[][2] = {{TRACE_PMC_TOTAL_CYCLES, TRACE_PMC_BRANCH_INSTRUCTIONS},
                               {0x10000 + TRACE_PMC_INSTRUCTION_RETIRED, TRACE_PMC_TOTAL_CYCLES}};
    const uint32_t hook[] = {0x0524, 0x0532, 0x0F2E, 0x0F43};
    struct ksession_params first = control_params(1, "none");
    bool automatic = false;
    ask("TotalCycles,InstructionRetired", "0x0524", 2);
    assert_int_equal(prepare(&first, &automatic), 0); /* what the options ask for is counted for all */
    assert_int_equal(kpmc_set_counters(2, good, 2), -ENOENT);
    assert_int_equal(kpmc_set_hooks(2, hook, 4), -ENOENT);
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    assert_int_equal(kpmc_set_counters(2, good, 2), -EINVAL);
    assert_int_equal(kpmc_set_hooks(2, hook, 4), -EINVAL);
    assert_int_equal(ksession_start(2, NULL), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(kpmc_set_counters(2, bad[i], 2), -ENODEV);
    assert_int_equal(calls, 1); /* no CPU heard of any of it */
    for (uint32_t i = 0; i < CPUS; i++)
        assert_true(!carried(2, i)->count && !carried(2, i)->hooks);
    assert_int_equal(named(2, 0), 0);

    assert_int_equal(kpmc_set_hooks(2, hook, 4), 0);
    assert_int_equal(kpmc_set_counters(2, good, 2), 0);
    assert_int_equal(named(2, 0), 1);
    assert_int_equal(kpmc_set_counters(2, good, 1), -EEXIST);
    assert_int_equal(kpmc_set_hooks(2, hook + 1, 2), 0);
    assert_int_equal(calls, 4);
    for (uint32_t i = 0; i < CPUS; i++) {
        const struct trace_pmc expected = {
            .count = 2, .source = {19, 26}, .counter = {0, 1}, .hooks = 2, .hook = {0x0532, 0x0F2E}};
        assert_memory_equal(carried(2, i), &expected, sizeof expected);
    }
    assert_int_equal(ksession_stop(2), 0);
    assert_int_equal(ksession_start(2, NULL), 0);
    assert_int_equal(carried(2, 1)->count, 2);
    assert_int_equal(named(2, 0), 2); /* each life names them, once */
    assert_int_equal(kpmc_set_counters(2, good, 2), -EEXIST);
    assert_int_equal(kpmc_set_hooks(2, NULL, 0), 0);
    assert_int_equal(carried(2, 2)->hooks, 0);
    assert_int_equal(named(2, 0), 2);
}

/* A session takes its pages and no more, again and again. */
static void made_and_unmade(void **state)
{
    (void)state;
    size_t taken = pages_taken;
    for (unsigned i = 0; i < 50; i++) {
        for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
            struct ksession_params p = control_params(number, "compact");
            p.clock = 1 + number % 3;
            assert_int_equal(ksession_create(&p, error, sizeof error), 0);
            assert_int_equal(ksession_start(number, NULL), 0);
        }
        for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
            assert_int_equal(ksession_stop(number), 0);
            control_destroy(number);
            assert_null(ksession_get(number));
        }
        assert_int_equal(pages_taken, taken);
        truths = 0;
    }
}

static void states(void **state)
{
    (void)state;
    struct ksession_params p = control_params(2, "full");
    p.buffers = 12;
    struct perfinfo_groupmask other = box_masks(BOX_COMPACT), masks;
    assert_int_equal(ksession_masks(2, &masks), -ENOENT);
    assert_int_equal(ksession_start(2, NULL), -ENOENT);
    assert_int_equal(ksession_stop(2), -ENOENT);
    assert_int_equal(ksession_change(2, &other), -ENOENT);
    for (uint32_t number = 0; number <= TRACE_MAX_SESSIONS + 1; number++)
        assert_true(!ksession_get(number) && !ksession_find(number));
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    assert_int_equal(ksession_stop(2), -EINVAL);
    assert_int_equal(ksession_change(2, &other), -EINVAL);
    assert_int_equal(ksession_masks(2, &masks), -EINVAL);
    assert_int_equal(calls, 0);
    const struct ksession *s = ksession_get(2);
    assert_true(s && !s->running && !s->lives && !s->start_tsc && !s->stop_tsc);
    assert_int_equal(trace_session_config(s->session)->number, 2);
    assert_int_equal(trace_session_config(s->session)->buffer_bytes, 4096);
    assert_int_equal(ksession_start(2, NULL), 0);
    assert_int_equal(ksession_start(2, NULL), -EBUSY);
    assert_true(s->running && s->lives == 1 && s->start_tsc && !s->stop_tsc);
    assert_memory_equal(&s->masks, &p.masks, sizeof s->masks);
    uint64_t start = s->start_tsc;
    assert_int_equal(ksession_change(2, &other), 0);
    assert_true(ksession_masks(2, &masks) == 0 && memcmp(&masks, &other, sizeof masks) == 0);
    assert_int_equal(ksession_stop(2), 0);
    assert_true(!s->running && s->start_tsc == start && s->stop_tsc > start);
    assert_memory_equal(&s->masks, &other, sizeof s->masks);
    assert_memory_equal(&trace_session_config(s->session)->masks, &p.masks, sizeof p.masks);
    assert_int_equal(ksession_start(2, &p.masks), 0);
    assert_true(s->lives == 2 && s->start_tsc == start);
    assert_int_equal(ksession_counts(s).events_written, CPUS * 4);
    assert_int_equal(calls, 4);
    assert_int_equal(changes_told, 4);
    assert_false(locked);
    /* The truth: each CPU's, in the order of the calls. */
    static const uint8_t whats[] = {CAIRN_SESSION_START, CAIRN_SESSION_MASKS, CAIRN_SESSION_STOP, CAIRN_SESSION_START};
    assert_int_equal(truths, CPUS * 4);
    for (unsigned i = 0; i < truths; i++) {
        assert_int_equal(truth_seen[i].what, whats[i / CPUS]);
        assert_int_equal(truth_seen[i].cpu, CPUS - 1 - i % CPUS);
        assert_int_equal(truth_seen[i].session, 2);
        assert_int_equal(truth_seen[i].life, i / CPUS == 3);
        assert_true(i == 0 || truth_seen[i].tsc > truth_seen[i - 1].tsc);
    }
}

static bool then_here(void)
{
    assert_true(trace_hub_on(cpus[here].trace)); /* before the counters count, and until they have stopped */
    calls += 100;
    return false;
}

static void first_here(void *unused)
{
    (void)unused;
    then_here();
}

/* All at once, as the run begins and ends; one that was stopped before is left alone. */
static void all_at_once(void **state)
{
    (void)state;
    for (uint32_t number = 1; number <= 3; number++) {
        struct ksession_params p = control_params(number, "compact");
        assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    }
    before_and_after = true;
    ksession_start_all(then_here);
    before_and_after = false;
    assert_int_equal(calls, 1 + 100 * CPUS);
    for (uint32_t number = 1; number <= 3; number++)
        assert_true(ksession_get(number)->running && ksession_get(number)->lives == 1);
    assert_int_equal(ksession_stop(3), 0);
    uint64_t stop = ksession_get(3)->stop_tsc;
    before_and_after = true;
    ksession_stop_all(first_here);
    before_and_after = false;
    for (uint32_t number = 1; number <= 3; number++)
        assert_false(ksession_get(number)->running);
    assert_int_equal(ksession_get(3)->stop_tsc, stop);
    for (uint32_t i = 0; i < CPUS; i++)
        assert_false(trace_hub_on(cpus[i].trace));
    assert_int_equal(truths, CPUS * 6);
    assert_int_equal(changes_told, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(too_slow_a_clock, control_begin, control_end),
        cmocka_unit_test_setup_teardown(absurd_sizes, control_begin, control_end),
        cmocka_unit_test_setup_teardown(items, control_begin, control_end),
        cmocka_unit_test_setup_teardown(items_where_pebs_is_not, control_begin, control_end),
        cmocka_unit_test_setup_teardown(items_at_run_time, control_begin, control_end),
        cmocka_unit_test_setup_teardown(made_and_unmade, control_begin, control_end),
        cmocka_unit_test_setup_teardown(states, control_begin, control_end),
        cmocka_unit_test_setup_teardown(all_at_once, control_begin, control_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
