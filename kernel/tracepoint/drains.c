/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/drains.h"

#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "trace/hub.h"

static struct drained_cpu {
    uint32_t epochs; /* whose ends are in the trace */
    uint32_t epoch;  /* of PEBS, the running one, */
    bool in_epoch;   /* if any is */
} drained_cpus[MAX_CPUS];

static void before_drain(void *context, uint32_t index, uint64_t tsc)
{
    (void)context;
    struct trace_hub_cpu *trace = kcpu_table[index]->trace;
    if (trace_hub_on(trace))
        trace_hub_close_batches(trace, tsc, CCSWAP_CLOSE_DRAIN);
}

/* Whole records only, as many to an event as fit. One that is larger than an event is cut into parts, which have events
 * of their own. */
#define RECORDS_ROOM (CAIRN_EVENT_MAX - sizeof(struct perfinfo_trace_header) - sizeof(struct cairn_ds_records))
_Static_assert(DS_PEBS_RECORD_MAX <= RECORDS_ROOM, "a record of every group fits an event");
_Static_assert(DS_PEBS_RECORD_MAX_4 + sizeof(struct ds_pebs_cntr) + 8 * (DS_GP_MAX + DS_FIXED_MAX) <= RECORDS_ROOM,
               "and so it does with all the counters a processor may have");

#define PART_ROOM (RECORDS_ROOM / 16 * 16)

/* Where the events of a drain's records are. */
struct cut {
    uint32_t at, bytes; /* of the next event */
    uint32_t left;      /* of a record that the next event does not end */
    bool continues;     /* the next event begins within a record */
};

/* Finds the next event, by every record's own size, from its format. False: there is none. */
static bool next_cut(const struct ds_drain *d, struct cut *cut)
{
    const uint8_t *records = d->records;
    cut->at += cut->bytes;
    cut->bytes = 0;
    cut->continues = cut->left != 0;
    if (cut->left) {
        cut->bytes = cut->left < PART_ROOM ? cut->left : PART_ROOM;
        cut->left -= cut->bytes;
        return true;
    }
    for (uint32_t at; (at = cut->at + cut->bytes) < d->bytes;) {
        const uint32_t size = d->record_size(d->format, records + at, d->bytes - at);
        if (size > RECORDS_ROOM && !cut->bytes && d->in_parts) {
            cut->bytes = PART_ROOM;
            cut->left = size - PART_ROOM;
            break;
        }
        if (!size || cut->bytes + size > RECORDS_ROOM)
            break;
        cut->bytes += size;
    }
    return cut->bytes != 0;
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
    for (struct cut cut = {0}; next_cut(d, &cut); epoch.record_events++)
        epoch.record_bytes += cut.bytes;
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
    for (struct cut cut = {0}; next_cut(d, &cut); head.part++) {
        head.address = d->address + cut.at;
        head.bytes = cut.bytes;
        head.continues = cut.continues;
        struct trace_part parts[] = {{&head, sizeof head}, {(const uint8_t *)d->records + cut.at, cut.bytes}};
        trace_hub_event(trace, d->tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, parts, 2);
    }
}

struct ds_hooks kdrain_hooks = {
    .before_drain = before_drain,
    .drained = drained,
};

bool kdrain_epoch(uint32_t index, uint32_t *epoch)
{
    *epoch = drained_cpus[index].epoch;
    return drained_cpus[index].in_epoch;
}
