/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/command.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/pager.h"
#include "tools/cairn/command/arguments.h"
#include "tools/cairn/frame/input.h"
#include "tools/cairn/log/damage.h"
#include "tools/cairn/log/machine_text.h"
#include "tools/cairn/log/show.h"

void cairn_usage_line(const struct cairn_command *command)
{
    fprintf(stderr, "usage: cairn %s %s   (cairn %s --help)\n", command->name, command->arguments, command->name);
}

int cairn_usage(const struct cairn_command *command, const char *format, ...)
{
    char head[32];
    va_list args;
    snprintf(head, sizeof(head), "cairn %s: ", command->name);
    va_start(args, format);
    cairn_say(head, format, args);
    va_end(args);
    cairn_usage_line(command);
    return CAIRN_USAGE;
}

int cairn_flush(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    cairn_error("standard output: %s", strerror(errno));
    return CAIRN_UNREADABLE;
}

uint64_t cairn_which_dump, cairn_which_session, cairn_maximum_wait_reason;
unsigned cairn_by = CAIRN_BY_FORMAT;

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

/* ---- a log ------------------------------------------------------------------------------------------------------ */

struct source {
    struct cairn_input input;
    struct cairn_log log;
};

static const char *reading_failed(int error)
{
    return error == -ENODATA  ? "the file became shorter while cairn read it"
           : error == -ESTALE ? "the file changed while cairn read it"
                              : strerror(-error);
}

/* What cairn-grab says on standard error, where that was to go into the log with the rest. */
static bool find_refusal(char line[256], const struct cairn_input *input)
{
    static char text[1 << 16];
    static const char begins[] = "\ncairn-grab: ";
    const ssize_t size = pread(input->fd, text + 1, sizeof(text) - 2, 0);
    text[0] = '\n';
    text[size > 0 ? size + 1 : 1] = '\0';
    const char *found = strstr(text, begins);
    unsigned n = 0;
    while (found && n < 255 && isprint((unsigned char)found[n + 1])) {
        line[n] = found[n + 1];
        n++;
    }
    line[n] = '\0';
    return n;
}

static void no_trace(const struct cairn_input *input)
{
    static const struct {
        const char *begins, *name, *reader;
    } packed[] = {
        {"\x1F\x8B", "gzip", "zcat"},
        {"\x28\xB5\x2F\xFD", "zstd", "zstdcat"},
        {"\xFD"
         "7zXZ",
         "xz", "xzcat"},
        {"BZh", "bzip2", "bzcat"},
    };
    char start[8] = "", said[256];
    if (!input->size) {
        cairn_error("%s is empty", input->name);
        return;
    }
    if (pread(input->fd, start, sizeof(start), 0) < 0)
        start[0] = '\0';
    for (unsigned i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
        if (strncmp(start, packed[i].begins, strlen(packed[i].begins)) == 0) {
            cairn_error("%s: is compressed with %s; unpack it first: %s FILE | cairn dump -", input->name,
                        packed[i].name, packed[i].reader);
            return;
        }
    if (find_refusal(said, input))
        cairn_error("%s: not a trace; it is text that says: %s", input->name, said);
    else
        cairn_error("%s: not a trace: it is not an ETL file and has no undamaged frame in %" PRIu64 " %s", input->name,
                    input->size, cairn_plural(input->size, "byte", "bytes"));
}

/* What has no frames may be text of a machine. 0, or the exit status, the reason told. */
static int open_report(struct source *source, const struct cairn_command *command)
{
    const int e = cairn_machine_text_read(&source->log, &source->input);
    if (!e && command->reports) {
        if (source->log.flaw[0]) /* before what it makes doubtful */
            cairn_error("%s: %s: %s", source->input.name, source->log.report, source->log.flaw);
        return 0;
    }
    if (!e)
        cairn_error("%s: %s, which has no trace; cairn info and cairn probe can read it", source->input.name,
                    source->log.report);
    else if (e == -ENOENT)
        no_trace(&source->input);
    else
        cairn_error("%s: offset %" PRIu64 ": %s", source->input.name, source->log.input.error_at, reading_failed(e));
    cairn_log_free(&source->log);
    cairn_input_close(&source->input);
    return e ? CAIRN_UNREADABLE : CAIRN_BAD;
}

/* 0, or the exit status, the reason told. */
static int open_log(struct source *source, const struct cairn_command *command, const char *path)
{
    uint32_t dump = (uint32_t)cairn_which_dump;
    char refusal[CAIRN_REFUSAL] = "";
    struct cairn_choice choice = {
        .dump = dump,
        .maximum_wait_reason = (uint32_t)cairn_maximum_wait_reason,
        .progress = isatty(STDERR_FILENO) ? progress : NULL,
    };
    int e = cairn_input_open(&source->input, path);
    if (e && source->input.no_room)
        cairn_error("%s: cannot be copied to %s, as a pipe must be: %s; set TMPDIR to another folder, or give a file",
                    source->input.name, source->input.no_room, strerror(-e));
    else if (e)
        cairn_file_error(path, e);
    if (e)
        return CAIRN_UNREADABLE;
    e = cairn_log_read(&source->log, &source->input, &choice, refusal);
    progress_end();
    if (e == -ENOENT && !dump)
        return open_report(source, command);
    if (e) {
        if (e == -ENOTSUP)
            cairn_error("%s: %s", source->input.name, refusal);
        else if (e != -ENOENT)
            cairn_error("%s: offset %" PRIu64 ": %s", source->input.name, source->log.input.error_at,
                        reading_failed(e));
        else
            cairn_error("%s: the log has no dump %" PRIu32, source->input.name, dump);
        cairn_input_close(&source->input);
        return CAIRN_UNREADABLE;
    }
    cairn_links_keep(&source->log.frames);
    struct cairn_slice format = cairn_key(&source->log.text, "cairn.format");
    uint64_t version;
    if (format.size &&
        (!cairn_slice_u64(format, &version) || version < CAIRN_FORMAT_VERSION || version > CAIRN_FORMAT_LIVE)) {
        cairn_error("%s: dump format %.*s; this cairn reads only %u and %u: use the cairn of that kernel",
                    source->input.name, CAIRN_SLICE(format), CAIRN_FORMAT_VERSION, CAIRN_FORMAT_LIVE);
        cairn_log_free(&source->log);
        cairn_input_close(&source->input);
        return CAIRN_UNREADABLE;
    }
    struct cairn_slice pack = cairn_key(&source->log.text, "dump.pack");
    if (pack.size && (!cairn_slice_u64(pack, &version) || version != CAIRN_PACK_VERSION)) {
        cairn_error("%s: packed by coder version %.*s; this cairn unpacks only %u: use the cairn of that kernel",
                    source->input.name, CAIRN_SLICE(pack), CAIRN_PACK_VERSION);
        cairn_log_free(&source->log);
        cairn_input_close(&source->input);
        return CAIRN_UNREADABLE;
    }
    if (source->log.frames.dumps > 1)
        cairn_note("the log has several dumps; this is dump %" PRIu32 " (--dump N shows another)",
                   source->log.frames.dump);
    return 0;
}

/* "session 1", "sessions 1, 2, 4". */
static const char *list_sessions(char out[40], const struct cairn_log *log)
{
    int n = sprintf(out, "%s ", cairn_plural((uint32_t)__builtin_popcount(log->sessions), "session", "sessions"));
    const int first = n;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        if (log->sessions >> i & 1)
            n += snprintf(out + n, 40 - (size_t)n, "%s%" PRIu32, n > first ? ", " : "", i + 1);
    return out;
}

/* The session that was asked for. 0, or the exit status, the reason told. */
static int choose_session(struct source *source, const struct cairn_command *command)
{
    uint32_t number = (uint32_t)cairn_which_session;
    char list[40];
    if (!number) {
        if (__builtin_popcount(source->log.sessions) > 1 && !command->all_sessions)
            cairn_note("this is session %" PRIu32 " of %s (--session N shows another)", source->log.number,
                       list_sessions(list, &source->log));
        return 0;
    }
    if (!(source->log.sessions >> (number - 1) & 1)) {
        if (source->log.sessions)
            cairn_error("%s: there is no session %" PRIu32 "; the log has %s", source->input.name, number,
                        list_sessions(list, &source->log));
        else
            cairn_error("%s: the log has no session", source->input.name);
        return CAIRN_UNREADABLE;
    }
    if (number != source->log.number)
        cairn_log_select(&source->log, number);
    return 0;
}

/* What to do where there is not memory enough. */
static void want_memory(const struct cairn_command *command, const char *log)
{
    cairn_memory_for(command->name, log, "; allow it more (ulimit -v)");
}

static int show(struct source *source, const struct cairn_command *command)
{
    char why[2 * CAIRN_SHOWN], clock[CAIRN_CLOCK_WHY];
    if (!cairn_clock_told(&source->log, clock)) {
        cairn_error("%s", clock);
        return CAIRN_BAD;
    }
    if (cairn_filter_use(&source->log, why))
        return cairn_usage(command, "%s", why);
    return command->show(&source->log);
}

int cairn_filtered(int status)
{
    if (!cairn_filter_on() || cairn_filter_passed())
        return status;
    cairn_error("nothing in this log matches %s", cairn_filter_text());
    return status ? status : CAIRN_BAD;
}

/* Each session of the log in turn; the worst of the statuses. */
static int show_all(struct source *source, const struct cairn_command *command)
{
    int status = CAIRN_GOOD;
    uint32_t sessions = source->log.sessions;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++) {
        if (!(sessions >> i & 1))
            continue;
        if (source->log.number != i + 1) {
            cairn_log_select(&source->log, i + 1);
            putchar('\n');
        }
        int e = show(source, command);
        status = e > status ? e : status;
    }
    return status;
}

#define DAMAGE_SHOWN 5u /* and how many more there are */

/* Reports damage and closes. Returns the exit status, at least `status`. */
static int close_log(struct source *source, const struct cairn_command *command, int status)
{
    if (source->log.report && source->log.flaw[0])
        status = status ? status : CAIRN_BAD;
    else if (!source->log.report &&
             cairn_report_damage(stderr, &source->log, command->all_damage ? SIZE_MAX : DAMAGE_SHOWN)) {
        cairn_error("%sthe trace is damaged%s; only its undamaged part is shown",
                    cairn_colour(stderr, CAIRN_COLOUR_BAD), cairn_colour(stderr, CAIRN_COLOUR_OFF));
        status = status ? status : CAIRN_BAD;
    }
    if (source->log.input.error) {
        cairn_error("%s: offset %" PRIu64 ": %s", source->input.name, source->log.input.error_at,
                    reading_failed(source->log.input.error));
        status = CAIRN_UNREADABLE;
    }
    cairn_log_free(&source->log);
    cairn_input_close(&source->input);
    return status;
}

/* Opens a log and chooses the session. 0, or the exit status, the reason told. */
static int open_session(struct source *source, const struct cairn_command *command, const char *path)
{
    want_memory(command, path);
    int status = open_log(source, command, path);
    if (!status && (status = choose_session(source, command)) != 0) {
        cairn_log_free(&source->log);
        cairn_input_close(&source->input);
    }
    return status;
}

static int run_compare(const struct cairn_command *command, char **paths)
{
    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return cairn_usage(command, "'-' is standard input, which can provide only one of the two LOGs");
    struct source *sources = cairn_alloc(2 * sizeof(*sources));
    int status = open_session(&sources[0], command, paths[0]);
    if (!status && (status = open_session(&sources[1], command, paths[1])) != 0)
        close_log(&sources[0], command, status);
    else if (!status) {
        cairn_pager_start();
        status = cairn_flush(command->compare(&sources[0].log, &sources[1].log));
        for (unsigned i = 0; i < 2; i++) {
            if (cairn_log_damaged(&sources[i].log))
                fprintf(stderr, "%s:\n", sources[i].input.name);
            status = close_log(&sources[i], command, status);
        }
        cairn_pager_end();
    }
    free(sources);
    return status;
}

int cairn_run(const struct cairn_command *command, int argc, char **argv)
{
    char **operands;
    struct source source;
    int status;
    if (command->program)
        return command->run(argv + 1);
    if (!cairn_arguments_read(command, argc, argv, &operands, &status))
        return status;
    if (command->run)
        return command->run(operands);
    if (command->compare)
        return run_compare(command, operands);
    status = open_session(&source, command, operands[0]);
    if (status)
        return status;
    bool all = command->all_sessions && !cairn_which_session && source.log.sessions;
    cairn_pager_start();
    status = close_log(&source, command, cairn_flush(all ? show_all(&source, command) : show(&source, command)));
    cairn_pager_end();
    return status;
}
