/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cairn/report.h"

int cairn_usage(const struct cairn_command *command, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "cairn %s: ", command->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nusage: cairn %s %s   (cairn %s --help)\n", command->name, command->arguments, command->name);
    return CAIRN_USAGE;
}

int cairn_try_help(const struct cairn_command *command)
{
    fprintf(stderr, "try cairn %s --help\n", command->name);
    return CAIRN_USAGE;
}

int cairn_help(const struct cairn_command *command)
{
    printf("usage: cairn %s %s\n%s.\n%s", command->name, command->arguments, command->summary, command->help);
    return CAIRN_GOOD;
}

bool cairn_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    struct cairn_slice s = {text, (uint32_t)strnlen(text, 32)};
    uint64_t v;
    if (!cairn_slice_u64(s, &v) || v < low || v > high)
        return false;
    *value = v;
    return true;
}

/* ---- progress: only where someone looks and it takes long ------------------------------------------------------- */

static bool progress_shown;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void progress(uint64_t done, uint64_t all)
{
    static double began;
    if (began == 0.0)
        began = now();
    if (now() - began < 0.5)
        return;
    fprintf(stderr, "\rreading: %3" PRIu64 " %% of %" PRIu64 " MB", done * 100 / all, all >> 20);
    progress_shown = true;
}

static void progress_end(void)
{
    if (progress_shown)
        fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

/* ----------------------------------------------------------------------------------------------------------------- */

int cairn_open(struct cairn_source *source, const char *path, uint32_t dump)
{
    int e = cairn_input_open(&source->input, path);
    if (e) {
        fprintf(stderr, "cairn: %s: %s\n", path, strerror(-e));
        return CAIRN_UNREADABLE;
    }
    e = cairn_log_read(&source->log, source->input.data, source->input.size, dump,
                       isatty(STDERR_FILENO) ? progress : NULL);
    progress_end();
    if (e) {
        if (dump)
            fprintf(stderr, "cairn: %s: holds no dump number %" PRIu32 "\n", source->input.name, dump);
        else
            fprintf(stderr, "cairn: %s: not a trace: no undamaged frame in %zu bytes\n", source->input.name,
                    source->input.size);
        cairn_input_close(&source->input);
        return CAIRN_UNREADABLE;
    }
    struct cairn_slice format = cairn_key(&source->log.text, "cairn.format");
    uint64_t version;
    if (format.size && (!cairn_slice_u64(format, &version) || version != CAIRN_FORMAT_VERSION)) {
        fprintf(stderr, "cairn: %s: format %.*s is not known here, only %u: use the cairn of that kernel\n",
                source->input.name, CAIRN_SLICE(format), CAIRN_FORMAT_VERSION);
        cairn_log_free(&source->log);
        cairn_input_close(&source->input);
        return CAIRN_UNREADABLE;
    }
    if (source->log.frames.dumps > 1)
        fprintf(stderr, "note: the log holds several dumps; this is number %" PRIu32 " (--dump N for another)\n",
                source->log.frames.dump);
    return 0;
}

int cairn_close(struct cairn_source *source, int status)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "cairn: standard output: %s\n", strerror(errno));
        status = CAIRN_UNREADABLE;
    }
    if (cairn_report_damage(stderr, &source->log)) {
        fprintf(stderr, "cairn: the trace is damaged; what is shown is what is left of it\n");
        status = status ? status : CAIRN_BAD;
    }
    cairn_log_free(&source->log);
    cairn_input_close(&source->input);
    return status;
}
