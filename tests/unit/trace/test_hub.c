/* SPDX-License-Identifier: MIT */
/* Several sessions behind one hub: who gets what, when, on which clock, and that it is all of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/hub_bench.h"
#include "trace/session_inside.h"
#include "trace/sessions/group_names.h"

/* ---- what a session has of a CPU, life by life ------------------------------------------------------------------- */

struct moment { /* a switch, or an event that is none */
    int64_t time;
    uint32_t what; /* the outgoing thread, or the hook ID */
};

struct moments {
    struct moment *items;
    size_t count, room;
};

/* What lies between two acknowledgements of the session's own, by kind: the order between kinds is not kept, since a
 * batch is written when it is closed. */
enum { BATCHED, FULL, OTHER, KINDS };
struct stretch {
    unsigned what; /* the acknowledgement it begins with; 0: before the first */
    uint32_t life;
    struct moments kind[KINDS];
};

struct stretches {
    struct stretch *items;
    size_t count, room;
};

static void *grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count == *room) {
        *room = *room ? 2 * *room : 16;
        items = realloc(items, *room * size);
        if (!items)
            abort();
    }
    return items;
}

static void add_moment(struct stretches *s, unsigned kind, int64_t time, uint32_t what)
{
    struct moments *m = &s->items[s->count - 1].kind[kind];
    m->items = grow(m->items, m->count, &m->room, sizeof(*m->items));
    m->items[m->count++] = (struct moment){time, what};
}

static void add_stretch(struct stretches *s, unsigned what, uint32_t life)
{
    s->items = grow(s->items, s->count, &s->room, sizeof(*s->items));
    s->items[s->count++] = (struct stretch){.what = what, .life = life};
}

static void free_stretches(struct stretches *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (unsigned k = 0; k < KINDS; k++)
            free(s->items[i].kind[k].items);
    free(s->items);
    *s = (struct stretches){0};
}

static void read_event(struct stretches *s, const struct naive_event *e, uint32_t number)
{
    static struct naive_record records[500];
    if (e->hook == 0xCA10) {
        assert_int_equal(e->size, 0x40);
        if (e->payload[1] == number)
            add_stretch(s, e->payload[0], *(const uint32_t *)(const void *)(e->payload + 4));
        else
            add_moment(s, OTHER, e->time, 0xCA10);
    } else if (e->hook == 0x0525) {
        int n = naive_batch(e->payload, e->size, records, 500);
        assert_true(n > 0);
        for (int i = 0; i < n; i++)
            add_moment(s, BATCHED, records[i].time, records[i].tid);
    } else if (e->hook == 0x0524) {
        add_moment(s, FULL, e->time, *(const uint32_t *)(const void *)(e->payload + 4));
    } else {
        add_moment(s, OTHER, e->time, e->hook);
    }
}

static struct stretches read_cpu(struct trace_session *session, uint32_t cpu)
{
    struct stretches s = {0};
    uint32_t count = trace_session_buffers(session), cpu_buffer;
    add_stretch(&s, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(session, i, &cpu_buffer);
        struct naive_event e;
        bool ok = true;
        assert_int_equal(h->logger_id, session->config.number);
        for (uint32_t at = 0; h->processor_index == cpu && naive_next((const uint8_t *)h, &at, &e, &ok);)
            read_event(&s, &e, session->config.number);
        assert_true(ok);
    }
    return s;
}

static void expect_same(const struct stretches *is, const struct stretches *should)
{
    assert_int_equal(is->count, should->count);
    for (size_t i = 0; i < is->count; i++) {
        const struct stretch *a = &is->items[i], *b = &should->items[i];
        assert_int_equal(a->what, b->what);
        assert_int_equal(a->life, b->life);
        for (unsigned k = 0; k < KINDS; k++) {
            assert_int_equal(a->kind[k].count, b->kind[k].count);
            for (size_t n = 0; n < a->kind[k].count; n++) {
                assert_true(a->kind[k].items[n].time == b->kind[k].items[n].time);
                assert_int_equal(a->kind[k].items[n].what, b->kind[k].items[n].what);
            }
        }
    }
}

/* ---- a world that is told the same as the hub -------------------------------------------------------------------- */

struct world {
    struct hub_bench b;
    uint32_t sessions;
    uint64_t seed, tsc;
    bool runs[HUB_CPUS][TRACE_MAX_SESSIONS];
    uint32_t lives[HUB_CPUS][TRACE_MAX_SESSIONS];
    struct perfinfo_groupmask masks[HUB_CPUS][TRACE_MAX_SESSIONS];
    struct stretches should[HUB_CPUS][TRACE_MAX_SESSIONS];
};

static int64_t time_of(uint32_t i, uint64_t tsc) /* on the clock of session i + 1 */
{
    int64_t units = (int64_t)(tsc / BOX_UNIT);
    return i % 3 == 0 ? units : i % 3 == 1 ? INT64_C(134000000000000000) + units : (int64_t)tsc;
}

static struct perfinfo_groupmask some_masks(struct world *w)
{
    static const char *const words[] = {"compact", "full", "both", "none", "dpc", "compact+dpc", "full+spinlock"};
    const char *word = words[test_random(&w->seed, sizeof(words) / sizeof(words[0]))];
    struct perfinfo_groupmask masks = {0};
    trace_groups_parse(word, strlen(word), &masks);
    return masks;
}

static void do_switch(struct world *w, uint32_t cpu, uint32_t n)
{
    struct trace_switch sw = box_switch_at(w->tsc, n);
    trace_hub_switch(&w->b.hub[cpu], &sw);
    for (uint32_t i = 0; i < w->sessions; i++) {
        if (!w->runs[cpu][i])
            continue;
        if (trace_group_compact(&w->masks[cpu][i]))
            add_moment(&w->should[cpu][i], BATCHED, time_of(i, w->tsc), sw.old_tid);
        if (trace_group_full(&w->masks[cpu][i]))
            add_moment(&w->should[cpu][i], FULL, time_of(i, w->tsc), sw.old_tid);
    }
}

static void do_event(struct world *w, uint32_t cpu)
{
    static const uint32_t groups[] = {0, PERF_DPC, PERF_SPINLOCK, PERF_PROFILE};
    uint32_t group = groups[test_random(&w->seed, 4)], wanted = 0;
    struct trace_part part = {groups, test_random(&w->seed, sizeof(groups) + 1)};
    assert_int_equal(trace_hub_event(&w->b.hub[cpu], w->tsc, group, 0x0F22, 1, &part, 1), 0);
    for (uint32_t i = 0; i < w->sessions; i++)
        if (w->runs[cpu][i] && trace_group_on(&w->masks[cpu][i], group)) {
            add_moment(&w->should[cpu][i], OTHER, time_of(i, w->tsc), 0x0F22);
            wanted |= 1u << i;
        }
    assert_int_equal(trace_hub_sessions(&w->b.hub[cpu], group), wanted);
    if (group)
        assert_int_equal(trace_hub_wants(&w->b.hub[cpu], group), wanted != 0);
}

/* The session itself, and every other one of its clock that runs there, is told. */
static void note_ack(struct world *w, uint32_t cpu, uint32_t i, unsigned what)
{
    for (uint32_t other = 0; other < w->sessions; other++)
        if (other != i && w->runs[cpu][other] && other % 3 == i % 3)
            add_moment(&w->should[cpu][other], OTHER, time_of(other, w->tsc), 0xCA10);
    add_stretch(&w->should[cpu][i], what, w->lives[cpu][i] - 1);
}

static void do_control(struct world *w, uint32_t cpu)
{
    uint32_t i = test_random(&w->seed, w->sessions);
    struct perfinfo_groupmask masks = some_masks(w);
    if (!w->runs[cpu][i]) {
        assert_int_equal(hub_stop(&w->b, cpu, i + 1, w->tsc), -EINVAL);
        assert_int_equal(hub_change(&w->b, cpu, i + 1, masks, w->tsc), -EINVAL);
        assert_int_equal(hub_start(&w->b, cpu, i + 1, masks, w->tsc), 0);
        assert_int_equal(hub_start(&w->b, cpu, i + 1, masks, w->tsc), -EINVAL);
        w->runs[cpu][i] = true;
        w->lives[cpu][i]++;
        w->masks[cpu][i] = masks;
        note_ack(w, cpu, i, 1);
    } else if (test_random(&w->seed, 2)) {
        assert_int_equal(hub_change(&w->b, cpu, i + 1, masks, w->tsc), 0);
        w->masks[cpu][i] = masks;
        note_ack(w, cpu, i, 3);
    } else {
        assert_int_equal(hub_stop(&w->b, cpu, i + 1, w->tsc), 0);
        note_ack(w, cpu, i, 2);
        w->runs[cpu][i] = false;
    }
    assert_int_equal(trace_session_cpu(w->b.session[i], cpu)->on, w->runs[cpu][i]);
}

static void live(struct world *w, uint32_t steps)
{
    for (uint32_t n = 1; n <= steps; n++) {
        uint32_t cpu = test_random(&w->seed, HUB_CPUS), r = test_random(&w->seed, 200);
        w->tsc += BOX_UNIT * (uint64_t)test_random(&w->seed, r == 199 ? 200000 : 400);
        if (r < 180)
            do_switch(w, cpu, n);
        else if (r < 190)
            do_event(w, cpu);
        else if (r < 194)
            trace_hub_close_batches(&w->b.hub[cpu], w->tsc, CCSWAP_CLOSE_DRAIN);
        else
            do_control(w, cpu);
    }
    for (uint32_t cpu = 0; cpu < HUB_CPUS; cpu++)
        for (uint32_t i = 0; i < w->sessions; i++)
            if (w->runs[cpu][i]) {
                assert_int_equal(hub_stop(&w->b, cpu, i + 1, w->tsc), 0);
                note_ack(w, cpu, i, 2);
                w->runs[cpu][i] = false;
            }
}

/* Whatever comes and goes: each life of each session has exactly the switches and events of its time and masks. */
static void test_property(void **state)
{
    (void)state;
    uint64_t moments = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world w = {.sessions = 1 + (uint32_t)(seed % TRACE_MAX_SESSIONS), .seed = seed, .tsc = 1000 * BOX_UNIT};
        hub_open(&w.b, w.sessions, 0, 1500, 4096);
        for (uint32_t cpu = 0; cpu < HUB_CPUS; cpu++)
            for (uint32_t i = 0; i < w.sessions; i++)
                add_stretch(&w.should[cpu][i], 0, 0);
        live(&w, 6000);
        for (uint32_t i = 0; i < w.sessions; i++) {
            assert_true(box_account_holds(w.b.session[i]));
            for (uint32_t cpu = 0; cpu < HUB_CPUS; cpu++) {
                struct stretches is = read_cpu(w.b.session[i], cpu);
                struct trace_counts n = hub_counts(&w.b, cpu, i + 1);
                assert_int_equal(n.events_lost + n.compact_lost + n.full_lost, 0);
                assert_int_equal(n.lives, w.lives[cpu][i]);
                expect_same(&is, &w.should[cpu][i]);
                moments += n.switches_tried;
                free_stretches(&is);
                free_stretches(&w.should[cpu][i]);
            }
        }
        hub_close(&w.b);
    }
    assert_true(moments > 100000);
}

/* The same with too few buffers, and with circular ones: every session's account is its own, and exact. */
static void test_property_loss(void **state)
{
    (void)state;
    uint64_t lost = 0, overwritten = 0, lost_buffers = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world w = {.sessions = 6, .seed = seed, .tsc = 1000 * BOX_UNIT};
        hub_open(&w.b, w.sessions, 0x2A, 8, 4096);
        for (uint32_t cpu = 0; cpu < HUB_CPUS; cpu++)
            for (uint32_t i = 0; i < w.sessions; i++)
                add_stretch(&w.should[cpu][i], 0, 0);
        uint32_t n = 0;
        for (; n < 8000; n++) {
            uint32_t cpu = test_random(&w.seed, HUB_CPUS), r = test_random(&w.seed, 400);
            w.tsc += BOX_UNIT * (uint64_t)test_random(&w.seed, 400);
            struct trace_switch sw = box_switch_at(w.tsc, n);
            if (r < 395)
                trace_hub_switch(&w.b.hub[cpu], &sw);
            else
                do_control(&w, cpu);
        }
        for (uint32_t cpu = 0; cpu < HUB_CPUS; cpu++)
            for (uint32_t i = 0; i < w.sessions; i++) {
                if (w.runs[cpu][i])
                    hub_stop(&w.b, cpu, i + 1, w.tsc);
                free_stretches(&w.should[cpu][i]);
                struct trace_counts c = hub_counts(&w.b, cpu, i + 1);
                lost += c.events_lost;
                lost_buffers += c.buffers_lost;
                assert_int_equal(c.buffers_lost != 0, c.events_lost != 0);
                if (0x2A >> i & 1)
                    assert_int_equal(c.events_lost, 0);
            }
        for (uint32_t i = 0; i < w.sessions; i++) {
            struct trace_overwritten o;
            assert_true(box_account_holds(w.b.session[i]));
            trace_session_overwritten(w.b.session[i], &o);
            overwritten += o.events;
        }
        hub_close(&w.b);
    }
    assert_true(lost > 1000 && overwritten > 1000 && lost_buffers > 100 && lost_buffers < lost);
}

/* ---- one by one -------------------------------------------------------------------------------------------------- */

/* Two sessions of one clock: one encoder at work, and one batch, byte for byte, in both. */
static void test_shared_batch(void **state)
{
    (void)state;
    struct hub_bench b;
    hub_open(&b, 4, 0, 4, 65536); /* 1 and 4 have the performance counter */
    assert_int_equal(hub_start(&b, 0, 1, box_masks(BOX_COMPACT), 0), 0);
    assert_int_equal(hub_start(&b, 0, 4, box_masks(BOX_COMPACT), 0), 0);
    for (uint32_t i = 1; i <= 1000; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(100 * i), i);
        trace_hub_switch(&b.hub[0], &sw);
    }
    assert_int_equal(b.hub[0].encoder[0].compact.switches, 1000);
    assert_int_equal(b.hub[0].encoder[1].compact.switches + b.hub[0].encoder[2].compact.switches, 0);
    hub_stop(&b, 0, 1, BOX_TSC(200000));
    hub_stop(&b, 0, 4, BOX_TSC(200000));
    uint32_t at[2] = {0}, unused, batches = 0;
    const uint8_t *buffer[2];
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(trace_session_buffers(b.session[3 * k]), 1);
        buffer[k] = (const uint8_t *)trace_session_buffer(b.session[3 * k], 0, &unused);
    }
    for (struct naive_event e[2];;) {
        bool ok[2], more = true;
        for (unsigned k = 0; k < 2; k++)
            do
                more &= naive_next(buffer[k], &at[k], &e[k], &ok[k]);
            while (more && e[k].hook != 0x0525);
        assert_true(ok[0] && ok[1]);
        if (!more)
            break;
        assert_int_equal(e[0].size, e[1].size);
        assert_memory_equal(e[0].payload, e[1].payload, e[0].size);
        batches++;
    }
    assert_true(batches > 3);
    hub_close(&b);
}

/* Every bit of an acknowledgement. */
static void test_acknowledgement(void **state)
{
    (void)state;
    struct hub_bench b;
    struct trace_hub_pebs pebs = {.index = &b.pebs_index, .epoch = 0x01020304, .in_epoch = true};
    struct perfinfo_groupmask one = box_masks(BOX_COMPACT), two = {{1, 2, 3, 4, 5, 6, 7, 8}};
    hub_open(&b, 5, 0, 4, 4096);
    struct trace_session *s = b.session[4]; /* 5: system time */
    b.pebs_index = UINT64_C(0x1122334455667788);
    assert_int_equal(trace_hub_act(&b.hub[1], s, CAIRN_SESSION_START, &one, &pebs, BOX_TSC(10)), 0);
    pebs.without = CAIRN_STAMP_COMPACT;
    assert_int_equal(trace_hub_act(&b.hub[1], s, CAIRN_SESSION_MASKS, &two, &pebs, BOX_TSC(20)), 0);
    pebs.index = NULL;
    assert_int_equal(trace_hub_act(&b.hub[1], s, CAIRN_SESSION_STOP, NULL, &pebs, BOX_TSC(30)), 0);
    assert_int_equal(trace_session_buffers(s), 1);
    uint32_t at = 0, unused;
    const uint8_t *buffer = (const uint8_t *)trace_session_buffer(s, 0, &unused);
    static const uint8_t whats[] = {1, 3, 2};
    for (unsigned i = 0; i < 3; i++) {
        struct naive_event e;
        struct cairn_session_event p;
        bool ok;
        assert_true(naive_next(buffer, &at, &e, &ok));
        assert_int_equal(e.hook, 0xCA10);
        assert_int_equal(e.version, 1);
        assert_true(e.time == INT64_C(134000000000000000) + 10 * (i + 1));
        assert_int_equal(e.size, sizeof(p));
        memcpy(&p, e.payload, sizeof(p));
        assert_int_equal(p.what, whats[i]);
        assert_int_equal(p.session, 5);
        assert_int_equal(p.clock, 2);
        assert_int_equal(p.stamps, i ? 1 : 3); /* without those of 0525H, and so until it stops */
        assert_int_equal(p.life, 0);
        assert_int_equal(p.tsc, BOX_TSC(10 * (i + 1)));
        assert_true(p.pebs_index == (i < 2 ? UINT64_C(0x1122334455667788) : 0));
        assert_int_equal(p.epoch, i < 2 ? 0x01020304 : 0);
        assert_int_equal(p.in_epoch, i < 2);
        assert_memory_equal(p.masks, i ? &two : &one, sizeof(p.masks));
    }
    hub_close(&b);
}

/* Switches that come again, after masks without them, begin a buffer; other changes of masks do not. */
static void test_masks_begin_a_buffer(void **state)
{
    (void)state;
    static const struct {
        unsigned what;
        bool begins;
    } rows[] = {
        {BOX_COMPACT, false}, {0, false}, {BOX_COMPACT, true}, {BOX_COMPACT | BOX_FULL, true},
        {BOX_FULL, false},    {0, false}, {0, false},          {BOX_FULL, true},
        {BOX_COMPACT, true},
    };
    const struct perfinfo_groupmask none = {{PERF_PROCESS}};
    struct hub_bench b;
    uint32_t buffers = 1;
    hub_open(&b, 1, 0, 8, 4096);
    hub_start(&b, 0, 1, box_masks(BOX_COMPACT), BOX_TSC(1));
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct perfinfo_groupmask masks = rows[i].what ? box_masks(rows[i].what) : none;
        assert_int_equal(hub_change(&b, 0, 1, masks, BOX_TSC(2 + i)), 0);
        buffers += rows[i].begins;
        assert_int_equal(hub_counts(&b, 0, 1).buffers_begun, buffers);
    }
    assert_int_equal(hub_counts(&b, 0, 1).events_written, 1 + sizeof(rows) / sizeof(rows[0]));
    hub_close(&b);
}

/* To some sessions only, with the other header. */
static void test_event_to(void **state)
{
    (void)state;
    struct hub_bench b;
    const struct trace_system who = {.thread_id = 0x11, .process_id = 0x22, .kernel_time = 0x33, .user_time = 0x44};
    uint8_t bytes[CAIRN_EVENT_MAX];
    memset(bytes, 0x5A, sizeof(bytes));
    struct trace_part part = {bytes, 13};
    hub_open(&b, 3, 0, 4, 4096);
    for (uint32_t number = 1; number <= 2; number++)
        hub_start(&b, 0, number, box_masks(BOX_FULL), 0);
    assert_int_equal(trace_hub_event_to(&b.hub[0], BOX_TSC(7), 0x6, &who, 0x0503, 3, &part, 1), 0); /* 2; 3 is off */
    part.size = CAIRN_EVENT_MAX - 0x20;
    assert_int_equal(trace_hub_event_to(&b.hub[0], BOX_TSC(8), 0x2, &who, 0x0503, 3, &part, 1), 0);
    part.size++;
    assert_int_equal(trace_hub_event_to(&b.hub[0], BOX_TSC(8), 0x2, &who, 0x0503, 3, &part, 1), -E2BIG);
    hub_stop(&b, 0, 1, BOX_TSC(9));
    hub_stop(&b, 0, 2, BOX_TSC(9));
    assert_int_equal(hub_counts(&b, 0, 1).events_written, 2);
    assert_int_equal(hub_counts(&b, 0, 2).events_written, 4);
    trace_session_buffers(b.session[1]);
    uint32_t unused;
    const uint8_t *event = (const uint8_t *)trace_session_buffer(b.session[1], 0, &unused) + 0x48 + 0x50;
    static const uint8_t header[] = {3, 0, 2, 0xC0, 0x2D, 0, 3, 5, 0x11, 0, 0, 0, 0x22, 0, 0, 0};
    assert_memory_equal(event, header, sizeof(header));
    struct system_trace_header h;
    memcpy(&h, event, sizeof(h));
    assert_true(h.time_stamp == INT64_C(134000000000000000) + 7);
    assert_int_equal(h.kernel_time, 0x33);
    assert_int_equal(h.user_time, 0x44);
    assert_memory_equal(event + 0x20, bytes, 13);
    assert_memory_equal(event + 0x2D, "\0\0\0", 3);
    hub_close(&b);
}

/* Nobody listens: nothing happens, and a hub that is not there yet is asked like one without sessions. */
static void test_nobody(void **state)
{
    (void)state;
    struct hub_bench b;
    struct trace_switch sw = box_switch_at(BOX_TSC(1), 1);
    hub_open(&b, 1, 0, 4, 4096);
    assert_false(trace_hub_on(NULL) || trace_hub_wants(NULL, PERF_DPC));
    assert_false(trace_hub_on(&b.hub[0]) || trace_hub_wants(&b.hub[0], PERF_CONTEXT_SWITCH));
    trace_hub_switch(&b.hub[0], &sw);
    hub_start(&b, 0, 1, box_masks(BOX_FULL), 0);
    assert_true(trace_hub_on(&b.hub[0]) && trace_hub_wants(&b.hub[0], PERF_CONTEXT_SWITCH));
    assert_false(trace_hub_wants(&b.hub[0], PERF_COMPACT_CSWITCH) || trace_hub_on(&b.hub[1]));
    hub_stop(&b, 0, 1, BOX_TSC(2));
    trace_hub_switch(&b.hub[0], &sw);
    assert_int_equal(hub_counts(&b, 0, 1).switches_tried, 0);
    hub_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_property),     cmocka_unit_test(test_property_loss),
        cmocka_unit_test(test_shared_batch), cmocka_unit_test(test_acknowledgement),
        cmocka_unit_test(test_event_to),     cmocka_unit_test(test_masks_begin_a_buffer),
        cmocka_unit_test(test_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
