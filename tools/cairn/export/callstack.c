/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/callstack.h"

#include <stdlib.h>
#include <string.h>

#include "ds/soft/insn.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/bts.h"
#include "tools/pebs/pebs.h"

#define LBR_ENTRIES 256u /* a record's, at most: 8 bits less one in MSR_PEBS_DATA_CFG */

/* ---- what an instruction does ------------------------------------------------------------------------------------ */

enum branch_kind { BRANCH_UNKNOWN, BRANCH_JUMP, BRANCH_CALL, BRANCH_RETURN };

/* Whatever is no branch has been interrupted, or has faulted: as if it called. */
static enum branch_kind kind_of(const uint8_t *code, size_t size)
{
    struct ds_insn insn;
    if (!ds_insn_decode(code, size, &insn))
        return BRANCH_UNKNOWN;
    switch (insn.kind) {
    case DS_INSN_CONDITIONAL:
    case DS_INSN_JUMP:
        return BRANCH_JUMP;
    case DS_INSN_RETURN:
    case DS_INSN_IRET:
        return BRANCH_RETURN;
    case DS_INSN_FAR: /* CALL, JMP or RET */
        return BRANCH_UNKNOWN;
    case DS_INSN_SYSTEM: /* SYSCALL and SYSENTER, or back from there */
        return code[0] == 0x0F && (code[1] == 0x05 || code[1] == 0x34) ? BRANCH_CALL : BRANCH_RETURN;
    default:
        return BRANCH_CALL;
    }
}

/* ---- a way through the code -------------------------------------------------------------------------------------- */

struct cairn_step { /* a branch */
    uint64_t from, to;
    uint8_t kind;
    bool apart; /* it is not where one gets from the branch before it */
};

struct way {
    const struct cairn_log *log;
    struct cairn_elf *elf;
    uint64_t call[CAIRN_CALLS]; /* open ones, the outermost first */
    unsigned depth;
};

/* A label within a function carries its name, and its own behind a dot. */
static size_t function_size(const struct cairn_symbol *s)
{
    const char *dot = s->name.size ? memchr(s->name.at + 1, '.', s->name.size - 1) : NULL;
    return dot ? (size_t)(dot - s->name.at) : s->name.size;
}

static bool same_function(const struct cairn_log *log, uint64_t a, uint64_t b)
{
    const struct cairn_symbol *x = cairn_find_symbol(&log->text, a), *y = cairn_find_symbol(&log->text, b);
    if (!x || !y)
        return false;
    return x == y || (function_size(x) == function_size(y) && memcmp(x->name.at, y->name.at, function_size(x)) == 0);
}

/* Whether one gets from `here` to `there` without a branch, as far as addresses tell. */
static bool straight_on(const struct cairn_log *log, uint64_t here, uint64_t there)
{
    return there >= here && same_function(log, here, there);
}

/* `before`: NULL: it is the first. */
static struct cairn_step step_of(const struct way *w, const struct cairn_branch *b, const struct cairn_step *before)
{
    uint8_t code[DS_INSN_MAX];
    return (struct cairn_step){
        .from = b->from,
        .to = b->to,
        .kind = (uint8_t)kind_of(code, cairn_elf_code(w->elf, b->from, code, sizeof(code))),
        .apart = before && !straight_on(w->log, before->to, b->from),
    };
}

static void take(struct way *w, const struct cairn_step *s)
{
    if (s->kind == BRANCH_UNKNOWN || s->apart)
        w->depth = 0; /* there were others in between */
    if (s->kind == BRANCH_CALL) {
        if (w->depth == CAIRN_CALLS)
            memmove(w->call, w->call + 1, --w->depth * sizeof(w->call[0]));
        w->call[w->depth++] = s->from;
    } else if (s->kind == BRANCH_RETURN && w->depth) {
        const uint64_t call = w->call[--w->depth];
        if (s->to < call || s->to - call > DS_INSN_MAX)
            w->depth = 0; /* not to where it was called from */
    }
}

static void tell(struct cairn_callstack *stack, const struct way *w)
{
    for (stack->count = 0; stack->count < w->depth; stack->count++)
        stack->call[stack->count] = w->call[w->depth - 1 - stack->count];
}

/* Keeps what both have. */
static void join(struct cairn_callstack *stack, const struct way *w)
{
    unsigned same = 0;
    while (same < stack->count && same < w->depth && stack->call[same] == w->call[w->depth - 1 - same])
        same++;
    stack->count = same;
}

/* ---- LBR --------------------------------------------------------------------------------------------------------- */

/* Entries as the record has them, the newest first; how many. */
static unsigned read_lbr(struct cairn_branch entry[LBR_ENTRIES], const struct cairn_record *r)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field field;
    unsigned n = 0;
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &field) && n < LBR_ENTRIES) {
        if (field.what == CAIRN_PEBS_LBR_FROM)
            entry[n].from = field.value;
        else if (field.what == CAIRN_PEBS_LBR_TO)
            entry[n++].to = field.value;
    }
    while (n && !entry[n - 1].from && !entry[n - 1].to) /* slots that were never filled */
        n--;
    return n;
}

static bool from_lbr(struct cairn_callstack *stack, struct way *w, const struct cairn_record *r)
{
    struct cairn_branch entry[LBR_ENTRIES];
    const unsigned n = read_lbr(entry, r), newest = n && entry[0].from == r->ip; /* itself: it may be a branch */
    if (n <= newest)
        return false;
    struct cairn_step step;
    for (unsigned i = n; i-- > newest;) {
        step = step_of(w, &entry[i], i + 1 < n ? &step : NULL);
        take(w, &step);
    }
    if (!straight_on(w->log, step.to, r->ip))
        w->depth = 0;
    tell(stack, w);
    return true;
}

/* ---- BTS --------------------------------------------------------------------------------------------------------- */

struct cairn_branches_cpu { /* where the records of a CPU have come to, which go on in time */
    struct cairn_bts_group group;
    const struct cairn_bts_drain *drain; /* the first behind the record; NULL: there is none */
    int64_t before;                      /* when the one before it was */
    bool steps;                          /* `items` are its branches */
    struct cairn_step *items;
    size_t count, room;
};

/* A CPU's, at its first drain. */
static struct cairn_branches_cpu *begin(const struct cairn_log *log, uint32_t cpu)
{
    struct cairn_branches_cpu *b = cairn_alloc(sizeof(*b));
    cairn_bts_group_init(&b->group, log, cpu);
    b->drain = cairn_bts_group_next(&b->group);
    b->before = INT64_MIN;
    b->steps = false;
    b->items = NULL;
    b->count = b->room = 0;
    return b;
}

/* Goes to the drain of what the thread did when the record was stored. False: none has all of it. */
static bool find_drain(struct cairn_branches_cpu *b, const struct cairn_item *item)
{
    while (b->drain && b->drain->time <= item->time) {
        b->before = b->drain->time;
        b->steps = false;
        b->drain = cairn_bts_group_next(&b->group);
    }
    const struct cairn_bts_drain *d = b->drain;
    return d && b->before != item->time && item->blame == CAIRN_BLAME_KNOWN && d->tid == item->tid && !d->lost &&
           d->bytes_seen && cairn_bts_complete(d);
}

/* All branches of the drain, which many records may be of. */
static void read_branches(struct cairn_branches_cpu *b, const struct way *w)
{
    struct cairn_branch branch;
    b->count = 0;
    for (uint32_t i = 0; cairn_bts_record(&b->group, i, &branch); i++) {
        struct cairn_step *s = CAIRN_ADD(*b);
        *s = step_of(w, &branch, i ? s - 1 : NULL);
    }
    b->steps = true;
}

/* Whether one gets from a branch to `ip`, and from there on to the next one (NULL: there is none). Addresses alone tell
 * of most that one does not. */
static bool leads_past(const struct cairn_log *log, const struct cairn_step *s, uint64_t ip,
                       const struct cairn_step *next)
{
    return s->to <= ip && (!next || ip <= next->from) && straight_on(log, s->to, ip) &&
           (!next || straight_on(log, ip, next->from));
}

static bool from_bts(struct cairn_callstack *stack, struct cairn_branches *branches, struct way *w,
                     const struct cairn_item *item)
{
    struct cairn_branches_cpu **at = &branches->cpu[item->cpu], *b;
    const uint64_t ip = item->record->ip;
    if (!item->record->timed || !w->log->cpu[item->cpu].bts.epochs)
        return false;
    b = *at ? *at : (*at = begin(w->log, item->cpu));
    if (!find_drain(b, item))
        return false;
    if (!b->steps)
        read_branches(b, w);
    if (!b->count)
        return false;
    const struct cairn_step *s = b->items, *end = s + b->count;
    bool any = straight_on(w->log, ip, s->from); /* before the first */
    stack->count = 0;
    for (; s < end; s++) {
        take(w, s);
        if (!leads_past(w->log, s, ip, s + 1 < end ? s + 1 : NULL))
            continue;
        if (any)
            join(stack, w);
        else
            tell(stack, w);
        any = true;
    }
    return any;
}

void cairn_branches_free(struct cairn_branches *branches)
{
    for (uint32_t c = 0; c < CAIRN_CPUS_MOST; c++) {
        if (!branches->cpu[c])
            continue;
        cairn_bts_group_free(&branches->cpu[c]->group);
        free(branches->cpu[c]->items);
        free(branches->cpu[c]);
    }
}

bool cairn_callstack_read(struct cairn_callstack *stack, struct cairn_branches *branches, const struct cairn_log *log,
                          struct cairn_elf *elf, const struct cairn_item *item)
{
    struct way w = {.log = log, .elf = elf};
    stack->count = 0;
    if (!elf || item->record->after || !cairn_elf_same_build(elf))
        return false;
    return from_lbr(stack, &w, item->record) || from_bts(stack, branches, &w, item);
}
