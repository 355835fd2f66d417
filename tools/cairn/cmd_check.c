/* SPDX-License-Identifier: MIT */
/* cairn check: every invariant, and the truth where the log has it. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/check.h"
#include "tools/cairn/command.h"
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
        printf("truth: none in this log (boot with truth=1)\n");
        return;
    }
    if (!check->log->session.known) {
        printf("truth: cannot be compared: the session stream is missing\n");
        return;
    }
    printf("incoming threads: %" PRIu64 " equal, %" PRIu64 " unknown (a CPU's last record, or before a hole)\n",
           check->incoming_known, check->incoming_unknown);
    if (check->truth_missing || check->truth_uncompared)
        printf("lost, overwritten or damaged: %" PRIu64 " switches; without truth to compare with: %" PRIu64 "\n",
               check->truth_missing, check->truth_uncompared);
    unsigned unfinished = (unsigned)__builtin_popcountll(check->unfinished);
    if (unfinished)
        printf("panic: stopped within the last switch of %u %s, which has no truth\n", unfinished,
               unfinished == 1 ? "CPU" : "CPUs");
    uint64_t all = 0;
    for (unsigned i = 0; i < CAIRN_BLAMES; i++)
        all += check->blames[i];
    if (!all)
        return;
    uint64_t ambiguous = check->blames[CAIRN_BLAME_SAME_UNIT] + check->blames[CAIRN_BLAME_LOSS];
    printf("PEBS records: %" PRIu64 ": %" PRIu64 " attributed (%.2f %%), %" PRIu64 " ambiguous, %" PRIu64 " wrong\n",
           all, check->blames[CAIRN_BLAME_KNOWN], 100.0 * (double)check->blames[CAIRN_BLAME_KNOWN] / (double)all,
           ambiguous, check->wrong);
    for (unsigned i = CAIRN_BLAME_KNOWN + 1; i < CAIRN_BLAMES; i++)
        if (check->blames[i])
            printf("  %" PRIu64 " %s\n", check->blames[i], cairn_blame_text(i));
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"dump", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    uint64_t which = 0;
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 'd':
            if (!cairn_parse_number(optarg, 1, UINT32_MAX, &which))
                return cairn_usage(&cairn_check_command, "--dump %s: not a number from 1", optarg);
            break;
        case 'h':
            return cairn_help(&cairn_check_command);
        default:
            return cairn_usage(&cairn_check_command, "the line above tells what is wrong");
        }
    }
    if (optind + 1 != argc)
        return cairn_usage(&cairn_check_command, "one LOG is needed");
    struct cairn_source source;
    int status = cairn_open(&source, argv[optind], (uint32_t)which);
    if (status)
        return status;
    struct cairn_check check;
    cairn_check_init(&check, &source.log, stdout);
    cairn_check_trace(&check);
    cairn_check_truth(&check);
    print_rules(&check);
    print_truth(&check);
    uint64_t failed = cairn_check_failed(&check);
    if (failed)
        printf("FAIL: %" PRIu64 " times a rule did not hold\n", failed);
    else
        printf("PASS: every rule held\n");
    return cairn_close(&source, failed ? CAIRN_BAD : CAIRN_GOOD);
}

const struct cairn_command cairn_check_command = {
    .name = "check",
    .arguments = "[options] LOG",
    .summary = "every invariant of the trace, and the truth",
    .help = "  --dump N    the Nth dump in the log, not the last\n"
            "Prints for each rule how often it was applied and, first, where it did not hold.\n"
            "Equal switches: CPU, outgoing thread, state or reason, priority, time in clock units;\n"
            "base priority where a batch first names the thread; wait exact in FULL records\n"
            "(saturating), at most 1 tick in LITE, not told in IDLE; all fields of 0524H.\n"
            "A PEBS record is ambiguous where a switch falls into the same clock unit, or\n"
            "switches are missing around it.\n",
    .run = run,
};
