/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel/sessions/sessions_machine.h"
#include "kernel/lib/panic.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/hybrid.h"
#include "kernel/recording/machine.h"
#include "kernel/tracepoint/witness.h"
#include "kernel/truth/truth.h"

struct kcpu cpus[CPUS];
uint32_t here;
static uint64_t clock_tsc = 1000;

struct kcpu *kcpu_this(void)
{
    return &cpus[here];
}

uint64_t arch_rdtsc(void)
{
    return clock_tsc += 256;
}

#include "kernel/event/event.h"
#include "kernel/tracepoint/drains.h"
#include "trace/session_inside.h"
#include "trace/sessions/group_names.h"

struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;

uint64_t tsc_hz;
bool locked, before_and_after;
size_t pages_free, pages_taken;
uint32_t calls;
struct cairn_truth_session truth_seen[64];
unsigned truths;

uint64_t arch_tsc_hz(void)
{
    return tsc_hz;
}

_Noreturn void kpanic(const char *format, ...)
{
    fail_msg("%s", format);
    abort();
}

void kcross_call_all(kcross_call_function function, void *argument)
{
    assert_true(locked != before_and_after);
    calls++;
    for (here = kcpu_count; here-- > 0;) /* any order is right: not that which is right by chance */
        function(argument);
    here = 0;
}

bool kdrain_epoch(uint32_t index, uint32_t *epoch)
{
    *epoch = 70 + index;
    return true;
}

/* Counters that count for items: kds_store.ds.counting of them. */
void ds_read_counting(struct ds_cpu *ds, uint64_t values[DS_MAX_COUNTING])
{
    (void)ds;
    for (uint32_t i = 0; i < DS_MAX_COUNTING; i++)
        values[i] = 1000 * here + i;
}

int64_t ksession_filetime(uint64_t tsc)
{
    return (int64_t)tsc + 5000000;
}

void *kmem_pages_alloc_uncleared(size_t pages)
{
    if (pages > pages_free)
        return NULL;
    void *memory = aligned_alloc(ARCH_PAGE_SIZE, pages * ARCH_PAGE_SIZE);
    assert_non_null(memory);
    pages_free -= pages;
    pages_taken += pages;
    return memset(memory, 0xA5, pages * ARCH_PAGE_SIZE);
}

void *kmem_pages_alloc(size_t pages)
{
    void *memory = kmem_pages_alloc_uncleared(pages);
    return memory ? memset(memory, 0, pages * ARCH_PAGE_SIZE) : NULL;
}

void kmem_pages_free(void *memory, size_t pages)
{
    assert_true(pages <= pages_taken);
    pages_taken -= pages;
    pages_free += pages;
    free(memory);
}

uint64_t kmem_pages_available(void)
{
    return pages_free;
}

void kevent_init(struct kevent *event, bool manual, bool signalled)
{
    (void)event;
    assert_true(!manual && signalled);
    locked = false;
}

void (*meanwhile)(void);
int kevent_wait(struct kevent *event, enum kwait_reason reason, uint64_t ticks)
{
    (void)event;
    assert_true(!locked && reason == KWAIT_EXECUTIVE && ticks == KWAIT_FOREVER);
    if (meanwhile)
        meanwhile();
    locked = true;
    return 0;
}

void kevent_set(struct kevent *event, int increment)
{
    (void)event, (void)increment;
    assert_true(locked);
    locked = false;
}

struct kds kds_store;
const struct kds *const kds = &kds_store;

static const char *why_not(uint32_t cpu)
{
    return cpu == 2 ? "it is small" : "it is large";
}
const struct khybrid khybrid = {.why_not = why_not};

bool ktruth_kept;

const void *kwitness_memory(void)
{
    return ktruth_kept ? &ktruth_kept : NULL;
}

void ktruth_write(uint32_t cpu, const void *record)
{
    assert_int_equal(cpu, here);
    memcpy(&truth_seen[truths++], record, CAIRN_TRUTH_BYTES);
}

unsigned changes_told;

/* Whether every CPU has the session with these masks; where there are none, no CPU has it. */
static void assert_masks(uint32_t number, const struct perfinfo_groupmask *masks)
{
    static const struct perfinfo_groupmask none;
    bool any = memcmp(masks, &none, sizeof none) != 0;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const struct trace_cpu *cpu = trace_session_cpu(ksession_find(number), i);
        assert_int_equal(cpu->on, any);
        if (any)
            assert_memory_equal(&cpu->masks, masks, sizeof *masks);
    }
}

void ksession_call(const struct ksession_change *changes, unsigned count, kcross_call_function function, void *argument)
{
    for (unsigned i = 0; i < count; i++)
        assert_masks(changes[i].number, &changes[i].old);
    kcross_call_all(function, argument);
    for (unsigned i = 0; i < count; i++)
        assert_masks(changes[i].number, &changes[i].new);
    changes_told += count;
}

bool ds_counting(const struct ds_cpu *ds)
{
    (void)ds;
    return false;
}

void ds_pause(struct ds_cpu *ds)
{
    (void)ds;
    fail();
}

void ds_resume(struct ds_cpu *ds)
{
    (void)ds;
    fail();
}

unsigned indices_read;
bool each_switch_stamped;

void ds_refresh_index(struct ds_cpu *ds)
{
    assert_ptr_equal(ds, kcpu_this()->ds);
    indices_read++;
}

void ds_stamp_switches(struct ds_cpu *ds, bool each)
{
    assert_ptr_equal(ds, kcpu_this()->ds);
    each_switch_stamped = each;
}

static struct trace_hub_cpu *hubs; /* [kcpu_count] */
static struct kthread thread;

int control_begin(void **state)
{
    (void)state;
    kcpu_count = CPUS;
    for (uint32_t i = 0; i < CPUS; i++) {
        cpus[i] = (struct kcpu){.arch.index = i, .current = &thread};
        kcpu_table[i] = &cpus[i];
    }
    tsc_hz = TRACE_CLOCK_HZ * BOX_UNIT;
    kopt.tick_us = 1000;
    pages_free = 1000;
    ktruth_kept = true;
    locked = before_and_after = false;
    pages_taken = calls = indices_read = truths = changes_told = 0;
    char error[256];
    const int e = ksession_init(error, sizeof error);
    hubs = cpus[0].trace;
    return e;
}

void control_destroy(uint32_t number)
{
    struct ksession *s = ksession_get(number);
    if (!s)
        return;
    const size_t bytes = trace_session_bytes(trace_session_config(s->session));
    kmem_pages_free(s->session, (bytes + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
    s->session = NULL;
}

int control_end(void **state)
{
    (void)state;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        ksession_stop(number);
        control_destroy(number);
    }
    kmem_pages_free(hubs, (kcpu_count * sizeof *hubs + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
    return pages_taken != 0; /* something leaked */
}

struct ksession_params control_params(uint32_t number, const char *groups)
{
    struct ksession_params p = {.number = number, .clock = TRACE_CLOCK_QPC, .buffer_kib = 4, .buffers = 8};
    trace_groups_parse(groups, strlen(groups), &p.masks);
    return p;
}

unsigned control_events(uint32_t cpu, struct cairn_session_event e[8])
{
    struct trace_session *s = ksession_find(1);
    uint32_t buffers = trace_session_buffers(s), unused;
    unsigned n = 0;
    for (uint32_t i = 0, at; i < buffers; i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(s, i, &unused);
        struct naive_event event;
        bool ok;
        at = 0;
        while (h->processor_index == cpu && n < 8 && naive_next((const uint8_t *)h, &at, &event, &ok))
            memcpy(&e[n++], event.payload, sizeof e[0]);
    }
    return n;
}
