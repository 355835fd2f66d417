/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/ds_naive_arch.h"

enum { GP = DS_NAIVE_GP, COUNTERS = DS_NAIVE_COUNTERS, GROUPS = 6, GROUP_WORDS = 512, SLOTS = GP + 3 };

struct group {
    uint64_t bits; /* of the header */
    unsigned words;
    uint64_t word[GROUP_WORDS];
};

static bool bit(uint64_t value, int i)
{
    return value >> i & 1;
}

static bool does_pebs(const struct ds_naive_arch *a, int c)
{
    return a->on && a->counter[c].on && a->counter[c].recorded;
}

void ds_naive_arch_cfg_c(struct ds_naive_arch *a, int c, uint64_t value)
{
    static const unsigned entries[] = {0, 8, 16, DS_NAIVE_ARCH_ALL};
    struct ds_naive_arch_counter *k = &a->counter[c];
    k->on = bit(value, 63);
    k->aux = bit(value, 62);
    k->gpr = bit(value, 61);
    k->xmm = bit(value, 49);
    k->lbr = entries[value >> 40 & 3];
    k->metrics = bit(value, 38);
    k->fixed = bit(value, 37);
    k->gp = bit(value, 36);
    k->allow = bit(value, 35);
    k->reload = (int32_t)(uint32_t)value;
}

void ds_naive_arch_cfg_b(struct ds_naive_arch *a, int c, uint64_t value)
{
    for (int by = 0; by < COUNTERS; by++)
        a->counter[c].reloaded_by[by] = value & ds_naive_bit(by);
    a->counter[c].clears_metrics = bit(value, 48);
}

void ds_naive_arch_index(struct ds_naive_arch *a, uint64_t value)
{
    a->at = (long)(value & 0x7FFFFFF);
    a->full = bit(value, 31);
    a->on = bit(value, 32);
    a->threshold = (long)(value >> 36 << 4);
}

uint64_t ds_naive_arch_index_read(const struct ds_naive_arch *a)
{
    return (uint64_t)a->at + (a->full ? DS_BIT(31) : 0) + (a->on ? DS_BIT(32) : 0) + ((uint64_t)a->threshold << 32);
}

/* ---- a record ---------------------------------------------------------------------------------------------------- */

static void append(struct group *g, uint64_t word)
{
    g->word[g->words++] = word;
}

static void zeros(struct group *g, int words)
{
    while (words--)
        append(g, 0);
}

static void basic(struct group *g, uint64_t who, const struct ds_model_registers *r)
{
    g->bits = DS_BIT(63);
    append(g, r->eventing_ip);
    append(g, who);
    append(g, r->tsc);
    append(g, 0x10001); /* a cycle since the instruction before; valid */
    zeros(g, 2);
}

/* Whether it is an access of this kind that the counter has counted, not that there were too few. */
static bool counted(const struct ds_naive_arch *a, int c, int event)
{
    return a->n.counter[c].event == event && !(a->counter[c].cmask && a->counter[c].inverted);
}

static void aux(struct group *g, const struct ds_naive_arch *a, const bool *fires, const struct ds_naive_step *step)
{
    bool load = false, store = false;
    for (int c = 0; c < COUNTERS; c++) {
        load |= fires[c] && counted(a, c, DS_MODEL_LOAD);
        store |= fires[c] && counted(a, c, DS_MODEL_STORE);
    }
    g->bits = DS_BIT(62);
    append(g, load ? step->load : store ? step->store : 0);
    zeros(g, 7);
}

static void gpr(struct group *g, const struct ds_model_registers *r)
{
    const uint64_t first[] = {r->rflags, r->rip, r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi};
    g->bits = DS_BIT(61);
    for (int i = 0; i < 10; i++)
        append(g, first[i]);
    for (int i = 0; i < 8; i++)
        append(g, r->r8_r15[i]);
    zeros(g, 2); /* no shadow stack */
}

static void xer(struct group *g, const struct ds_pebs_xmm *xmm)
{
    g->bits = DS_BIT(49);
    append(g, DS_BIT(1)); /* XSAVE component 1 */
    append(g, 0);
    for (int i = 0; i < 32; i++)
        append(g, xmm->xmm[i / 2][i % 2]);
}

static void lbr(struct group *g, const struct ds_naive_arch *a, unsigned entries)
{
    g->bits = (entries == 8 ? UINT64_C(1) : entries == 16 ? 2 : 3) << 40;
    append(g, 0);
    append(g, a->lbr_ctl);
    append(g, a->depth);
    zeros(g, 3);
    for (unsigned i = 0; i < (entries == DS_NAIVE_ARCH_ALL ? a->depth : entries); i++) {
        const bool there = i < a->n.taken && i < a->depth;
        const struct ds_naive_branch *branch = there ? &a->n.history[a->n.taken - 1 - i] : NULL;
        append(g, there ? branch->from : 0);
        append(g, there ? branch->to : 0);
        append(g, there && branch->prediction == DS_MODEL_MISPREDICTED ? DS_BIT(63) : 0);
    }
}

static void counters(struct group *g, const struct ds_naive_arch *a, bool gp, bool fixed, bool metrics)
{
    uint64_t shown[2] = {0, 0};
    g->bits = (gp ? DS_BIT(36) : 0) + (fixed ? DS_BIT(37) : 0) + (metrics ? DS_BIT(38) : 0);
    zeros(g, 1);
    append(g, metrics ? 3 : 0);
    for (int c = 0; c < COUNTERS; c++)
        if (a->n.counter[c].exists && a->counter[c].allow && (c < GP ? gp : fixed)) {
            shown[c >= GP] += UINT64_C(1) << c % GP;
            append(g, ds_naive_value(&a->n, c));
        }
    g->word[0] = shown[1] << 32 | shown[0];
    if (!metrics)
        return;
    append(g, ds_naive_value(&a->n, SLOTS));
    append(g, a->n.perf_metrics);
}

/* What the counters want, together: of branch history as much as any of them. Returns the number of groups. */
static unsigned groups(struct group *g, const struct ds_naive_arch *a, const bool *fires,
                       const struct ds_naive_step *step, const struct ds_bench *host)
{
    struct ds_naive_arch_counter all = {0};
    uint64_t who = 0;
    unsigned i = 0;
    for (int c = 0; c < COUNTERS; c++)
        if (fires[c]) {
            const struct ds_naive_arch_counter *k = &a->counter[c];
            who += ds_naive_bit(c);
            all.aux |= k->aux;
            all.gpr |= k->gpr;
            all.xmm |= k->xmm;
            all.lbr = k->lbr > all.lbr ? k->lbr : all.lbr;
            all.gp |= k->gp;
            all.fixed |= k->fixed;
            all.metrics |= k->metrics;
        }
    for (int j = 0; j < GROUPS; j++)
        g[j].words = 0;
    basic(&g[i++], who, &host->registers);
    if (all.aux)
        aux(&g[i++], a, fires, step);
    if (all.gpr)
        gpr(&g[i++], &host->registers);
    if (all.xmm)
        xer(&g[i++], &host->xmm);
    if (all.lbr)
        lbr(&g[i++], a, all.lbr);
    if (all.gp || all.fixed || all.metrics)
        counters(&g[i++], a, all.gp, all.fixed, all.metrics);
    return i;
}

static void image_append(struct ds_naive *n, uint64_t word)
{
    n->image[n->words++] = word;
}

/* One fragment with these groups. */
static void fragment(struct ds_naive_arch *a, const struct group *g, unsigned count, bool continues, bool mode64)
{
    struct ds_naive *n = &a->n;
    const unsigned start = n->words;
    uint64_t bits = (mode64 ? DS_BIT(30) : 0) + (continues ? DS_BIT(31) : 0);
    image_append(n, 0);
    image_append(n, 0);
    for (unsigned i = 0; i < count; i++) {
        bits += g[i].bits;
        for (unsigned w = 0; w < g[i].words; w++)
            image_append(n, g[i].word[w]);
    }
    uint64_t size = 8 * (uint64_t)(n->words - start);
    if (size % 16) {
        image_append(n, 0);
        size += n->policy.arch_padding_apart ? 0 : 8;
    }
    n->image[start] = bits + size;
}

static void image(struct ds_naive_arch *a, const bool *fires, const struct ds_naive_step *step,
                  const struct ds_bench *host)
{
    static struct group g[GROUPS];
    const unsigned count = groups(g, a, fires, step, host);
    const bool mode64 = !host->registers.compatibility;
    a->n.words = 0;
    if (a->n.policy.arch_fragments == DS_MODEL_ARCH_WHOLE) {
        fragment(a, g, count, false, mode64);
        return;
    }
    if (a->n.policy.arch_fragments == DS_MODEL_ARCH_NULL) {
        image_append(&a->n, 16);
        image_append(&a->n, 0);
    }
    for (unsigned i = 0; i < count; i++)
        fragment(a, &g[i], 1, i + 1 < count, mode64);
}

static void reload(struct ds_naive_arch *a, int c)
{
    struct ds_naive_counter *k = &a->n.counter[c];
    const long long value = a->counter[c].reload;
    k->left = value < 0 ? -value : a->n.whole_turn - value;
    if (k->precise && a->n.policy.pdist_minimum && k->left < 128)
        k->left = 128;
}

/* A record has taken the metrics, if it was to. */
static void clear_metrics(struct ds_naive_arch *a, const bool *fires)
{
    for (int c = 0; c < COUNTERS; c++)
        if (fires[c] && a->counter[c].metrics && a->metrics_clear) {
            a->n.perf_metrics = 0;
            a->n.counter[SLOTS].left = a->n.whole_turn;
        }
}

/* The record of these counters. Whether it wants a PMI. */
static bool record(struct ds_naive_arch *a, const bool *fires, const bool *others, const struct ds_naive_step *step,
                   const struct ds_bench *host)
{
    struct ds_naive *n = &a->n;
    image(a, fires, step, host);
    const long bytes = 8 * (long)n->words;
    const bool stored = !a->full && a->at + bytes <= a->size;
    if (stored) {
        for (unsigned w = 0; w < n->words; w++)
            a->physical[(a->base + a->at) / 8 + w] = n->image[w];
        a->at += bytes;
        n->stored++;
        clear_metrics(a, fires);
    } else {
        a->full = true;
        n->dropped++;
    }
    for (int c = 0; c < COUNTERS && (stored || !n->policy.drop_keeps_overflow); c++) {
        struct ds_naive_counter *k = &n->counter[c];
        const bool waits = k->armed && does_pebs(a, c) && !fires[c] && !others[c];
        const bool bystander = waits && n->policy.bystander_swapped;
        if (!fires[c] && !bystander)
            continue;
        n->swallowed += bystander;
        k->armed = false;
        if (n->policy.arch_overflow == DS_MODEL_ARCH_CLEARED)
            k->overflowed = false;
        if (a->counter[c].reload)
            reload(a, c);
    }
    if (!stored && n->policy.arch_full_disables)
        a->on = false;
    const bool reached = n->policy.arch_threshold_gt ? a->at > a->threshold : a->at >= a->threshold;
    if (!stored || !reached)
        return false;
    const bool raises = n->policy.masked_pmi_lost || !n->arch_status;
    n->arch_status = true;
    n->buffer_status |= n->policy.arch_sets_ovf_buf;
    return raises;
}

/* ---- an instruction ---------------------------------------------------------------------------------------------- */

static bool happens(struct ds_naive_arch_counter *k, bool occurs)
{
    bool now = occurs;
    if (k->cmask) {
        now = k->equal ? occurs == k->cmask : occurs >= k->cmask;
        now ^= k->inverted;
    }
    const bool rises = now && !k->asserted;
    k->asserted = now;
    return k->edge ? rises : now;
}

/* What the overflow of a counter does by itself. Whether a record comes at once. */
static bool overflow(struct ds_naive_arch *a, int c)
{
    struct ds_naive_counter *k = &a->n.counter[c];
    const bool pebs = does_pebs(a, c);
    if (!a->counter[c].reloaded_by[c] && !(pebs && a->n.policy.arch_overflow == DS_MODEL_ARCH_NEVER))
        k->overflowed = true;
    k->armed |= pebs;
    return pebs && k->precise;
}

static void auto_reload(struct ds_naive_arch *a, const bool *over)
{
    for (int c = 0; c < COUNTERS; c++)
        for (int by = 0; by < COUNTERS; by++)
            if (over[by] && a->counter[c].reloaded_by[by]) {
                reload(a, c);
                if (a->counter[c].clears_metrics)
                    a->n.perf_metrics = 0;
            }
}

static int records(struct ds_naive_arch *a, const bool *fires, const struct ds_naive_step *step,
                   const struct ds_bench *host)
{
    int wanted = 0;
    if (!a->n.policy.arch_record_each)
        return record(a, fires, fires, step, host);
    for (int c = 0; c < COUNTERS; c++) {
        bool alone[COUNTERS] = {0};
        alone[c] = fires[c];
        if (fires[c])
            wanted += record(a, alone, fires, step, host);
    }
    return wanted;
}

void ds_naive_arch_instruction(struct ds_naive_arch *a, const struct ds_naive_step *step, const struct ds_bench *host)
{
    struct ds_naive *n = &a->n;
    bool fires[COUNTERS] = {0}, over[COUNTERS] = {0};
    int first = -1, plain = -1, wanted = 0;
    if (step->branches)
        ds_naive_remember(n, &step->branch);
    for (int c = 0; c < COUNTERS; c++) {
        struct ds_naive_counter *k = &n->counter[c];
        if (n->frozen[1] || !k->exists || !k->enabled || !k->ring[step->ring] || k->event < 0 ||
            !happens(&a->counter[c], step->is[k->event]))
            continue;
        fires[c] = k->armed && does_pebs(a, c);
        k->left -= k->by ? k->by : 1;
        over[c] = k->left <= 0;
        k->left += over[c] ? n->whole_turn : 0;
    }
    for (int c = 0; c < COUNTERS; c++) {
        if (over[c])
            fires[c] |= overflow(a, c);
        if (over[c] && !does_pebs(a, c) && n->counter[c].interrupts && plain < 0)
            plain = c;
        if (fires[c] && first < 0)
            first = c;
    }
    auto_reload(a, over);
    if (plain >= 0 && plain < first) {
        ds_naive_counter_pmi(n);
        plain = -1;
    }
    if (first >= 0) {
        wanted += records(a, fires, step, host);
        for (int c = 0; c < COUNTERS; c++)
            if (fires[c] && n->counter[c].interrupts) {
                wanted++;
                break;
            }
    }
    bool branch_pmi = step->branches && ds_naive_trace(n, &step->branch, step->ring);
    for (wanted += plain >= 0; wanted; wanted--)
        ds_naive_counter_pmi(n);
    if (branch_pmi)
        ds_naive_branch_pmi(n);
}
