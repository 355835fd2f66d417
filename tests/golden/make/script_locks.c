/* SPDX-License-Identifier: MIT */
/* The spin locks of the scripted machine: between two switches a CPU takes some, and the dispatcher lock goes from the
 * thread that leaves to the one that comes. */
#include "tests/golden/make/script.h"
#include "trace/wire/spinlock.h"

#include <string.h>

#define DATA UINT64_C(0xFFFFFFFF80010000)

const struct script_symbol script_lock_symbols[SCRIPT_LOCK_SYMBOLS] = {
    {DATA, 16, "dispatcher"},
    {DATA + 0x10, 16, "queue_lock"},
    {DATA + 0x40, 160, "nested_locks"},
    {DATA + 0x100, 16, "table_lock"},
};
#define DISPATCHER DATA
#define QUEUE      (DATA + 0x10)
#define NESTED     (DATA + 0x40)
#define TABLE      (DATA + 0x100)
#define HEAP       UINT64_C(0xFFFF800000345670) /* has no symbol */

#define CALLER_SWITCH UINT64_C(0xFFFFFFFF800011F4)
#define CALLER_HASH   UINT64_C(0xFFFFFFFF80002280)
#define CALLER_PASS   UINT64_C(0xFFFFFFFF80002390)

/* Smaller than Windows allows, so that a short log shows each rule. */
const struct trace_spinlock_sampling script_sampling[2] = {
    {.spin_threshold = 1, .acquire_sample_rate = 10, .contention_sample_rate = 1, .hold_threshold = 200000},
    {.spin_threshold = 40, .acquire_sample_rate = 7, .contention_sample_rate = 2, .hold_threshold = 0},
};

static uint32_t tid_of(const struct script *s, const struct script_cpu *cpu)
{
    return s->thread[cpu->current].tid;
}

static void acquire(struct script *s, uint32_t c, uint64_t lock, enum spinlock_mode mode, uint64_t *tsc)
{
    struct script_cpu *cpu = &s->cpu[c];
    struct script_locks *l = &cpu->locks;
    uint32_t spins = script_below(s, 4) ? 0 : 1 + script_below(s, 100);
    struct script_hold h = {.lock = lock, .query = *tsc, .spins = spins, .interrupts = cpu->interrupts, .mode = mode};
    *tsc += 90 + 60 * spins;
    h.tsc = *tsc;
    trace_spinlock_count(&l->counts, spins);
    if (l->depth == TRACE_SPINLOCK_DEPTH)
        l->untracked++;
    else
        l->hold[l->depth++] = h;
    if (s->options.truth)
        script_add_truth(cpu)->acquired = (struct cairn_truth_acquired){
            .kind = CAIRN_TRUTH_ACQUIRED,
            .cpu = (uint8_t)c,
            .mode = (uint8_t)mode,
            .tid = tid_of(s, cpu),
            .lock = lock,
            .query_tsc = h.query,
            .tsc = h.tsc,
            .spins = spins,
            .interrupts = h.interrupts,
        };
}

static struct script_hold *find(struct script_locks *l, uint64_t lock)
{
    for (uint32_t i = l->depth; i-- > 0;)
        if (l->hold[i].lock == lock)
            return &l->hold[i];
    return NULL;
}

static void convert(struct script *s, uint32_t c, uint64_t lock, uint64_t tsc)
{
    struct script_cpu *cpu = &s->cpu[c];
    find(&cpu->locks, lock)->mode = SPINLOCK_CONVERTED;
    if (s->options.truth)
        script_add_truth(cpu)->acquired = (struct cairn_truth_acquired){
            .kind = CAIRN_TRUTH_ACQUIRED,
            .cpu = (uint8_t)c,
            .mode = SPINLOCK_CONVERTED,
            .tid = tid_of(s, cpu),
            .lock = lock,
            .tsc = tsc,
        };
}

static void release(struct script *s, uint32_t c, uint64_t lock, uint64_t caller, uint64_t tsc, enum cairn_level level)
{
    struct script_cpu *cpu = &s->cpu[c];
    struct script_locks *l = &cpu->locks;
    struct script_hold *h = find(l, lock);
    uint8_t irql = level == CAIRN_LEVEL_ISR ? 14 : 2;
    uint8_t flags = level == CAIRN_LEVEL_ISR   ? WMI_SPINLOCK_EXECUTE_ISR
                    : level == CAIRN_LEVEL_DPC ? WMI_SPINLOCK_EXECUTE_DPC
                                               : 0;
    if (h) {
        const struct wmi_spinlock event = {
            .spin_lock_address = lock,
            .caller_address = caller,
            .acquire_time = h->tsc,
            .release_time = tsc,
            .wait_time_in_cycles = (uint32_t)(h->tsc - h->query),
            .spin_count = h->spins,
            .thread_id = tid_of(s, cpu),
            .interrupt_count = cpu->interrupts - h->interrupts,
            .irql = irql,
            .acquire_depth = (uint8_t)l->depth,
            .flags = (uint8_t)(h->mode | flags),
        };
        const struct trace_part part = {&event, sizeof(event)};
        l->released++;
        if (trace_spinlock_rules(&script_sampling[l->sampling], &l->counts, h->spins, tsc - h->tsc)) {
            l->events++;
            trace_hub_event(cpu->trace, tsc, PERF_SPINLOCK, HOOK_SPINLOCK, HOOK_VERSION_SPINLOCK, &part, 1);
        }
        memmove(h, h + 1, (size_t)((char *)&l->hold[--l->depth] - (char *)h));
    }
    if (s->options.truth)
        script_add_truth(cpu)->released = (struct cairn_truth_released){
            .kind = CAIRN_TRUTH_RELEASED,
            .cpu = (uint8_t)c,
            .irql = irql,
            .flags = flags,
            .tid = tid_of(s, cpu),
            .lock = lock,
            .caller = caller,
            .tsc = tsc,
            .interrupts = cpu->interrupts,
        };
}

void script_locks_configure(struct script *s, uint32_t c, uint64_t tsc, unsigned sampling, uint16_t hook_id)
{
    struct script_cpu *cpu = &s->cpu[c];
    const struct perfinfo_spinlock_config config = trace_spinlock_config(&script_sampling[sampling]);
    const struct trace_part part = {&config, sizeof(config)};
    cpu->locks.sampling = sampling;
    trace_hub_event(cpu->trace, tsc, PERF_SPINLOCK, hook_id, HOOK_VERSION_SPINLOCK_CONFIG, &part, 1);
}

static void nest(struct script *s, uint32_t c, uint64_t *tsc)
{
    uint32_t depth = 1 + script_below(s, 10);
    for (uint32_t i = 0; i < depth; i++)
        acquire(s, c, NESTED + 16 * i, SPINLOCK_ORDINARY, tsc);
    for (uint32_t i = 0; i < depth; i++) /* not in the order of their nesting */
        release(s, c, NESTED + 16 * i, CALLER_HASH, *tsc += 50 + script_below(s, 900), CAIRN_LEVEL_THREAD);
}

/* What the thread does with locks between two switches, from `tsc` on: far less than a stint is long. */
void script_locks_stint(struct script *s, uint32_t c, uint64_t tsc)
{
    struct script_cpu *cpu = &s->cpu[c];
    uint32_t one = script_below(s, 8);
    enum cairn_level level = one == 0 ? CAIRN_LEVEL_ISR : one == 1 ? CAIRN_LEVEL_DPC : CAIRN_LEVEL_THREAD;
    tsc += 4000;
    cpu->interrupts += script_below(s, 3);
    switch (script_below(s, 5)) {
    case 0:
        acquire(s, c, HEAP, SPINLOCK_ORDINARY, &tsc);
        cpu->interrupts++; /* as where spinning goes on with interrupts on */
        acquire(s, c, QUEUE, SPINLOCK_QUEUED, &tsc);
        release(s, c, HEAP, CALLER_PASS, tsc += 700, level);
        release(s, c, QUEUE, CALLER_PASS + 0x20, tsc += 300, level);
        break;
    case 1:
        acquire(s, c, TABLE, SPINLOCK_SHARED, &tsc);
        acquire(s, c, TABLE, SPINLOCK_SHARED, &tsc);
        release(s, c, TABLE, CALLER_HASH + 8, tsc += 200, level);
        if (script_below(s, 2))
            convert(s, c, TABLE, tsc += 20);
        release(s, c, TABLE, CALLER_HASH + 8, tsc += 5000, level);
        break;
    case 2:
        acquire(s, c, TABLE, SPINLOCK_EXCLUSIVE, &tsc);
        release(s, c, TABLE, CALLER_PASS + 0x30, tsc + 900 + script_below(s, 2) * (cpu->next - tsc) / 2, level);
        break;
    case 3:
        nest(s, c, &tsc);
        break;
    default:
        break;
    }
}

void script_locks_before_switch(struct script *s, uint32_t c, uint64_t tsc)
{
    tsc -= 9000;
    acquire(s, c, DISPATCHER, SPINLOCK_ORDINARY, &tsc);
}

void script_locks_after_switch(struct script *s, uint32_t c, uint64_t tsc)
{
    release(s, c, DISPATCHER, CALLER_SWITCH, tsc + 800, CAIRN_LEVEL_THREAD);
}
