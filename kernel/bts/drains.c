/* SPDX-License-Identifier: MIT */
#include "kernel/bts/bts.h"

#include "kernel/cpu.h"
#include "kernel/lib/string.h"
#include "kernel/thread.h"
#include "trace/hub.h"
#include "trace/wire/bts.h"

static uint32_t epochs[MAX_CPUS]; /* whose ends are in the trace */

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

void kbts_drained(void *context, uint32_t index, const struct ds_bts_drain *d)
{
    (void)context;
    struct kcpu *cpu = kcpu_table[index];
    struct trace_hub_cpu *trace = cpu->trace;
    if (!trace_hub_on(trace))
        return;
    if (d->reason == CAIRN_DS_PANIC && d->epoch < epochs[index])
        return; /* the panic came in the middle of its records: that shows */
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
    epochs[index] = d->epoch + (d->reason != CAIRN_DS_START);

    struct cairn_bts_records head = {.kind = CAIRN_BTS_RECORDS, .epoch = d->epoch};
    for (unsigned r = 0; r < 2; r++)
        write_branches(trace, d, &d->run[r], &head);
}
