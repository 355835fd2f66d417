/* SPDX-License-Identifier: MIT */
/* cairn locks: each spin lock, from the events of its releases. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/loss.h"
#include "trace/wire/spinlock.h"

#define CALLERS_SHOWN 4u

struct release { /* one event */
    uint64_t lock, caller, held, wait, spins;
    uint32_t weight;    /* releases that it stands for */
    uint8_t mode, rule; /* rule: cairn_lock_rule's */
    bool every;         /* that each release was written */
};

struct releases {
    struct release *items;
    size_t count, room;
};

struct lock { /* those of one lock in one mode */
    struct release *first;
    size_t count, contended;
    uint64_t acquired;                   /* by their weights */
    uint64_t longest_wait, longest_hold; /* cycles */
    bool estimated;
};

struct caller {
    uint64_t address;
    size_t count;
};

static struct trace_spinlock_sampling sampling; /* of the log's beginning, or what its options say */

/* ---- from events to locks --------------------------------------------------------------------------------------- */

static void weigh(struct release *r, const struct trace_spinlock_sampling *s, unsigned rules)
{
    r->rule = (uint8_t)cairn_lock_rule(rules);
    r->every = rules & TRACE_SPINLOCK_EVERY;
    r->weight = 1;
    if (rules & (TRACE_SPINLOCK_HOLD | TRACE_SPINLOCK_EVERY) || !rules)
        return; /* it may be there for itself alone */
    r->weight = rules & TRACE_SPINLOCK_CONTENTION ? s->contention_sample_rate : s->acquire_sample_rate;
}

/* Those of one CPU that pass the filter. *told: the sampling is known, here or of a CPU before; else the CPU's first
 * event tells it. */
static void collect(struct releases *to, const struct cairn_log *log, uint32_t cpu, bool *told)
{
    struct cairn_lock_walk walk;
    struct cairn_lock_event event;
    bool first = true;
    cairn_lock_walk_init(&walk, log, cpu);
    for (; cairn_lock_walk_next(&walk, &event); first = false) {
        struct wmi_spinlock e = cairn_lock_read(&event);
        struct trace_spinlock_sampling s;
        const bool known = cairn_lock_sampling(log, cpu, &event, &s);
        if (first && !*told) {
            sampling = s;
            *told = known;
        }
        if (!cairn_filter_cpu(cpu) || !cairn_filter_time(event.time) || !cairn_filter_thread(e.thread_id))
            continue;
        struct release *r = CAIRN_ADD(*to);
        *r = (struct release){.lock = e.spin_lock_address,
                              .caller = e.caller_address,
                              .held = e.release_time - e.acquire_time,
                              .wait = e.wait_time_in_cycles,
                              .spins = e.spin_count,
                              .mode = e.flags & WMI_SPINLOCK_MODE_MASK};
        weigh(r, &s, known ? cairn_lock_rules(&s, &e) : 0);
    }
}

static int by_lock(const void *a, const void *b)
{
    const struct release *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    return x->mode - y->mode;
}

static int by_contention(const void *a, const void *b)
{
    const struct lock *x = a, *y = b;
    if (x->contended != y->contended)
        return x->contended > y->contended ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return by_lock(x->first, y->first);
}

static struct lock *group(struct release *releases, size_t count, size_t *locks)
{
    struct lock *lock = cairn_alloc(count * sizeof(*lock));
    qsort(releases, count, sizeof(*releases), by_lock);
    *locks = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_lock(&releases[i - 1], &releases[i]) != 0)
            lock[(*locks)++].first = &releases[i];
        struct lock *l = &lock[*locks - 1];
        l->count++;
        l->contended += releases[i].spins != 0;
        l->acquired += releases[i].weight;
        l->estimated |= !releases[i].every;
        if (releases[i].wait > l->longest_wait)
            l->longest_wait = releases[i].wait;
        if (releases[i].held > l->longest_hold)
            l->longest_hold = releases[i].held;
    }
    qsort(lock, *locks, sizeof(*lock), by_contention);
    return lock;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* In `width` columns; of what has no room there, the power of ten. */
static const char *show_number(char out[CAIRN_SHOWN], uint64_t value, unsigned width)
{
    if (snprintf(out, CAIRN_SHOWN, "%" PRIu64, value) > (int)width)
        snprintf(out, CAIRN_SHOWN, "%.2e", (double)value);
    return out;
}

static void print_table(const struct cairn_log *log, const struct lock *lock, size_t count)
{
    static const char *const heads[] = {"acquired", "events", "contended", "max wait", "max hold"};
    static const unsigned widths[] = {9, 7, 9, 8, 8};
    bool nameless = false;
    printf("%s%-23s %-9s", cairn_colour(stdout, CAIRN_COLOUR_HEAD), "lock", "mode");
    for (unsigned i = 0; i < 5; i++)
        printf(" %*s", (int)widths[i], heads[i]);
    printf("%s\n", cairn_colour(stdout, CAIRN_COLOUR_OFF));
    for (size_t n = 0; n < count; n++) {
        const struct lock *l = &lock[n];
        const uint64_t values[] = {l->acquired, l->count, l->contended, l->longest_wait, l->longest_hold};
        char text[CAIRN_SHOWN];
        cairn_show_lock(text, log, l->first->lock, 23);
        nameless |= strncmp(text, "0x", 2) == 0;
        printf("%-23s %-9s", text, cairn_lock_mode_name(l->first->mode));
        for (unsigned i = 0; i < 5; i++)
            printf(" %*s", (int)widths[i], show_number(text, values[i], widths[i]));
        putchar('\n');
    }
    if (nameless && log->text.symbols.count)
        puts("# a lock shown as an address is on the heap or a stack, not a named variable");
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* "1234 cycles (0.5 us)", the time where the TSC's frequency is known. */
static const char *show_cycles(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t cycles)
{
    int n = snprintf(out, CAIRN_SHOWN, "%" PRIu64, cycles);
    if (log->session.known)
        snprintf(out + n, CAIRN_SHOWN - (size_t)n, " (%.1f us)",
                 (double)cycles * 1e6 / (double)log->session.clock.tsc_hz);
    return out;
}

/* Median (the lower of two) and maximum of one field. */
static void print_field(const struct cairn_log *log, const struct lock *l, const char *name, size_t field, bool cycles,
                        uint64_t *values)
{
    char median[CAIRN_SHOWN], maximum[CAIRN_SHOWN];
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++)
        if (cycles || l->first[i].spins) /* spins: of those that had to */
            values[n++] = *(const uint64_t *)(const void *)((const char *)&l->first[i] + field);
    if (!n)
        return;
    qsort(values, n, sizeof(*values), by_number);
    if (cycles)
        printf("  %-6s %26s %26s\n", name, show_cycles(median, log, values[(n - 1) / 2]),
               show_cycles(maximum, log, values[n - 1]));
    else
        printf("  %-6s %26" PRIu64 " %26" PRIu64 "\n", name, values[(n - 1) / 2], values[n - 1]);
}

static void print_rules(const struct lock *l)
{
    size_t by[CAIRN_LOCK_RULES + 1] = {0};
    char text[CAIRN_SHOWN + 64];
    int n = 0;
    for (size_t i = 0; i < l->count; i++)
        by[l->first[i].rule]++;
    for (unsigned r = 0; r <= CAIRN_LOCK_RULES; r++)
        if (by[r])
            n +=
                snprintf(text + n, sizeof(text) - (size_t)n, "%s%s %zu", n ? ", " : "", cairn_lock_rule_name(r), by[r]);
    printf("  events chosen by: ");
    cairn_print_wrapped(20, "", 4, (struct cairn_slice){text, (uint32_t)n});
}

static int by_count(const void *a, const void *b)
{
    const struct caller *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static void print_callers(const struct cairn_log *log, const struct lock *l, uint64_t *values)
{
    char text[CALLERS_SHOWN * CAIRN_SHOWN + 64], name[CAIRN_SHOWN];
    struct caller *callers = cairn_alloc(l->count * sizeof(*callers));
    size_t count = 0, others = 0;
    int n = 0;
    for (size_t i = 0; i < l->count; i++)
        values[i] = l->first[i].caller;
    qsort(values, l->count, sizeof(*values), by_number);
    for (size_t i = 0; i < l->count; i++) {
        if (i == 0 || values[i] != values[i - 1])
            callers[count++].address = values[i];
        callers[count - 1].count++;
    }
    qsort(callers, count, sizeof(*callers), by_count);
    for (size_t i = 0; i < count && i < CALLERS_SHOWN; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s %zu", i ? ", " : "",
                      cairn_show_address(name, log, callers[i].address, 40), callers[i].count);
    for (size_t i = CALLERS_SHOWN; i < count; i++)
        others += callers[i].count;
    if (others)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ", %zu others %zu", count - CALLERS_SHOWN, others);
    printf("  events released in: ");
    cairn_print_wrapped(22, "", 4, (struct cairn_slice){text, (uint32_t)n});
    free(callers);
}

static void print_lock(const struct cairn_log *log, const struct lock *l, uint64_t *values)
{
    char name[CAIRN_SHOWN];
    printf("\n%s%s, %s%s\n", cairn_colour(stdout, CAIRN_COLOUR_HEAD), cairn_show_lock(name, log, l->first->lock, 60),
           cairn_lock_mode_name(l->first->mode), cairn_colour(stdout, CAIRN_COLOUR_OFF));
    printf("  %s%" PRIu64 " acquired; %zu %s, %zu contended\n", l->estimated ? "about " : "", l->acquired, l->count,
           l->count == 1 ? "event" : "events", l->contended);
    printf("  %-6s %26s %26s\n", "", "median", "maximum");
    print_field(log, l, "spins", offsetof(struct release, spins), false, values);
    print_field(log, l, "wait", offsetof(struct release, wait), true, values);
    print_field(log, l, "hold", offsetof(struct release, held), true, values);
    print_rules(l);
    print_callers(log, l, values);
}

/* Whether events of the CPUs that are shown were lost, overwritten or damaged: releases may be among them. */
static bool is_short(const struct cairn_log *log)
{
    uint64_t lost;
    bool some = !log->own && cairn_slice_u64(cairn_key(&log->text, "etl.events_lost"), &lost) && lost;
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        if (cairn_filter_cpu(c))
            some |= cpu->holes.count || (cpu->end.events_known && cpu->end.events[CAIRN_LOST]);
    }
    return some;
}

static void print_head(const struct cairn_log *log, bool told, bool changed)
{
    char text[2 * CAIRN_SHOWN], held[64] = "";
    uint64_t untracked = 0, n;
    for (uint32_t c = 0; c < log->cpus; c++)
        untracked += log->cpu[c].end.locks_known ? log->cpu[c].end.locks[4] : 0;
    if (sampling.hold_threshold)
        snprintf(held, sizeof(held), ", and every one held for more than %" PRIu32 " cycles", sampling.hold_threshold);
    cairn_print_damage(log, "# ", "cairn check tells where");
    if (!told)
        n = (uint64_t)snprintf(text, sizeof(text), "unknown: each event counts as one acquisition");
    else if (sampling.every)
        n = (uint64_t)snprintf(text, sizeof(text),
                               "every release is an event (spinlock.every=1, which Windows does not have)");
    else
        n = (uint64_t)snprintf(text, sizeof(text),
                               "1 of %" PRIu32 " contended acquisitions (%" PRIu32 " %s or more), 1 of %" PRIu32
                               " others%s%s",
                               sampling.contention_sample_rate, sampling.spin_threshold,
                               cairn_plural(sampling.spin_threshold, "spin", "spins"), sampling.acquire_sample_rate,
                               held, changed ? "; this changes later" : "");
    cairn_filter_print("# ");
    printf("# sampling: ");
    cairn_print_wrapped(12, "# ", 2, (struct cairn_slice){text, (uint32_t)n});
    if (is_short(log))
        puts("# events are missing (see cairn stat); releases among them are not counted");
    if (untracked)
        printf("# not tracked: %" PRIu64 " acquisitions by a CPU that already held %u\n", untracked,
               TRACE_SPINLOCK_DEPTH);
    if (cairn_slice_is(cairn_key(&log->text, "machine.emulated"), "1"))
        puts("# the machine is emulated: cycles and times are the emulator's");
}

static uint64_t top = 20;
static const struct cairn_option options[] = {
    {0, "top", "N", "show the first N locks (20)", .number = &top, .low = 1, .high = UINT32_MAX},
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    CAIRN_LOG_OPTIONS,
};

static bool same(const struct trace_spinlock_sampling *a, const struct perfinfo_spinlock_config *b)
{
    const struct perfinfo_spinlock_config config = trace_spinlock_config(a);
    return memcmp(&config, b, sizeof(config)) == 0;
}

/* Whether any CPU had another sampling than that of the first event. */
static bool changes(const struct cairn_log *log)
{
    bool changed = false;
    for (uint32_t c = 0; c < log->cpus; c++)
        for (size_t i = 0; i < log->cpu[c].locks.configs.count; i++)
            changed |= !same(&sampling, &log->cpu[c].locks.configs.items[i].is);
    return changed;
}

static int show(const struct cairn_log *log)
{
    size_t locks;
    bool told = false;
    struct releases all = {0};
    sampling = (struct trace_spinlock_sampling){0};
    for (uint32_t c = 0; c < log->cpus; c++)
        collect(&all, log, c, &told);
    if (!all.count) {
        cairn_error("no spin lock events %s", cairn_filter_on() ? "match the given CPU, thread or time"
                                              : log->etl        ? "in this file"
                                              : cairn_log_grabbed(log)
                                                  ? "in this log: cairn grab does not record them"
                                                  : "in this log (boot with session.1=auto+spinlock:qpc:sequential)");
        return CAIRN_BAD;
    }
    struct lock *lock = group(all.items, all.count, &locks);
    uint64_t *values = cairn_alloc(all.count * sizeof(*values));
    print_head(log, told, changes(log));
    const size_t shown = locks < top ? locks : (size_t)top;
    print_table(log, lock, shown);
    for (size_t i = 0; i < shown; i++)
        print_lock(log, &lock[i], values);
    if (shown < locks)
        printf("\nand %zu more %s (--top N)\n", locks - shown, cairn_plural(locks - shown, "lock", "locks"));
    free(values);
    free(lock);
    free(all.items);
    return CAIRN_GOOD;
}

const struct cairn_command cairn_locks_command = {
    .name = "locks",
    .arguments = "[options] LOG",
    .summary = "show contention, waits and holds of spin locks",
    .options = options,
    .notes = "First comes a table, the most contended locks at the top, with waits and holds\n"
             "in TSC cycles. Then come the details of each lock: the releases that were\n"
             "sampled (0529H), one part for each mode.\n"
             "'acquired' and 'about' are estimates of all acquisitions, by the sampling rates;\n"
             "a long hold counts as one. Spins are those of contended acquisitions. 'chosen\n"
             "by' says why a release was sampled: held long, contended, uncontended or every;\n"
             "if several rules may apply, the first of these.\n",
    .examples = {"cairn locks t.log", "cairn locks --top 5 --cpu 0 t.log"},
    .show = show,
};
