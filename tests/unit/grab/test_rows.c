/* SPDX-License-Identifier: MIT */
/* The judge's rows, over records of processors that are made up: one that does as the model, on which every row is
 * equal, and others that do one thing otherwise, each of which its own row tells, and no other. Each comes with PEBS in
 * the Debug Store, format 4, and with architectural PEBS. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ds/pebs23_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/grab/base/memory.h"
#include "tools/grab/report/rows.h"

#define BASE     UINT64_C(0x1360000)
#define CFG      MSR_PEBS_DATA_CFG_GPR
#define CFG_MEM  (CFG | MSR_PEBS_DATA_CFG_MEMINFO)
#define CFG_LBR  (CFG | MSR_PEBS_DATA_CFG_LBR | UINT64_C(31) << 24)
#define LBRS     32u
#define BRANCHED 1024u /* branches until the history moves: ASan's memmove() is slow */
#define RECORDS  64u   /* of a drain */
#define ENOUGH   100u  /* records of a counter alone */
#define FIXED    DS_BIT(32)
#define BRANCHES DS_BIT(1)
#define TID      77u
#define OUTSIDE  5u /* instructions before the loop */

struct processor {
    bool spacing_n, pdist_n_plus_1, rip_eventing, eventing_next, oldest_first, half_history, tsc_back, swapped, both,
        no_gpr, longer, branch_missing, slow_loads, slow_retirement;
    uint64_t minimum, skid, clock_off;
    unsigned late; /* records */
};

static struct grab_store store;
static uint64_t clock_tsc, drains;
static struct grab_read first_read; /* behind the last switch */
static bool arch;

/* ---- a processor ------------------------------------------------------------------------------------------------- */

struct counter {
    uint64_t bit, period, left;
    bool branches, precise, armed;
};

struct run { /* of the known program */
    const struct processor *p;
    enum grab_setting_number setting;
    struct grab_samples *samples;
    uint64_t cfg;
    struct counter counter[2];
    struct ds_pebs_lbr branches[BRANCHED + LBRS];
    unsigned last; /* of them the last branch; the older ones follow it */
    uint8_t bytes[RECORDS * 2048];
    uint32_t used, records, all;
};

/* CFG_C of the same groups. */
static uint64_t arch_groups(uint64_t cfg)
{
    return (cfg & MSR_PEBS_DATA_CFG_GPR ? IA32_PMC_CFG_C_GPR : 0) |
           (cfg & MSR_PEBS_DATA_CFG_MEMINFO ? IA32_PMC_CFG_C_AUX : 0) |
           (cfg & MSR_PEBS_DATA_CFG_LBR ? ia32_pmc_cfg_c_with_lbr(DS_ARCH_LBR_ALL) : 0);
}

static void drain(struct run *r)
{
    struct grab_drain head = {.kind = GRAB_DRAIN, .number = drains, .data_cfg = r->cfg, .bytes = r->used};
    head.capabilities = IA32_PERF_CAPABILITIES_PEBS_TIMING;
    struct ds_area_a0 area = {.pebs_buffer_base = BASE, .pebs_index = BASE + r->used};
    area.pebs_fixed_counter_reset[0] = -r->counter[0].period & (DS_BIT(48) - 1);
    struct grab_registers registers = {.base = BASE | 4, .index = ia32_pebs_index(r->used, 16)};
    for (unsigned i = 0; i < 2; i++)
        if (r->counter[i].bit)
            registers.cfg_c[__builtin_ctzll(r->counter[i].bit)] =
                arch_groups(r->cfg) | (-r->counter[i].period & IA32_PMC_CFG_C_RELOAD);
    if (arch)
        memcpy(head.area, &registers, sizeof registers);
    else
        memcpy(head.area, &area, sizeof area);
    grab_store_drain(&store, 0, &head, sizeof head);
    for (uint32_t at = 0; at < r->used; at += GRAB_PIECE) {
        struct grab_records part = {
            GRAB_RECORDS, r->used - at < GRAB_PIECE ? r->used - at : GRAB_PIECE, drains, at, {0}};
        memcpy(part.data, r->bytes + at, part.bytes);
        grab_store_drain(&store, 0, &part, sizeof part);
    }
    drains++;
    r->used = r->records = 0;
}

static void put(struct run *r, const void *bytes, uint32_t size)
{
    memcpy(r->bytes + r->used, bytes, size);
    r->used += size;
}

/* What is in front of the history. */
static void put_arch(struct run *r, uint64_t groups, const struct ds_pebs_basic *b, const struct ds_pebs_gpr *registers)
{
    const uint64_t size = ds_arch_record_bytes(groups, 0, LBRS) + (r->p->longer ? 16 : 0);
    const struct ds_arch_header header = {.format = DS_ARCH_HEADER_BASIC | groups | size};
    const struct ds_arch_basic basic = {
        b->eventing_ip, b->counters, b->tsc, DS_ARCH_RETIRE_VALID | (r->p->slow_retirement ? 2 : 1), {0}};
    const struct ds_arch_aux aux = {.latency = r->p->slow_loads ? 30 : 5};
    const struct ds_arch_gpr gpr = {.registers = *registers};
    const struct ds_arch_lbr lbr = {.depth = LBRS};
    put(r, &header, sizeof header);
    put(r, &basic, sizeof basic);
    if (groups & IA32_PMC_CFG_C_AUX)
        put(r, &aux, sizeof aux);
    if (groups & IA32_PMC_CFG_C_GPR)
        put(r, &gpr, sizeof gpr);
    if (groups & IA32_PMC_CFG_C_LBR)
        put(r, &lbr, sizeof lbr);
}

static void record(struct run *r, uint64_t counters, enum grab_label label, const struct grab_state *after)
{
    const bool history = r->cfg & MSR_PEBS_DATA_CFG_LBR;
    const uint32_t groups = (uint32_t)(r->p->no_gpr && r->counter[0].period == 1009 && !history ? 0 : r->cfg);
    const uint32_t size = ds_pebs_adaptive_size(groups) + (r->p->longer ? 8 : 0);
    const uint64_t head = ds_pebs_head(groups, size) | UINT64_C(1) << (r->p->slow_retirement ? 33 : 32);
    struct ds_pebs_basic basic = {head, grab_known_at[label], counters, clock_tsc};
    if (r->p->tsc_back && drains % 2 && r->setting != GRAB_RESTS)
        basic.tsc -= 1000000;
    if (r->p->eventing_next)
        basic.eventing_ip = grab_known_at[after->next];
    const struct ds_pebs_gpr gpr = {.rip = grab_known_at[r->p->rip_eventing ? label : after->next],
                                    .rcx = after->left - (after->next == GRAB_K8)};
    const struct ds_pebs_meminfo memory = {.latency = r->p->slow_loads ? 30 : 5};
    if (arch)
        put_arch(r, arch_groups(groups), &basic, &gpr);
    else
        put(r, &basic, sizeof basic);
    if (!arch && groups & MSR_PEBS_DATA_CFG_MEMINFO)
        put(r, &memory, sizeof memory);
    if (!arch && groups & MSR_PEBS_DATA_CFG_GPR)
        put(r, &gpr, sizeof gpr);
    for (unsigned i = 0; history && i < LBRS; i++)
        put(r, &r->branches[r->last + (r->p->oldest_first ? LBRS - 1 - i : i)], sizeof r->branches[0]);
    if (r->p->longer)
        put(r, (const uint64_t[2]){0}, arch ? 16 : 8);
    r->all++;
    if (++r->records == RECORDS)
        drain(r);
}

static void sample(struct run *r, uint64_t ip, uint64_t second, uint64_t rcx)
{
    struct grab_samples *s = r->samples;
    *(struct grab_sample *)GRAB_ADD(s->items, s->count, s->room) = (struct grab_sample){{ip, second, 0, rcx}};
}

/* Linux' part: the program leaves the CPU, or comes back. */
static void change(const struct run *r, uint32_t from, uint32_t to)
{
    clock_tsc += 3;
    const struct grab_switch s = {.number = store.cpu[0].switch_count,
                                  .time = clock_tsc - r->p->clock_off,
                                  .index = BASE + r->used,
                                  .read = first_read,
                                  .drains = drains,
                                  .old_tid = from,
                                  .new_tid = to};
    grab_store_switch(&store, 0, &s, sizeof s);
    first_read = (struct grab_read){s.number + 1, drains, r->used, from};
    clock_tsc += 3;
}

/* Counts one instruction. A counter with precise distribution records its overflow, another the event after. */
static uint64_t count(struct run *r, enum grab_label label)
{
    uint64_t bits = 0, armed = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct counter *c = &r->counter[i];
        if (!c->bit || (c->branches && !grab_known_is_branch(label))) {
            armed |= c->armed ? c->bit : 0;
            continue;
        }
        const bool overflow = !c->armed && --c->left == 0;
        if (c->armed || (overflow && c->precise)) {
            bits |= c->bit;
            c->left = c->period;
            c->armed = false;
        } else {
            c->armed = overflow;
        }
    }
    for (unsigned i = 0; bits && r->p->swapped && i < 2; i++)
        if (armed & r->counter[i].bit) { /* reloaded with the other one */
            r->counter[i].armed = false;
            r->counter[i].left = r->counter[i].period;
            bits |= r->p->both ? r->counter[i].bit : 0;
        }
    return bits;
}

static void step(struct run *r, enum grab_label label, uint64_t left, const struct grab_state *after)
{
    const struct grab_state before = {label, left};
    enum grab_label to;
    clock_tsc += 3;
    if (grab_known_taken(label, &before, &to)) {
        if (!r->last) {
            memcpy(r->branches + BRANCHED, r->branches, LBRS * sizeof r->branches[0]);
            r->last = BRANCHED;
        }
        r->branches[--r->last] = (struct ds_pebs_lbr){grab_known_at[label], grab_known_at[to], 0};
        if (r->p->half_history)
            r->branches[r->last + LBRS / 2] = (struct ds_pebs_lbr){0};
        if (r->setting == GRAB_TRACE && !(r->p->branch_missing && left == 1000))
            sample(r, grab_known_at[label], grab_known_at[to], 0);
    }
    const uint64_t bits = count(r, label);
    if (bits && r->setting == GRAB_INTERRUPTS) {
        const uint64_t all = OUTSIDE + grab_known_count(after, grab_settings[GRAB_INTERRUPTS].iterations, false);
        sample(r, grab_known_at[after->next], all + r->p->skid, after->left - (after->next == GRAB_K8));
        return;
    }
    if (r->p->both && bits & (bits - 1)) {
        record(r, bits, label, after);
        return;
    }
    for (uint64_t b = bits; b; b &= b - 1)
        record(r, b & -b, label, after);
}

static void execute(struct run *r, uint64_t iterations)
{
    static const enum grab_label path[] = {GRAB_K0, GRAB_K1, GRAB_K2, GRAB_K3, GRAB_K4, GRAB_K5,
                                           GRAB_F0, GRAB_F1, GRAB_K6, GRAB_K7, GRAB_K8};
    enum { LENGTH = sizeof path / sizeof path[0] };
    const uint64_t last = r->setting == GRAB_TRACE ? 1 : 2;
    for (uint64_t left = iterations; left >= last && (r->all < ENOUGH || r->counter[1].bit); left--)
        for (unsigned i = 0; i < LENGTH; i++) {
            const unsigned next = i == 3 && left % 2 == 0 ? 5 : i + 1;
            if (i == 4 && left % 2 == 0)
                continue;
            const struct grab_state after = {path[next % LENGTH], next == LENGTH ? left - 1 : left};
            step(r, path[i], left, &after);
        }
}

/* Linux drains with the counters off. */
static void rest(struct run *r)
{
    const struct grab_state after = {GRAB_K0, 100};
    change(r, TID, 0);
    drain(r);
    for (unsigned i = 0; i < r->p->late; i++)
        record(r, BRANCHES, GRAB_K8, &after);
    change(r, 0, TID);
}

static void run_setting(struct grab_judged *j, enum grab_setting_number n, const struct processor *p)
{
    const struct grab_setting *s = &grab_settings[n];
    const bool interrupts = n == GRAB_INTERRUPTS, instructions = n == GRAB_PRECISE || n == GRAB_SHORT || interrupts;
    const bool precise = instructions && (interrupts || !p->pdist_n_plus_1);
    struct run *r = calloc(1, sizeof *r);
    r->p = p;
    r->setting = n;
    r->samples = &j->taken[n].samples;
    r->cfg = n == GRAB_HISTORY ? CFG_LBR : n == GRAB_LOADS ? CFG_MEM : CFG;
    r->counter[0] = (struct counter){BRANCHES, s->period, s->period, true, p->spacing_n, false};
    if (instructions)
        r->counter[0] = (struct counter){FIXED, s->period, s->period, false, precise, false};
    if (n == GRAB_SHORT && p->minimum) /* the processor's doing, not Linux' */
        r->counter[0].left = p->minimum;
    if (n == GRAB_TWO)
        r->counter[1] = (struct counter){FIXED, s->other, s->other, false, true, false};
    if (interrupts)
        r->counter[0].left -= OUTSIDE;
    if (n == GRAB_TRACE)
        r->counter[0].bit = 0;
    j->taken[n].tid = TID;
    j->taken[n].cycles = s->iterations * 21 / 2; /* one for each instruction */
    j->taken[n].first = store.cpu[0].drain_count;
    j->taken[n].first_switch = store.cpu[0].switch_count;
    execute(r, s->iterations);
    for (unsigned i = 0; i < s->rests; i++) {
        rest(r);
        execute(r, s->iterations);
    }
    drain(r);
    j->taken[n].end = store.cpu[0].drain_count;
    j->taken[n].end_switch = store.cpu[0].switch_count;
    free(r);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static struct grab_judged judge(const struct processor *p)
{
    static struct grab_pair pairs[] = {{0, 0, 0}, {1000000000, 1000000000, 0}}; /* a TSC of 1 GHz */
    static struct grab_clock clock = {pairs, 2, 2};
    struct grab_judged j = {.store = &store, .format = arch ? DS_FORMAT_ARCH : 4, .clock = &clock};
    store = (struct grab_store){0};
    drains = 0;
    clock_tsc = 10000000;
    assert_int_equal(grab_store_begin(&store, "/tmp/none.log"), 0);
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        run_setting(&j, (enum grab_setting_number)n, p);
    assert_int_equal(grab_store_end(&store), 0);
    return j;
}

static void end(const struct grab_judged *j)
{
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        free(j->taken[n].samples.items);
    free(store.cpu[0].drains);
    free(store.cpu[0].switches);
    free(store.cpu[0].partial[0].bytes);
    free(store.cpu[0].partial[1].bytes);
    close(store.file);
}

/* All rows that are asked are as the model does, but `name`, whose answer is `answer`. */
static void expect(const struct processor *p, const char *name, const char *answer)
{
    const struct grab_judged j = judge(p);
    for (unsigned i = 0; i < GRAB_ROWS; i++) {
        struct grab_answer a = {0};
        grab_rows[i].ask(&j, &a);
        assert_int_not_equal(a.evidence[0], 0);
        assert_non_null(grab_row_model(&grab_rows[i]));
        if (name && strcmp(grab_rows[i].name, name) == 0)
            assert_string_equal(a.answer, answer);
        else if (a.answer[0] && strcmp(a.answer, grab_row_model(&grab_rows[i])))
            fail_msg("%s: %s, %s, with %s", grab_rows[i].name, a.answer, a.evidence, name ? name : "no case");
        else if (a.answer[0])
            assert_string_equal(a.answer, grab_row_model(&grab_rows[i]));
        else
            assert_non_null(name); /* it needs what is otherwise */
    }
    end(&j);
}

static void as_the_model(void **state)
{
    (void)state;
    const struct processor p = {0};
    expect(&p, NULL, NULL);
}

static void otherwise(void **state)
{
    (void)state;
    static const struct {
        struct processor p;
        const char *name, *answer;
    } cases[] = {
        {{.spacing_n = true}, "spacing", "n"},
        {{.pdist_n_plus_1 = true}, "pdist_spacing", "n_plus_1"},
        {{.eventing_next = true}, "eventing_ip", "next"},
        {{.oldest_first = true}, "lbr_order", "oldest_first"},
        {{.half_history = true}, "lbr_depth", "other"},
        {{.tsc_back = true}, "tsc_order", "other"},
        {{.swapped = true}, "bystander", "swapped"},
        {{.swapped = true, .both = true}, "bystander", "swapped"},
        {{.longer = true}, "record_size", "other"},
        {{.no_gpr = true}, "groups", "other"},
        {{.clock_off = 5000}, "tsc_switches", "other"},
        {{.late = 1}, "residual", "1"},
        {{.late = 4}, "residual", "other"},
        {{.skid = 7}, "skid", "some"},
        {{.slow_loads = true}, "latency", "other"},
        {{.slow_retirement = true}, "retire_latency", "other"},
        {{.branch_missing = true}, "bts_path", "other"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(&cases[i].p, cases[i].name, cases[i].answer);
}

/* The branch history then ends before RIP, so its rows differ, too. */
static void rip_of_the_instruction(void **state)
{
    (void)state;
    const struct processor p = {.rip_eventing = true};
    const struct grab_judged j = judge(&p);
    for (unsigned i = 0; i < GRAB_ROWS; i++)
        if (strcmp(grab_rows[i].name, "rip") == 0) {
            struct grab_answer a;
            grab_rows[i].ask(&j, &a);
            assert_string_equal(a.answer, "eventing");
        }
    end(&j);
}

/* A setting that Linux refuses, and a format that lacks what is asked for. */
static void not_asked(void **state)
{
    (void)state;
    const struct processor p = {0};
    struct grab_judged j = judge(&p);
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        j.taken[n] = (struct grab_taken){.refused = "Operation not supported", .samples = j.taken[n].samples};
    for (unsigned i = 0; i < GRAB_ROWS; i++) {
        struct grab_answer a = {0};
        grab_rows[i].ask(&j, &a);
        assert_string_equal(a.answer, "");
        assert_int_not_equal(a.evidence[0], 0);
    }
    end(&j);
}

/* Linux has recorded nothing, as if sampling were slowed down to a halt: what is missing is told with what to do. */
static void too_few(void **state)
{
    (void)state;
    const struct processor p = {0};
    struct grab_judged j = judge(&p);
    unsigned advised = 0;
    for (unsigned n = 0; n < GRAB_SETTINGS; n++) {
        free(j.taken[n].samples.items);
        j.taken[n] = (struct grab_taken){0};
    }
    for (unsigned i = 0; i < GRAB_ROWS; i++) {
        struct grab_answer a = {0};
        grab_rows[i].ask(&j, &a);
        assert_string_equal(a.answer, "");
        advised += strstr(a.evidence, "kernel.perf_event_max_sample_rate=100000, then") != NULL;
        if (strcmp(grab_rows[i].name, "latency") == 0)
            assert_non_null(strstr(a.evidence, "memory=model"));
    }
    assert_in_range(advised, 10, GRAB_ROWS);
    end(&j);
}

static int architectural(void **state)
{
    (void)state;
    arch = true;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_model),           cmocka_unit_test(too_few),   cmocka_unit_test(otherwise),
        cmocka_unit_test(rip_of_the_instruction), cmocka_unit_test(not_asked),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, architectural, NULL);
}
