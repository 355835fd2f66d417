/* SPDX-License-Identifier: MIT */
/* Longer than 500 lines: scheduler, sessions and Debug Store of one script move one clock and one seed. */
#include "tests/golden/make/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "trace/postmortem/freeze.h"
#include "trace/wire/bts.h"
#include "trace/wire/model_log.h"
#include "trace/wire/spinlock.h"

const struct script_symbol script_symbols[] = {
    {0xFFFFFFFF80001000, 0x180, "kernel_main"},   {0xFFFFFFFF80001180, 0x240, "ksched_switch"},
    {0xFFFFFFFF800013C0, 0x0C0, "ksched_idle"},   {0xFFFFFFFF80002000, 0x200, "workload_spin"},
    {0xFFFFFFFF80002200, 0x140, "workload_hash"}, {0xFFFFFFFF80002340, 0x0B0, "workload_pass"},
};
const unsigned script_symbol_count = sizeof(script_symbols) / sizeof(script_symbols[0]);

uint32_t script_below(struct script *s, uint32_t n) /* xorshift64* */
{
    uint64_t x = s->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    s->random = x;
    return (uint32_t)((x * UINT64_C(0x2545F4914F6CDD1D) >> 32) * n >> 32);
}

static uint64_t us(uint64_t n)
{
    return n * (SCRIPT_TSC_HZ / 1000000);
}

union script_truth *script_add_truth(struct script_cpu *cpu)
{
    if (cpu->truth_count == cpu->truth_room) {
        cpu->truth_room = cpu->truth_room ? 2 * cpu->truth_room : 64;
        cpu->truth = realloc(cpu->truth, cpu->truth_room * sizeof(*cpu->truth));
        if (!cpu->truth)
            abort();
    }
    return memset(&cpu->truth[cpu->truth_count++], 0, sizeof(*cpu->truth));
}

/* ---- sessions --------------------------------------------------------------------------------------------------- */

static void tell(struct script *s, uint32_t number, uint32_t c, uint64_t tsc, enum cairn_session_what what)
{
    struct script_cpu *cpu = &s->cpu[c];
    struct trace_session *session = s->sessions[number - 1];
    const struct trace_hub_pebs pebs = {
        .index = s->options.ds ? &cpu->index : NULL, .epoch = cpu->epoch, .in_epoch = cpu->in_epoch};
    int e = what == CAIRN_SESSION_START ? trace_hub_act(cpu->trace, session, CAIRN_SESSION_START,
                                                        &trace_session_config(session)->masks, &pebs, tsc)
                                        : trace_hub_act(cpu->trace, session, CAIRN_SESSION_STOP, NULL, &pebs, tsc);
    if (e)
        abort();
    if (!s->options.truth)
        return;
    struct trace_counts counts;
    trace_cpu_counts(trace_session_cpu(session, c), &counts);
    struct cairn_truth_session *truth = &script_add_truth(cpu)->session;
    *truth = (struct cairn_truth_session){
        .kind = CAIRN_TRUTH_SESSION,
        .cpu = (uint8_t)c,
        .session = (uint8_t)number,
        .what = (uint8_t)what,
        .life = (uint32_t)counts.lives - 1,
        .tsc = tsc,
    };
    memcpy(truth->masks, &trace_session_config(session)->masks, sizeof(truth->masks));
}

static void tell_all(struct script *s, uint32_t c, uint64_t tsc, enum cairn_session_what what)
{
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (s->sessions[number - 1])
            tell(s, number, c, tsc, what);
}

/* ---- Debug Store ----------------------------------------------------------------------------------------------- */

static void epoch_event(const struct script *s, struct script_cpu *cpu, uint64_t tsc, enum cairn_ds_reason reason)
{
    cpu->in_epoch = reason != CAIRN_DS_STOP;
    if (s->options.arch) {
        script_arch_epoch(s, cpu, tsc, reason);
        return;
    }
    const uint32_t per_event = (CAIRN_EVENT_MAX - 0x10u - sizeof(struct cairn_ds_records)) / s->record_bytes;
    uint32_t records = (uint32_t)(cpu->index - cpu->base) / s->record_bytes;
    struct cairn_ds_epoch epoch = {
        .kind = CAIRN_DS_EPOCH,
        .reason = (uint8_t)reason,
        .format = 4,
        .epoch = cpu->epoch,
        .tsc = tsc,
        .lost = cpu->lost,
        .record_bytes = records * s->record_bytes,
        .record_events = (records + per_event - 1) / per_event,
    };
    const struct ds_area_a0 area = {
        .pebs_buffer_base = cpu->base,
        .pebs_index = cpu->index,
        .pebs_absolute_maximum = cpu->base + s->buffer_bytes,
        .pebs_interrupt_threshold = cpu->base + SCRIPT_THRESHOLD * s->record_bytes,
        .pebs_gp_counter_reset = {(uint64_t) - (int64_t)SCRIPT_PERIOD & 0xFFFFFFFFFFFF},
    };
    struct trace_part whole[] = {{&epoch, sizeof(epoch)},
                                 {&area, s->options.old ? sizeof(struct ds_area_60) : sizeof(area)}};
    trace_hub_event(cpu->trace, tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, whole, 2);
    for (uint32_t part = 0, first = 0; part < epoch.record_events; part++, first += per_event) {
        uint32_t n = records - first < per_event ? records - first : per_event;
        struct cairn_ds_records head = {
            .kind = CAIRN_DS_RECORDS,
            .format = 4,
            .epoch = cpu->epoch,
            .address = cpu->base + first * s->record_bytes,
            .bytes = n * s->record_bytes,
            .part = part,
        };
        struct trace_part parts[2] = {{&head, sizeof(head)}, {cpu->records + first * s->record_bytes, head.bytes}};
        trace_hub_event(cpu->trace, tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, parts, 2);
    }
}

static void drain(const struct script *s, struct script_cpu *cpu, uint64_t tsc, enum cairn_ds_reason reason)
{
    if (s->options.hw && cpu->index + s->record_bytes > cpu->base + s->buffer_bytes) {
        cpu->lost = CAIRN_DS_LOST_UNKNOWN;
        cpu->lost_unknown = true;
    }
    trace_hub_close_batches(cpu->trace, tsc, CCSWAP_CLOSE_DRAIN);
    epoch_event(s, cpu, tsc, reason);
    cpu->drains++;
    cpu->all_lost += cpu->lost;
    cpu->lost = 0;
    cpu->index = cpu->base;
    cpu->epoch++;
}

static void put64(uint8_t *to, unsigned offset, uint64_t v)
{
    memcpy(to + offset, &v, 8);
}

uint64_t script_register(unsigned i, uint64_t tsc, uint64_t ip)
{
    return i == 0 ? 0x202 : i == 1 ? ip + 4 : tsc * (0x20 + 8 * i) ^ ip;
}

static void add_words(struct script_cpu *cpu, uint8_t c, uint64_t tsc, uint64_t ip)
{
    uint64_t state[CAIRN_TRUTH_STATES] = {[CAIRN_TRUTH_RFLAGS] = script_register(0, tsc, ip),
                                          [CAIRN_TRUTH_TSC_FIRST] = tsc - 9,
                                          [CAIRN_TRUTH_TSC_LAST] = tsc + 300,
                                          [CAIRN_TRUTH_MSR] = 2};
    for (unsigned i = 0; i < 16; i++)
        state[CAIRN_TRUTH_RAX + i] = script_register(2 + i, tsc, ip);
    for (unsigned i = 0; i < CAIRN_TRUTH_STATES; i += CAIRN_TRUTH_PER_RECORD) {
        struct cairn_truth_words *w = &script_add_truth(cpu)->words;
        *w = (struct cairn_truth_words){
            .kind = CAIRN_TRUTH_WORDS, .cpu = c, .group = CAIRN_TRUTH_STATE, .first = (uint8_t)i};
        memcpy(w->word, state + i, sizeof(w->word));
    }
}

/* An entry of the model's log for the four bytes of code at `ip`. */
static void log_entry(struct script *s, uint32_t c, uint64_t tsc, uint64_t ip, const struct cairn_model_action *actions,
                      uint16_t count)
{
    static const uint8_t code[4][4] = {{0x48, 0x0F, 0xAF, 0xC1},  /* imul rax, rcx */
                                       {0x48, 0x8B, 0x43, 0x08},  /* mov rax, [rbx + 8] */
                                       {0x48, 0x83, 0xC1, 0x10},  /* add rcx, 16 */
                                       {0x48, 0x89, 0x14, 0x24}}; /* mov [rsp], rdx */
    struct script_cpu *cpu = &s->cpu[c];
    struct cairn_model_entry entry = {
        .sequence = cpu->entries++,
        .epoch = cpu->epoch,
        .tsc = tsc,
        .ip = ip,
        .next_ip = ip + 4,
        .tid = s->thread[cpu->current].tid,
        .length = 4,
        .actions = count,
    };
    memcpy(entry.code, code[ip / 4 % 4], 4);
    struct trace_part parts[] = {{&entry, sizeof(entry)}, {actions, count * (uint32_t)sizeof(*actions)}};
    trace_hub_event(cpu->trace, tsc, 0, HOOK_CAIRN_MODEL, HOOK_VERSION_CAIRN_MODEL, parts, 2);
}

/* What the model does for a record of PMC0 that is caused at `ip`. */
static void log_record(struct script *s, uint32_t c, uint64_t tsc, uint64_t ip, bool stored)
{
    const struct script_cpu *cpu = &s->cpu[c];
    const uint64_t all = UINT64_C(0xFFFFFFFFFFFF), reset = all + 1 - SCRIPT_PERIOD;
    const uint64_t end = cpu->index + (stored ? s->record_bytes : 0);
    const uint64_t threshold = cpu->base + SCRIPT_THRESHOLD * s->record_bytes;
    const struct cairn_model_action overflow[] = {{CAIRN_MODEL_OVERFLOWED, 0, 0, 0, all, 0},
                                                  {CAIRN_MODEL_ARMED, 0, 0, 0, 0, 0}};
    struct cairn_model_action record[4] = {{CAIRN_MODEL_STORED, 0, 0, 1, cpu->index, end},
                                           {CAIRN_MODEL_RELOADED, 0, 0, 0, 1, reset},
                                           {CAIRN_MODEL_COMPARED, 0, 0, 0, end, threshold},
                                           {CAIRN_MODEL_PMI_RAISED, 0, 0, 0, 0xEE, 0x100EE}};
    uint16_t count = end >= threshold ? 4 : 3;
    if (!stored) {
        record[0].kind = CAIRN_MODEL_DROPPED;
        record[0].after = cpu->base + s->buffer_bytes;
        count = 2;
    } else if (end > threshold) { /* LVTPC has masked itself */
        record[3] = (struct cairn_model_action){CAIRN_MODEL_PMI_LOST, 0, 0, 0, 0x100EE, 0x100EE};
    }
    log_entry(s, c, tsc - 400, ip - 4, overflow, 2);
    log_entry(s, c, tsc, ip, record, count);
}

static void record(struct script *s, uint32_t c, uint64_t tsc)
{
    struct script_cpu *cpu = &s->cpu[c];
    const struct script_symbol *symbol = &script_symbols[3 + script_below(s, 3)];
    uint64_t ip = symbol->address + script_below(s, symbol->size - 8);
    bool stored = cpu->index + s->record_bytes <= cpu->base + s->buffer_bytes;
    if (s->options.log)
        log_record(s, c, tsc, ip, stored);
    if (s->options.truth && !s->options.hw)
        script_add_truth(cpu)->pebs = (struct cairn_truth_pebs){
            .kind = CAIRN_TRUTH_PEBS,
            .cpu = (uint8_t)c,
            .stored = stored,
            .more = stored && s->options.words ? 4 : 0,
            .tid = s->thread[cpu->current].tid,
            .tsc = tsc,
            .event_ip = ip,
            .next_ip = ip + 4,
            .address = stored ? cpu->physical + cpu->index : 0,
            .counters = 1,
            .epoch = cpu->epoch,
        };
    const uint32_t truth = cpu->truth_count - 1;
    if (s->options.truth && stored && s->options.words && !s->options.arch)
        add_words(cpu, (uint8_t)c, tsc, ip);
    else if (s->options.truth && stored && s->options.words) {
        const uint8_t more = script_arch_words(s, cpu, (uint8_t)c, tsc, ip);
        cpu->truth[truth].pebs.more = more;
    }
    if (!stored) {
        cpu->lost++;
        return;
    }
    uint8_t *to = cpu->records + (cpu->index - cpu->base);
    if (s->options.arch) {
        script_arch_record(s, c, tsc, ip);
        return;
    }
    put64(to, 0x00, (uint64_t)s->record_bytes << 48 | 2); /* size; groups: GPR */
    put64(to, 0x08, ip);
    put64(to, 0x10, 1); /* IA32_PMC0 */
    put64(to, 0x18, tsc);
    for (unsigned i = 0; i < 18; i++)
        put64(to, 0x20 + 8 * i, script_register(i, tsc, ip));
    cpu->index += s->record_bytes;
    cpu->all_records++;
}

/* The sampled thread on this CPU runs from its switch-in to `until`. */
static void sample(struct script *s, uint32_t c, uint64_t until)
{
    struct script_cpu *cpu = &s->cpu[c];
    uint64_t tsc = cpu->since + us(4);
    for (unsigned n = 0; n < 4 && tsc + us(2) < until; n++) {
        record(s, c, tsc);
        uint32_t full = (uint32_t)(cpu->index - cpu->base) / s->record_bytes;
        if (full >= SCRIPT_THRESHOLD && (!s->options.drops || full >= s->buffer_bytes / s->record_bytes) &&
            (!s->options.drops || script_below(s, 4) == 0)) {
            cpu->pmis++;
            drain(s, cpu, tsc + us(1), CAIRN_DS_THRESHOLD);
        }
        tsc += us(60 + script_below(s, 120));
    }
}

/* ---- branch trace ---------------------------------------------------------------------------------------------- */

static void branch_events(struct script *s, uint32_t c, uint32_t tid, uint64_t tsc, enum cairn_ds_reason reason)
{
    struct script_cpu *cpu = &s->cpu[c];
    const uint64_t end = SCRIPT_BTS_RECORDS * 24u;
    uint64_t from[2] = {cpu->bts_round ? cpu->bts_index : 0, 0};
    uint64_t to[2] = {cpu->bts_round ? end : cpu->bts_index, cpu->bts_round ? cpu->bts_index : 0};
    bool interrupting = s->options.bts == SCRIPT_BTS_INTERRUPT;
    bool unknown = s->options.hw && (cpu->bts_round || cpu->bts_index == end);
    struct cairn_bts_epoch epoch = {
        .kind = CAIRN_BTS_EPOCH,
        .reason = (uint8_t)reason,
        .interrupting = interrupting,
        .epoch = cpu->bts_epoch,
        .tsc = tsc,
        .lost = unknown ? CAIRN_DS_LOST_UNKNOWN : cpu->bts_lost,
        .record_bytes = (uint32_t)(to[0] - from[0] + to[1] - from[1]),
        .record_events = (to[0] > from[0]) + (to[1] > from[1]),
        .area = {cpu->bts_base, cpu->bts_base + cpu->bts_index, cpu->bts_base + end + 1,
                 cpu->bts_base + (interrupting ? SCRIPT_BTS_ROOM * 24 : end + 48)},
        .tid = tid,
    };
    struct trace_part whole = {&epoch, sizeof(epoch)};
    trace_hub_event(cpu->trace, tsc, 0, HOOK_CAIRN_BTS, HOOK_VERSION_CAIRN_BTS, &whole, 1);
    for (uint32_t run = 0, part = 0; run < 2; run++) {
        if (from[run] == to[run])
            continue;
        struct cairn_bts_records head = {
            .kind = CAIRN_BTS_RECORDS,
            .epoch = cpu->bts_epoch,
            .address = cpu->bts_base + from[run],
            .bytes = (uint32_t)(to[run] - from[run]),
            .part = part++,
        };
        struct trace_part parts[2] = {{&head, sizeof(head)}, {cpu->branches + from[run] / 24, head.bytes}};
        trace_hub_event(cpu->trace, tsc, 0, HOOK_CAIRN_BTS, HOOK_VERSION_CAIRN_BTS, parts, 2);
    }
    if (reason == CAIRN_DS_START)
        return;
    cpu->all_branches += epoch.record_bytes / 24;
    cpu->all_bts_lost += cpu->bts_lost;
    cpu->bts_lost_unknown |= unknown;
    cpu->bts_drains++;
    cpu->bts_epoch++;
    cpu->bts_index = cpu->bts_lost = 0;
    cpu->bts_round = false;
}

/* A call, a return or a jump of a thread that walks about in the last three functions. */
static struct ds_bts_record walk(struct script *s, struct script_thread *t)
{
    uint32_t what = script_below(s, 100);
    const struct script_symbol *f = &script_symbols[3];
    if (!t->ip)
        t->ip = f->address;
    while (f < script_symbols + script_symbol_count - 1 && t->ip >= f[1].address)
        f++;
    struct ds_bts_record r = {.from = t->ip + 4 * script_below(s, 8)};
    if (what < 30 && t->depth < 4 && f < script_symbols + script_symbol_count - 1) {
        t->calls[t->depth++] = r.from + 5;
        r.to = f[1].address;
    } else if (what < 55 && t->depth) {
        r.to = t->calls[--t->depth];
    } else {
        r.to = f->address + 4 + 8 * script_below(s, 12);
    }
    t->ip = r.to;
    return r;
}

static void store_branch(struct script *s, uint32_t c, struct script_thread *t, uint64_t tsc)
{
    struct script_cpu *cpu = &s->cpu[c];
    const uint64_t end = SCRIPT_BTS_RECORDS * 24u;
    struct ds_bts_record r = walk(s, t);
    bool circular = s->options.bts == SCRIPT_BTS_CIRCULAR, stored = circular || cpu->bts_index < end;
    if (s->options.truth && !s->options.hw)
        script_add_truth(cpu)->branch = (struct cairn_truth_branch){
            .kind = CAIRN_TRUTH_BRANCH,
            .cpu = (uint8_t)c,
            .stored = stored,
            .tid = t->tid,
            .tsc = tsc,
            .from = r.from,
            .to = r.to,
            .epoch = cpu->bts_epoch,
        };
    cpu->bts_lost += !stored || cpu->bts_round;
    if (!stored)
        return;
    cpu->branches[cpu->bts_index / 24] = r;
    cpu->bts_index += 24;
    if (circular && cpu->bts_index == end) {
        cpu->bts_index = 0;
        cpu->bts_round = true;
    }
}

/* The traced thread's branches until `until`; of the interrupts at the threshold each fourth comes too late. */
static void trace_branches(struct script *s, uint32_t c, struct script_thread *t, uint64_t until)
{
    struct script_cpu *cpu = &s->cpu[c];
    uint32_t n = script_below(s, 48);
    bool late = false;
    for (uint32_t i = 1; i <= n; i++) {
        uint64_t tsc = cpu->since + (until - cpu->since) * i / (n + 1);
        store_branch(s, c, t, tsc);
        if (s->options.bts != SCRIPT_BTS_INTERRUPT || cpu->bts_index < SCRIPT_BTS_ROOM * 24)
            continue;
        late = late ? script_below(s, 8) != 0 : script_below(s, 4) == 0;
        if (!late)
            branch_events(s, c, t->tid, tsc, CAIRN_DS_THRESHOLD);
    }
    if (cpu->bts_index || cpu->bts_round)
        branch_events(s, c, t->tid, until, CAIRN_DS_SWITCH);
}

/* ---- scheduler ------------------------------------------------------------------------------------------------- */

static void make_threads(struct script *s)
{
    static const int8_t bases[] = {8, 8, 9, 8, 13, 8, 10, 15, 8, 6, 8, 11};
    for (uint32_t i = 1; i <= s->options.threads; i++) {
        struct script_thread *t = &s->thread[i];
        t->tid = 4 * i + 8;
        t->base = t->priority = bases[i % 12];
        t->sampled = s->options.ds && i % 3 == 1;
        t->left = s->start_tsc;
        snprintf(t->name, sizeof(t->name), "%s-%u", t->sampled ? "sampled" : i % 3 ? "worker" : "server", i);
    }
}

static uint32_t pick(struct script *s, uint32_t old)
{
    if (old && script_below(s, 100) < 45)
        return 0;
    uint32_t n;
    do /* mostly a few favourites, now and then a burst over all of them, which overflows the TidTable */
        n = 1 + (script_below(s, 4) ? script_below(s, 6) : script_below(s, s->options.threads));
    while (s->thread[n].busy || n == old);
    return n;
}

static uint64_t stint(struct script *s, bool idle)
{
    uint32_t r = script_below(s, 1000);
    if (idle && r < 4)
        return us(520000 + script_below(s, 100000)); /* longer than 500 ticks */
    if (idle && r < 60)
        return us(1700 + script_below(s, 4000)); /* over 14 bits */
    if (!idle && r < 20)
        return us(13200 + script_below(s, 5000)); /* over 17 bits */
    return us(15 + script_below(s, 300)) + script_below(s, 2400);
}

static void do_switch(struct script *s, uint32_t c)
{
    static const uint8_t reasons[] = {KWAIT_EXECUTIVE, KWAIT_DELAY_EXECUTION, KWAIT_USER_REQUEST,
                                      KWAIT_WR_QUEUE,  KWAIT_WR_MUTEX,        KWAIT_WR_RESOURCE};
    struct script_cpu *cpu = &s->cpu[c];
    uint64_t tsc = cpu->next;
    uint32_t from = cpu->current, to = pick(s, from);
    struct script_thread *old = &s->thread[from], *new = &s->thread[to];
    if (old->sampled)
        sample(s, c, tsc);
    if (old->sampled && s->options.bts)
        trace_branches(s, c, old, tsc);

    struct trace_switch sw = {.tsc = tsc,
                              .old_tid = old->tid,
                              .new_tid = new->tid,
                              .old_base = old->base,
                              .old_priority = old->priority,
                              .old_ideal_processor = (uint8_t)(from % s->options.cpus),
                              .old_quantum = (int32_t)script_below(s, 7)};
    if (!from) {
        sw.old_state = KTHREAD_RUNNING;
        sw.old_ideal_processor = (uint8_t)c;
    } else if (script_below(s, 100) < 30) {
        sw.old_state = KTHREAD_READY;
        sw.old_wait_reason = script_below(s, 2) ? KWAIT_WR_QUANTUM_END : KWAIT_WR_PREEMPTED;
    } else {
        sw.old_state = KTHREAD_WAITING;
        sw.old_wait_reason = reasons[script_below(s, sizeof(reasons))];
    }
    sw.old_state_wr = ccswap_state_wr(sw.old_state, sw.old_wait_reason);
    if (to) {
        uint32_t r = script_below(s, 100);
        new->priority = (int8_t)(new->base + (r < 70 ? 0 : r < 85 ? 1 : r < 95 ? 2 : r < 97 ? 9 : -2));
        sw.new_wait = (uint32_t)((tsc - new->left) / us(SCRIPT_TICK_US));
    }
    sw.new_priority = new->priority;
    if (s->options.locks)
        script_locks_before_switch(s, c, tsc);
    trace_hub_switch(cpu->trace, &sw);
    cpu->switches++;
    if (s->options.truth)
        script_add_truth(cpu)->sw = (struct cairn_truth_switch){
            .kind = CAIRN_TRUTH_SWITCH,
            .cpu = (uint8_t)c,
            .old_state = sw.old_state,
            .old_wait_reason = sw.old_wait_reason,
            .old_priority = sw.old_priority,
            .old_base = sw.old_base,
            .new_priority = sw.new_priority,
            .old_ideal_processor = sw.old_ideal_processor,
            .old_tid = sw.old_tid,
            .new_tid = sw.new_tid,
            .tsc = tsc,
            .pebs_index = cpu->index,
            .new_wait = sw.new_wait,
            .old_quantum = sw.old_quantum,
        };
    old->busy = false;
    old->left = tsc;
    new->busy = to != 0;
    cpu->current = to;
    cpu->since = tsc;
    cpu->next = tsc + stint(s, to == 0);
    if (s->options.told)
        script_told_tick(s, c, tsc + us(2));
    if (!s->options.locks)
        return;
    script_locks_after_switch(s, c, tsc);
    if (to)
        script_locks_stint(s, c, tsc);
}

/* The `n`-th time it is looked whether a session is to be stopped or started: each in turn, one out at a time. */
static void restart(struct script *s, uint32_t n, uint64_t tsc)
{
    uint32_t others = 0, chosen = n / 2;
    for (uint32_t number = 2; number <= TRACE_MAX_SESSIONS; number++)
        others += s->sessions[number - 1] != NULL;
    for (uint32_t number = 2; others && number <= TRACE_MAX_SESSIONS; number++)
        if (s->sessions[number - 1] && chosen-- % others == 0) {
            for (uint32_t c = 0; c < s->options.cpus; c++) {
                if (s->thread[s->cpu[c].current].sampled)
                    sample(s, c, tsc); /* up to now */
                s->cpu[c].since = tsc;
                tell(s, number, c, tsc, n % 2 ? CAIRN_SESSION_START : CAIRN_SESSION_STOP);
            }
            return;
        }
}

void script_run(struct script *s, const struct script_options *options, const struct trace_clocks *clocks,
                struct trace_session *const sessions[TRACE_MAX_SESSIONS])
{
    memset(s, 0, sizeof(*s));
    s->options = *options;
    s->sessions = sessions;
    s->random = options->seed;
    s->start_tsc = SCRIPT_TSC_START;
    s->record_bytes = options->arch ? script_arch_bytes(options->arch) : SCRIPT_RECORD_BYTES;
    s->buffer_bytes = SCRIPT_RECORDS * s->record_bytes;
    for (uint32_t bytes = 4096; options->arch && bytes < 2 * s->buffer_bytes; bytes *= 2)
        if (bytes >= SCRIPT_RECORDS * s->record_bytes) {
            s->buffer_bytes = bytes;
            break;
        }
    make_threads(s);
    for (uint32_t c = 0; c < options->cpus; c++) {
        struct script_cpu *cpu = &s->cpu[c];
        cpu->trace = &s->hub[c];
        trace_hub_init(cpu->trace, c, clocks);
        cpu->since = s->start_tsc + us(c + 1);
        cpu->next = cpu->since + us(50);
        if (options->ds)
            cpu->base = cpu->index = UINT64_C(0xFFFF800000100000) + c * 0x10000;
        if (options->ds && options->arch) {
            cpu->base = cpu->index = 0;
            cpu->physical = 0x12340000 + c * 0x10000;
        }
        tell_all(s, c, s->start_tsc, CAIRN_SESSION_START);
        if (options->locks)
            script_locks_configure(s, c, s->start_tsc, 0, HOOK_SPINLOCK_DC_START);
        if (!options->ds)
            continue;
        cpu->records = calloc(1, s->buffer_bytes);
        if (!cpu->records)
            abort();
        epoch_event(s, cpu, cpu->since, CAIRN_DS_START);
        if (!options->bts)
            continue;
        cpu->bts_base = cpu->base + 0x8000;
        cpu->branches = calloc(SCRIPT_BTS_RECORDS, sizeof(*cpu->branches));
        if (!cpu->branches)
            abort();
        branch_events(s, c, 0, cpu->since, CAIRN_DS_START);
    }
    for (uint32_t c = 0; c < options->cpus && options->told; c++)
        script_told_tick(s, c, s->start_tsc + us(1)); /* before the rundown begins */
    if (options->told)
        script_told_start(s, s->start_tsc + us(2));
    for (uint32_t n = 0; n < options->switches; n++) {
        uint32_t first = 0;
        for (uint32_t c = 1; c < options->cpus; c++)
            if (s->cpu[c].next < s->cpu[first].next)
                first = c;
        do_switch(s, first);
        for (uint32_t c = 0; c < options->cpus && options->locks && n == options->switches / 2; c++)
            script_locks_configure(s, c, s->cpu[c].next - 20000, 1, HOOK_SPINLOCK_DC_START);
        if (options->told && n == options->switches / 2)
            script_told_guest(s, s->cpu[0].since + us(3));
        if (options->restart && n % options->restart == options->restart - 1)
            restart(s, n / options->restart, s->cpu[first].since);
        if (options->turn)
            options->turn(options->context, n);
    }
    uint64_t last = 0;
    for (uint32_t c = 0; c < options->cpus; c++)
        last = s->cpu[c].since > last ? s->cpu[c].since : last;
    if (options->restart && options->switches / options->restart % 2) /* one is out */
        restart(s, options->switches / options->restart, last);
    if (options->told)
        script_told_stop(s, last + us(3));
    s->stop_tsc = last + us(options->told ? 30 : 3);
    if (options->panic) {
        if (options->ds)
            drain(s, &s->cpu[0], s->stop_tsc, CAIRN_DS_PANIC);
        for (uint32_t c = 0; c < options->cpus; c++)
            trace_hub_freeze(&s->hub[c], s->stop_tsc);
        return;
    }
    for (uint32_t c = 0; c < options->cpus; c++) {
        struct script_cpu *cpu = &s->cpu[c];
        if (options->bts)
            branch_events(s, c, s->thread[cpu->current].tid, s->stop_tsc, CAIRN_DS_STOP);
        if (options->ds)
            drain(s, cpu, s->stop_tsc, CAIRN_DS_STOP);
        if (options->locks)
            script_locks_configure(s, c, s->stop_tsc, 1, HOOK_SPINLOCK_DC_END);
        tell_all(s, c, s->stop_tsc, CAIRN_SESSION_STOP);
    }
}

void script_free(struct script *s)
{
    for (uint32_t c = 0; c < s->options.cpus; c++) {
        free(s->cpu[c].records);
        free(s->cpu[c].branches);
        free(s->cpu[c].truth);
    }
}
