/* SPDX-License-Identifier: MIT */
/*
 * Who is there, told to sessions that come, go and change while threads are created, run, end and are freed: on CPUs
 * that are told one after another, in random order, with everything else in between. Whoever could be found in a
 * session must have been told of: once at the beginning, and at the end.
 * Longer than 500 lines: all tests are of one pretended kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/page_tables.h"
#include "kernel/cpu.h"
#include "tests/unit/support/cmocka.h"

#define CPUS     3u
#define THREADS  512u /* in one scenario */
#define SESSIONS 2u
#define ACTIONS  12u
#define CLASSES  3u /* processes, threads, images */

static struct kcpu cpus[CPUS];
static uint32_t turn;
static uint64_t clock_tsc;
static bool irq_on, locked;
static uint64_t seed;

static void meanwhile(void);

struct kcpu *kcpu_this(void)
{
    return &cpus[turn];
}

/* A clock unit apart, so that time alone puts all events in order. */
uint64_t arch_rdtsc(void)
{
    return clock_tsc += 256;
}

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t r[4])
{
    (void)subleaf;
    assert_int_equal(leaf, 1);
    memcpy(r, (uint32_t[4]){0x000806F8}, 16); /* family 6, model 8FH, stepping 8 */
}

bool arch_irq_save(void)
{
    bool on = irq_on;
    irq_on = false;
    return on;
}

void arch_irq_restore(bool on)
{
    assert_false(locked);
    irq_on = on;
    if (on)
        meanwhile();
}

struct klist kthread_all;
#include "kernel/rundown/rundown.c" /* each scenario begins with no thread, and ends a change by itself */

static const struct kthread_watch *watch;

void kthread_watch(const struct kthread_watch *by)
{
    watch = by;
}
#include "kernel/sched/threads.h"
#include "tests/unit/support/trace_support.h"

struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;
const uint8_t kernel_text_start[1], kernel_data_end[1], kernel_user_start[1], kernel_user_end[1];

static struct kthread controller, idles[CPUS];
static uint32_t next_number;

uint32_t kthread_limit(void)
{
    return next_number;
}

void ksched_lock(void)
{
    assert_true(!irq_on && !locked);
    locked = true;
}

void ksched_unlock(void)
{
    assert_true(locked);
    locked = false;
}

static unsigned answers; /* until nobody is being told any more */

void kcross_call_answer(void)
{
    assert_true(!irq_on && !locked);
    if (!--answers)
        changing = false;
}

void ds_pause(struct ds_cpu *ds)
{
    (void)ds;
}

void ds_resume(struct ds_cpu *ds)
{
    (void)ds;
}

uint64_t arch_tsc_hz(void)
{
    return TRACE_CLOCK_HZ * BOX_UNIT;
}

struct arch_page_tables arch_page_tables = {.root = 0x1000};

uint64_t kinventory_memory(void)
{
    return 300u << 20;
}

/* ---- what really happens ----------------------------------------------------------------------------------------- */

enum { ABSENT, LIVE, ENDED, FREED };

static struct body {
    struct kthread *thread;
    struct kuser user;
    uint8_t state;
    bool user_thread;
    uint32_t process;
} bodies[THREADS]; /* by number / 4 */

static struct sim_session {
    struct trace_config config;
    struct trace_session *session;
    void *memory;
    struct perfinfo_groupmask masks;
    uint8_t seen[CLASSES][THREADS]; /* in the stretch that is on: could be found there */
    uint8_t alive[THREADS];         /* when its end was told */
    uint64_t from[CLASSES];         /* when the stretch was announced */
    uint64_t to; /* when the last action began: who starts behind it may end where the session has stopped */
} sims[SESSIONS];

static const uint32_t class_group[CLASSES] = {PERF_PROCESS, PERF_THREAD, PERF_LOADER};
static const uint32_t numbers[SESSIONS] = {1, 4};

static uint32_t pick(uint8_t state)
{
    uint32_t from = test_random(&seed, THREADS);
    for (uint32_t i = 0; i < THREADS; i++)
        if (bodies[(from + i) % THREADS].state == state)
            return (from + i) % THREADS;
    return 0;
}

static void create(void)
{
    bool user = test_random(&seed, 3) == 0;
    if (next_number / 4 + 2 >= THREADS || changing) /* it waits */
        return;
    uint32_t process = next_number;
    next_number += user ? 4 : 0;
    struct body *b = &bodies[next_number / 4];
    *b = (struct body){.thread = calloc(1, sizeof(*b->thread)), .state = LIVE, .user_thread = user};
    b->process = user ? process : SYSTEM_PROCESS;
    struct kthread *t = b->thread;
    t->tid = next_number;
    t->base_priority = 8;
    t->state = KTHREAD_INITIALIZED;
    memset(&t->affinity, 0xFF, sizeof t->affinity);
    memcpy(t->name, "some", 5);
    if (user) {
        t->user = &b->user;
        t->user->process_id = process;
    }
    next_number += 4;
    ksched_lock();
    watch->wait();
    klist_add_tail(&kthread_all, &t->all_link);
    watch->created(t);
    ksched_unlock();
}

static void finish(uint32_t i)
{
    struct kthread *t = bodies[i].thread, *before = kcpu_this()->current;
    kcpu_this()->current = t;
    t->state = KTHREAD_TERMINATED;
    ksched_lock();
    watch->ended(t);
    ksched_unlock();
    kcpu_this()->current = before;
    bodies[i].state = ENDED;
}

static void release(uint32_t i)
{
    ksched_lock();
    watch->gone(bodies[i].thread);
    klist_remove(&bodies[i].thread->all_link);
    ksched_unlock();
    free(bodies[i].thread);
    bodies[i].state = FREED;
}

/* It runs here: now it can be found in what runs here, too. */
static void run(uint32_t i)
{
    for (uint32_t s = 0; s < SESSIONS; s++) {
        const struct trace_cpu *cpu = kcpu_this()->trace->session[numbers[s] - 1];
        for (uint32_t c = 0; cpu && c < CLASSES; c++)
            if (trace_group_on(&cpu->masks, class_group[c]) && (c == 1 || bodies[i].user_thread))
                sims[s].seen[c][i] = 1;
    }
}

/* Others go on, on all CPUs; afterwards the caller finds itself on any. */
static void meanwhile(void)
{
    static bool inside;
    if (inside)
        return;
    inside = true;
    irq_on = false;
    for (uint32_t n = test_random(&seed, 4); n--;) {
        turn = test_random(&seed, CPUS);
        uint32_t live = pick(LIVE), ended = pick(ENDED);
        switch (test_random(&seed, 6)) {
        case 0:
            create();
            break;
        case 1:
            if (live && !changing)
                finish(live);
            break;
        case 2:
            if (ended)
                release(ended);
            break;
        default:
            if (live)
                run(live);
        }
    }
    turn = test_random(&seed, CPUS);
    irq_on = true;
    inside = false;
}

/* ---- what the sessions tell -------------------------------------------------------------------------------------- */

static struct note {
    uint64_t time;
    uint32_t id; /* of the thread; else of the process */
    uint16_t hook;
    uint8_t class;
} * notes;
static size_t note_count;

static uint32_t word(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void note(const uint8_t *event, uint32_t head)
{
    static const struct {
        uint16_t hook;
        uint8_t class, at;
        bool system;
    } rows[] = {
        {0x0301, 0, 8, true},    {0x0302, 0, 8, true},    {0x0303, 0, 8, false},    {0x0304, 0, 8, false},
        {0x0501, 1, 4, true},    {0x0502, 1, 4, true},    {0x0503, 1, 4, true},     {0x0504, 1, 4, true},
        {0x030A, 2, 0x10, true}, {0x1402, 2, 0x10, true}, {0x1403, 2, 0x10, false}, {0x1404, 2, 0x10, false},
    };
    uint16_t hook = (uint16_t)(word(event + 4) >> 16);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].hook != hook)
            continue;
        uint32_t id = word(event + head + rows[i].at);
        bool kernel = rows[i].class == 2 && !id; /* the kernel's image */
        assert_int_equal(head == 0x20, rows[i].system || kernel);
        if (hook == 0x0503 || hook == 0x0504) /* these name themselves */
            assert_int_equal(word(event + 8), id);
        uint64_t time;
        memcpy(&time, event + (head == 0x20 ? 16 : 8), 8);
        notes = realloc(notes, (note_count + 1) * sizeof *notes);
        notes[note_count++] = (struct note){time, id, hook, rows[i].class};
    }
}

static void read_session(const struct sim_session *s)
{
    note_count = 0;
    for (uint32_t c = 0; c < CPUS; c++) {
        struct trace_counts counts;
        trace_cpu_counts(trace_session_cpu(s->session, c), &counts);
        assert_int_equal(counts.events_lost, 0);
        assert_int_equal(counts.events_tried, counts.events_written);
    }
    uint32_t buffers = trace_session_buffers(s->session);
    for (uint32_t b = 0; b < buffers; b++) {
        uint32_t ordinal;
        const struct wmi_buffer_header *h = trace_session_buffer(s->session, b, &ordinal);
        const uint8_t *at = (const uint8_t *)(h + 1), *last = (const uint8_t *)h + h->offset;
        for (; at < last; at += (word(at + 4) % 0x10000 + 7) / 8 * 8)
            note(at, word(at) >> 16 == 0xC002 ? 0x20 : 0x10);
        assert_ptr_equal(at, last);
    }
}

/* One class of one session from its announcement up to now. */
static void verify(struct sim_session *s, uint32_t class)
{
    read_session(s);
    for (uint32_t i = 3; i < THREADS; i++) { /* 8 and up */
        const struct body *b = &bodies[i];
        if (b->state == ABSENT || (class != 1 && !b->user_thread))
            continue;
        uint32_t id = class == 1 ? i * 4 : b->process, begins = 0, end_events = 0, dc_ends = 0;
        uint64_t since = 0, over = UINT64_MAX;
        for (size_t n = 0; n < note_count; n++) {
            const struct note *x = &notes[n];
            if (x->class != class || x->id != id || x->time < s->from[class])
                continue;
            bool end_event = x->hook == 0x0302 || x->hook == 0x0502 || x->hook == 0x1402;
            bool dc_end_event = x->hook == 0x0304 || x->hook == 0x0504 || x->hook == 0x1404;
            begins += !end_event && !dc_end_event;
            end_events += end_event;
            dc_ends += dc_end_event;
            if (end_event || dc_end_event)
                over = x->time < over ? x->time : over;
            else
                since = x->time;
        }
        if (begins > 1 || end_events > 1 || dc_ends > 1)
            fail_msg("%u of class %u is told of %u+%u+%u times", id, class, begins, end_events, dc_ends);
        if ((s->seen[class][i] || s->alive[i] || end_events || dc_ends) && !begins)
            fail_msg("%u of class %u is not told of", id, class);
        if ((s->alive[i] || (begins && since < s->to && b->state != LIVE)) && !end_events && !dc_ends)
            fail_msg("%u of class %u has no end", id, class);
        assert_true(over > since);
    }
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

static void sim_open(struct sim_session *s, uint32_t number, const struct trace_clocks *clocks)
{
    s->config = (struct trace_config){.number = number,
                                      .cpus = CPUS,
                                      .buffers = 64,
                                      .buffer_bytes = 65536,
                                      .clock = clocks->clock[0],
                                      .tick_units = clocks->tick_units[0]};
    size_t size = (trace_session_bytes(&s->config) + 63) / 64 * 64;
    s->memory = aligned_alloc(64, size);
    assert_int_equal(trace_session_init(&s->session, &s->config, s->memory, size), 0);
}

static struct perfinfo_groupmask random_masks(void)
{
    struct perfinfo_groupmask m = {0};
    static const uint32_t any[] = {PERF_PROCESS, PERF_THREAD, PERF_THREAD, PERF_LOADER, PERF_CPU_CONFIG, PERF_DPC};
    for (unsigned n = 1 + test_random(&seed, 4); n--;)
        trace_group_add(&m, any[test_random(&seed, sizeof any / sizeof any[0])]);
    if (test_random(&seed, 4) == 0)
        trace_group_add(&m, PERF_NO_SYSCONFIG);
    return m;
}

static struct sim_session *change_session;

/* As kernel/recording/sessions.c does it. */
static void tell_cpu(void *argument)
{
    static const struct perfinfo_groupmask none;
    const struct ksession_change *c = argument;
    struct trace_hub_pebs pebs = {0};
    struct trace_session *session = change_session->session;
    struct trace_hub_cpu *hub = kcpu_this()->trace;
    uint64_t tsc = arch_rdtsc();
    if (memcmp(&c->old, &none, sizeof none) == 0)
        assert_int_equal(trace_hub_act(hub, session, CAIRN_SESSION_START, &c->new, &pebs, tsc), 0);
    else if (memcmp(&c->new, &none, sizeof none) != 0)
        assert_int_equal(trace_hub_act(hub, session, CAIRN_SESSION_MASKS, &c->new, &pebs, tsc), 0);
    else
        assert_int_equal(trace_hub_act(hub, session, CAIRN_SESSION_STOP, NULL, &pebs, tsc), 0);
}

/* One CPU after another, while the others go on. */
void kcross_call_all(kcross_call_function function, void *argument)
{
    uint32_t first = test_random(&seed, CPUS);
    assert_true(changing && !irq_on && !locked);
    for (uint32_t i = 0; i < CPUS; i++) {
        meanwhile();
        turn = (first + i) % CPUS;
        function(argument);
    }
    meanwhile();
    irq_on = false;
}

/* From the masks it has to `new`. */
static void go_to(struct sim_session *s, struct perfinfo_groupmask new)
{
    static const struct perfinfo_groupmask none;
    bool stops = memcmp(&new, &none, sizeof none) == 0;
    for (uint32_t i = 0; i < THREADS; i++)
        s->alive[i] = bodies[i].state == LIVE;
    s->to = clock_tsc / 256;
    for (uint32_t c = 0; c < CLASSES; c++)
        if (!trace_group_on(&s->masks, class_group[c]) && trace_group_on(&new, class_group[c])) {
            s->from[c] = clock_tsc / 256;
            memset(s->seen[c], 0, sizeof s->seen[c]);
        }
    const struct ksession_change change = {s->config.number, s->masks, new};
    change_session = s;
    ksession_call(&change, 1, tell_cpu, (void *)&change);
    for (uint32_t c = 0; stops && c < CLASSES; c++) /* only then are its buffers whole */
        if (trace_group_on(&s->masks, class_group[c]))
            verify(s, c);
    s->masks = new;
}

static const struct perfinfo_groupmask none;

static struct trace_hub_cpu *begin(uint64_t number)
{
    static struct trace_clocks clocks;
    struct trace_hub_cpu *hubs = aligned_alloc(64, CPUS * sizeof *hubs);
    seed = number;
    memset(bodies, 0, sizeof bodies);
    memset(sims, 0, sizeof sims);
    memset(begun, 0, sizeof begun);
    klist_init(&kthread_all);
    cursor = NULL;
    clock_tsc = 25600;
    next_number = 8;
    kcpu_count = CPUS;
    controller = (struct kthread){.gate_depth = 0, .state = KTHREAD_RUNNING};
    assert_int_equal(trace_clocks_init(&clocks, arch_tsc_hz(), 0, 0, 1000), 0);
    for (uint32_t i = 0; i < CPUS; i++) {
        trace_hub_init(&hubs[i], i, &clocks);
        idles[i] = (struct kthread){.flags = KTHREAD_IDLE, .affinity = kcpuset_of(i), .state = KTHREAD_RUNNING};
        cpus[i] = (struct kcpu){.arch.index = i, .trace = &hubs[i], .current = &controller, .idle = &idles[i]};
        kcpu_table[i] = &cpus[i];
    }
    for (uint32_t s = 0; s < SESSIONS; s++)
        sim_open(&sims[s], numbers[s], &clocks);
    irq_on = true;
    return hubs;
}

static void scenario(uint64_t number)
{
    struct trace_hub_cpu *hubs = begin(number);
    for (unsigned i = 0; i < ACTIONS; i++) {
        struct sim_session *s = &sims[test_random(&seed, SESSIONS)];
        bool runs = memcmp(&s->masks, &none, sizeof none) != 0;
        for (unsigned n = 0; n < 8; n++)
            meanwhile();
        go_to(s, runs && test_random(&seed, 2) ? none : random_masks());
    }
    for (uint32_t s = 0; s < SESSIONS; s++) {
        if (memcmp(&sims[s].masks, &none, sizeof none) != 0)
            go_to(&sims[s], none);
        free(sims[s].memory);
    }
    irq_on = false;
    for (uint32_t i = 0; i < THREADS; i++) {
        if (bodies[i].state == LIVE)
            finish(i);
        if (bodies[i].state == ENDED)
            release(i);
    }
    assert_true(klist_empty(&kthread_all));
    free(hubs);
}

static void everybody_is_told_of(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 400; n++)
        scenario(n * UINT64_C(0x9E3779B97F4A7C15));
    free(notes);
}

uint32_t ksample_interval(void)
{
    return 30000;
}

/* How many events of this hook are in the session's buffers, each of the timer, with these intervals. */
static unsigned told(const struct sim_session *s, uint16_t hook, uint32_t new, uint32_t old)
{
    const uint32_t expected[] = {0, new, old};
    unsigned found = 0;
    for (uint32_t b = 0, ordinal; b < trace_session_buffers(s->session); b++) {
        const struct wmi_buffer_header *h = trace_session_buffer(s->session, b, &ordinal);
        const uint8_t *at = (const uint8_t *)(h + 1), *last = (const uint8_t *)h + h->offset;
        for (; at < last; at += (word(at + 4) % 0x10000 + 7) / 8 * 8)
            if (word(at + 4) >> 16 == hook) {
                assert_int_equal(word(at), 0xC0020003); /* SYSTEM header, version 3 */
                assert_memory_equal(at + 0x20, expected, sizeof expected);
                found++;
            }
    }
    return found;
}

/* A session with samples is told of their interval when it begins, ends, and between: no other session is. */
static void intervals_are_told(void **state)
{
    (void)state;
    struct perfinfo_groupmask sampled = {0}, other = {0}, both;
    struct trace_hub_cpu *hubs = begin(1);
    trace_group_add(&sampled, PERF_PROFILE);
    trace_group_add(&other, PERF_INTERRUPT);
    both = sampled;
    trace_group_add(&both, PERF_INTERRUPT);
    go_to(&sims[1], other);
    ksample_interval_changed(70000, 30000); /* nobody samples */
    go_to(&sims[0], sampled);
    ksample_interval_changed(50000, 70000);
    go_to(&sims[0], both); /* it goes on to sample */
    go_to(&sims[0], sampled);
    go_to(&sims[0], none);
    ksample_interval_changed(10000, 50000);
    go_to(&sims[1], none);
    assert_int_equal(told(&sims[0], 0x0F49, 30000, 30000), 1);
    assert_int_equal(told(&sims[0], 0x0F48, 50000, 70000), 1);
    assert_int_equal(told(&sims[0], 0x0F4A, 30000, 30000), 1);
    for (uint16_t hook = 0x0F48; hook <= 0x0F4A; hook++)
        assert_int_equal(told(&sims[1], hook, 0, 0), 0);
    for (uint32_t s = 0; s < SESSIONS; s++)
        free(sims[s].memory);
    free(hubs);
}

/* Who would create or end a thread meanwhile waits, answering calls, without the lock. */
static void waits(void **state)
{
    (void)state;
    irq_on = false;
    ksched_lock();
    watch->wait();
    changing = true;
    answers = 3;
    watch->wait();
    assert_true(locked && !changing && !answers);
    ksched_unlock();
}

int main(void)
{
    watch_threads(NULL);
    static const struct CMUnitTest tests[] = {cmocka_unit_test(everybody_is_told_of), cmocka_unit_test(waits),
                                              cmocka_unit_test(intervals_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
