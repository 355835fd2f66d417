/* SPDX-License-Identifier: MIT */
/*
 * How much a rule that held says. The truth is what the kernel recorded apart from the trace
 * (kernel/tracepoint/truth.h): what was compared with it is verified. What was not is at most consistent: the log
 * agrees with itself. And some things nobody can know: without truth=1, or of a processor, for only the model tells of
 * each record and branch what it was.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/check/check.h"
#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/log/told.h"

const char *cairn_word_text(enum cairn_word word)
{
    static const char *const text[CAIRN_WORDS] = {
        [CAIRN_VERIFIED] = "verified",
        [CAIRN_VERIFIED_PARTLY] = "verified in part",
        [CAIRN_CONSISTENT] = "consistent",
        [CAIRN_NOT_KNOWN] = "cannot be known here",
        [CAIRN_FAILED] = "FAILED",
    };
    return text[word];
}

/* Why there is no truth to compare with, NULL: there is. */
static const char *no_truth(const struct cairn_check *check)
{
    const struct cairn_text *t = &check->log->text;
    if (!check->log->own)
        return "there is no truth in an ETL file of Windows, or as strict as one";
    bool wanted = cairn_slice_is(cairn_key(t, "option.truth"), "1");
    if (check->log->has_truth)
        return check->log->session.known ? NULL : "the truth cannot be compared: the session stream is missing";
    if (!check->whole && (wanted || !cairn_has_key(t, "option.truth")))
        return wanted ? "the truth is cut off or damaged" : "there is no truth in what is left of this log";
    return wanted ? "there is no truth in this log" : "there is no truth in this log (boot with truth=1)";
}

static const char not_whole[] = "events are missing: who is in them is not known";

/* What the truth would be compared with, but the truth did not have. */
static uint64_t left_out(const struct cairn_check *check, enum cairn_rule rule, const char **what)
{
    uint64_t doubtful = 0;
    switch (rule) {
    case CAIRN_RULE_TRUTH_SESSION:
        *what = "starts, stops or changes of masks are without truth";
        return check->uncompared_sessions;
    case CAIRN_RULE_TRUTH_COMPACT:
    case CAIRN_RULE_TRUTH_FULL:
        *what = "switches are without truth";
        return check->uncompared_switches;
    case CAIRN_RULE_TRUTH_RECORDS:
        *what = "PEBS records are without truth";
        return check->uncompared_records;
    case CAIRN_RULE_TRUTH_WORDS:
        *what = "PEBS records are without all of their words in the truth";
        return check->uncompared_records + check->wordless;
    case CAIRN_RULE_TRUTH_THREADS:
        for (unsigned i = 0; i < CAIRN_BLAMES; i++)
            doubtful += i == CAIRN_BLAME_KNOWN ? 0 : check->blames[i];
        *what = doubtful ? "PEBS records are of no certain thread" : "PEBS records are without truth";
        return doubtful ? doubtful : check->uncompared_records;
    case CAIRN_RULE_TRUTH_BRANCHES:
        *what = "branch records are without truth";
        return check->uncompared_branches;
    case CAIRN_RULE_TRUTH_LIVE:
        *what = "events between the switches are without truth";
        return check->uncompared_live;
    case CAIRN_RULE_TRUTH_LOCKS:
        *what = "spin lock events or releases are without all of their truth";
        return check->uncompared_locks;
    default:
        return 0;
    }
}

static enum cairn_word word_of_truth(const struct cairn_check *check, enum cairn_rule rule, char why[CAIRN_SHOWN])
{
    const char *none = no_truth(check), *what = NULL;
    bool of_the_processor = rule == CAIRN_RULE_TRUTH_RECORDS || rule == CAIRN_RULE_TRUTH_WORDS ||
                            rule == CAIRN_RULE_TRUTH_THREADS || rule == CAIRN_RULE_TRUTH_BRANCHES;
    uint64_t without = left_out(check, rule, &what);
    if (of_the_processor && check->plugin)
        none = rule == CAIRN_RULE_TRUTH_THREADS ? "the plugin's truth knows nothing of threads" : NULL;
    else if (of_the_processor && !cairn_log_modelled(check->log))
        none = "of a processor's own records there is no truth: only the model tells what each should be";
    if (!none && !check->compared[rule])
        none = rule == CAIRN_RULE_TRUTH_LOST    ? "the log or its truth is not whole: loss cannot be compared"
               : rule == CAIRN_RULE_TRUTH_RUNDOWN ? not_whole
               : rule == CAIRN_RULE_TRUTH_WORDS ? "the truth has no words of PEBS records (an older kernel's has none)"
                                                : "nothing there has truth to compare with";
    if (none) {
        snprintf(why, CAIRN_SHOWN, "%s", none);
        return CAIRN_NOT_KNOWN;
    }
    if (without)
        snprintf(why, CAIRN_SHOWN, "%" PRIu64 " %s", without, what);
    return without ? CAIRN_VERIFIED_PARTLY : CAIRN_VERIFIED;
}

enum cairn_word cairn_check_word(const struct cairn_check *check, enum cairn_rule rule, char why[CAIRN_SHOWN])
{
    why[0] = '\0';
    if (check->failed[rule])
        return CAIRN_FAILED;
    if (rule >= CAIRN_RULE_TRUTH_SESSION && rule != CAIRN_RULE_BTS && rule != CAIRN_RULE_LOG &&
        rule != CAIRN_RULE_LOCKS)
        return word_of_truth(check, rule, why);
    snprintf(why, CAIRN_SHOWN, "%s",
             check->compared[rule]        ? "the log agrees with itself; nothing else tells"
             : rule == CAIRN_RULE_RUNDOWN ? (check->no_rundown ? check->no_rundown : not_whole)
                                          : "this log has nothing of it");
    return check->compared[rule] ? CAIRN_CONSISTENT : CAIRN_NOT_KNOWN;
}

/* Whether the log has what the rule is about. */
bool cairn_check_applies(const struct cairn_check *check, enum cairn_rule rule)
{
    const struct cairn_log *log = check->log;
    uint64_t compact = 0, full = 0, records = 0, drains = 0, logged = 0, rundown = 0, live = 0, locks = 0;
    for (uint32_t n = 0; n < log->cpus; n++) {
        compact += log->cpu[n].compact;
        full += log->cpu[n].full;
        records += log->cpu[n].records.count;
        drains += log->cpu[n].bts_drains.count;
        logged += log->cpu[n].end.log;
        rundown += log->cpu[n].stretches[CAIRN_CLASS_THREAD];
        live += cairn_live_told(&log->cpu[n]);
        locks += log->cpu[n].locks.count + log->cpu[n].lock_configs.count;
    }
    if (check->compared[rule] || check->failed[rule])
        return true;
    switch (rule) {
    case CAIRN_RULE_FRAMES:
        return !log->etl;
    case CAIRN_RULE_ITEMS:
    case CAIRN_RULE_STAMPS:
    case CAIRN_RULE_EPOCHS:
    case CAIRN_RULE_AREAS:
    case CAIRN_RULE_RECORDS:
    case CAIRN_RULE_COUNTS:
    case CAIRN_RULE_TRUTH_LOST:
        return log->own;
    case CAIRN_RULE_BATCHES:
        return log->own || compact;
    case CAIRN_RULE_TRUTH_COMPACT:
        return compact;
    case CAIRN_RULE_TRUTH_FULL:
        return full;
    case CAIRN_RULE_TRUTH_RECORDS:
    case CAIRN_RULE_TRUTH_WORDS:
    case CAIRN_RULE_TRUTH_THREADS:
        return records;
    case CAIRN_RULE_BTS:
    case CAIRN_RULE_TRUTH_BRANCHES:
        return drains;
    case CAIRN_RULE_LOG:
        return logged;
    case CAIRN_RULE_RUNDOWN:
        return rundown || check->no_rundown;
    case CAIRN_RULE_TRUTH_RUNDOWN:
        return rundown;
    case CAIRN_RULE_SESSION:
    case CAIRN_RULE_TRUTH_SESSION:
        return log->session.lives;
    case CAIRN_RULE_TRUTH_LIVE:
        return live;
    case CAIRN_RULE_PMC:
    case CAIRN_RULE_TRUTH_COUNTS:
        return false; /* they are there, the truth has them, or there is nothing to compare */
    case CAIRN_RULE_LOCKS:
    case CAIRN_RULE_TRUTH_LOCKS:
        return locks;
    default:
        return true;
    }
}
