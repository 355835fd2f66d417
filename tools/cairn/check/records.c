/* SPDX-License-Identifier: MIT */
/*
 * Compares PEBS records with the truth (docs/reference/format.md), word by word: what the stepped thread had in its
 * registers, as the kernel read it from the frame of the #DB, never from the record. Words that the truth does not have
 * are unknown to the model and must be 0.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/timeline.h"
#include "tools/pebs/pebs.h"

struct records {
    struct cairn_check *check;
    int n;
    bool modelled; /* the processor was: there is truth of its records */
    struct cairn_truth truth;
    bool have;
    struct cairn_truth_pebs t;
    bool has_words; /* of this record, all that there are */
    uint64_t word[CAIRN_TRUTH_GROUPS][CAIRN_TRUTH_WORDS_MAX];
    uint64_t left; /* groups of an architectural record of which no fragment has come */
    uint64_t missing;
    uint64_t drained; /* epochs with lower numbers have ended in the trace */
};

/* What the truth has of the record's words: none in logs of older kernels. Parts of it may be missing. */
static void read_words(struct records *s)
{
    unsigned seen = 0;
    const uint8_t *p;
    memset(s->word, 0, sizeof(s->word));
    while (seen < s->t.more && (p = cairn_truth_follows(&s->truth, CAIRN_TRUTH_WORDS)) != NULL) {
        struct cairn_truth_words w;
        memcpy(&w, p, sizeof(w));
        if (w.group < CAIRN_TRUTH_GROUPS && w.first + CAIRN_TRUTH_PER_RECORD <= CAIRN_TRUTH_WORDS_MAX)
            memcpy(&s->word[w.group][w.first], w.word, sizeof(w.word));
        seen++;
    }
    s->has_words = seen && seen == s->t.more;
}

/* The next record of the truth that was stored. */
static void step_stored(struct records *s)
{
    const uint8_t *p;
    while ((p = cairn_truth_next(&s->truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_PEBS))) != NULL) {
        memcpy(&s->t, p, sizeof(s->t));
        read_words(s);
        if (s->t.stored)
            break;
    }
    s->have = p != NULL;
}

/* ---- what each record must have ---------------------------------------------------------------------------------- */

/* Whether the record names the counters the truth does: formats 1 and 2 among all that had overflowed. */
static bool same_counters(const struct cairn_record *r, uint32_t truth)
{
    uint64_t counters = cairn_counters_unpack(truth);
    uint64_t named;
    if (cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_COUNTERS, &named))
        return named == counters;
    return !cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_STATUS, &named) || (named & counters) == counters;
}

/* What is true of every record, however much the truth has of it. */
static bool same_step(const struct records *s, const struct cairn_record *r)
{
    uint64_t next;
    if (!r->after && r->ip != s->t.event_ip)
        cairn_fail(s->check, CAIRN_RULE_TRUTH_RECORDS, s->n, &r->time, "instruction 0x%" PRIx64 ", in truth 0x%" PRIx64,
                   r->ip, s->t.event_ip);
    else if (cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_RIP, &next) && next != s->t.next_ip)
        cairn_fail(s->check, CAIRN_RULE_TRUTH_RECORDS, s->n, &r->time,
                   "continued at 0x%" PRIx64 ", in truth at 0x%" PRIx64, next, s->t.next_ip);
    else if (!same_counters(r, s->t.counters))
        cairn_fail(s->check, CAIRN_RULE_TRUTH_RECORDS, s->n, &r->time,
                   "0x%" PRIx64 ": its counters are not those of the truth, 0x%" PRIx32, r->address, s->t.counters);
    else if (r->timed && r->tsc != s->t.tsc)
        cairn_fail(s->check, CAIRN_RULE_TRUTH_RECORDS, s->n, &r->time, "TSC %" PRIu64 ", in truth %" PRIu64, r->tsc,
                   s->t.tsc);
    else
        return true;
    return false;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Which of the words of CAIRN_TRUTH_STATE a register is. */
static unsigned state_of(const char *name)
{
    static const char *const names[] = {"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
                                        "R8",  "R9",  "R10", "R11", "R12", "R13", "R14", "R15"};
    unsigned i = 0;
    while (i < 15 && strcmp(names[i], name) != 0)
        i++;
    return CAIRN_TRUTH_RAX + i;
}

static uint64_t masks(uint64_t cfg)
{
    return cfg & MSR_PEBS_DATA_CFG_CNTR ? msr_pebs_data_cfg_gp(cfg) | (uint64_t)msr_pebs_data_cfg_fixed(cfg) << 32 : 0;
}

/* What the header of a fragment must be that has these groups of an architectural record. */
static uint64_t header_with(const struct records *s, uint64_t groups)
{
    const uint64_t *arch = s->word[CAIRN_TRUTH_ARCH];
    const uint32_t metrics = groups & IA32_PMC_CFG_C_CNTR_METRICS ? 2 : 0,
                   depth = (uint32_t)arch[CAIRN_TRUTH_ARCH_LBR_DEPTH];
    const uint32_t words = (uint32_t)__builtin_popcountll(arch[CAIRN_TRUTH_ARCH_COUNTERS]) + metrics;
    const uint32_t odd = (groups & IA32_PMC_CFG_C_CNTR ? words : 0) + ds_arch_lbr_entries(groups, depth);
    uint32_t size = ds_arch_record_bytes(groups, words, depth);
    if (!(groups & DS_ARCH_HEADER_BASIC))
        size -= (uint32_t)sizeof(struct ds_arch_basic);
    if (odd % 2 && cairn_policy_is(s->check->log, "arch_padding", "apart"))
        size -= 8;
    return size | groups | (arch[CAIRN_TRUTH_ARCH_MODE64] ? DS_ARCH_HEADER_MODE64 : 0) |
           (s->left & ~groups ? DS_ARCH_HEADER_CONT : 0);
}

/* Of architectural PEBS: how a record is divided into fragments is a policy of the model, or nobody knows. What it has
 * must be all that was asked for, each group once. */
static uint64_t header_of(struct records *s, const struct cairn_pebs_field *f)
{
    const uint64_t null = sizeof(struct ds_arch_header), all = s->word[CAIRN_TRUTH_STATE][CAIRN_TRUTH_MSR];
    const bool whole = cairn_policy_is(s->check->log, "arch_fragments", "none");
    if (!f->at)
        s->left = DS_ARCH_HEADER_BASIC | all;
    if (!f->at && cairn_policy_is(s->check->log, "arch_fragments", "null"))
        return null;
    const uint64_t groups = whole ? s->left : f->value & s->left;
    const uint64_t header = header_with(s, groups);
    s->left &= ~groups;
    return header;
}

/* The words that only architectural PEBS has; NULL: none of them. */
static const uint64_t *arch_truth_of(const struct records *s, const struct cairn_pebs_field *f)
{
    const uint64_t *arch = s->word[CAIRN_TRUTH_ARCH];
    switch (f->what) {
    case CAIRN_PEBS_CNTR_MASKS:
        return &arch[CAIRN_TRUTH_ARCH_COUNTERS];
    case CAIRN_PEBS_CNTR_METRICS:
        return &arch[CAIRN_TRUTH_ARCH_METRICS];
    case CAIRN_PEBS_XSTATE:
        return &arch[CAIRN_TRUTH_ARCH_XSTATE];
    case CAIRN_PEBS_LBR_CTL:
        return &arch[CAIRN_TRUTH_ARCH_LBR_CTL];
    case CAIRN_PEBS_LBR_DEPTH:
        return &arch[CAIRN_TRUTH_ARCH_LBR_DEPTH];
    default:
        return NULL;
    }
}

/* What word `f` of the record must be; `i`: its number in its group. */
static uint64_t truth_of(const struct records *s, const struct cairn_pebs_field *f, unsigned i, unsigned format)
{
    const bool is_arch = format == DS_FORMAT_ARCH;
    const uint64_t *state = s->word[CAIRN_TRUTH_STATE], cfg = state[CAIRN_TRUTH_MSR];
    const uint64_t *arch = is_arch ? arch_truth_of(s, f) : NULL;
    if (arch)
        return *arch;
    if (is_arch && f->group == CAIRN_PEBS_LBR)
        i -= (unsigned)sizeof(struct ds_arch_lbr) / 8;
    switch (f->what) {
    case CAIRN_PEBS_HEAD:
        return ds_pebs_head((uint32_t)cfg, ds_pebs_adaptive_size(cfg)) |
               (format > 4 ? f->value & UINT64_C(0xFFFF) << 32
                           : 0); /* retire latency, of which the truth has no clock */
    case CAIRN_PEBS_RETIRE:
        return f->value & (DS_ARCH_RETIRE_LATENCY | DS_ARCH_RETIRE_VALID);
    case CAIRN_PEBS_EVENTING_IP:
        return s->t.event_ip;
    case CAIRN_PEBS_RIP:
        return s->t.next_ip;
    case CAIRN_PEBS_COUNTERS:
        return cairn_counters_unpack(s->t.counters);
    case CAIRN_PEBS_STATUS:
        return cfg;
    case CAIRN_PEBS_TSC:
        return f->value < state[CAIRN_TRUTH_TSC_FIRST]  ? state[CAIRN_TRUTH_TSC_FIRST]
               : f->value > state[CAIRN_TRUTH_TSC_LAST] ? state[CAIRN_TRUTH_TSC_LAST]
                                                        : f->value;
    case CAIRN_PEBS_RFLAGS:
        return state[CAIRN_TRUTH_RFLAGS];
    case CAIRN_PEBS_REGISTER:
        return state[state_of(f->name)];
    case CAIRN_PEBS_XMM_LOW:
    case CAIRN_PEBS_XMM_HIGH:
        return s->word[CAIRN_TRUTH_XMM][i];
    case CAIRN_PEBS_LBR_FROM:
    case CAIRN_PEBS_LBR_TO: /* three words an entry, of which the truth has two */
        return i / 3 < CAIRN_TRUTH_LBR_MAX ? s->word[CAIRN_TRUTH_LBR][i / 3 * 2 + i % 3] : 0;
    case CAIRN_PEBS_CNTR_MASKS:
        return masks(cfg);
    case CAIRN_PEBS_CNTR_METRICS:
        return cfg & MSR_PEBS_DATA_CFG_METRICS ? DS_PEBS_CNTR_METRICS : 0;
    case CAIRN_PEBS_CNTR_VALUE:
        return i - 2 < CAIRN_TRUTH_WORDS_MAX ? s->word[CAIRN_TRUTH_CNTR][i - 2] : 0;
    default:
        return 0;
    }
}

static void compare_words(struct records *s, const struct cairn_record *r)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &f)) {
        const uint64_t truth =
            f.what == CAIRN_PEBS_FRAGMENT ? header_of(s, &f) : truth_of(s, &f, walk.index - 1u, r->format);
        s->check->compared[CAIRN_RULE_TRUTH_WORDS]++;
        if (f.value != truth)
            cairn_fail(s->check, CAIRN_RULE_TRUTH_WORDS, s->n, &r->time,
                       "epoch %" PRIu32 ", 0x%" PRIx64 ": %s%s%s is 0x%" PRIx64 ", in truth 0x%" PRIx64, r->epoch,
                       r->address, r->format < 4 ? "" : cairn_pebs_group_name(f.group), r->format < 4 ? "" : " ",
                       f.name, f.value, truth);
    }
    if (r->format == DS_FORMAT_ARCH && s->left)
        cairn_fail(s->check, CAIRN_RULE_TRUTH_WORDS, s->n, &r->time,
                   "epoch %" PRIu32 ", 0x%" PRIx64 ": it lacks groups 0x%" PRIx64 " of the truth", r->epoch, r->address,
                   s->left);
    if (walk.at != r->size)
        cairn_fail(s->check, CAIRN_RULE_TRUTH_WORDS, s->n, &r->time,
                   "epoch %" PRIu32 ", 0x%" PRIx64 ": %" PRIu32 " bytes that belong to no group", r->epoch, r->address,
                   r->size - walk.at);
}

/* ---- records in order -------------------------------------------------------------------------------------------- */

static void compare_record(struct records *s, const struct cairn_item *item)
{
    struct cairn_check *check = s->check;
    const struct cairn_record *r = item->record;
    check->blames[item->blame]++;
    check->untimed += !r->timed;
    if (!s->modelled)
        return;
    while (s->have && (s->t.epoch < r->epoch || (s->t.epoch == r->epoch && s->t.address < r->address))) {
        s->missing++;
        step_stored(s);
    }
    if (!s->have || s->t.epoch != r->epoch || s->t.address != r->address) {
        check->uncompared_records++;
        if (!s->truth.gap)
            cairn_fail(check, CAIRN_RULE_TRUTH_RECORDS, s->n, &r->time,
                       "epoch %" PRIu32 ", 0x%" PRIx64 ": the truth does not have this record", r->epoch, r->address);
        return;
    }
    check->compared[CAIRN_RULE_TRUTH_RECORDS]++;
    if (same_step(s, r) && s->has_words)
        compare_words(s, r);
    check->wordless += !s->has_words;
    if (item->blame == CAIRN_BLAME_KNOWN) {
        check->compared[CAIRN_RULE_TRUTH_THREADS]++;
        if (item->tid != s->t.tid) {
            check->wrong++;
            cairn_fail(check, CAIRN_RULE_TRUTH_THREADS, s->n, &r->time, "thread %" PRIu32 ", in truth %" PRIu32,
                       item->tid, s->t.tid);
        }
    }
    s->truth.gap = false;
    step_stored(s);
}

/* ---- drains ------------------------------------------------------------------------------------------------------ */

struct drains { /* the truth of one CPU, epoch by epoch */
    struct cairn_truth truth;
    bool have;
    struct cairn_truth_pebs t;
};

static void step_any(struct drains *d)
{
    const uint8_t *p =
        cairn_truth_next(&d->truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_PEBS) | CAIRN_TRUTH_OF(CAIRN_TRUTH_SWALLOWED));
    d->have = p != NULL;
    if (p)
        memcpy(&d->t, p, sizeof(d->t));
}

/* What the truth has of an epoch: records stored, dropped by the processor, and counters reloaded with another's. */
struct sum {
    uint64_t stored, dropped, swallowed;
};

static struct sum sum_of(struct drains *d, uint32_t epoch)
{
    struct sum sum = {0};
    for (; d->have && d->t.epoch <= epoch; step_any(d)) {
        if (d->t.epoch != epoch)
            continue;
        if (d->t.kind == CAIRN_TRUTH_SWALLOWED)
            sum.swallowed += (unsigned)__builtin_popcount(d->t.counters);
        else if (d->t.stored)
            sum.stored++;
        else
            sum.dropped++;
    }
    return sum;
}

static void compare_epoch(struct cairn_check *check, int n, const struct cairn_epoch *e, const struct sum *truth)
{
    if (e->bytes_seen == e->record_bytes && e->records != truth->stored)
        cairn_fail(check, CAIRN_RULE_TRUTH_RECORDS, n, &e->time, "epoch %" PRIu32 ": %" PRIu32 " %s, in truth %" PRIu64,
                   e->number, e->records, cairn_plural(e->records, "record", "records"), truth->stored);
    if (e->lost != CAIRN_DS_LOST_UNKNOWN && e->lost != truth->dropped)
        cairn_fail(check, CAIRN_RULE_TRUTH_RECORDS, n, &e->time,
                   "epoch %" PRIu32 ": %" PRIu64 " %s dropped, in truth %" PRIu64, e->number, e->lost,
                   cairn_plural(e->lost, "record", "records"), truth->dropped);
    if (!check->log->cpu[n].holes.count && e->swallowed != truth->swallowed)
        cairn_fail(check, CAIRN_RULE_TRUTH_RECORDS, n, &e->time,
                   "epoch %" PRIu32 ": %" PRIu64 " %s swallowed, in truth %" PRIu64, e->number, e->swallowed,
                   cairn_plural(e->swallowed, "sample", "samples"), truth->swallowed);
}

/* Each drain has as many records, and says that as many were dropped, as the truth has. An epoch part of whose records
 * is missing from the trace is told apart by its bytes. */
static void compare_epochs(struct cairn_check *check, uint32_t n)
{
    struct drains *d = cairn_alloc(sizeof(*d));
    struct cairn_group group;
    const struct cairn_epoch *e;
    cairn_truth_init(&d->truth, check->log, n);
    step_any(d);
    cairn_group_init(&group, check->log, n);
    while ((e = cairn_group_drain(&group)) != NULL) {
        if (e->reason == CAIRN_DS_START)
            continue;
        const struct sum truth = sum_of(d, e->number);
        compare_epoch(check, (int)n, e, &truth);
    }
    cairn_group_free(&group);
    free(d);
}

void cairn_check_records(struct cairn_check *check, uint32_t n)
{
    const struct cairn_cpu *cpu = &check->log->cpu[n];
    struct cairn_lane lane;
    const struct cairn_item *item;
    const bool truth = check->log->has_truth && check->log->session.known;
    if (!truth && !cpu->pebs.records)
        return;
    struct records *s = cairn_alloc(sizeof(*s));
    *s = (struct records){.check = check, .n = (int)n, .modelled = cairn_log_modelled(check->log)};
    cairn_truth_init(&s->truth, check->log, n);
    cairn_lane_init(&lane, check->log, n, cairn_prefers_compact(check->log), check->by);
    step_stored(s);
    while (cpu->pebs.events && (item = cairn_lane_next(&lane)) != NULL) {
        if (item->kind == CAIRN_ITEM_RECORD) {
            cairn_check_sampled(check, n, item);
            if (truth)
                compare_record(s, item);
        }
        if (item->kind == CAIRN_ITEM_EPOCH && item->epoch->reason != CAIRN_DS_START)
            s->drained = item->epoch->number + UINT64_C(1);
    }
    if (!truth) {
        cairn_lane_free(&lane);
        free(s);
        return;
    }
    /* What a panic left in the buffer of the epoch it came into was not drained. */
    for (; s->have; step_stored(s))
        if (!check->log->panic || s->t.epoch < s->drained)
            s->missing++;
    if (s->missing && !cpu->holes.count)
        cairn_fail(check, CAIRN_RULE_TRUTH_RECORDS, (int)n, NULL,
                   "%" PRIu64 " %s of the truth missing from the trace, although nothing was lost", s->missing,
                   cairn_plural(s->missing, "record", "records"));
    const bool all = s->modelled && !s->truth.gap && cpu->end.truth_known && cpu->end.truth[2] == 0;
    if (all && check->whole)
        compare_epochs(check, n);
    cairn_lane_free(&lane);
    free(s);
}
