/* SPDX-License-Identifier: MIT */
/*
 * The rules: the name of each, which logs it applies to, and how much a success proves. The truth is what the kernel
 * recorded apart from the trace (kernel/truth/truth.h): what was compared with it is verified. Without a
 * comparison a rule is at most consistent: the log agrees with itself. Some things cannot be known: without truth=1, or
 * on a real processor, as only the model says of each record and branch what it was.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/check/check.h"
#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/log/told.h"

/* what a log may have that rules are about */
enum {
    ALWAYS = 1 << 0,
    SERIAL = 1 << 1, /* it is no ETL file */
    OWN = 1 << 2,    /* it has the streams of a serial log */
    COMPACT = 1 << 3,
    FULL = 1 << 4,
    RECORDS = 1 << 5,
    BRANCHES = 1 << 6,
    MODEL_LOG = 1 << 7,
    RUNDOWN = 1 << 8,
    NO_RUNDOWN = 1 << 9, /* there should be one, and a reason why it cannot be checked */
    LIVES = 1 << 10,     /* its kernel tells when the session comes and goes */
    ACTIVITY = 1 << 11,  /* events between the switches */
    LOCKS = 1 << 12,
    MAPS = 1 << 13, /* it should tell where processes have code */
};

enum basis {
    ITSELF,    /* compared with nothing but the log */
    TRUTH,     /* with what the kernel recorded of itself */
    PROCESSOR, /* with what the model, or the plugin, tells of the processor */
};

struct row {
    const char *text;
    unsigned about; /* it has a line where the log has one of these, or where it was compared */
    enum basis basis;
    const char *nothing; /* why nothing was compared; NULL: the basis' own words */
    uint64_t (*left_out)(const struct cairn_check *check, const char **what); /* had no truth; NULL: nothing is */
};

/* What would have been compared with the truth, but the truth did not have it. */
#define LEFT_OUT(name, count, words)                                                                                   \
    static uint64_t name(const struct cairn_check *check, const char **what)                                           \
    {                                                                                                                  \
        *what = words;                                                                                                 \
        return count;                                                                                                  \
    }
LEFT_OUT(sessions, check->uncompared_sessions, "starts, stops or changes of masks have no truth")
LEFT_OUT(switches, check->uncompared_switches, "switches have no truth")
LEFT_OUT(records, check->uncompared_records, "PEBS records have no truth")
LEFT_OUT(words, check->uncompared_records + check->wordless, "PEBS records have no truth for all of their words")
LEFT_OUT(branches, check->uncompared_branches, "branch records have no truth")
LEFT_OUT(activity, check->uncompared_live, "events between the switches have no truth")
LEFT_OUT(locks, check->uncompared_locks, "spin lock events or releases have no complete truth")

static uint64_t threads(const struct cairn_check *check, const char **what)
{
    uint64_t doubtful = 0;
    for (unsigned i = 0; i < CAIRN_BLAMES; i++)
        doubtful += i == CAIRN_BLAME_KNOWN ? 0 : check->blames[i];
    if (!doubtful)
        return records(check, what);
    *what = "PEBS records have no certain thread";
    return doubtful;
}

static const char not_whole[] = "events are missing, so it is unknown which threads and processes they name";
static const char no_loss[] = "the log or its truth is incomplete, so loss cannot be compared";
static const char no_maps[] = "Linux lost mapping events, or no record is from a program whose code is known";
static const char no_words[] = "the truth has no words of PEBS records (an older kernel wrote it)";

static const struct row rows[CAIRN_RULES] = {
    [CAIRN_RULE_FRAMES] = {"frames: all present, checksums correct", SERIAL, ITSELF, NULL, NULL},
    [CAIRN_RULE_BUFFERS] = {"buffers: headers correct, sequence unique", ALWAYS, ITSELF, NULL, NULL},
    [CAIRN_RULE_EVENTS] = {"events: headers and sizes correct", ALWAYS, ITSELF, NULL, NULL},
    [CAIRN_RULE_TIMES] = {"time stamps never decrease on a CPU", ALWAYS, ITSELF, NULL, NULL},
    [CAIRN_RULE_ITEMS] = {"PebsIndex on each switch event, or on none", OWN, ITSELF, NULL, NULL},
    [CAIRN_RULE_PMC] = {"PMC items: same number, never decreasing", 0, ITSELF, NULL, NULL},
    [CAIRN_RULE_BATCHES] = {"batches: table, deltas, age, record forms", OWN | COMPACT, ITSELF, NULL, NULL},
    [CAIRN_RULE_STAMPS] = {"PebsIndex grows within an epoch's area", OWN, ITSELF, NULL, NULL},
    [CAIRN_RULE_EPOCHS] = {"epochs consecutive, none within a batch", OWN, ITSELF, NULL, NULL},
    [CAIRN_RULE_AREAS] = {"DS areas: base <= index <= maximum", OWN, ITSELF, NULL, NULL},
    [CAIRN_RULE_RECORDS] = {"PEBS records: size, order, between stamps", OWN, ITSELF, NULL, NULL},
    [CAIRN_RULE_MAPS] = {"programs: instructions lie in mapped code", MAPS, ITSELF, no_maps, NULL},
    [CAIRN_RULE_COUNTS] = {"counts: tried = written + lost, all found", OWN, ITSELF, NULL, NULL},
    [CAIRN_RULE_SESSION] = {"session: starts, stops, masks in order", LIVES, ITSELF, NULL, NULL},
    [CAIRN_RULE_RUNDOWN] = {"rundown: all that runs is listed, once", RUNDOWN | NO_RUNDOWN, ITSELF, not_whole, NULL},
    [CAIRN_RULE_TRUTH_SESSION] = {"truth: each start, stop, change of masks", LIVES, TRUTH, NULL, sessions},
    [CAIRN_RULE_TRUTH_RUNDOWN] = {"truth: each thread that ran is listed", RUNDOWN, TRUTH, not_whole, NULL},
    [CAIRN_RULE_TRUTH_COMPACT] = {"truth: each 0525H switch equal, in order", COMPACT, TRUTH, NULL, switches},
    [CAIRN_RULE_TRUTH_FULL] = {"truth: each 0524H switch equal, in order", FULL, TRUTH, NULL, switches},
    [CAIRN_RULE_TRUTH_LOST] = {"truth: switches lost = truth - recorded", OWN, TRUTH, no_loss, NULL},
    [CAIRN_RULE_TRUTH_RECORDS] = {"truth: each PEBS record equal", RECORDS, PROCESSOR, NULL, records},
    [CAIRN_RULE_TRUTH_WORDS] = {"truth: each PEBS record, word by word", RECORDS, PROCESSOR, no_words, words},
    [CAIRN_RULE_TRUTH_THREADS] = {"truth: each record's thread correct", RECORDS, PROCESSOR, NULL, threads},
    [CAIRN_RULE_TRUTH_LIVE] = {"truth: each event between the switches", ACTIVITY, TRUTH, NULL, activity},
    [CAIRN_RULE_TRUTH_COUNTS] = {"truth: each thread's PMC counts, by switch", 0, TRUTH, NULL, NULL},
    [CAIRN_RULE_BTS] = {"BTS: drains, areas, order, thread", BRANCHES, ITSELF, NULL, NULL},
    [CAIRN_RULE_TRUTH_BRANCHES] = {"truth: each branch, and those lost", BRANCHES, PROCESSOR, NULL, branches},
    [CAIRN_RULE_LOG] = {"model's log: complete, matches the records", MODEL_LOG, ITSELF, NULL, NULL},
    [CAIRN_RULE_LOCKS] = {"spin locks: fields, times, sampling", LOCKS, ITSELF, NULL, NULL},
    [CAIRN_RULE_TRUTH_LOCKS] = {"truth: each lock's release, sampled or not", LOCKS, TRUTH, NULL, locks},
};

const char *cairn_rule_text(const struct cairn_log *log, enum cairn_rule rule)
{
    if (rule == CAIRN_RULE_AREAS && cairn_log_arch(log))
        return "PEBS registers: as set up, WR in bounds";
    if (rule == CAIRN_RULE_STAMPS && cairn_log_arch(log))
        return "PebsIndex grows within an epoch's buffer";
    return rows[rule].text;
}

const char *cairn_word_text(enum cairn_word word)
{
    static const char *const text[CAIRN_WORDS] = {
        [CAIRN_VERIFIED] = "verified",     [CAIRN_VERIFIED_PARTLY] = "verified in part",
        [CAIRN_CONSISTENT] = "consistent", [CAIRN_NOT_KNOWN] = "cannot be known here",
        [CAIRN_FAILED] = "FAILED",
    };
    return text[word];
}

/* Why there is no truth to compare with, NULL: there is. */
static const char *no_truth(const struct cairn_check *check)
{
    const struct cairn_text *t = &check->log->text;
    if (!check->log->own)
        return "an ETL file from Windows, or exported with --strict, has no truth";
    if (cairn_log_grabbed(check->log))
        return "a log of Linux has no truth; under qemu-ds, --plugin FILE compares its records";
    bool wanted = cairn_slice_is(cairn_key(t, "option.truth"), "1");
    if (check->log->has_truth)
        return check->log->session.known ? NULL : "the truth cannot be compared: the session stream is missing";
    if (!check->whole && (wanted || !cairn_has_key(t, "option.truth")))
        return wanted ? "the truth is cut off or damaged" : "the undamaged part of this log has no truth";
    return wanted ? "this log has no truth" : "this log has no truth (boot with truth=1)";
}

static enum cairn_word word_of_truth(const struct cairn_check *check, enum cairn_rule rule, char why[CAIRN_WHY])
{
    const struct row *row = &rows[rule];
    const char *none = no_truth(check), *what = NULL;
    const uint64_t without = row->left_out ? row->left_out(check, &what) : 0;
    if (row->basis == PROCESSOR && check->plugin)
        none = rule == CAIRN_RULE_TRUTH_THREADS ? "the plugin's truth does not record threads" : NULL;
    else if (row->basis == PROCESSOR && !cairn_log_modelled(check->log))
        none = "the records of a real processor have no truth; only the model knows what each should be";
    if (!none && !check->compared[rule])
        none = row->nothing ? row->nothing : "nothing here has truth to compare with";
    if (none) {
        snprintf(why, CAIRN_WHY, "%s", none);
        return CAIRN_NOT_KNOWN;
    }
    if (without)
        snprintf(why, CAIRN_WHY, "%" PRIu64 " %s", without, what);
    return without ? CAIRN_VERIFIED_PARTLY : CAIRN_VERIFIED;
}

/* What of an ETL file is not checked, since sound Windows may have written it; "": nothing. */
static void show_left_out(const struct cairn_check *check, enum cairn_rule rule, char why[CAIRN_WHY])
{
    static const char *const reasons[CAIRN_UNLISTED] = {
        [CAIRN_UNLISTED_START] = "no DCStart event lists what was running at the start",
        [CAIRN_UNLISTED_IDLE] = "Windows lists threads of the idle process only at the end",
        [CAIRN_UNLISTED_MERGED] = "several sessions may tell of it in this merged file",
        [CAIRN_UNLISTED_CROSSED] = "something that begins or ends as a list is made may be in it twice, or in none",
    };
    size_t n = 0;
    if (rule == CAIRN_RULE_TIMES && check->backwards)
        snprintf(why, CAIRN_WHY, "%" PRIu64 " %s not judged: %s", check->backwards,
                 cairn_plural(check->backwards, "step back is", "steps back are"), cairn_check_may_go_back(check->log));
    for (unsigned i = 0; i < CAIRN_UNLISTED && rule == CAIRN_RULE_RUNDOWN; i++)
        if (check->unlisted[i])
            n += (size_t)snprintf(why + n, CAIRN_WHY - n, "%s%" PRIu64 " %s not checked: %s", n ? "; " : "",
                                  check->unlisted[i], cairn_plural(check->unlisted[i], "item is", "items are"),
                                  reasons[i]);
}

enum cairn_word cairn_check_word(const struct cairn_check *check, enum cairn_rule rule, char why[CAIRN_WHY])
{
    const struct row *row = &rows[rule];
    why[0] = '\0';
    if (check->failed[rule])
        return CAIRN_FAILED;
    if (row->basis != ITSELF)
        return word_of_truth(check, rule, why);
    if (check->compared[rule])
        show_left_out(check, rule, why);
    if (why[0])
        return CAIRN_CONSISTENT;
    snprintf(why, CAIRN_WHY, "%s",
             check->compared[rule]                          ? "the log agrees with itself; nothing else confirms it"
             : row->about & NO_RUNDOWN && check->no_rundown ? check->no_rundown
             : row->nothing                                 ? row->nothing
                                                            : "this log has nothing to check here");
    return check->compared[rule] ? CAIRN_CONSISTENT : CAIRN_NOT_KNOWN;
}

/* What the log has that rules are about. */
static unsigned has(const struct cairn_check *check)
{
    const struct cairn_log *log = check->log;
    unsigned all = ALWAYS | (log->etl ? 0 : SERIAL) | (log->own ? OWN : 0) | (log->session.lives ? LIVES : 0) |
                   (check->no_rundown ? NO_RUNDOWN : 0);
    all |= cairn_log_grabbed(log) ? MAPS : 0;
    for (uint32_t n = 0; n < log->cpus; n++) {
        const struct cairn_cpu *cpu = &log->cpu[n];
        all |= (cpu->switches.compact ? COMPACT : 0) | (cpu->switches.full ? FULL : 0) |
               (cpu->pebs.records ? RECORDS : 0) | (cpu->bts.epochs ? BRANCHES : 0) | (cpu->end.log ? MODEL_LOG : 0) |
               (cpu->told.stretches[CAIRN_CLASS_THREAD] ? RUNDOWN : 0) | (cairn_live_told(cpu) ? ACTIVITY : 0) |
               (cpu->locks.events + cpu->locks.configs.count ? LOCKS : 0);
    }
    return all;
}

bool cairn_check_applies(const struct cairn_check *check, enum cairn_rule rule)
{
    return check->compared[rule] || check->failed[rule] || rows[rule].about & has(check);
}
