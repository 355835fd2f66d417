/* SPDX-License-Identifier: MIT */
/* cairn check: every invariant, and the truth where the log has it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/error.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/frame/input.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/loss.h"
#include "tools/cairn/model/plugin_truth.h"
#include "tools/cairn/model/timeline.h"
#include "tools/cairn/model/tsc_skew.h"

/* The rules, and how sure each is. */
static void print_rules(const struct cairn_check *check)
{
    char why[CAIRN_WHY];
    printf("%-42s %8s %6s %s\n", "rule", "compared", "failed", "how sure");
    for (unsigned i = 0; i < CAIRN_RULES; i++)
        if (cairn_check_applies(check, i))
            printf("%-42s %8" PRIu64 " %6" PRIu64 " %s\n", cairn_rule_text(check->log, i), check->compared[i],
                   check->failed[i], cairn_word_text(cairn_check_word(check, i, why)));
}

/* Why they are not verified: each reason once. */
static void print_reasons(const struct cairn_check *check)
{
    char said[CAIRN_RULES][CAIRN_WHY];
    enum cairn_word words[CAIRN_RULES];
    unsigned reasons = 0;
    for (unsigned i = 0; i < CAIRN_RULES; i++) {
        unsigned same = 0;
        if (!cairn_check_applies(check, i))
            continue;
        words[reasons] = cairn_check_word(check, i, said[reasons]);
        if (!said[reasons][0])
            continue;
        while (strcmp(said[same], said[reasons]) != 0 || words[same] != words[reasons])
            same++;
        reasons += same == reasons;
    }
    for (unsigned word = CAIRN_VERIFIED_PARTLY; word < CAIRN_FAILED; word++)
        for (unsigned i = 0; i < reasons; i++)
            if (words[i] == word) {
                int used = printf("%s: ", cairn_word_text(word));
                cairn_print_wrapped((unsigned)used, "", 2, (struct cairn_slice){said[i], (uint32_t)strlen(said[i])});
            }
}

static void print_truth(const struct cairn_check *check)
{
    if (!check->log->has_truth || !check->log->session.known)
        return;
    char text[128];
    int used =
        snprintf(text, sizeof text,
                 "incoming threads: %" PRIu64 " equal, %" PRIu64 " unknown (a CPU's last record, or before a gap)",
                 check->incoming_known, check->incoming_unknown);
    cairn_print_wrapped(0, "", 2, (struct cairn_slice){text, (uint32_t)used});
    if (check->truth_missing)
        printf("lost, overwritten or damaged: %" PRIu64 " %s\n", check->truth_missing,
               cairn_plural(check->truth_missing, "switch", "switches"));
    unsigned unfinished = 0;
    for (unsigned i = 0; i < check->log->cpus; i++)
        unfinished += check->unfinished[i];
    if (unfinished)
        printf("panic: the kernel stopped within the last switch of %u %s, which has no truth\n", unfinished,
               cairn_plural(unfinished, "CPU", "CPUs"));
    uint64_t all = 0, ambiguous = 0;
    for (unsigned i = 0; i < CAIRN_BLAMES; i++) {
        all += check->blames[i];
        ambiguous += cairn_blame_certainty(i) == CAIRN_AMBIGUOUS ? check->blames[i] : 0;
    }
    if (!all)
        return;
    printf("PEBS records: %" PRIu64 ": %" PRIu64 " attributed (%.2f %%), %" PRIu64 " ambiguous", all,
           check->blames[CAIRN_BLAME_KNOWN], 100.0 * (double)check->blames[CAIRN_BLAME_KNOWN] / (double)all, ambiguous);
    if (cairn_log_modelled(check->log))
        printf(", %" PRIu64 " wrong\n", check->wrong);
    else
        printf(", wrong: unknown\n");
    if (check->by != CAIRN_BY_FORMAT)
        printf("  by %s alone\n", cairn_by_names[check->by]);
    else if (check->untimed)
        printf("  by %sindex (no TSC)\n", check->untimed < all ? "time, or " : "");
    for (unsigned i = CAIRN_BLAME_KNOWN + 1; i < CAIRN_BLAMES; i++)
        if (check->blames[i])
            printf("  %" PRIu64 " %s\n", check->blames[i], cairn_blame_text(i));
}

/* How much of a live session did not come at the end. */
static void print_live(const struct cairn_log *log)
{
    const struct cairn_sent live = cairn_log_sent(log);
    uint64_t buffers = 0;
    for (uint32_t n = 0; n < log->cpus; n++)
        buffers += log->cpu[n].buffers;
    if (log->session.live && !log->etl)
        printf("live: %" PRIu64 " of %" PRIu64 " buffers came during the run\n", live.buffers, buffers);
}

/* What the processor did that the log cannot show. */
static void print_plugin(const struct cairn_check *check)
{
    uint64_t totals[QDS_TRUTH_TOTALS] = {0};
    if (!check->plugin)
        return;
    for (unsigned i = 0; i < MAX_CPUS; i++)
        for (unsigned t = 0; t < QDS_TRUTH_TOTALS; t++)
            totals[t] += check->plugin->cpu[i].totals[t];
    printf("plugin: %" PRIu64 " PEBS records, %" PRIu64 " dropped; %" PRIu64 " branches, %" PRIu64 " dropped\n",
           totals[QDS_TRUTH_RECORDS], totals[QDS_TRUTH_DROPPED], totals[QDS_TRUTH_BRANCHES],
           totals[QDS_TRUTH_BRANCHES_DROPPED]);
    printf("plugin: %" PRIu64 " PMIs, %" PRIu64 " MSR writes, %" PRIu64 " lost because not mapped\n",
           totals[QDS_TRUTH_PMIS], totals[QDS_TRUTH_WRMSRS], totals[QDS_TRUTH_LOST]);
    if (check->failed[CAIRN_RULE_TRUTH_RECORDS] + check->failed[CAIRN_RULE_TRUTH_WORDS] +
            check->failed[CAIRN_RULE_TRUTH_BRANCHES] &&
        !check->compared[CAIRN_RULE_TRUTH_WORDS] && !check->compared[CAIRN_RULE_TRUTH_BRANCHES])
        puts("plugin: its truth has nothing of this trace; is the file from another run?");
}

static void print_verdict(const struct cairn_check *check)
{
    uint64_t failed = cairn_check_failed(check), covered = 0, left_out = 0;
    const char *good = cairn_colour(stdout, CAIRN_COLOUR_GOOD), *plain = cairn_colour(stdout, CAIRN_COLOUR_OFF);
    unsigned words[CAIRN_WORDS] = {0};
    char why[CAIRN_WHY];
    for (unsigned i = 0; i < CAIRN_RULES; i++)
        words[cairn_check_word(check, i, why)] += cairn_check_applies(check, i);
    for (uint32_t n = 0; n < check->log->cpus; n++) {
        const struct cairn_cpu_end *e = &check->log->cpu[n].end;
        covered += e->truth_known ? e->truth[0] + e->truth[1] : 0;
        left_out += e->truth_known ? e->truth[2] : 0;
    }
    if (failed)
        printf("%sFAIL%s: %" PRIu64 " %s a rule failed\n", cairn_colour(stdout, CAIRN_COLOUR_BAD), plain, failed,
               cairn_plural(failed, "time", "times"));
    else if (left_out)
        printf("%sPASS%s, but the truth covers only %" PRIu64 " of %" PRIu64 " switches and records\n", good, plain,
               covered, covered + left_out);
    else
        printf("%sPASS%s: every rule held: %u verified, %u consistent, %u cannot be known here\n", good, plain,
               words[CAIRN_VERIFIED] + words[CAIRN_VERIFIED_PARTLY], words[CAIRN_CONSISTENT], words[CAIRN_NOT_KNOWN]);
}

static void print_session(const struct cairn_log *log)
{
    char text[1024]; /* all groups there are: a quarter of that */
    struct cairn_slice groups = cairn_key(&log->text, "session.%" PRIu32 ".groups", log->number);
    if (!groups.size) /* a kernel that does not name them */
        groups = cairn_key(&log->text, "session.%" PRIu32 ".events", log->number);
    int size = snprintf(text, sizeof text, " %.*s, clock type %" PRIu32 ", %s", CAIRN_SLICE(groups),
                        log->session.clock.type, log->session.circular ? "circular" : "sequential");
    uint32_t shown = (size_t)size < sizeof text ? (uint32_t)size : (uint32_t)sizeof text - 1;
    int at = printf("session %" PRIu32 ":", log->number);
    cairn_print_wrapped((unsigned)at, "", 2, (struct cairn_slice){text, shown});
}

static const char *plugin_file;

/* 0, or the exit status, the reason told. */
static int open_plugin(struct cairn_plugin *plugin)
{
    struct cairn_input input;
    char why[CAIRN_PLUGIN_REFUSAL];
    int e = cairn_input_open(&input, plugin_file);
    if (!e && (e = cairn_input_load(&input)) != 0)
        cairn_input_close(&input);
    if (e) {
        cairn_error("%s: %s", plugin_file, strerror(-e));
        return CAIRN_UNREADABLE;
    }
    e = cairn_plugin_read(plugin, input.data, input.size, why);
    if (e) {
        cairn_error("%s: %s", plugin_file, why);
        cairn_plugin_free(plugin);
    }
    cairn_input_close(&input);
    return e ? CAIRN_UNREADABLE : 0;
}

static int show(const struct cairn_log *log)
{
    struct cairn_check check;
    struct cairn_plugin plugin;
    int e;
    if (plugin_file && cairn_log_modelled(log))
        return cairn_usage(&cairn_check_command, "--plugin needs a log of a run under qemu-ds; this log's records come "
                                                 "from the kernel's own model (ds=soft)");
    if (plugin_file && (e = open_plugin(&plugin)) != 0)
        return e;
    if (log->sessions & (log->sessions - 1))
        print_session(log);
    cairn_check_init(&check, log, stdout);
    check.by = cairn_by;
    cairn_check_trace(&check);
    cairn_check_truth(&check);
    if (plugin_file) {
        check.plugin = &plugin;
        cairn_check_plugin(&check);
    }
    print_rules(&check);
    print_reasons(&check);
    print_truth(&check);
    print_live(log);
    print_plugin(&check);
    cairn_print_backend(log, "Debug Store: ", "");
    cairn_print_skew(log, "");
    cairn_print_bad_end(log, "");
    print_verdict(&check);
    cairn_print_losses(log, "lost: ", 6);
    if (plugin_file)
        cairn_plugin_free(&plugin);
    return cairn_check_failed(&check) ? CAIRN_BAD : CAIRN_GOOD;
}

const struct cairn_command cairn_check_command = {
    .name = "check",
    .arguments = "[options] LOG",
    .summary = "check the trace by rules and against the truth",
    .options = (const struct cairn_option[]){{0, "plugin", "FILE",
                                              "also compare records with the file that qemu-ds wrote (truth=FILE)",
                                              .text = &plugin_file},
                                             CAIRN_CLOCK_OPTIONS,
                                             CAIRN_BY_OPTION,
                                             CAIRN_LOG_OPTIONS},
    .notes = "Shows each place where a rule failed, then how often each rule was applied and\n"
             "how sure the result is. 'verified' means compared with the truth (boot with\n"
             "truth=1), 'consistent' means compared only within the log. For a rule that\n"
             "'cannot be known here', a line says why.\n"
             "Two switches are equal if these are equal: CPU, outgoing thread, state or\n"
             "reason, priority, time in clock units; the base priority where a batch first\n"
             "names the thread; the wait (exact in FULL records up to their maximum, at most 1\n"
             "tick off in LITE, absent in IDLE); all fields of 0524H. In the dump of a panic,\n"
             "each CPU's last switch may lack its truth.\n"
             "Every word of a PEBS record (registers, counters, groups) is compared with that\n"
             "of the stepped thread. A word that the model cannot know must be 0. The thread\n"
             "of a record is ambiguous if a switch falls into the same clock unit (by time),\n"
             "if its batch has several threads (by index), or if switches are missing around\n"
             "the record.\n",
    .examples = {"cairn check t.log", "zcat t.log.gz | cairn check -"},
    .all_damage = true,
    .show = show,
    .all_sessions = true,
};
