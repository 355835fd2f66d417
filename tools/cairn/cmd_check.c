/* SPDX-License-Identifier: MIT */
/* cairn check: every invariant, and the truth where the log has it. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/check.h"
#include "tools/cairn/command.h"
#include "tools/cairn/show.h"
#include "tools/cairn/timeline.h"

static void print_rules(const struct cairn_check *check)
{
    printf("%-44s %14s %10s\n", "rule", "compared", "failed");
    for (unsigned i = 0; i < CAIRN_RULES; i++) {
        if (i < CAIRN_RULE_TRUTH_COMPACT || check->compared[i] || check->failed[i])
            printf("%-44s %14" PRIu64 " %10" PRIu64 "\n", cairn_rule_text(i), check->compared[i], check->failed[i]);
    }
}

static void print_truth(const struct cairn_check *check)
{
    if (!check->log->has_truth) {
        bool wanted = cairn_slice_is(cairn_key(&check->log->text, "option.truth"), "1");
        if (!wanted && !check->whole && !cairn_has_key(&check->log->text, "option.truth"))
            printf("truth: none in what is left of this log\n");
        else if (wanted && !check->whole)
            printf("truth: cut off or damaged: nothing to compare with\n");
        else
            printf("truth: none in this log%s\n", wanted ? "" : " (boot with truth=1)");
        return;
    }
    if (!check->log->session.known) {
        printf("truth: cannot be compared: the session stream is missing\n");
        return;
    }
    printf("incoming threads: %" PRIu64 " equal, %" PRIu64 " unknown (a CPU's last record, or before a hole)\n",
           check->incoming_known, check->incoming_unknown);
    if (check->truth_missing)
        printf("lost, overwritten or damaged: %" PRIu64 " %s\n", check->truth_missing,
               check->truth_missing == 1 ? "switch" : "switches");
    if (check->uncompared_switches || check->uncompared_records)
        printf("without truth to compare with: %" PRIu64 " %s, %" PRIu64 " PEBS %s\n", check->uncompared_switches,
               check->uncompared_switches == 1 ? "switch" : "switches", check->uncompared_records,
               check->uncompared_records == 1 ? "record" : "records");
    if (check->uncompared_branches)
        printf("without truth to compare with: %" PRIu64 " branch records\n", check->uncompared_branches);
    unsigned unfinished = (unsigned)__builtin_popcountll(check->unfinished);
    if (unfinished)
        printf("panic: stopped within the last switch of %u %s, which has no truth\n", unfinished,
               unfinished == 1 ? "CPU" : "CPUs");
    uint64_t all = 0, ambiguous = 0;
    for (unsigned i = 0; i < CAIRN_BLAMES; i++) {
        all += check->blames[i];
        ambiguous += cairn_blame_certainty(i) == CAIRN_AMBIGUOUS ? check->blames[i] : 0;
    }
    if (!all)
        return;
    if (check->by != CAIRN_BY_FORMAT)
        printf("by %s alone, ", cairn_by_names[check->by]);
    else if (check->untimed)
        printf("by %sindex (no TSC), ", check->untimed < all ? "time, or " : "");
    printf("PEBS records: %" PRIu64 ": %" PRIu64 " attributed (%.2f %%), %" PRIu64 " ambiguous, %" PRIu64 " wrong\n",
           all, check->blames[CAIRN_BLAME_KNOWN], 100.0 * (double)check->blames[CAIRN_BLAME_KNOWN] / (double)all,
           ambiguous, check->wrong);
    for (unsigned i = CAIRN_BLAME_KNOWN + 1; i < CAIRN_BLAMES; i++)
        if (check->blames[i])
            printf("  %" PRIu64 " %s\n", check->blames[i], cairn_blame_text(i));
}

/* The backend, and why: what the rules were applied to. */
static void print_backend(const struct cairn_log *log)
{
    struct cairn_slice backend = cairn_key(&log->text, "ds.backend"), reason = cairn_key(&log->text, "ds.reason");
    if (!backend.size)
        return;
    int used = printf("Debug Store: %.*s: ", CAIRN_SLICE(backend));
    cairn_print_wrapped((unsigned)used, "", 2, reason);
}

static void print_verdict(const struct cairn_check *check)
{
    uint64_t failed = cairn_check_failed(check), covered = 0, left_out = 0;
    for (uint32_t n = 0; n < check->log->cpus; n++) {
        const struct cairn_cpu_end *e = &check->log->cpu[n].end;
        covered += e->truth_known ? e->truth[0] + e->truth[1] : 0;
        left_out += e->truth_known ? e->truth[2] : 0;
    }
    if (failed)
        printf("FAIL: %" PRIu64 " %s a rule did not hold\n", failed, failed == 1 ? "time" : "times");
    else if (left_out)
        printf("PASS, but the truth covers only %" PRIu64 " of %" PRIu64 " switches and records\n", covered,
               covered + left_out);
    else
        printf("PASS: every rule held\n");
}

static int show(const struct cairn_log *log)
{
    struct cairn_check check;
    cairn_check_init(&check, log, stdout);
    check.by = cairn_by;
    cairn_check_trace(&check);
    cairn_check_truth(&check);
    print_rules(&check);
    print_truth(&check);
    print_backend(log);
    cairn_print_bad_end(log, "");
    print_verdict(&check);
    return cairn_check_failed(&check) ? CAIRN_BAD : CAIRN_GOOD;
}

const struct cairn_command cairn_check_command = {
    .name = "check",
    .arguments = "[options] LOG",
    .summary = "every invariant of the trace, and the truth",
    .options = (const struct cairn_option[]){CAIRN_BY_OPTION, CAIRN_LOG_OPTIONS},
    .notes = "Prints for each rule how often it was applied and, first, where it did not\n"
             "hold. Equal switches: CPU, outgoing thread, state or reason, priority, time in\n"
             "clock units; base priority where a batch first names the thread; wait exact in\n"
             "FULL records (saturating), at most 1 tick in LITE, not told in IDLE; all fields\n"
             "of 0524H. Of a panic's dump, each CPU's last switch may be without truth.\n"
             "Of a PEBS record every word is compared with what the stepped thread had: all\n"
             "registers, counters, groups; what the model cannot know must be 0.\n"
             "A PEBS record is ambiguous where a switch falls into the same clock unit (by\n"
             "time) or its batch has several threads (by index), or switches are missing\n"
             "around it.\n",
    .show = show,
};
