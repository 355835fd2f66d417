/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/switch.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/memory/mem.h"
#include "kernel/tracepoint/mutant.h"
#include "kernel/recording/pmi.h"
#include "kernel/recording/debug_store.h"
#include "kernel/lib/string.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/truth.h"
#include "trace/hub.h"

/* Cost classes: 16 to an octave, so that a class is within 1/16 of what it counts. */
#define CLASSES (64u * 16u)

static struct hook_cpu {
    bool due;     /* this switch was traced: the incoming side writes its truth */
    uint32_t tid; /* whose branches go into the BTS buffer */
    uint32_t epochs, bts_epochs; /* whose ends are in the trace */
    uint32_t epoch; /* of PEBS, the running one, */
    bool in_epoch;  /* if any is */
    uint64_t min;
} hook_cpus[MAX_CPUS];

/* By CPU in use, then by class. No switch is traced before there is a session, hence before khook_init. */
static uint32_t (*hook_costs)[CLASSES];

int khook_init(void)
{
    hook_costs = kmem_pages_alloc((kcpu_count * sizeof *hook_costs + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
    return hook_costs ? 0 : -ENOMEM;
}

static unsigned cost_class(uint64_t cycles)
{
    if (cycles < 16)
        return (unsigned)cycles;
    unsigned octave = 63u - (unsigned)__builtin_clzl(cycles);
    return (octave - 3) * 16 + (unsigned)(cycles >> (octave - 4) & 15);
}

static uint64_t cost_bound(unsigned class)
{
    return class < 16 ? class : (UINT64_C(16) + (class & 15) + 1) << (class / 16 - 1);
}

/* The one switch a mutant kernel gets wrong on each CPU. */
static inline bool mutate(int mutant, const struct kcpu *cpu)
{
    return CAIRN_MUTANT == mutant && cpu->switches == 100;
}

void khook_switch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc)
{
    struct hook_cpu *h = &hook_cpus[cpu->arch.index];
    struct trace_hub_cpu *trace = cpu->trace;

    h->due = trace_hub_on(trace);
    ds_bts_drain(cpu->ds, CAIRN_DS_SWITCH, tsc);
    h->tid = new->tid;
    if (!h->due)
        return;
    uint64_t before = arch_rdtsc();
    struct trace_switch sw = {
        .tsc = tsc,
        .old_tid = old->tid,
        .new_tid = new->tid,
        .new_wait = new->waited,
        .old_quantum = old->quantum,
        .old_state = old->state,
        .old_wait_reason = old->wait_reason,
        .old_priority = old->priority,
        .old_base = old->base_priority,
        .new_priority = new->priority,
        .old_ideal_processor = (uint8_t)old->ideal_processor,
    };
    if (mutate(KMUTANT_THREAD, cpu))
        sw.old_tid = sw.old_tid ? sw.old_tid + 4 : 8;
    if (!mutate(KMUTANT_SKIP, cpu))
        trace_hub_switch(trace, &sw);
    uint64_t cycles = arch_rdtsc() - before;
    hook_costs[cpu->arch.index][cost_class(cycles)]++;
    if (!h->min || cycles < h->min)
        h->min = cycles;
}

void khook_switch_in(struct kcpu *cpu, struct kthread *incoming, const struct kthread *previous, uint64_t tsc)
{
    struct kthread_retired since = {previous->retired.instructions - previous->retired_before.instructions,
                                    previous->retired.branches - previous->retired_before.branches};
    incoming->retired_before = incoming->retired;
    if (!cpu->truth || !hook_cpus[cpu->arch.index].due)
        return;
    struct cairn_truth_switch t = {
        .kind = CAIRN_TRUTH_SWITCH,
        .cpu = (uint8_t)cpu->arch.index,
        .old_state = previous->state,
        .old_wait_reason = previous->wait_reason,
        .old_priority = previous->priority,
        .old_base = previous->base_priority,
        .new_priority = incoming->priority,
        .old_ideal_processor = (uint8_t)previous->ideal_processor,
        .old_tid = previous->tid,
        .new_tid = incoming->tid,
        .tsc = tsc,
        .pebs_index = cpu->pebs_index ? *cpu->pebs_index : 0,
        .new_wait = incoming->waited,
        .old_quantum = previous->quantum,
    };
    ktruth_write(cpu->truth, &t);
    if (!ksession.ds.counting)
        return;
    struct cairn_truth_counts c = {
        .kind = CAIRN_TRUTH_COUNTS,
        .cpu = t.cpu,
        .tid = previous->tid,
        .tsc = tsc,
        .instructions = since.instructions,
        .branches = since.branches,
    };
    ktruth_write(cpu->truth, &c);
}

_Static_assert(DS_MAX_COUNTING == TRACE_PMC_MAX, "khook_counters");
void khook_counters(uint32_t index, uint64_t values[TRACE_PMC_MAX])
{
    ds_read_counting(kcpu_table[index]->ds, values);
}

static void before_drain(void *context, uint32_t index, uint64_t tsc)
{
    (void)context;
    struct trace_hub_cpu *trace = kcpu_table[index]->trace;
    if (trace_hub_on(trace))
        trace_hub_close_batches(trace, tsc, CCSWAP_CLOSE_DRAIN);
}

/* Whole records only, as many to an event as fit. */
#define RECORDS_ROOM (CAIRN_EVENT_MAX - sizeof(struct perfinfo_trace_header) - sizeof(struct cairn_ds_records))
_Static_assert(DS_PEBS_RECORD_MAX <= RECORDS_ROOM, "a record of every group fits an event");
_Static_assert(DS_PEBS_RECORD_MAX_4 + sizeof(struct ds_pebs_cntr) + 8 * (DS_GP_MAX + DS_FIXED_MAX) <= RECORDS_ROOM,
               "and so it does with all the counters a processor may have");

/* Bytes of the records that go into the next event: every record's own size, from its format. */
static uint32_t whole_records(const struct ds_drain *d, uint32_t from)
{
    uint32_t n = 0;
    while (from + n < d->bytes) {
        uint32_t size = ds_pebs_record_size(d->format, (const uint8_t *)d->records + from + n, d->bytes - from - n);
        if (!size || n + size > RECORDS_ROOM)
            break;
        n += size;
    }
    return n;
}

static void drained(void *context, uint32_t index, const struct ds_drain *d)
{
    (void)context;
    hook_cpus[index].epoch = d->epoch + (d->reason != CAIRN_DS_START);
    hook_cpus[index].in_epoch = d->reason != CAIRN_DS_STOP;
    struct trace_hub_cpu *trace = kcpu_table[index]->trace;
    if (!trace_hub_on(trace))
        return;
    if (d->reason == CAIRN_DS_PANIC && d->epoch < hook_cpus[index].epochs)
        return; /* the panic came in the middle of its records: that shows */
    struct cairn_ds_epoch epoch = {
        .kind = CAIRN_DS_EPOCH,
        .reason = (uint8_t)d->reason,
        .format = d->format,
        .epoch = d->epoch,
        .tsc = d->tsc,
        .lost = d->lost,
    };
    if (CAIRN_MUTANT == KMUTANT_REGISTER && d->records) /* of the GPR group, behind the basic one */
        ((uint8_t *)(uintptr_t)d->records)[sizeof(struct ds_pebs_basic) + offsetof(struct ds_pebs_gpr, rbx)] ^= 1;
    for (uint32_t n; (n = whole_records(d, epoch.record_bytes)); epoch.record_bytes += n)
        epoch.record_events++;
    if (epoch.record_bytes < d->bytes)
        epoch.lost = CAIRN_DS_LOST_UNKNOWN; /* a record whose own size makes no sense: nothing behind it can be found */
    struct trace_part whole[] = { { &epoch, sizeof epoch }, { d->area, d->area_bytes } };
    trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, whole, 2);
    hook_cpus[index].epochs = d->epoch + (d->reason != CAIRN_DS_START);

    const struct cairn_ds_swallowed swallowed = { .epoch = d->epoch, .samples = d->swallowed };
    const struct trace_part samples = { &swallowed, sizeof swallowed };
    if (d->swallowed)
        trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_SWALLOWED, HOOK_VERSION_CAIRN_SWALLOWED, &samples, 1);

    struct cairn_ds_records head = { .kind = CAIRN_DS_RECORDS, .format = d->format, .epoch = d->epoch };
    for (uint32_t at = 0; at < epoch.record_bytes; at += head.bytes, head.part++) {
        head.address = ((const struct ds_area_60 *)d->area)->pebs_buffer_base + at;
        head.bytes = whole_records(d, at);
        struct trace_part parts[] = { { &head, sizeof head }, { (const uint8_t *)d->records + at, head.bytes } };
        trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, parts, 2);
    }
}

#define BRANCHES_ROOM                                                                                                  \
    ((CAIRN_EVENT_MAX - sizeof(struct perfinfo_trace_header) - sizeof(struct cairn_bts_records)) /                     \
     sizeof(struct ds_bts_record))

/* Oldest first, so that an event holds either what lies before the wrap or what lies behind it. */
static void write_branches(struct trace_hub_cpu *trace, const struct ds_bts_drain *d, const struct ds_bts_run *run,
                           struct cairn_bts_records *head)
{
    for (uint32_t at = 0, n; at < run->count; at += n, head->part++) {
        n = run->count - at < BRANCHES_ROOM ? run->count - at : (uint32_t)BRANCHES_ROOM;
        head->address = (uint64_t)(uintptr_t)&run->at[at];
        head->bytes = n * (uint32_t)sizeof *run->at;
        struct trace_part parts[] = { { head, sizeof *head }, { &run->at[at], head->bytes } };
        trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_BTS, HOOK_VERSION_CAIRN_BTS, parts, 2);
    }
}

static void bts_drained(void *context, uint32_t index, const struct ds_bts_drain *d)
{
    (void)context;
    struct kcpu *cpu = kcpu_table[index];
    struct trace_hub_cpu *trace = cpu->trace;
    if (d->reason == CAIRN_DS_START)
        hook_cpus[index].tid = cpu->current->tid;
    if (!trace_hub_on(trace))
        return;
    if (d->reason == CAIRN_DS_PANIC && d->epoch < hook_cpus[index].bts_epochs)
        return; /* as above */
    struct cairn_bts_epoch epoch = {
        .kind = CAIRN_BTS_EPOCH,
        .reason = (uint8_t)d->reason,
        .interrupting = d->mode == DS_BTS_INTERRUPT,
        .epoch = d->epoch,
        .tsc = d->tsc,
        .lost = d->lost,
        .record_bytes = d->records * (uint32_t)sizeof(struct ds_bts_record),
        .tid = hook_cpus[index].tid,
    };
    memcpy(epoch.area, d->area, sizeof epoch.area);
    for (unsigned r = 0; r < 2; r++)
        epoch.record_events += (uint32_t)((d->run[r].count + BRANCHES_ROOM - 1) / BRANCHES_ROOM);
    struct trace_part part = { &epoch, sizeof epoch };
    trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_BTS, HOOK_VERSION_CAIRN_BTS, &part, 1);
    hook_cpus[index].bts_epochs = d->epoch + (d->reason != CAIRN_DS_START);

    struct cairn_bts_records head = { .kind = CAIRN_BTS_RECORDS, .epoch = d->epoch };
    for (unsigned r = 0; r < 2; r++)
        write_branches(trace, d, &d->run[r], &head);
}

static void branched(void *context, uint32_t index, const struct cairn_truth_branch *branch)
{
    (void)context;
    if (kcpu_table[index]->truth)
        ktruth_write(kcpu_table[index]->truth, branch);
}

static void recorded(void *context, uint32_t index, const void *truth, uint32_t count)
{
    const uint8_t (*record)[CAIRN_TRUTH_BYTES] = truth;
    (void)context;
    for (uint32_t i = 0; i < count && kcpu_table[index]->truth; i++)
        ktruth_write(kcpu_table[index]->truth, record[i]);
}

static void logged(void *context, uint32_t index, const struct cairn_model_entry *entry,
                   const struct cairn_model_action *actions)
{
    (void)context;
    struct trace_hub_cpu *trace = kcpu_table[index]->trace;
    struct trace_part parts[] = { { entry, sizeof *entry }, { actions, entry->actions * (uint32_t)sizeof *actions } };
    if (trace_hub_on(trace))
        trace_hub_event(trace, entry->tsc, 0, HOOK_CAIRN_MODEL, HOOK_VERSION_CAIRN_MODEL, parts, 2);
}

const struct ds_hooks khook_ds = {
    .before_drain = before_drain,
    .drained = drained,
    .recorded = recorded,
    .bts_drained = bts_drained,
    .branched = branched,
    .logged = logged,
    .overflowed = kpmi_overflowed,
};

bool khook_epoch(uint32_t index, uint32_t *epoch)
{
    *epoch = hook_cpus[index].epoch;
    return hook_cpus[index].in_epoch;
}

struct khook_cost khook_cost(void)
{
    struct khook_cost cost = { 0 };
    uint64_t seen = 0;
    for (uint32_t i = 0; hook_costs && i < kcpu_count; i++) {
        if (hook_cpus[i].min && (!cost.min || hook_cpus[i].min < cost.min))
            cost.min = hook_cpus[i].min;
        for (unsigned c = 0; c < CLASSES; c++)
            cost.count += hook_costs[i][c];
    }
    for (unsigned c = 0; c < CLASSES && cost.count; c++) {
        for (uint32_t i = 0; i < kcpu_count; i++)
            seen += hook_costs[i][c];
        if (!cost.median && seen * 2 >= cost.count)
            cost.median = cost_bound(c);
        if (!cost.p99 && seen * 100 >= cost.count * 99)
            cost.p99 = cost_bound(c);
    }
    return cost;
}
