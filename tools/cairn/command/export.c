/* SPDX-License-Identifier: MIT */
/* cairn export: a log as a file that other tools read. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cairn/command/command.h"
#include "tools/cairn/export/writer.h"

#define NAME(name, word)   word,
#define WRITER(name, word) &cairn_writer_##name,
static const char *const names[] = {CAIRN_WRITERS(NAME) NULL};
static const struct cairn_writer *const writers[] = {CAIRN_WRITERS(WRITER) NULL};

static unsigned format = UINT32_MAX;
static const char *path, *elf_path;
static bool strict;
static const struct cairn_option options[] = {
    {0, "to", "FORMAT", "the format to write, one of those below", .word = &format, .words = names},
    {'o', "output", "FILE", "write to FILE (for ctf, a folder); ctf, etl, perf.data and sqlite need it", .text = &path},
    {'e', "elf", "FILE", "take function names from this kernel.elf.full", .text = &elf_path},
    {0, "strict", NULL, "for etl: write only what Windows itself writes", .on = &strict},
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    CAIRN_REASON_OPTION,
    CAIRN_BY_OPTION,
    CAIRN_LOG_OPTIONS,
};

static int show(const struct cairn_log *log)
{
    struct cairn_output o = {.log = log, .path = path && strcmp(path, "-") ? path : NULL, .strict = strict};
    if (format == UINT32_MAX)
        return cairn_usage(&cairn_export_command,
                           "give the format with --to FORMAT; 'cairn export --help' lists the formats");
    o.writer = writers[format];
    if (cairn_filter_on() && !o.writer->on_switch && !o.writer->record)
        return cairn_usage(&cairn_export_command, "%s: the format %s always has the whole trace; leave the filters out",
                           cairn_filter_text(), o.writer->name);
    if ((cairn_filter_by_thread() || cairn_filter_by_reason()) && !o.writer->each)
        return cairn_usage(
            &cairn_export_command,
            "%s: the format %s shows which thread used each CPU; it accepts only --cpu, --from and --until",
            cairn_filter_text(), o.writer->name);
    if (strict && o.writer != &cairn_writer_etl)
        return cairn_usage(&cairn_export_command, "--strict is only for --to etl");
    if (!o.path && o.writer->needs_path)
        return cairn_usage(&cairn_export_command,
                           "give the output file with -o FILE; the format %s cannot go to standard output",
                           o.writer->name);
    if (!o.path && o.writer->binary && cairn_pager_or_terminal(stdout))
        return cairn_usage(&cairn_export_command,
                           "give the output file with -o FILE; the format %s is not text for a terminal",
                           o.writer->name);
    int status = elf_path ? cairn_elf_open(&o.elf, elf_path, log) : CAIRN_GOOD;
    if (status)
        return status;
    status = cairn_export(&o, cairn_by);
    cairn_elf_close(o.elf);
    return status ? status : cairn_filtered(status);
}

const struct cairn_command cairn_export_command = {
    .name = "export",
    .arguments = "--to FORMAT LOG [-o FILE]",
    .summary = "convert the trace for other tools",
    .options = options,
    .formats = writers,
    .notes = "An existing FILE of another format is not overwritten.\n",
    .examples = {"cairn export --to html t.log -o t.html", "cairn export --to json --from 1s t.log >t.json"},
    .show = show,
};
