/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/ds_life.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/log/model_log.h"
#include "tools/cairn/model/disassemble.h"
#include "tools/pebs/pebs.h"
#include "trace/wire/model_log.h"

enum step { LOAD = 1, OVERFLOW, ARMING, CAPTURE, WRITE, INDEX, RELOAD, THRESHOLD, INTERRUPT, DRAIN, THREAD };

static const char *const titles[] = {
    [LOAD] = "load",     [OVERFLOW] = "overflow", [ARMING] = "arming", [CAPTURE] = "capture",
    [WRITE] = "write",   [INDEX] = "index",       [RELOAD] = "reload", [THRESHOLD] = "threshold",
    [INTERRUPT] = "PMI", [DRAIN] = "drain",       [THREAD] = "thread",
};

struct view {
    const struct cairn_log *log;
    const struct cairn_epoch *epoch;
    const struct cairn_item *items, *item; /* of the epoch, by address; number n of them */
    size_t n;
    const struct cairn_record *record; /* its */
    uint32_t cpu;
    bool logged; /* the model kept a log */
    bool arch;   /* architectural PEBS */
    struct cairn_life life;
    const struct cairn_logged *shown; /* whose instruction has just been shown */
};

/* ---- rows ------------------------------------------------------------------------------------------------------- */

#define INDENT 13

/* One row, or several, of a step; `step` 0: of the one before. */
static void row(unsigned step, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void row(unsigned step, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (step)
        printf("%2u %-9s ", step, titles[step]);
    else
        printf("%*s", INDENT, "");
    cairn_print_wrapped(INDENT, "", INDENT, (struct cairn_slice){text, (uint32_t)strlen(text)});
}

/* A step nothing is known of: nobody saw it, or what was written of it is not in this log. */
static void unknown(const struct view *v, enum step step, uint32_t missing)
{
    if (!v->logged)
        row(step, "unseen");
    else if (missing)
        row(step, "missing: %" PRIu32 " %s of the model's log %s not in this trace", missing,
            cairn_plural(missing, "entry", "entries"), cairn_plural(missing, "is", "are"));
    else
        row(step, "not in the model's log, although nothing of it is missing here");
}

static const char *counter_name(char out[CAIRN_SHOWN], const struct view *v, unsigned counter)
{
    return cairn_show_counter(out, v->log, v->cpu, counter);
}

/* What the DS area, or CFG_C, has for a counter to be loaded with. */
static uint64_t reset_of(const struct view *v, unsigned counter)
{
    if (v->arch) /* sign-extended to the counter's width */
        return (uint64_t)(int32_t)(uint32_t)cairn_arch_cfg_c(v->epoch, counter) & (DS_BIT(48) - 1);
    uint32_t at = ds_area_reset(v->epoch->format, counter);
    return at + 8 <= v->epoch->area_bytes ? cairn_get64(v->epoch->area + at) : 0;
}

/* Where a direct branch leads, as " (function+0x12)"; "" for every other instruction, and where no symbol is known. */
static const char *target(char out[CAIRN_SHOWN], const struct view *v, const char *disassembly)
{
    char name[CAIRN_SHOWN];
    uint64_t to;
    const char *operand = strrchr(disassembly, ' ');
    const struct cairn_symbol *symbol = NULL;
    if (operand && cairn_slice_u64((struct cairn_slice){operand + 1, (uint32_t)strlen(operand + 1)}, &to))
        symbol = cairn_find_symbol(&v->log->text, to);
    if (symbol && to == symbol->address)
        snprintf(out, CAIRN_SHOWN, " (%.*s)", symbol->name.size < 40 ? (int)symbol->name.size : 40, symbol->name.at);
    else if (symbol)
        snprintf(out, CAIRN_SHOWN, " (%.60s)", cairn_show_address(name, v->log, to, 40));
    else
        out[0] = '\0';
    return out;
}

/* The instruction of an entry: address, bytes, where that is, what they are. */
static void instruction(struct view *v, const struct cairn_logged *entry)
{
    char name[CAIRN_SHOWN], text[CAIRN_SHOWN], to[CAIRN_SHOWN], bytes[3 * CAIRN_CODE_MAX + 1] = "";
    const struct cairn_model_entry *e = &entry->head;
    v->shown = entry;
    for (unsigned i = 0; i < e->length; i++)
        snprintf(bytes + 3 * (size_t)i, sizeof(bytes) - 3 * (size_t)i, " %02x", e->code[i]);
    row(0, "%016" PRIx64 " %s", e->ip, e->length ? bytes : " (its bytes could not be read)");
    const char *what = cairn_disassemble(text, e->code, e->length, e->ip);
    row(0, "%s: %s%s", cairn_show_address(name, v->log, e->ip, 40),
        what        ? what
        : e->length ? "(no instruction)"
                    : "(unknown)",
        what ? target(to, v, what) : "");
}

/* ---- before the record ------------------------------------------------------------------------------------------ */

/* Where the counter started from: the record before, or the driver. */
static void load(const struct view *v, const struct cairn_life_counter *c)
{
    char name[CAIRN_SHOWN], value[CAIRN_SHOWN], time[CAIRN_SHOWN], with[64] = "a record that was dropped";
    const struct cairn_logged *e = c->load.entry;
    if (!e && c->load.missing) {
        unknown(v, LOAD, c->load.missing);
        return;
    }
    counter_name(name, v, c->number);
    if (!e) {
        row(LOAD, "%s: set by the driver; %s has its value %012" PRIx64 " (%s)", name,
            v->arch ? "its CFG_C" : "the DS area", reset_of(v, c->number),
            cairn_show_reset(value, reset_of(v, c->number)));
        return;
    }
    for (unsigned i = 0; i < e->head.actions; i++) {
        struct cairn_model_action a = cairn_logged_action(e, i);
        if (a.kind != CAIRN_MODEL_STORED)
            continue;
        size_t n = 0;
        while (n < v->n && v->items[n].record->index != a.before)
            n++;
        if (n < v->n && e->head.epoch == v->record->epoch)
            snprintf(with, sizeof(with), "record %zu", n);
        else
            snprintf(with, sizeof(with), "a record of epoch %" PRIu32, e->head.epoch);
    }
    row(LOAD, "%s: %s = %012" PRIx64 " (%s), with %s", cairn_show_moment(time, v->log, e->time), name,
        c->load.action.after, cairn_show_reset(value, c->load.action.after), with);
}

static void overflow(struct view *v, const struct cairn_life_counter *c)
{
    char name[CAIRN_SHOWN], time[CAIRN_SHOWN];
    const struct cairn_logged *e = c->overflow.entry;
    if (!e) {
        unknown(v, OVERFLOW, c->overflow.missing);
        unknown(v, ARMING, c->overflow.missing);
        return;
    }
    const bool never = v->arch && cairn_policy_is(v->log, "arch_overflow", "never");
    row(OVERFLOW, "%s: %s: %012" PRIx64 " + 1 = %" PRIx64 ", %s GLOBAL_STATUS bit %u; by the instruction",
        cairn_show_moment(time, v->log, e->time), counter_name(name, v, c->number), c->overflow.action.before,
        c->overflow.action.after, never ? "does not set" : "sets", c->number);
    instruction(v, e);
    if (!c->armed)
        row(ARMING, "not in the log");
    else if (e == v->life.stored.entry)
        row(ARMING, "no wait: with precise distribution, the overflowing instruction itself is recorded");
    else
        row(ARMING, "%s: its next event writes a record", name);
}

static void before(struct view *v)
{
    for (unsigned i = 0; i < v->life.counters; i++) {
        load(v, &v->life.counter[i]);
        overflow(v, &v->life.counter[i]);
    }
    for (enum step step = LOAD; step <= ARMING && !v->life.counters; step++)
        unknown(v, step, v->life.stored.missing);
}

/* ---- the record ------------------------------------------------------------------------------------------------- */

static void recorded(struct view *v)
{
    char name[CAIRN_SHOWN], time[CAIRN_SHOWN];
    const struct cairn_logged *e = v->life.stored.entry;
    const struct cairn_record *r = v->record;
    if (e) {
        row(CAPTURE, "%s: %sretired, execution continues at %s", cairn_show_moment(time, v->log, e->time),
            v->shown == e ? "the same instruction, " : "", cairn_show_address(name, v->log, e->head.next_ip, 40));
        if (v->shown != e)
            instruction(v, e);
        return;
    }
    unknown(v, CAPTURE, v->life.stored.missing);
    row(0, "the record's own %s: %s",
        r->after        ? "RIP, where execution continued"
        : r->format < 2 ? "RIP (PEBS_TRAP is 0: the instruction itself)"
                        : "EventingIP",
        cairn_show_address(name, v->log, r->ip, 40));
}

/* Its bytes as they lay in memory, each group from a row of its own. */
static void written(const struct view *v)
{
    const struct cairn_record *r = v->record;
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    int group = -1;
    unsigned column = 0;
    row(WRITE, "format %u, %" PRIu32 " bytes:", r->format, r->size);
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &f)) {
        bool begins = r->format >= 4 && group != f.group;
        if (begins || group < 0 || column == 2) {
            if (column)
                putchar('\n');
            printf("  %-7s %016" PRIx64, begins ? cairn_pebs_group_name(f.group) : "", r->address + f.at);
            column = 0;
        }
        group = f.group;
        putchar(' ');
        for (unsigned i = 0; i < 8; i++)
            printf(" %02x", r->at[f.at + i]);
        column++;
    }
    putchar('\n');
}

static void moved(const struct view *v)
{
    const struct cairn_life_step *s = &v->life.stored;
    const struct cairn_record *r = v->record;
    if (s->entry && v->arch) {
        row(INDEX, "IA32_PEBS_INDEX.WR %" PRIx64 " -> %" PRIx64 ", + %" PRIX64 "H", s->action.before, s->action.after,
            s->action.after - s->action.before);
        return;
    }
    if (s->entry) {
        row(INDEX, "PebsIndex %016" PRIx64 " -> %016" PRIx64 ", + %" PRIX64 "H", s->action.before, s->action.after,
            s->action.after - s->action.before);
        return;
    }
    unknown(v, INDEX, s->missing);
    row(0, "the record lies at %016" PRIx64 " and ends at %016" PRIx64, r->address, r->address + r->size);
}

/* ---- behind it -------------------------------------------------------------------------------------------------- */

/* The next action of `kind` of the record's own entry from *i on. */
static bool next_action(const struct view *v, unsigned *i, uint8_t first, uint8_t last, struct cairn_model_action *a)
{
    const struct cairn_logged *e = v->life.stored.entry;
    for (; *i < e->head.actions; ++*i) {
        *a = cairn_logged_action(e, *i);
        if (a->kind >= first && a->kind <= last) {
            ++*i;
            return true;
        }
    }
    return false;
}

static void reloaded(const struct view *v)
{
    char name[CAIRN_SHOWN], value[CAIRN_SHOWN];
    struct cairn_model_action a;
    unsigned i = 0, rows = 0;
    if (!v->life.stored.entry) {
        uint64_t set = 0;
        unknown(v, RELOAD, v->life.stored.missing);
        cairn_pebs_get(v->record->format, v->record->at, v->record->size, CAIRN_PEBS_COUNTERS, &set);
        for (unsigned c = 0; c < DS_COUNTER_NUMBERS; c++)
            if (set & DS_BIT(c))
                row(0, "by %s: %s: %012" PRIx64 " (%s)", v->arch ? "its CFG_C" : "the DS area",
                    counter_name(name, v, c), reset_of(v, c), cairn_show_reset(value, reset_of(v, c)));
        return;
    }
    const char *status = !v->arch                                            ? "cleared"
                         : cairn_policy_is(v->log, "arch_overflow", "stays") ? "stays set"
                         : cairn_policy_is(v->log, "arch_overflow", "never") ? "was never set"
                                                                             : "cleared";
    while (next_action(v, &i, CAIRN_MODEL_RELOADED, CAIRN_MODEL_RELOADED, &a))
        row(rows++ ? 0 : RELOAD, "%s: %012" PRIx64 " -> %012" PRIx64 " (%s), GLOBAL_STATUS bit %u %s",
            counter_name(name, v, a.counter), a.before, a.after, cairn_show_reset(value, a.after), a.counter, status);
    if (!rows)
        row(RELOAD, "none");
}

/* The same of architectural PEBS. */
static void compared_arch(const struct view *v)
{
    struct cairn_model_action a;
    unsigned i = 0;
    const bool passes = cairn_policy_is(v->log, "arch_threshold", "gt");
    if (!v->life.stored.entry) {
        const struct cairn_buffer b = cairn_epoch_buffer(v->epoch);
        const uint64_t end = v->record->address + v->record->size;
        unknown(v, THRESHOLD, v->life.stored.missing);
        row(0, "by IA32_PEBS_INDEX: %" PRIx64 " is %s the threshold, %" PRIx64, end - b.base,
            end < b.threshold ? "below" : "at or above", b.threshold - b.base);
    } else if (!next_action(v, &i, CAIRN_MODEL_COMPARED, CAIRN_MODEL_COMPARED, &a)) {
        row(THRESHOLD, "not in the log");
    } else if (passes ? a.before <= a.after : a.before < a.after) {
        row(THRESHOLD, "not %s: WR is %s it, %" PRIx64, passes ? "passed" : "reached",
            a.before < a.after ? "below" : "at", a.after);
    } else {
        row(THRESHOLD, "%s: WR is %s it, %" PRIx64 "; IA32_PERF_GLOBAL_STATUS %s set", passes ? "passed" : "reached",
            a.before > a.after ? "above" : "at", a.after,
            cairn_policy_is(v->log, "arch_ovf_buf", "yes") ? "bits 54 and 62" : "bit 54");
    }
}

static void compared(const struct view *v)
{
    struct cairn_model_action a;
    unsigned i = 0;
    if (v->arch) {
        compared_arch(v);
        return;
    }
    if (!v->life.stored.entry) {
        uint64_t end = v->record->address + v->record->size;
        uint64_t threshold = cairn_get64(v->epoch->area + offsetof(struct ds_area_60, pebs_interrupt_threshold));
        unknown(v, THRESHOLD, v->life.stored.missing);
        row(0, "by the DS area: %016" PRIx64 " is %s the threshold, %016" PRIx64, end,
            end < threshold ? "below" : "at or above", threshold);
    } else if (!next_action(v, &i, CAIRN_MODEL_COMPARED, CAIRN_MODEL_COMPARED, &a)) {
        row(THRESHOLD, "not in the log");
    } else if (a.before < a.after) {
        row(THRESHOLD, "not reached: PebsIndex is below it, %016" PRIx64, a.after);
    } else {
        row(THRESHOLD, "reached: PebsIndex is at or above it, %016" PRIx64 "; GLOBAL_STATUS bit 62 (OvfBuf) set",
            a.after);
    }
}

static void interrupted(const struct view *v)
{
    struct cairn_model_action a;
    unsigned i = 0, rows = 0;
    if (!v->life.stored.entry) {
        unknown(v, INTERRUPT, v->life.stored.missing);
        if (v->epoch->reason == CAIRN_DS_THRESHOLD)
            row(0, "at or before the drain, which it caused");
        return;
    }
    for (; next_action(v, &i, CAIRN_MODEL_PMI_RAISED, CAIRN_MODEL_PMI_LOST, &a); rows++)
        if (a.kind == CAIRN_MODEL_PMI_RAISED)
            row(rows ? 0 : INTERRUPT, "delivered: vector %" PRIX64 "H, LVTPC masks itself: %05" PRIx64 " -> %05" PRIx64,
                a.before & LVTPC_VECTOR, a.before, a.after);
        else
            row(rows ? 0 : INTERRUPT, "LVTPC is masked, %05" PRIx64 ": %s", a.before,
                a.kind == CAIRN_MODEL_PMI_LOST ? "lost" : "it comes when software unmasks it");
    if (!rows)
        row(INTERRUPT, "none");
}

static void drained(const struct view *v)
{
    char time[CAIRN_SHOWN], lost[32] = "unknown number";
    const struct cairn_epoch *e = v->epoch;
    if (e->lost != CAIRN_DS_LOST_UNKNOWN)
        snprintf(lost, sizeof(lost), "%" PRIu64, e->lost);
    row(DRAIN, "%s, reason: %s; %" PRIu32 " %s up to %016" PRIx64 ", %s lost; %s",
        cairn_show_moment(time, v->log, e->time), cairn_drain_name(e->reason), e->records,
        cairn_plural(e->records, "record", "records"), cairn_epoch_buffer(e).index, lost,
        v->arch ? "WR goes back to 0" : "PebsIndex goes back to the base");
}

static const char *verdict(char out[CAIRN_SHOWN], const struct view *v, const struct cairn_verdict *by)
{
    return by->blame == CAIRN_BLAME_KNOWN ? cairn_show_thread(out, v->log, by->tid, 32) : cairn_blame_text(by->blame);
}

static void thread(const struct view *v)
{
    char name[CAIRN_SHOWN];
    const struct cairn_item *item = v->item;
    unsigned other = item->rule == CAIRN_BY_TIME ? CAIRN_BY_INDEX : CAIRN_BY_TIME;
    row(THREAD, "%s, by %s", verdict(name, v, &item->by[item->rule]), cairn_by_names[item->rule]);
    row(0, "%s, by %s", verdict(name, v, &item->by[other]), cairn_by_names[other]);
    if (v->life.stored.entry)
        row(0, "%s, by the model's log", cairn_show_thread(name, v->log, v->life.stored.entry->head.tid, 32));
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static void explain(const struct view *v)
{
    const struct cairn_text *t = &v->log->text;
    if (v->logged)
        return;
    if (cairn_slice_is(cairn_key(t, "ds.backend"), "hw"))
        printf("A real processor does not show its steps: what no record and no drain shows is\n"
               "marked 'unseen'.\n");
    else
        printf("The undamaged part of this trace does not say whether a model kept a log; what\n"
               "only that log shows is marked 'unseen'.\n");
}

void cairn_show_life(const struct cairn_log *log, const struct cairn_epoch *epoch, const struct cairn_item *records,
                     size_t n)
{
    struct view v = {.log = log, .epoch = epoch, .items = records, .item = &records[n], .n = n, .cpu = records[n].cpu};
    v.record = v.item->record;
    v.logged = cairn_logged_any(log);
    v.arch = epoch->format == DS_FORMAT_ARCH;
    cairn_life_read(&v.life, log, v.cpu, v.record);
    printf("\nCPU %" PRIu32 ", epoch %" PRIu32 ", record %zu: its life\n", v.cpu, epoch->number, n);
    explain(&v);
    before(&v);
    recorded(&v);
    written(&v);
    moved(&v);
    reloaded(&v);
    compared(&v);
    interrupted(&v);
    drained(&v);
    thread(&v);
    cairn_life_free(&v.life);
}
