/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/drains.h"

#include "kernel/cpu.h"
#include "kernel/lib/string.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/mutant.h"
#include "kernel/tracepoint/truth.h"
#include "trace/hub.h"

static struct drained_cpu {
    uint32_t epochs, bts_epochs; /* whose ends are in the trace */
    uint32_t epoch;              /* of PEBS, the running one, */
    bool in_epoch;               /* if any is */
} drained_cpus[MAX_CPUS];

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
    drained_cpus[index].epoch = d->epoch + (d->reason != CAIRN_DS_START);
    drained_cpus[index].in_epoch = d->reason != CAIRN_DS_STOP;
    struct trace_hub_cpu *trace = kcpu_table[index]->trace;
    if (!trace_hub_on(trace))
        return;
    if (d->reason == CAIRN_DS_PANIC && d->epoch < drained_cpus[index].epochs)
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
    struct trace_part whole[] = {{&epoch, sizeof epoch}, {d->area, d->area_bytes}};
    trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, whole, 2);
    drained_cpus[index].epochs = d->epoch + (d->reason != CAIRN_DS_START);

    const struct cairn_ds_swallowed swallowed = {.epoch = d->epoch, .samples = d->swallowed};
    const struct trace_part samples = {&swallowed, sizeof swallowed};
    if (d->swallowed)
        trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_SWALLOWED, HOOK_VERSION_CAIRN_SWALLOWED, &samples, 1);

    struct cairn_ds_records head = {.kind = CAIRN_DS_RECORDS, .format = d->format, .epoch = d->epoch};
    for (uint32_t at = 0; at < epoch.record_bytes; at += head.bytes, head.part++) {
        head.address = ((const struct ds_area_60 *)d->area)->pebs_buffer_base + at;
        head.bytes = whole_records(d, at);
        struct trace_part parts[] = {{&head, sizeof head}, {(const uint8_t *)d->records + at, head.bytes}};
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
        struct trace_part parts[] = {{head, sizeof *head}, {&run->at[at], head->bytes}};
        trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_BTS, HOOK_VERSION_CAIRN_BTS, parts, 2);
    }
}

static void bts_drained(void *context, uint32_t index, const struct ds_bts_drain *d)
{
    (void)context;
    struct kcpu *cpu = kcpu_table[index];
    struct trace_hub_cpu *trace = cpu->trace;
    if (!trace_hub_on(trace))
        return;
    if (d->reason == CAIRN_DS_PANIC && d->epoch < drained_cpus[index].bts_epochs)
        return; /* as above */
    struct cairn_bts_epoch epoch = {
        .kind = CAIRN_BTS_EPOCH,
        .reason = (uint8_t)d->reason,
        .interrupting = d->mode == DS_BTS_INTERRUPT,
        .epoch = d->epoch,
        .tsc = d->tsc,
        .lost = d->lost,
        .record_bytes = d->records * (uint32_t)sizeof(struct ds_bts_record),
        .tid = (d->reason == CAIRN_DS_SWITCH ? cpu->previous : cpu->current)->tid,
    };
    memcpy(epoch.area, d->area, sizeof epoch.area);
    for (unsigned r = 0; r < 2; r++)
        epoch.record_events += (uint32_t)((d->run[r].count + BRANCHES_ROOM - 1) / BRANCHES_ROOM);
    struct trace_part part = {&epoch, sizeof epoch};
    trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_BTS, HOOK_VERSION_CAIRN_BTS, &part, 1);
    drained_cpus[index].bts_epochs = d->epoch + (d->reason != CAIRN_DS_START);

    struct cairn_bts_records head = {.kind = CAIRN_BTS_RECORDS, .epoch = d->epoch};
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
    const uint8_t(*record)[CAIRN_TRUTH_BYTES] = truth;
    (void)context;
    for (uint32_t i = 0; i < count && kcpu_table[index]->truth; i++)
        ktruth_write(kcpu_table[index]->truth, record[i]);
}

static void logged(void *context, uint32_t index, const struct cairn_model_entry *entry,
                   const struct cairn_model_action *actions)
{
    (void)context;
    struct trace_hub_cpu *trace = kcpu_table[index]->trace;
    struct trace_part parts[] = {{entry, sizeof *entry}, {actions, entry->actions * (uint32_t)sizeof *actions}};
    if (trace_hub_on(trace))
        trace_hub_event(trace, entry->tsc, 0, HOOK_CAIRN_MODEL, HOOK_VERSION_CAIRN_MODEL, parts, 2);
}

const struct ds_hooks kdrain_hooks = {
    .before_drain = before_drain,
    .drained = drained,
    .recorded = recorded,
    .bts_drained = bts_drained,
    .branched = branched,
    .logged = logged,
};

bool kdrain_epoch(uint32_t index, uint32_t *epoch)
{
    *epoch = drained_cpus[index].epoch;
    return drained_cpus[index].in_epoch;
}
