/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/ds_naive.h"

enum { GP = DS_NAIVE_GP, COUNTERS = DS_NAIVE_COUNTERS };

uint64_t ds_naive_bit(int c)
{
    return c < GP ? DS_BIT(c) : DS_BIT(32 + c - GP);
}

uint64_t ds_naive_value(const struct ds_naive *n, int c)
{
    return (uint64_t)(n->whole_turn - n->counter[c].left) % (uint64_t)n->whole_turn;
}

uint64_t ds_naive_status(const struct ds_naive *n)
{
    uint64_t status = (n->arch_status ? DS_BIT(54) : 0) + (n->buffer_status ? DS_BIT(62) : 0) +
                      (n->frozen[0] ? DS_BIT(58) : 0) + (n->frozen[1] ? DS_BIT(59) : 0);
    for (int c = 0; c < COUNTERS; c++)
        status += n->counter[c].overflowed ? ds_naive_bit(c) : 0;
    return status;
}

/* Whether there is something in the status to acknowledge. */
static bool tells(const struct ds_naive *n)
{
    bool any = n->arch_status || n->buffer_status;
    for (int c = 0; c < COUNTERS; c++)
        any |= n->counter[c].overflowed;
    return any;
}

void ds_naive_acknowledged(struct ds_naive *n)
{
    n->latched = n->latched && tells(n);
}

void ds_naive_pmi(struct ds_naive *n)
{
    n->pmis++;
    n->pmi_status = ds_naive_status(n);
    n->masked = !n->handler_unmasks;
}

void ds_naive_branch_pmi(struct ds_naive *n)
{
    if (n->masked)
        n->branch_latched |= !n->policy.masked_pmi_lost;
    else
        ds_naive_pmi(n);
}

void ds_naive_counter_pmi(struct ds_naive *n)
{
    if (n->freezes_by_status) {
        n->frozen[0] |= n->freezes[0];
        n->frozen[1] |= n->freezes[1];
    } else {
        n->lbr &= !n->freezes[0];
        n->counters_off |= n->freezes[1];
    }
    if (n->masked)
        n->latched |= !n->policy.masked_pmi_lost && tells(n);
    else
        ds_naive_pmi(n);
}

static bool naive_fits(const struct ds_naive *n, long spare, long size)
{
    if (n->policy.fit == DS_MODEL_START_LT)
        return spare > 0;
    return n->policy.fit == DS_MODEL_END_LE ? spare >= size : spare > size;
}

static void append(struct ds_naive *n, uint64_t word)
{
    n->image[n->words++] = word;
}

static void naive_image(struct ds_naive *n, const bool *fires, const struct ds_naive_step *step,
                        const struct ds_model_registers *r, const struct ds_pebs_xmm *xmm)
{
    uint64_t who = 0, address = 0;
    bool adaptive = false, load = false, store = false;
    for (int c = 0; c < COUNTERS; c++)
        if (fires[c]) {
            who += ds_naive_bit(c);
            adaptive |= n->counter[c].adaptive;
            load |= n->counter[c].event == DS_MODEL_LOAD || n->counter[c].event == DS_MODEL_LOAD_OR_PREFETCH ||
                    n->counter[c].event == DS_MODEL_PREFETCH;
            store |= n->counter[c].event == DS_MODEL_STORE;
        }
    if (n->format >= 2)
        address = load ? step->load : store ? step->store : 0;
    n->words = 0;
    if (n->format < 4) {
        const uint64_t fixed[25] = {
            r->rflags,
            r->rip,
            r->rax,
            r->rbx,
            r->rcx,
            r->rdx,
            r->rsi,
            r->rdi,
            r->rbp,
            r->rsp,
            r->r8_r15[0],
            r->r8_r15[1],
            r->r8_r15[2],
            r->r8_r15[3],
            r->r8_r15[4],
            r->r8_r15[5],
            r->r8_r15[6],
            r->r8_r15[7],
            n->format == 3 ? who : ds_naive_status(n),
            address,
            0,
            0,
            r->eventing_ip,
            0,
            r->tsc,
        };
        static const unsigned words[] = {18, 22, 24, 25};
        while (n->words < words[n->format])
            append(n, fixed[n->words]);
        return;
    }
    append(n, (adaptive ? n->data_cfg & UINT32_MAX : 0) | (uint64_t)(n->format >= 5) << 32); /* a cycle before it */
    append(n, r->eventing_ip);
    append(n, who);
    append(n, r->tsc);
    if (adaptive && n->memory) {
        append(n, address);
        for (int i = 0; i < 3; i++)
            append(n, 0);
    }
    if (adaptive && n->gpr) {
        const uint64_t gpr[10] = {r->rflags, r->rip, r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi};
        for (int i = 0; i < 18; i++)
            append(n, i < 10 ? gpr[i] : r->r8_r15[i - 10]);
    }
    if (adaptive && n->xmm)
        for (int i = 0; i < 32; i++)
            append(n, xmm->xmm[i / 2][i % 2]);
    if (adaptive && n->lbr_group)
        for (unsigned i = 0; i < n->lbr_entries; i++) {
            bool there = i < n->taken && i < 32;
            const struct ds_naive_branch *branch = there ? &n->history[n->taken - 1 - i] : NULL;
            append(n, there ? branch->from : 0);
            append(n, there ? branch->to : 0);
            append(n, there && branch->prediction == DS_MODEL_MISPREDICTED ? DS_BIT(63) : 0);
        }
    if (adaptive && (n->counter_group || n->metrics_group)) {
        uint64_t gp = 0, fixed = 0;
        for (int c = 0; c < COUNTERS; c++)
            if (n->counter_group && n->shown[c]) {
                gp += c < GP ? 1u << c : 0;
                fixed += c < GP ? 0 : 1u << (c - GP);
            }
        append(n, fixed << 32 | gp);
        append(n, n->metrics_group ? 3 : 0);
        for (int c = 0; c < COUNTERS; c++)
            if (n->counter_group && n->shown[c])
                append(n, ds_naive_value(n, c));
        if (n->metrics_group) {
            append(n, ds_naive_value(n, GP + 3));
            append(n, n->perf_metrics);
        }
    }
    n->image[0] += (uint64_t)n->words * 8 << 48;
}

/* Returns how many PMIs it wants. */
static int naive_record(struct ds_naive *n, const bool *fires)
{
    int wanted = 0;
    bool stored = naive_fits(n, n->room - n->used, (long)n->words * 8);
    if (stored) {
        n->used += (long)n->words * 8;
        n->stored++;
    } else {
        n->words = 0;
        n->dropped++;
    }
    bool everyone = n->policy.bystander_swapped ? n->format >= 3 : n->format < 3;
    if (stored || !n->policy.drop_keeps_overflow)
        for (int c = 0; c < COUNTERS; c++) {
            struct ds_naive_counter *k = &n->counter[c];
            if (fires[c] || (everyone && k->overflowed && k->pebs)) {
                n->swallowed += k->armed && !fires[c];
                k->armed = k->overflowed = false;
                k->left = k->precise && n->policy.pdist_minimum && k->reset < 128 ? 128 : k->reset;
            }
        }
    if (stored && n->used >= n->threshold) {
        wanted += n->policy.masked_pmi_lost || !n->buffer_status;
        n->buffer_status = true;
    }
    for (int c = 0; c < COUNTERS; c++)
        if (fires[c] && n->counter[c].interrupts)
            return wanted + 1;
    return wanted;
}

bool ds_naive_trace(struct ds_naive *n, const struct ds_naive_branch *branch, int ring)
{
    if (!n->tr || !n->bts || n->off[ring])
        return false;
    if (!naive_fits(n, n->bts_room - n->bts_used, 24) && (!n->btint || n->policy.bts_full_wraps))
        n->bts_used = 0;
    if (!naive_fits(n, n->bts_room - n->bts_used, 24)) {
        n->bts_dropped++;
        return false;
    }
    n->slot[n->bts_used / 24] = *branch;
    n->bts_stored++;
    n->bts_used += 24;
    if (!n->btint && !naive_fits(n, n->bts_room - n->bts_used, 24))
        n->bts_used = 0;
    if (n->bts_used < n->bts_threshold)
        return false;
    n->buffer_status |= n->policy.bts_sets_ovf_buf;
    return true;
}

void ds_naive_remember(struct ds_naive *n, const struct ds_naive_branch *branch)
{
    if (n->lbr && !n->frozen[0])
        n->history[n->taken++] = *branch;
}

void ds_naive_instruction(struct ds_naive *n, const struct ds_naive_step *step, const struct ds_bench *host)
{
    bool fires[COUNTERS] = {0};
    int first = -1, plain = -1, wanted = 0;
    if (step->branches)
        ds_naive_remember(n, &step->branch);
    bool count = !n->counters_off && !n->frozen[1];
    for (int c = 0; c < COUNTERS; c++) {
        struct ds_naive_counter *k = &n->counter[c];
        if (!count || !k->exists || !k->enabled || !k->ring[step->ring] || k->event < 0 || !step->is[k->event])
            continue;
        const bool pebs = k->pebs && !n->pebs_off;
        fires[c] = k->armed && pebs;
        k->left -= k->by ? k->by : 1;
        if (k->left <= 0) {
            k->left += n->whole_turn;
            k->overflowed = true;
            if (pebs) {
                k->armed = true;
                fires[c] |= k->precise;
            } else if (k->interrupts && plain < 0) {
                plain = c;
            }
        }
        if (fires[c] && first < 0)
            first = c;
    }
    if (plain >= 0 && plain < first) {
        ds_naive_counter_pmi(n);
        plain = -1;
    }
    if (first >= 0) {
        naive_image(n, fires, step, &host->registers, &host->xmm);
        wanted += naive_record(n, fires);
    }
    bool branch_pmi = step->branches && ds_naive_trace(n, &step->branch, step->ring);
    for (wanted += plain >= 0; wanted; wanted--)
        ds_naive_counter_pmi(n);
    if (branch_pmi)
        ds_naive_branch_pmi(n);
}

void ds_naive_interrupt(struct ds_naive *n, const struct ds_naive_step *step)
{
    ds_naive_remember(n, &step->branch);
    if (ds_naive_trace(n, &step->branch, step->ring))
        ds_naive_branch_pmi(n);
}
