/* SPDX-License-Identifier: MIT */
/*
 * cairn bts: the path of each thread through the code, branch by branch. Records hold only addresses, so the target
 * shows what a branch was:
 *   call    to the first byte of another function, or into the kernel;
 *   return  to another place in another function, after a call that is still open; or into the function that made a
 *           call, along a way without records (tracing was off); or, if the call was made before the records begin,
 *           anywhere;
 *   jump    within the function;
 *   unknown to where the log names no function, unless it is behind a call that is open. From a function that it names
 *           that counts as a call until it returns, as through the PLT.
 * A jump to another function (a tail call) appears as a call, and both return together. A function's call of itself
 * appears as a jump. If execution cannot have gone from one record to the next without a branch, some branches were not
 * traced, such as the return of a system call to ring 3, which has no record. The output marks that. A thread that is
 * in ring 3 again has no open calls in the kernel.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/log/bts.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/loss.h"

#define CALLS_MAX   64u /* open at once; of more the outermost are forgotten */
#define INDENT_MAX  12u /* calls deep */
#define CALL_LENGTH 15u /* of an instruction, at most */
#define REASON_MAX  42u /* characters that fit behind the words of an error */

struct stint { /* a thread's branches in one drain, and where that is */
    uint64_t tsc, lost;
    uint32_t tid, cpu, piece, number, records;
};

struct reader { /* goes to a drain: threads are shown one after another, and the log has them by CPU */
    const struct cairn_log *log;
    struct cairn_bts_group group;
};

struct flow {
    const struct cairn_log *log;
    struct {
        uint64_t at, to;
        const struct cairn_symbol *in;
    } call[CALLS_MAX]; /* that are open, the outermost first */
    uint32_t process;
    unsigned depth;
    uint64_t here; /* where the branch before this one has led */
    bool known;    /* false: no record tells */
    /* the line that is not printed yet, since the same branch may follow */
    struct cairn_branch branch;
    char kind;
    bool jumped; /* some before it were not traced */
    unsigned at; /* its depth */
    uint64_t times;
};

/* ---- what a branch was ------------------------------------------------------------------------------------------- */

static bool in_kernel(uint64_t address)
{
    return address >> 63;
}

/* Labels within a function carry its name, and their own behind a dot. */
static bool same_function(const struct cairn_symbol *a, const struct cairn_symbol *b)
{
    if (!a || !b)
        return a == b;
    const char *dot_a = memchr(a->name.at, '.', a->name.size), *dot_b = memchr(b->name.at, '.', b->name.size);
    size_t size_a = dot_a ? (size_t)(dot_a - a->name.at) : a->name.size;
    size_t size_b = dot_b ? (size_t)(dot_b - b->name.at) : b->name.size;
    return size_a == size_b && memcmp(a->name.at, b->name.at, size_a) == 0;
}

/* Whether `from` is where a thread at `here` gets to without any branch, as far as addresses tell. */
static bool straight_on(const struct cairn_log *log, uint64_t here, uint64_t from)
{
    return from >= here && in_kernel(from) == in_kernel(here) &&
           same_function(cairn_find_symbol(&log->text, here), cairn_find_symbol(&log->text, from));
}

/* The thread has come back to ring 3: no call is open that leads to the kernel, or was made there. */
static void leave_kernel(struct flow *f)
{
    while (f->depth && in_kernel(f->call[f->depth - 1].to))
        f->depth--;
}

static char classify(struct flow *f, const struct cairn_branch *b)
{
    const struct cairn_symbol *from = cairn_find_symbol(&f->log->text, b->from);
    const struct cairn_symbol *to = cairn_find_symbol(&f->log->text, b->to);
    if (!in_kernel(b->from) && in_kernel(b->to))
        return '>';
    if (to && from == to)
        return '-';
    if (to && to->address == b->to)
        return '>';
    for (unsigned i = f->depth; i-- > 0;)
        if (b->to > f->call[i].at && b->to - f->call[i].at <= CALL_LENGTH) {
            f->depth = i;
            return '<';
        }
    if (!to)
        return '?';
    /* a return within the kernel ends none of the program's calls */
    while (f->depth && in_kernel(f->call[f->depth - 1].at) == in_kernel(b->to) && f->call[--f->depth].in != to)
        ;
    return '<';
}

static void open_call(struct flow *f, const struct cairn_branch *b)
{
    if (f->depth == CALLS_MAX)
        memmove(f->call, f->call + 1, --f->depth * sizeof(f->call[0]));
    f->call[f->depth].at = b->from;
    f->call[f->depth].to = b->to;
    f->call[f->depth++].in = cairn_find_symbol(&f->log->text, b->from);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void print_branch(struct flow *f)
{
    char from[CAIRN_SHOWN], to[CAIRN_SHOWN], times[32] = "";
    if (!f->times)
        return;
    if (f->times > 1)
        snprintf(times, sizeof(times), "  x %" PRIu64, f->times);
    int indent = 4 + 2 * (int)(f->at < INDENT_MAX ? f->at : INDENT_MAX);
    int width = (80 - indent - 3 - (int)strlen(times)) / 2;
    const struct cairn_symbol *symbol = cairn_find_symbol(&f->log->text, f->branch.to);
    cairn_show_address_in(to, f->log, f->process, 0, f->branch.to, width);
    if (symbol && f->kind == '-')
        snprintf(to, sizeof(to), "+0x%" PRIx64, f->branch.to - symbol->address);
    else if (symbol && f->kind == '>')
        cairn_cut(to, sizeof(to), symbol->name, width);
    printf("%3s%*s%s %c %s%s\n", f->jumped ? "~" : "", indent - 3, "",
           cairn_show_address_in(from, f->log, f->process, 0, f->branch.from, width), f->kind, to, times);
    f->times = 0;
}

static void next_branch(struct flow *f, const struct cairn_branch *b)
{
    const bool jumped = f->known && !straight_on(f->log, f->here, b->from);
    f->here = b->to;
    f->known = true;
    if (f->times && b->from == f->branch.from && b->to == f->branch.to && strchr("-?", f->kind) && !jumped) {
        f->times++;
        return;
    }
    print_branch(f);
    if (!in_kernel(b->from))
        leave_kernel(f);
    f->branch = *b;
    f->jumped = jumped;
    f->at = f->depth;
    f->kind = classify(f, b);
    if (f->kind == '<') /* stands with the function it leaves */
        f->at = f->depth + 1;
    f->times = 1;
    if (f->kind == '>' || (f->kind == '?' && cairn_find_symbol(&f->log->text, b->from)))
        open_call(f, b);
}

/* What is missing tells nothing of the calls that are open. */
static void print_missing(struct flow *f, uint64_t count, const char *what)
{
    print_branch(f);
    f->depth = 0;
    f->known = false;
    if (count == CAIRN_DS_LOST_UNKNOWN)
        printf("  ! an unknown number of branches %s\n", what);
    else
        printf("  ! %" PRIu64 " %s %s\n", count, cairn_plural(count, "branch", "branches"), what);
}

/* NULL: the file has changed. */
static const struct cairn_bts_drain *find_drain(struct reader *r, const struct stint *s)
{
    const struct cairn_bts_drain *d;
    if (r->group.walk.cpu != &r->log->cpu[s->cpu]) {
        cairn_bts_group_free(&r->group);
        cairn_bts_group_init(&r->group, r->log, s->cpu);
    }
    cairn_bts_group_seek(&r->group, s->piece);
    do
        d = cairn_bts_group_next(&r->group);
    while (d && (d->number != s->number || d->tsc != s->tsc || d->tid != s->tid));
    return d;
}

static void print_stint(struct flow *f, struct reader *r, const struct stint *s)
{
    const struct cairn_bts_drain *d = find_drain(r, s);
    struct cairn_branch b;
    if (!d)
        return;
    f->known &= !cairn_filter_by_cpu(); /* what the thread did on other CPUs in between is not shown */
    char time[CAIRN_SHOWN];
    uint32_t records = d->record_bytes / CAIRN_BTS_BYTES, seen = d->bytes_seen / CAIRN_BTS_BYTES;
    printf("  to %s (%s), CPU %" PRIu32 ", epoch %" PRIu32 ": %" PRIu32 " %s\n",
           cairn_show_moment(time, f->log, d->time), cairn_drain_name(d->reason), s->cpu, d->number, records,
           cairn_plural(records, "branch", "branches"));
    if (d->lost && !d->interrupting)
        print_missing(f, d->lost, "before these were overwritten");
    for (uint32_t i = 0; cairn_bts_record(&r->group, i, &b); i++)
        next_branch(f, &b);
    print_branch(f);
    if (seen < records)
        print_missing(f, records - seen, "are missing from the log");
    if (d->lost && d->interrupting)
        print_missing(f, d->lost, "after these were lost: the buffer was full");
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static int by_thread(const void *a, const void *b)
{
    const struct stint *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->tsc != y->tsc)
        return x->tsc < y->tsc ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* All of one thread, which may have run on several CPUs. */
static void print_thread(struct reader *r, const struct stint *stints, size_t count)
{
    struct flow f = {.log = r->log, .process = cairn_process_at(r->log, stints[0].tid, 0)};
    char thread[CAIRN_SHOWN], lost_text[32] = "unknown";
    uint64_t records = 0, lost = 0;
    for (size_t i = 0; i < count; i++) {
        records += stints[i].records;
        lost = lost == CAIRN_DS_LOST_UNKNOWN || stints[i].lost == CAIRN_DS_LOST_UNKNOWN ? CAIRN_DS_LOST_UNKNOWN
                                                                                        : lost + stints[i].lost;
    }
    if (lost != CAIRN_DS_LOST_UNKNOWN)
        snprintf(lost_text, sizeof(lost_text), "%" PRIu64, lost);
    printf("\n%s%s%s: %" PRIu64 " %s in %zu %s, lost: %s\n", cairn_colour(stdout, CAIRN_COLOUR_HEAD),
           cairn_show_thread(thread, r->log, stints[0].tid, 30), cairn_colour(stdout, CAIRN_COLOUR_OFF), records,
           cairn_plural(records, "branch", "branches"), count, cairn_plural(count, "drain", "drains"), lost_text);
    for (size_t i = 0; i < count; i++)
        print_stint(&f, r, &stints[i]);
}

static void print_head(const struct cairn_log *log)
{
    const struct cairn_text *t = &log->text;
    struct cairn_slice mode = cairn_key(t, "ds.bts"), records = cairn_key(t, "ds.bts.records");
    struct cairn_slice rings = cairn_key(t, "option.bts.rings");
    cairn_print_backend(log, "# Debug Store: backend ", "# ");
    cairn_print_damage(log, "# ", "cairn check tells where");
    if (mode.size)
        printf("# BTS: %.*s%s%.*s%s%s\n", CAIRN_SLICE(mode), records.size ? ", a buffer of " : "", CAIRN_SLICE(records),
               !records.size                  ? ""
               : cairn_slice_is(records, "1") ? " record on each CPU"
                                              : " records on each CPU",
               cairn_log_grabbed(log) || cairn_slice_is(rings, "u") ? ", ring 3 only"
               : cairn_slice_is(rings, "k")                         ? ", the kernel only"
                                                                    : "");
    cairn_filter_print("# ");
    puts("# > call, < return, - jump within the function; records have no times");
    if (cairn_log_grabbed(log) || !log->text.symbols.count)
        puts("# ? a call, return or jump: the log has no name for the target");
    puts("# ~ no record shows how execution got here from the branch above");
}

static const struct cairn_option options[] = {
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    CAIRN_LOG_OPTIONS,
};

static bool wanted(const struct cairn_bts_drain *d, uint32_t cpu)
{
    return (d->record_bytes || d->lost) && cairn_filter_cpu(cpu) && cairn_filter_time(d->time) &&
           cairn_filter_thread(d->tid);
}

struct stints { /* those that are wanted */
    struct stint *items;
    size_t count, room;
    bool any;                          /* there are others, at least */
    uint64_t missing[CAIRN_CPUS_MOST]; /* drains whose numbers are */
};

static void read_stints(struct stints *all, struct reader *r, uint32_t cpu)
{
    const struct cairn_bts_drain *d;
    uint32_t expected = 0;
    bool first = true;
    if (!r->log->cpu[cpu].bts.epochs)
        return;
    cairn_bts_group_init(&r->group, r->log, cpu);
    while ((d = cairn_bts_group_next(&r->group)) != NULL) {
        all->any = true;
        all->missing[cpu] += !first && d->number > expected ? d->number - expected : 0;
        expected = d->number + (d->reason != CAIRN_DS_START);
        first = false;
        if (wanted(d, cpu))
            *CAIRN_ADD(*all) = (struct stint){.tsc = d->tsc,
                                              .lost = d->lost,
                                              .tid = d->tid,
                                              .cpu = cpu,
                                              .piece = r->group.piece,
                                              .number = d->number,
                                              .records = d->record_bytes / CAIRN_BTS_BYTES};
    }
    cairn_bts_group_free(&r->group);
}

/* Drains whose numbers are missing, and records whose drain is. */
static void print_gaps(const struct cairn_log *log, const struct stints *all)
{
    for (uint32_t c = 0; c < log->cpus; c++) {
        const uint64_t missing = all->missing[c], strays = log->cpu[c].bts.strays;
        if (missing || strays)
            printf("! CPU %" PRIu32 ": %" PRIu64 " %s missing, and %" PRIu64 " %s without a drain\n", c, missing,
                   cairn_plural(missing, "drain is", "drains are"), strays, cairn_plural(strays, "record", "records"));
    }
}

static int none(const struct cairn_log *log, bool any)
{
    struct cairn_slice reason = cairn_key(&log->text, "ds.bts.reason");
    if (any)
        cairn_error("no branch records match the given CPU, thread or time");
    else if (reason.size > REASON_MAX)
        cairn_error("no branch records in this log (cairn info says why)");
    else if (reason.size)
        cairn_error("no branch records in this log: %.*s", CAIRN_SLICE(reason));
    else
        cairn_error("no branch records in this log (boot with bts=circular or bts=interrupt)");
    return CAIRN_BAD;
}

static int show(const struct cairn_log *log)
{
    struct reader *r = cairn_alloc(sizeof(*r));
    struct stints all = {0};
    r->log = log;
    for (uint32_t c = 0; c < log->cpus; c++)
        read_stints(&all, r, c);
    const int status = all.count ? CAIRN_GOOD : none(log, all.any);
    if (all.count) {
        qsort(all.items, all.count, sizeof(*all.items), by_thread);
        print_head(log);
        cairn_bts_group_init(&r->group, log, all.items[0].cpu);
        for (size_t first = 0, next; first < all.count; first = next) {
            for (next = first + 1; next < all.count && all.items[next].tid == all.items[first].tid; next++)
                ;
            print_thread(r, &all.items[first], next - first);
        }
        cairn_bts_group_free(&r->group);
        print_gaps(log, &all);
    }
    free(all.items);
    free(r);
    return status;
}

const struct cairn_command cairn_bts_command = {
    .name = "bts",
    .arguments = "[options] LOG",
    .summary = "show each thread's branches, with calls indented",
    .options = options,
    .notes = "Branch records have only addresses. A branch to the first byte of another\n"
             "function is shown as a call. A branch to the instruction after an open call is\n"
             "shown as a return. A branch into the middle of another function is also shown as\n"
             "a return: its call was made before the first record. '?' is a branch to a place\n"
             "without a name in the log, such as the PLT or a library of a Linux: the\n"
             "addresses do not show whether it is a call, a return or a jump.\n"
             "'!' marks where something is missing or was lost. '~' marks a branch that cannot\n"
             "follow the one above directly: branches between them are missing or were not\n"
             "traced, such as the return from a system call to ring 3.\n",
    .examples = {"cairn bts t.log", "cairn bts --thread computer/0 t.log"},
    .show = show,
};
