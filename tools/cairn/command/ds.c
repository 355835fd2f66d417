/* SPDX-License-Identifier: MIT */
/* cairn ds: each CPU's DS area and buffers at a drain, and the records in them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/command/ds_life.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/model_log.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/loss.h"
#include "tools/cairn/model/one_drain.h"

#define RECORDS_SHOWN 2 /* unless told otherwise */

static uint64_t epoch_number = CAIRN_TAKE_FIRST, records_shown = RECORDS_SHOWN;
static uint64_t only_record = UINT64_MAX;
static bool want_bytes;
static const char *life;
static const struct cairn_option options[] = {
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    {0, "epoch", "N", "show the drain of epoch N instead of the first with records", .number = &epoch_number, .low = 0,
     .high = UINT32_MAX},
    {0, "records", "N", "decode the first N records of the drain (2)", .number = &records_shown, .low = 0,
     .high = UINT32_MAX},
    {0, "record", "N", "decode only record N of the drain (0: the first)", .number = &only_record, .low = 0,
     .high = UINT32_MAX},
    {0, "bytes", NULL, "also show the bytes of each record", .on = &want_bytes},
    {0, "life", "CPU:RECORD", "show each step that made this record (0: the first)", .text = &life},
    CAIRN_BY_OPTION,
    CAIRN_LOG_OPTIONS,
};

static void print_epochs(const struct cairn_log *log, uint32_t n, const struct cairn_taken *drain)
{
    char time[CAIRN_SHOWN];
    const struct cairn_epoch *shown = &drain->epoch;
    printf("CPU %" PRIu32 ", epoch %" PRIu32 ": drained at %s (%s), %" PRIu32 " %s, ", n, shown->number,
           cairn_show_moment(time, log, shown->time), cairn_drain_name(shown->reason), shown->records,
           cairn_plural(shown->records, "record", "records"));
    if (shown->lost == CAIRN_DS_LOST_UNKNOWN)
        printf("lost: unknown\n");
    else
        printf("%" PRIu64 " lost\n", shown->lost);
    if (shown->torn)
        printf("%" PRIu32 " %s not shown: part of %s is missing in this log\n", shown->torn,
               cairn_plural(shown->torn, "record is", "records are"), cairn_plural(shown->torn, "it", "each"));
    if (cairn_epoch_missing(shown))
        printf("%" PRIu32 " of %" PRIu32 " bytes of its records are missing in this log\n", cairn_epoch_missing(shown),
               shown->record_bytes);
    printf("epochs of this CPU in the log: %" PRIu32 " to %" PRIu32 " (--epoch N)\n", drain->first, drain->last);
}

/* False: it has not the one that was asked for. */
static bool print_records(const struct cairn_log *log, uint32_t cpu, const struct cairn_taken *drain)
{
    char thread[CAIRN_SHOWN];
    const struct cairn_item *records = drain->records.items;
    const bool one = only_record != UINT64_MAX;
    const size_t first = one ? (size_t)only_record : 0, most = one ? 1 : (size_t)records_shown;
    size_t seen = 0; /* that are wanted, shown or not */
    for (size_t i = first; i < drain->records.count; i++) {
        const struct cairn_item *item = &records[i];
        char of[2 * CAIRN_SHOWN];
        if ((one && i > first) || !cairn_taken_is_wanted(item) || seen++ >= most)
            continue;
        int used = printf("\nrecord %zu at 0x%016" PRIx64 ", %" PRIu32 " bytes: ", i, item->record->address,
                          item->record->size);
        int size = snprintf(of, sizeof(of), "%s, by %s",
                            item->blame == CAIRN_BLAME_KNOWN ? cairn_show_thread(thread, log, item->tid, 20)
                                                             : cairn_blame_text(item->blame),
                            cairn_by_names[item->rule]);
        cairn_print_wrapped((unsigned)used - 1, "", 2, (struct cairn_slice){of, (uint32_t)size});
        cairn_draw_record(log, cpu, item->record, i ? records[i - 1].record : NULL);
        if (want_bytes)
            cairn_draw_bytes(item->record);
    }
    if (seen > most)
        printf("\n%s%zu more %s (--records N)\n", most ? "and " : "", seen - most,
               cairn_plural(seen - most, "record", "records"));
    return !one || seen;
}

static int no_drain(void)
{
    if (epoch_number != CAIRN_TAKE_FIRST)
        cairn_error("there is no drain of epoch %" PRIu64 "; without --epoch, ds lists the epochs of this log",
                    epoch_number);
    else
        cairn_error("no drain of a Debug Store in this log%s",
                    cairn_filter_on() ? " matches the given CPU, thread or time" : "");
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
        return cairn_usage(&cairn_ds_command, "--life %s: must be CPU:RECORD, two numbers such as 0:0", life);
    if (cairn_filter_by_cpu())
        return cairn_usage(&cairn_ds_command, "--life already names the CPU; leave out --cpu");
    if (records_shown != RECORDS_SHOWN || only_record != UINT64_MAX || want_bytes)
        return cairn_usage(&cairn_ds_command,
                           "--life shows one record and its bytes; leave out --records, --record and --bytes");
    if (cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "1") && !cairn_logged_any(log)) {
        cairn_error("this log does not have the model's log of its steps (boot with ds.log=1)");
        return CAIRN_BAD;
    }
    if (cpu >= log->cpus)
        return cairn_usage(&cairn_ds_command, "--life %s: this trace has %" PRIu32 " %s, numbered from 0", life,
                           log->cpus, cairn_plural(log->cpus, "CPU", "CPUs"));
    struct cairn_taken drain;
    int status = CAIRN_BAD;
    if (!cairn_take(&drain, log, (uint32_t)cpu, epoch_number, cairn_by)) {
        status = no_drain();
    } else if (n < drain.records.count) {
        cairn_print_backend(log, "Debug Store: ", "");
        cairn_show_life(log, &drain.epoch, drain.records.items, (size_t)n);
        status = CAIRN_GOOD;
    } else {
        cairn_error("--life %s: epoch %" PRIu32 " has %zu %s, counted from 0 (--epoch N)", life, drain.epoch.number,
                    drain.records.count, cairn_plural(drain.records.count, "record", "records"));
    }
    cairn_taken_free(&drain);
    return status;
}

static int show(const struct cairn_log *log)
{
    bool any = false, found = false;
    if (life)
        return show_life(log);
    if (only_record != UINT64_MAX && records_shown != RECORDS_SHOWN)
        return cairn_usage(&cairn_ds_command,
                           "--records sets how many, --record sets which one; give only one of them");
    cairn_print_backend(log, "Debug Store: ", "");
    cairn_print_damage(log, "", "cairn check tells where");
    cairn_filter_print("");
    for (uint32_t c = 0; c < log->cpus; c++) {
        struct cairn_taken drain;
        if (!cairn_filter_cpu(c))
            continue;
        if (cairn_take(&drain, log, c, epoch_number, cairn_by)) {
            any = true;
            putchar('\n');
            print_epochs(log, c, &drain);
            cairn_draw_area(log, c, &drain.epoch);
            found |= print_records(log, c, &drain);
        }
        cairn_taken_free(&drain);
    }
    if (any && !found)
        cairn_error("--record %" PRIu64 ": no drain shown has such a record (numbers begin at 0)", only_record);
    return !any ? no_drain() : found ? CAIRN_GOOD : CAIRN_BAD;
}

const struct cairn_command cairn_ds_command = {
    .name = "ds",
    .arguments = "[options] LOG",
    .summary = "show DS areas, PEBS registers, buffers, records",
    .options = options,
    .notes = "Column 'by': 'd' is a field that the driver writes, 'p' one that the processor\n"
             "writes. Sources: the fields are those of SDM vol. 3B, \"BTS and DS Save Area\";\n"
             "their names are those of Windows' PROCESSOR_PROFILE_CONTROL_AREA; the offsets of\n"
             "reset values from format 5 on are those of Linux. Architectural PEBS (record\n"
             "format 15) has registers instead of the area, with names and bits as in Linux;\n"
             "'p' is one that the processor advances.\n"
             "In a buffer, '#' is a record, '-' is free, '.' is beyond the threshold, '_' is\n"
             "beyond the absolute maximum. '*' marks a word that differs from the previous\n"
             "record.\n"
             "--life shows the model's own log (boot with ds.log=1). Real hardware has no such\n"
             "log, so most of its steps are invisible.\n",
    .examples = {"cairn ds --cpu 0 --records 1 --bytes t.log", "cairn ds --life 0:0 t.log"},
    .show = show,
};
