/* SPDX-License-Identifier: MIT */
/* What the host tool makes of rundown events: names, stretches, and the rules, each broken once. */
#include <stdlib.h>
#include <string.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/told.h"
#include "trace/groups.h"
#include "trace/rundown/rundown.h"

/* ---- events by hand ---------------------------------------------------------------------------------------------- */

static int64_t now;

static void ack(struct bytes *b, uint8_t what, uint32_t groups, uint32_t life)
{
    struct cairn_session_event e = {.what = what, .session = 1, .clock = 1, .life = life};
    e.masks[0] = groups;
    e.masks[1] = 4; /* 0524H */
    bytes_event(b, HOOK_CAIRN_SESSION, HOOK_VERSION_CAIRN_SESSION, ++now, NULL, &e, sizeof(e));
}

static void process(struct bytes *b, uint16_t hook, uint32_t id)
{
    const struct etw_process is = {.process_id = id, .exit_status = 7};
    struct etw_payload p;
    trace_rundown_process(&p, &is, "prog");
    bytes_event(b, hook, HOOK_VERSION_PROCESS, ++now, NULL, p.bytes, p.size);
}

static void thread(struct bytes *b, uint16_t hook, uint32_t id, uint32_t owner, const char *name)
{
    const struct etw_thread is = {.process_id = owner, .thread_id = id, .base_priority = 8};
    struct etw_payload p;
    trace_rundown_thread(&p, &is, name);
    bytes_event(b, hook, HOOK_VERSION_THREAD, ++now, NULL, p.bytes, p.size);
}

static void masks_end(struct bytes *b)
{
    const uint32_t masks[8] = {3};
    struct etw_payload p;
    trace_rundown_masks(&p, masks);
    bytes_event(b, HOOK_GROUP_MASKS_END, HOOK_VERSION_HEADER, ++now, NULL, p.bytes, p.size);
}

static void runs(struct bytes *b, uint32_t old, uint32_t new)
{
    bytes_full(b, ++now, old, new);
}

/* ---- logs -------------------------------------------------------------------------------------------------------- */

/* One buffer, in as many frames as it takes. */
static uint32_t write_events(struct writer *w, const struct bytes *events)
{
    uint32_t frames = 0, used = 0x48 + events->size;
    for (uint32_t at = 0, next; at < events->size; at = next, frames++) {
        struct bytes part = {0};
        for (next = at; next < events->size && next - at <= 800;)
            next += WMI_EVENT_ALIGN(events->data[next + 4] | (uint32_t)events->data[next + 5] << 8);
        bytes_add(&part, events->data + at, next - at);
        writer_piece(w, 0, 0, at ? 0x48 + at : 0, used, &part);
    }
    return frames;
}

/* Its bytes stay until the next one is read. */
static struct cairn_log *read(const struct bytes *events, const char *names)
{
    static struct writer w;
    struct cairn_log *log = calloc(1, sizeof(*log));
    char end[64], total[32];
    writer_free(&w);
    memset(&w, 0, sizeof(w));
    writer_text(&w, 'H', "dump.cause=end\n");
    writer_text(&w, 'N', names);
    writer_text(&w, 'L',
                "session.1.events=full\nsession.1.mode=sequential\nsession.1.cpus=1\nsession.1.pebs=0\n"
                "session.1.masks=3 4 0 0 0 0 0 0\nsession.1.clock=1\nsession.1.tsc_hz=10000000000\n"
                "session.1.tsc_base=0\nsession.1.multiplier=18446744073709551\n");
    uint32_t frames = write_events(&w, events);
    snprintf(end, sizeof(end), "end.cpu.0.events=%u %u 0\nend.cpu.0.lives=1\n", 1u, 1u);
    writer_text(&w, 'E', end);
    snprintf(total, sizeof(total), "dump.frames=%u\n", 5 + frames);
    writer_text(&w, 'Z', total);
    assert_int_equal(cairn_log_read(log, &WRITER_INPUT(&w), &(struct cairn_choice){0}, NULL), 0);
    assert_int_equal(log->bad_pieces, 0);
    return log;
}

static void close_log(struct cairn_log *log)
{
    cairn_log_free(log);
    free(log);
}

/* How often the rule did not hold. */
static uint64_t failed(const struct bytes *events, const char *names)
{
    struct cairn_log *log = read(events, names);
    struct cairn_check check;
    cairn_check_init(&check, log, NULL);
    cairn_check_rundown(&check);
    assert_true(check.compared[CAIRN_RULE_RUNDOWN] > 0);
    close_log(log);
    return check.failed[CAIRN_RULE_RUNDOWN];
}

/* What a log may do wrong. */
enum fault {
    NONE,
    NOT_TOLD, /* a thread that runs is not told of */
    TWICE,    /* begins twice */
    NO_END,   /* is not there at the end, and has not ended */
    TWO_ENDS, /* ends twice */
    STRANGER, /* a thread of a process that is not told of */
    NO_PROCESS_END,
    OTHER_NAME,
    OTHER_BASE,
    FAULTS,
};

static const char *const names = "8 8 - first\n12 8 - second\n20 8 u prog\n";

/* Thread 8 is there all the time, 12 comes and goes, 16's process with its thread 20 comes and stays. */
static struct bytes events_with(enum fault fault)
{
    struct bytes b = {0};
    now = 1000;
    ack(&b, CAIRN_SESSION_START, PERF_PROC_THREAD, 0);
    process(&b, HOOK_PROCESS_DC_START, 0);
    process(&b, HOOK_PROCESS_DC_START, 4);
    thread(&b, HOOK_THREAD_DC_START, 0, 0, "idle/0");
    thread(&b, HOOK_THREAD_DC_START, 0, 0, "idle/1");
    thread(&b, HOOK_THREAD_DC_START, 8, 4, fault == OTHER_NAME ? "fist" : "first");
    if (fault != NOT_TOLD)
        thread(&b, HOOK_THREAD_START, 12, 4, NULL);
    if (fault == TWICE)
        thread(&b, HOOK_THREAD_DC_START, 12, 4, "second");
    runs(&b, 8, 12);
    runs(&b, 12, 0);
    if (fault != NOT_TOLD)
        thread(&b, HOOK_THREAD_END, 12, 4, "second");
    if (fault == TWO_ENDS)
        thread(&b, HOOK_THREAD_END, 12, 4, "second");
    process(&b, HOOK_PROCESS_START, 16);
    if (fault == OTHER_BASE) {
        const struct etw_thread is = {.process_id = 16, .thread_id = 20, .base_priority = 9};
        bytes_event(&b, HOOK_THREAD_START, HOOK_VERSION_THREAD, ++now, NULL, &is, sizeof(is));
    } else {
        thread(&b, HOOK_THREAD_START, 20, fault == STRANGER ? 24 : 16, NULL);
    }
    runs(&b, 0, 20);
    masks_end(&b);
    thread(&b, HOOK_THREAD_START, 28, 4, NULL); /* too late to be there at the end */
    if (fault != NO_END)
        thread(&b, HOOK_THREAD_DC_END, 20, fault == STRANGER ? 24 : 16, "prog");
    if (fault != NO_PROCESS_END)
        process(&b, HOOK_PROCESS_DC_END, 16);
    thread(&b, HOOK_THREAD_DC_END, 8, 4, "first");
    process(&b, HOOK_PROCESS_DC_END, 4);
    process(&b, HOOK_PROCESS_DC_END, 0);
    ack(&b, CAIRN_SESSION_STOP, PERF_PROC_THREAD, 0);
    return b;
}

static void rules(void **state)
{
    (void)state;
    static const uint64_t expected[FAULTS] = {
        [NOT_TOLD] = 2 /* who comes in, and who leaves */, [TWICE] = 1,          [NO_END] = 1,     [TWO_ENDS] = 1,
        [STRANGER] = 2 /* its beginning and its end */,    [NO_PROCESS_END] = 1, [OTHER_NAME] = 1, [OTHER_BASE] = 1};
    for (enum fault f = NONE; f < FAULTS; f++) {
        const struct bytes b = events_with(f);
        uint64_t n = failed(&b, names);
        if (n != expected[f])
            fail_msg("fault %d: %u failures", f, (unsigned)n);
    }
}

/* A second life begins anew; an event that was not asked for is one. */
static void stretches(void **state)
{
    (void)state;
    struct bytes b = {0};
    now = 1000;
    ack(&b, CAIRN_SESSION_START, PERF_THREAD, 0);
    thread(&b, HOOK_THREAD_DC_START, 8, 4, "first");
    runs(&b, 8, 8);
    ack(&b, CAIRN_SESSION_MASKS, PERF_THREAD | PERF_LOADER, 0); /* keeps its threads */
    runs(&b, 8, 8);
    ack(&b, CAIRN_SESSION_MASKS, PERF_LOADER, 0);
    runs(&b, 12, 12); /* nobody asks */
    ack(&b, CAIRN_SESSION_MASKS, PERF_THREAD, 0);
    const struct bytes before = b;
    thread(&b, HOOK_THREAD_DC_START, 8, 4, "first");
    runs(&b, 8, 8);
    assert_int_equal(failed(&b, names), 0);
    b = before;
    runs(&b, 8, 8); /* it was told of in another stretch */
    assert_int_equal(failed(&b, names), 2);
    b = before;
    process(&b, HOOK_PROCESS_DC_START, 4);
    assert_int_equal(failed(&b, names), 1);
}

/* What the names stream has not, the events have. */
static void names_of_events(void **state)
{
    (void)state;
    char text[CAIRN_SHOWN];
    struct bytes b = events_with(NONE);
    static const struct etw_thread_name late = {4, 28};
    uint8_t name[sizeof(late) + 10] = {0};
    memcpy(name, &late, sizeof(late));
    memcpy(name + sizeof(late), "l\0a\0t\0e", 8);
    bytes_event(&b, HOOK_THREAD_SET_NAME, HOOK_VERSION_THREAD_NAME, ++now, NULL, name, sizeof(name));
    struct cairn_log *log = read(&b, "12 9 s other\n");
    assert_string_equal(cairn_show_thread(text, log, 8, 20), "first:8");
    assert_string_equal(cairn_show_thread(text, log, 12, 20), "other:12"); /* the stream's own comes first */
    assert_string_equal(cairn_show_thread(text, log, 20, 20), "prog:20");
    assert_string_equal(cairn_show_thread(text, log, 28, 20), "late:28");
    assert_string_equal(cairn_show_thread(text, log, 32, 20), "thread:32");
    assert_int_equal(cairn_find_name(&log->text, 20)->base, 8);
    unsigned idle = 0;
    for (size_t i = 0; i < log->text.names.count; i++)
        if (log->text.names.items[i].tid == 0)
            assert_memory_equal(log->text.names.items[i].name.at, idle++ ? "idle/1" : "idle/0", 6);
    assert_int_equal(idle, 2);
    close_log(log);
}

/* Payloads that end before what every one of them has are no events; other versions are not known here. */
static void torn(void **state)
{
    (void)state;
    const struct etw_thread is = {.process_id = 4, .thread_id = 8};
    struct etw_payload p;
    trace_rundown_thread(&p, &is, "name");
    static const struct cairn_log log;
    for (uint32_t size = 0; size <= p.size; size++) {
        struct cairn_cpu cpu = {0};
        uint8_t *copy = calloc(1, size + 1); /* not a byte more than it may read */
        memcpy(copy, p.bytes, size);
        struct cairn_event e = {
            .payload = copy, .size = size, .hook = HOOK_THREAD_DC_START, .pointer = 8, .version = HOOK_VERSION_THREAD};
        struct cairn_rundown r;
        assert_int_equal(cairn_told_index(&log, &cpu, &e), size >= sizeof(is));
        assert_int_equal(cpu.told.count, size >= sizeof(is));
        if (cpu.told.count)
            cairn_told_read(&r, &cpu.told.items[0]);
        e.version++;
        assert_true(cairn_told_index(&log, &cpu, &e));
        assert_int_equal(cpu.told.count, size >= sizeof(is));
        for (size_t i = 0; i < cpu.held.count; i++)
            free(cpu.held.items[i]);
        free(cpu.held.items);
        free(cpu.told.items);
        free(copy);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(stretches),
        cmocka_unit_test(names_of_events),
        cmocka_unit_test(torn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
