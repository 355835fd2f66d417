/* SPDX-License-Identifier: MIT */
/* cairn ds: each CPU's DS area and buffers at a drain, and the records in them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/cmd_ds_life.h"
#include "tools/cairn/command.h"
#include "tools/cairn/draw.h"
#include "tools/cairn/error.h"
#include "tools/cairn/life.h"
#include "tools/cairn/names.h"
#include "tools/cairn/show.h"

#define RECORDS_SHOWN 2 /* unless told otherwise */

static uint64_t epoch_number = UINT64_MAX, records_shown = RECORDS_SHOWN;
static uint64_t only_record = UINT64_MAX;
static bool want_bytes;
static const char *life;
static const struct cairn_option options[] = {
    CAIRN_CPU_OPTION,
    CAIRN_TIME_OPTIONS,
    {0, "epoch", "N", "the drain of epoch N, not the first with records", .number = &epoch_number, .low = 0,
     .high = UINT32_MAX},
    {0, "records", "N", "decode the first N records of it (2)", .number = &records_shown, .low = 0, .high = UINT32_MAX},
    {0, "record", "N", "decode record N of it (0: the first) and no other", .number = &only_record, .low = 0,
     .high = UINT32_MAX},
    {0, "bytes", NULL, "the bytes of each record as well", .on = &want_bytes},
    {0, "life", "CPU:RECORD", "how a record (0: the first) came to be, step by step", .text = &life},
    CAIRN_BY_OPTION,
    CAIRN_LOG_OPTIONS,
};

/* The drain to show, NULL: there is none. */
static const struct cairn_epoch *choose(const struct cairn_cpu *cpu)
{
    const struct cairn_epoch *first = NULL;
    for (size_t i = 0; i < cpu->epochs.count; i++) {
        const struct cairn_epoch *e = &cpu->epochs.items[i];
        if (e->reason == CAIRN_DS_START || !cairn_filter_time(e->time))
            continue;
        if (epoch_number != UINT64_MAX ? e->number == epoch_number : e->records)
            return e;
        if (!first)
            first = e;
    }
    return epoch_number == UINT64_MAX ? first : NULL;
}

static void print_epochs(const struct cairn_log *log, uint32_t n, const struct cairn_epoch *shown)
{
    char time[CAIRN_SHOWN];
    const struct cairn_cpu *cpu = &log->cpu[n];
    printf("CPU %" PRIu32 ", epoch %" PRIu32 ": drained at %s s (%s), %" PRIu32 " %s, ", n, shown->number,
           cairn_show_time(time, log, shown->time), cairn_drain_name(shown->reason), shown->records,
           cairn_plural(shown->records, "record", "records"));
    if (shown->lost == CAIRN_DS_LOST_UNKNOWN)
        printf("lost: unknown\n");
    else
        printf("%" PRIu64 " lost\n", shown->lost);
    if (shown->bytes_seen != shown->record_bytes)
        printf("%" PRIu32 " of %" PRIu32 " bytes of its records are missing in this log\n",
               shown->record_bytes - shown->bytes_seen, shown->record_bytes);
    if (cpu->epochs.count)
        printf("epochs of this CPU in the log: %" PRIu32 " to %" PRIu32 " (--epoch N)\n", cpu->epochs.items[0].number,
               cpu->epochs.items[cpu->epochs.count - 1].number);
}

static int by_address(const void *a, const void *b)
{
    const struct cairn_item *x = a, *y = b;
    return x->record->address < y->record->address ? -1 : x->record->address > y->record->address;
}

struct items {
    struct cairn_item *items;
    size_t count, room;
};

/* The records of one epoch as they lay in the buffer. */
static struct items records_of(const struct cairn_log *log, uint32_t cpu, uint32_t epoch)
{
    struct items all = {0};
    struct cairn_lane lane;
    const struct cairn_item *item;
    cairn_lane_init(&lane, log, cpu, cairn_prefers_compact(log), cairn_by);
    while ((item = cairn_lane_next(&lane)) != NULL)
        if (item->kind == CAIRN_ITEM_RECORD && item->record->epoch == epoch)
            *CAIRN_ADD(all) = *item;
    cairn_lane_free(&lane);
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), by_address);
    return all;
}

/* False: it has not the one that was asked for. */
static bool print_records(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch)
{
    char thread[CAIRN_SHOWN];
    struct items all = records_of(log, cpu, epoch->number);
    const bool one = only_record != UINT64_MAX;
    const size_t first = one ? (size_t)only_record : 0, end = one ? first + 1 : (size_t)records_shown;
    for (size_t i = first; i < all.count && i < end; i++) {
        const struct cairn_item *item = &all.items[i];
        char of[2 * CAIRN_SHOWN];
        int used = printf("\nrecord %zu at 0x%016" PRIx64 ", %" PRIu32 " bytes: ", i, item->record->address,
                          item->record->size);
        int size = snprintf(of, sizeof(of), "%s, by %s",
                            item->blame == CAIRN_BLAME_KNOWN ? cairn_show_thread(thread, log, item->tid, 20)
                                                             : cairn_blame_text(item->blame),
                            cairn_by_names[item->rule]);
        cairn_print_wrapped((unsigned)used - 1, "", 2, (struct cairn_slice){of, (uint32_t)size});
        cairn_draw_record(log, cpu, item->record, i ? all.items[i - 1].record : NULL);
        if (want_bytes)
            cairn_draw_bytes(item->record);
    }
    if (all.count > end && !one)
        printf("\n%s%zu more %s (--records N)\n", end ? "and " : "", all.count - end,
               cairn_plural(all.count - end, "record", "records"));
    free(all.items);
    return !one || all.count > first;
}

static int no_drain(void)
{
    if (epoch_number != UINT64_MAX)
        cairn_error("no drain of epoch %" PRIu64 ": ds without --epoch names those there are", epoch_number);
    else
        cairn_error("no drain of a Debug Store in this log%s", cairn_filter_on() ? " of that CPU or time" : "");
    return CAIRN_BAD;
}

/* --life CPU:RECORD */
static int show_life(const struct cairn_log *log)
{
    uint64_t cpu, n;
    const char *colon = strchr(life, ':');
    struct cairn_slice first = {life, colon ? (uint32_t)(colon - life) : 0};
    if (!colon || !cairn_slice_u64(first, &cpu) ||
        !cairn_slice_u64((struct cairn_slice){colon + 1, (uint32_t)strnlen(colon + 1, 32)}, &n))
        return cairn_usage(&cairn_ds_command, "--life %s: not CPU:RECORD, two numbers", life);
    if (cairn_filter_by_cpu())
        return cairn_usage(&cairn_ds_command, "--life names the CPU: leave --cpu out");
    if (records_shown != RECORDS_SHOWN || only_record != UINT64_MAX || want_bytes)
        return cairn_usage(&cairn_ds_command, "--life shows one record and its bytes: leave --records, --record and "
                           "--bytes out");
    if (cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "1") && !cairn_logged_any(log)) {
        cairn_error("the model kept no log of what it did in this log (boot with ds.log=1)");
        return CAIRN_BAD;
    }
    if (cpu >= log->cpus)
        return cairn_usage(&cairn_ds_command, "--life %s: CPUs in this trace: %" PRIu32, life, log->cpus);
    const struct cairn_epoch *epoch = choose(&log->cpu[cpu]);
    if (!epoch)
        return no_drain();
    struct items all = records_of(log, (uint32_t)cpu, epoch->number);
    int status = CAIRN_BAD;
    if (n < all.count) {
        cairn_print_backend(log, "Debug Store: ", "");
        cairn_show_life(log, epoch, all.items, (size_t)n);
        status = CAIRN_GOOD;
    } else {
        cairn_error("--life %s: epoch %" PRIu32 " has %zu %s, counted from 0 (--epoch N)", life, epoch->number,
                    all.count, cairn_plural(all.count, "record", "records"));
    }
    free(all.items);
    return status;
}

static int show(const struct cairn_log *log)
{
    bool any = false, found = false;
    if (life)
        return show_life(log);
    if (only_record != UINT64_MAX && records_shown != RECORDS_SHOWN)
        return cairn_usage(&cairn_ds_command, "--records is how many, --record which one: give one of them");
    cairn_print_backend(log, "Debug Store: ", "");
    cairn_filter_print("");
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_epoch *epoch = choose(&log->cpu[c]);
        if (!cairn_filter_cpu(c) || !epoch)
            continue;
        any = true;
        putchar('\n');
        print_epochs(log, c, epoch);
        cairn_draw_area(log, c, epoch);
        found |= print_records(log, c, epoch);
    }
    if (any && !found)
        cairn_error("--record %" PRIu64 ": no drain shown has so many, counted from 0", only_record);
    return !any ? no_drain() : found ? CAIRN_GOOD : CAIRN_BAD;
}

const struct cairn_command cairn_ds_command = {
    .name = "ds",
    .arguments = "[options] LOG",
    .summary = "DS areas, buffers to scale, records in full",
    .options = options,
    .notes = "'by': 'd' the driver writes the field, 'p' the processor does. Fields: SDM vol.\n"
             "3B, \"BTS and DS Save Area\"; names: Windows' PROCESSOR_PROFILE_CONTROL_AREA;\n"
             "where reset values lie from format 5 on: Linux. Of a buffer: '#' recorded, '-'\n"
             "free, '.' beyond the threshold, '_' beyond the absolute maximum. A word marked\n"
             "'*' differs from the record before. --life tells what the model's own log has\n"
             "(boot with ds.log=1); real hardware keeps none: most is unseen.\n",
    .show = show,
};
