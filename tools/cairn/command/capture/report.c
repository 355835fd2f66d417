/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* program_invocation_name */
#include "tools/cairn/command/capture/report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/wrap.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/next.h"
#include "tools/cairn/model/loss.h"

/* What isa-debug-exit makes of the kernel's 10H (pass) and 11H (fail): 2 * code + 1. QEMU itself never returns it. */
#define EXIT_PASS 33
#define EXIT_FAIL 35

#define LABEL 9u /* columns */

static char verdict[2 * CAIRN_HEARD_LINE];

static int say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int say(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(verdict, sizeof(verdict), format, args);
    va_end(args);
    return status;
}

static int failed(const struct cairn_heard *h)
{
    return say(CAIRN_BAD, "fail%s%s", h->fail[0] ? ": " : "", h->fail);
}

/* A machine that halted, was reset or went off has no exit status: all there is of a verdict is what it said. */
static int judge_by_log(const struct cairn_run_end *end)
{
    const struct cairn_heard *h = end->heard;
    const char *how = end->stop == CAIRN_STOP_LEFT ? "the machine was left running"
                      : h->halted                  ? "the machine halted"
                                                   : "the machine was reset or went off";
    if (h->summary && h->passed)
        return say(CAIRN_GOOD, "pass, by its SUMMARY; %s", how);
    if (h->summary || h->fail[0])
        return failed(h);
    return say(CAIRN_BAD, "none: %s before the guest gave one", how);
}

static int judge_by_status(const struct cairn_run_end *end)
{
    switch (end->machine->status) {
    case EXIT_PASS:
        return say(CAIRN_GOOD, "pass");
    case EXIT_FAIL:
        return failed(end->heard);
    case 0:
        return judge_by_log(end);
    default:
        return say(CAIRN_UNREADABLE, "QEMU ended with status %d: %s", end->machine->status,
                   cairn_machine_error(end->machine));
    }
}

static int judge_run(const struct cairn_run_end *end)
{
    const struct cairn_heard *h = end->heard;
    if (end->stop == CAIRN_STOP_TIME)
        return say(CAIRN_TIMEOUT, "timeout after %" PRIu64 " s", end->timeout);
    if (h->loader[0])
        return say(CAIRN_BAD, "the loader failed: %s", h->loader);
    if (h->refused)
        return say(CAIRN_UNREADABLE,
                   "the firmware refuses the loader: Secure Boot is on, and \\EFI\\BOOT\\BOOTX64.EFI is not signed "
                   "with a key that it knows; sign it (docs/reference/hardware.md, section 2) or turn Secure Boot off");
    if (h->firmware[0])
        return say(CAIRN_UNREADABLE, "the firmware did not start the loader: %s", h->firmware);
    const int status = end->stop == CAIRN_STOP_NONE ? judge_by_status(end) : judge_by_log(end);
    if (status == CAIRN_GOOD && end->damaged)
        return say(CAIRN_BAD, "the guest says pass, but its log is damaged");
    return status;
}

static uint64_t bytes_of(const char *path)
{
    struct stat s;
    return path && stat(path, &s) == 0 && S_ISREG(s.st_mode) ? (uint64_t)s.st_size : 0;
}

/* A machine that should leave its log on its volume, and ended as it should, has failed where there is none. */
static int judge(const struct cairn_run_end *end)
{
    const int status = judge_run(end);
    const char *why = end->heard->not_saved;
    if (!end->saved || status > CAIRN_BAD || bytes_of(end->saved) || end->heard->loader[0] || end->heard->halted ||
        end->stop == CAIRN_STOP_LEFT)
        return status;
    return say(CAIRN_BAD, "the log was not saved%s%s", why[0] ? ": " : "", why);
}

/* As a user in this folder would name it. */
static const char *shown(const char *path)
{
    char here[PATH_MAX];
    const size_t n = getcwd(here, sizeof(here)) ? strlen(here) : 0;
    return n && strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static void fact(const char *label, const char *text)
{
    printf("%-*s", (int)LABEL, label);
    cairn_print_wrapped(LABEL, "", LABEL, (struct cairn_slice){text, (uint32_t)strlen(text)});
}

/* The page for a browser, beside the log. */
static void offer_page(const char *path, const char *label)
{
    const size_t n = strlen(path), stem = n > 4 && strcmp(path + n - 4, ".log") == 0 ? n - 4 : n;
    printf("%-*s%s export --to html %s -o %.*s.html &&\n%*sxdg-open %.*s.html\n", (int)LABEL, label,
           shown(program_invocation_name), path, (int)stem, path, (int)LABEL, "", (int)stem, path);
}

/* What was lost, and the commands that have something to show. Of a log without a trace that can be read: nothing. */
static void look_into(const char *path)
{
    static struct cairn_log log;
    struct cairn_input input;
    char refusal[CAIRN_REFUSAL], command[PATH_MAX + 32];
    if (cairn_input_open(&input, path))
        return;
    if (cairn_log_read(&log, &input, &(struct cairn_choice){0}, refusal) == 0) {
        cairn_print_losses(&log, "lost     ", LABEL);
        const char *label = "try";
        if (!log.report) {
            offer_page(shown(path), label);
            label = "";
        }
        for (unsigned i = 0; cairn_next(&log, i, command, sizeof(command)); i++, label = "")
            printf("%-*s%s %s %s\n", (int)LABEL, label, shown(program_invocation_name), command, shown(path));
        cairn_log_free(&log);
    }
    cairn_input_close(&input);
}

int cairn_report_run(const struct cairn_run_end *end)
{
    static const char *const labels[] = {"qemu-ds", "esp", "warm", NULL};
    const uint64_t saved = bytes_of(end->saved);
    const int status = judge(end);
    cairn_machine_print(end->machine, labels);
    putchar('\n');
    if (end->heard->backend[0])
        fact("backend", end->heard->backend);
    fact("verdict", verdict);
    if (saved)
        printf("saved    %s, %" PRIu64 " bytes\n", shown(end->saved), saved);
    if (bytes_of(end->log))
        printf("log      %s, %" PRIu64 " bytes\n", shown(end->log), bytes_of(end->log));
    else
        printf("log      %s is empty: the machine sent nothing\n", shown(end->log));
    if (end->frames)
        look_into(end->log);
    else if (bytes_of(end->log))
        printf("         it ends before the trace; read it with: less %s\n", shown(end->log));
    return status;
}
