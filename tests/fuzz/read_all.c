/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/read_all.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/crc32c.h"
#include "tests/fuzz/ctf.h"
#include "tests/fuzz/filters.h"
#include "tests/fuzz/formats.h"
#include "tests/fuzz/kernel_file.h"
#include "tests/fuzz/log.h"
#include "tests/fuzz/perf.h"
#include "tests/fuzz/sqlite.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/export/etl/export.h"
#include "tools/cairn/export/writer.h"
#include "tools/cairn/log/damage.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/etl/event_text.h"
#include "tools/cairn/log/model_log.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/timeline.h"
#include "tools/pebs/pebs.h"
#include "trace/wire/model_log.h"

#define LIVES_SHOWN 4u           /* of a CPU */
#define EXPORT_READ (256u << 10) /* bytes of a file that is read again: more takes too long */

static void read_record(const struct cairn_log *log, const struct cairn_item *item)
{
    char text[CAIRN_SHOWN], counters[CAIRN_SHOWN_ALL];
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field field;
    fputs(cairn_show_address(text, log, item->record->ip, 30), fuzz_nowhere);
    cairn_pebs_walk(&walk, item->record->format, item->record->at, item->record->size);
    while (cairn_pebs_next(&walk, &field)) {
        fputs(field.name, fuzz_nowhere);
        fputs(cairn_show_counters(counters, log, item->cpu, field.value), fuzz_nowhere);
    }
}

/* What is found must be there: an entry, an action of it, of the kind it stands for. */
static void believe(const struct cairn_life *life, const struct cairn_life_step *step, uint8_t kind)
{
    if (!step->entry)
        return;
    if (step->entry < life->entries || step->entry >= life->entries + life->count || step->action.kind != kind ||
        step->missing)
        abort();
}

static void read_lives(const struct cairn_log *log, uint32_t n)
{
    struct cairn_group g;
    unsigned lives = 0;
    cairn_group_init(&g, log, n);
    while (cairn_group_next(&g))
        for (size_t i = 0; i < g.records.count && lives < 64; i++, lives++) {
            struct cairn_life life;
            cairn_life_read(&life, log, n, &g.records.items[i]);
            believe(&life, &life.stored, CAIRN_MODEL_STORED);
            for (unsigned c = 0; c < life.counters; c++) {
                believe(&life, &life.counter[c].overflow, CAIRN_MODEL_OVERFLOWED);
                believe(&life, &life.counter[c].load, CAIRN_MODEL_RELOADED);
            }
            cairn_life_free(&life);
        }
    cairn_group_free(&g);
}

/* Gives an option of a command its value, as the arguments would. */
static void set_text(const struct cairn_command *command, const char *name, const char *value)
{
    const struct cairn_option *o = command->options;
    while (strcmp(o->name, name) != 0)
        o++;
    *o->text = value;
}

/* All the commands that read a log, and records' lives. What they print is not looked at, only made. `elf`: the
 * kernel's file, or NULL. */
static void show_all(const struct cairn_log *log, const char *elf)
{
    static const struct cairn_command *const commands[] = {
        &cairn_dump_command, &cairn_stat_command,    &cairn_info_command,  &cairn_check_command, &cairn_ds_command,
        &cairn_bts_command,  &cairn_profile_command, &cairn_locks_command, &cairn_probe_command,
    };
    FILE *out = stdout, *errors = stderr;
    stdout = stderr = fuzz_nowhere;
    set_text(&cairn_dump_command, "elf", elf);
    set_text(&cairn_profile_command, "elf", elf);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!fuzz_filter_taken(commands[i]))
            continue;
        int status = commands[i]->show(log);
        if (status != CAIRN_GOOD && status != CAIRN_BAD)
            abort(); /* the arguments were right, and the log could be read */
    }
    for (uint32_t cpu = 0; cpu < log->cpus && !cairn_filter_on(); cpu++)
        for (unsigned n = 0; n < LIVES_SHOWN; n++) {
            char life[32];
            snprintf(life, sizeof(life), "%u:%u", cpu, n);
            set_text(&cairn_ds_command, "life", life);
            int status = cairn_ds_command.show(log);
            if (status != CAIRN_GOOD && status != CAIRN_BAD)
                abort();
        }
    set_text(&cairn_ds_command, "life", NULL);
    stdout = out;
    stderr = errors;
}

static void read_export(const struct cairn_etl_writer *w)
{
    struct cairn_log log;
    char refusal[CAIRN_REFUSAL], *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    if (!out || cairn_etl_write(w, out) || fclose(out) ||
        cairn_log_read(&log, &(struct cairn_input){.name = "fuzz", .data = data, .size = size},
                       &(struct cairn_choice){0}, refusal))
        abort();
    for (size_t i = 0; i < log.etl->flaws.count; i++)
        if (log.etl->flaws.items[i].buffer != UINT32_MAX) /* else of the log it was made from */
            abort();
    cairn_log_free(&log);
    free(data);
}

/* As an ETL file: each buffer has its events, one after another, and the reader takes the whole. */
static void export_session(const struct cairn_log *log, bool strict)
{
    struct cairn_etl_export x;
    cairn_etl_export(&x, log, strict);
    const struct cairn_etl_writer *w = &x.writer;
    uint8_t *room = malloc(w->buffer_bytes);
    for (size_t i = 0; i < w->buffers.count; i++) {
        struct cairn_event e;
        uint32_t at = 0;
        const uint8_t *bytes = cairn_etl_bytes(w, &w->buffers.items[i], room);
        if (!bytes)
            abort();
        while (cairn_event_at(bytes, w->buffers.items[i].used, at, &e))
            at += e.space;
        if (at != w->buffers.items[i].used)
            abort();
    }
    free(room);
    if (!w->over && w->buffers.count * w->buffer_bytes <= EXPORT_READ)
        read_export(w);
    cairn_etl_export_free(&x);
}

/* As each other format that can be written anywhere. `path`: of the kernel's file, or NULL. */
static void export_all(const struct cairn_log *log, const char *path)
{
#define WRITER(name, word) &cairn_writer_##name,
    static const struct cairn_writer *const writers[] = {CAIRN_WRITERS(WRITER)};
#undef WRITER
    FILE *out = stdout, *errors = stderr;
    char *text = NULL;
    size_t size = 0;
    struct cairn_elf *elf = NULL;
    stderr = fuzz_nowhere;
    if (path && cairn_elf_open(&elf, path, log) != CAIRN_GOOD)
        abort(); /* it is of the log's build */
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        struct cairn_output o = {.log = log, .writer = writers[i], .elf = elf};
        if (writers[i]->needs_path || (cairn_filter_on() && !writers[i]->on_switch && !writers[i]->record) ||
            ((cairn_filter_by_thread() || cairn_filter_by_reason()) && !writers[i]->each))
            continue;
        if (!(stdout = open_memstream(&text, &size)))
            abort();
        const bool begun = !log->input.error;
        const int status = cairn_export(&o, CAIRN_BY_FORMAT);
        if (fclose(stdout))
            abort();
        const bool nothing = status == CAIRN_BAD && writers[i] == &cairn_writer_folded && !size; /* no stack */
        if (!nothing && status != (log->input.error ? CAIRN_UNREADABLE : CAIRN_GOOD))
            abort();
        if (begun)
            fuzz_format(writers[i]->name, text, size, status == CAIRN_GOOD);
        else if (size)
            abort();
        free(text);
    }
    cairn_elf_close(elf);
    stdout = out;
    stderr = errors;
}

static void read_branches(const struct cairn_log *log, const struct cairn_bts_step *step)
{
    char text[CAIRN_SHOWN];
    for (uint32_t i = 0; i < step->count; i++)
        fputs(cairn_show_address(text, log, cairn_bts_step_record(step, i).to, 30), fuzz_nowhere);
}

static void read_event(const struct cairn_log *log, const struct cairn_event *event)
{
    char text[CAIRN_EVENT_TEXT];
    struct cairn_live live;
    fputs(cairn_event_text(text, log, event, cairn_live_of(event, &live) ? &live : NULL), fuzz_nowhere);
}

static void read_items(const struct cairn_log *log)
{
    for (int compact = 0; compact < 2; compact++) {
        struct cairn_timeline t;
        const struct cairn_item *item;
        char text[CAIRN_SHOWN];
        cairn_timeline_init(&t, log, -1, compact, CAIRN_BY_FORMAT, true);
        while ((item = cairn_timeline_next(&t)) != NULL) {
            fputs(cairn_show_time(text, log, item->time), fuzz_nowhere);
            if (item->kind == CAIRN_ITEM_SWITCH)
                fputs(cairn_show_thread(text, log, item->sw.old_tid, 16), fuzz_nowhere);
            else if (item->kind == CAIRN_ITEM_RECORD)
                read_record(log, item);
            else if (item->kind == CAIRN_ITEM_BRANCHES)
                read_branches(log, item->branches);
            else if (item->kind == CAIRN_ITEM_HOLE)
                fputs(cairn_show_hole(text, log, item->hole), fuzz_nowhere);
            else if (item->kind == CAIRN_ITEM_EVENT)
                read_event(log, item->event);
        }
        cairn_timeline_free(&t);
    }
}

static void read_session(const struct cairn_log *log, void *context)
{
    (void)context;
    read_items(log);
    for (uint32_t n = 0; n < log->cpus; n++)
        read_lives(log, n);
    show_all(log, fuzz_kernel_file(log));
    for (int strict = 0; strict < 2 && !log->etl; strict++)
        export_session(log, strict);
    export_all(log, fuzz_kernel_file(log));
    fuzz_ctf(log);
    fuzz_perf(log);
    fuzz_sqlite(log);
    struct cairn_check check;
    cairn_check_init(&check, log, fuzz_nowhere);
    cairn_check_trace(&check);
    cairn_check_truth(&check);
    if (cairn_report_damage(fuzz_nowhere, log, SIZE_MAX) && !cairn_check_failed(&check))
        abort(); /* a damaged log passed */
}

/* The same of a file that is another one by now: nothing can be said of what is found. */
static void read_changed(const struct cairn_log *log)
{
    if (log->etl) /* which is in memory */
        return;
    read_items(log);
    show_all(log, NULL);
    export_all(log, NULL);
    fuzz_ctf(log);
    fuzz_perf(log);
    cairn_report_damage(fuzz_nowhere, log, SIZE_MAX);
}

/* A part of it; which, the input says. */
static void read_part(const struct cairn_log *log, void *context)
{
    const uint32_t *choice = context;
    fuzz_filter_parts(log, *choice);
    if (fuzz_filter(log, *choice)) {
        show_all(log, NULL);
        export_all(log, NULL);
        fuzz_ctf(log);
        fuzz_perf(log);
        fuzz_sqlite(log);
    }
    fuzz_filter_clear();
}

/* What changed from one to the other; from one to itself, nothing. */
static void compare(const struct cairn_log *a, const struct cairn_log *b)
{
    FILE *out = stdout;
    char *text = NULL;
    size_t size = 0;
    if (!(stdout = open_memstream(&text, &size)) || cairn_diff_command.compare(a, b) != CAIRN_GOOD || fclose(stdout))
        abort();
    stdout = out;
    if (a == b && !strstr(text, "\nno difference: "))
        abort();
    free(text);
}

void fuzz_compare(const char *data, size_t size, const char *then, size_t then_size)
{
    struct cairn_log a, b;
    char refusal[CAIRN_REFUSAL];
    const struct cairn_input before = {.name = "a", .data = data, .size = size};
    const struct cairn_input after = {.name = "b", .data = then, .size = then_size};
    if (cairn_log_read(&a, &before, &(struct cairn_choice){0}, refusal))
        return;
    compare(&a, &a);
    if (cairn_log_read(&b, &after, &(struct cairn_choice){0}, refusal) == 0) {
        compare(&a, &b);
        cairn_log_free(&b);
    }
    cairn_log_free(&a);
}

void fuzz_read_changed(char *data, size_t size, const char *then, size_t then_size, bool agree)
{
    struct cairn_log log;
    struct cairn_frames other;
    char refusal[CAIRN_REFUSAL];
    const struct cairn_input input = {.name = "fuzz", .data = data, .size = size};
    struct cairn_input changed = {.name = "fuzz", .data = then, .size = then_size};
    if (!fuzz_nowhere && !(fuzz_nowhere = fopen("/dev/null", "w")))
        abort();
    if (cairn_log_read(&log, &input, &(struct cairn_choice){0}, refusal))
        return;
    if (agree && !log.etl) {
        cairn_deframe(&other, &changed, 0, 0, NULL);
        for (size_t i = 0; i < other.crcs.count && i < log.frames.crcs.count; i++)
            log.frames.crcs.items[i] = other.crcs.items[i];
        cairn_frames_free(&other);
    }
    memcpy(data, then, size < then_size ? size : then_size);
    read_changed(&log);
    cairn_log_select(&log, log.number);
    read_changed(&log);
    cairn_log_free(&log);
}

void fuzz_read_all(const char *data, size_t size)
{
    fuzz_sessions(data, size, read_session, NULL);
    uint32_t choice = kcrc32c(0, data, size);
    fuzz_sessions(data, size, read_part, &choice);
}
