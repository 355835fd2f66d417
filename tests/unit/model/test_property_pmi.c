/* SPDX-License-Identifier: MIT */
/*
 * No PMI is the last one. Software handles PMIs with the writes and in the orders of Linux' handlers, while events come
 * between any two of its writes: records reach the threshold there, and counters overflow. Then no more events come
 * while it handles a PMI. From whatever state that has left, each counter must be sampled again, on every processor and
 * with every policy.
 *
 * Source of the orders: Linux' intel_pmu_handle_irq, intel_pmu_disable_all and intel_pmu_enable_all
 * (arch/x86/events/intel/core.c), of 3.x and of 7.x.
 */
#include <stdio.h>
#include <string.h>

#include "ds/model/variant/variant.h"
#include "tests/unit/model/property/random.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"
#include "tests/unit/support/presets.h"

#define BUFFERS (IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_ARCH_PEBS)
#define PLAIN   DS_BIT(DS_COUNTER_FIXED) /* fixed counter 0 counts instructions, and interrupts */
#define ENOUGH  20000u                   /* instructions: for a period of 128 and a whole buffer */

/* L: LVTPC unmasked. g, G: IA32_PERF_GLOBAL_CTRL off, on. p, P: PEBS off, on. S: until IA32_PERF_GLOBAL_STATUS is 0,
 * acknowledges it, empties the PEBS buffer if it says so, and starts the plain counter again if it says so. */
static const struct {
    const char *name, *writes;
} orders[] = {
    {"early ACK", "LgSG"},
    {"mid ACK", "gSLG"},
    {"late ACK", "gSGL"},
    {"early ACK, PEBS off", "LgpSPG"},
    {"mid ACK, PEBS off", "gpSLPG"},
    {"late ACK, PEBS off", "gpSPGL"},
};

static struct ds_bench bench, *b = &bench;
static struct {
    bool arch, calm;
    uint64_t counters, pebs; /* in use; those of them with PEBS */
    uint64_t index;          /* IA32_PEBS_INDEX with an empty buffer */
    unsigned period;
    bool pmi;         /* one has been delivered */
    uint64_t waiting; /* counters with records in the buffer */
    uint64_t sampled; /* counters whose samples software has seen since this was 0 */
} s;

static bool coin(void)
{
    return random_below(2);
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context, (void)lvtpc;
    s.pmi = true;
}

static void recorded(void *context, const struct ds_model_record *record)
{
    (void)context;
    s.waiting |= record->stored ? record->counters : 0;
}

static void retire(void)
{
    if (ds_bench_retire(b,
                        coin()   ? 1u << DS_MODEL_INSTRUCTION
                        : coin() ? BRANCH
                                 : 1u << DS_MODEL_INSTRUCTION | BRANCH,
                        0))
        fail_msg("memory fault");
}

/* Some instructions, after each of software's writes. */
static void between(void)
{
    for (unsigned n = s.calm ? 0 : random_below(4); n; n--)
        retire();
}

static void write_msr(uint32_t msr, uint64_t value)
{
    if (ds_model_late(&b->model))
        fail_msg("memory fault");
    ds_bench_write(b, msr, value);
    between();
}

static void start_plain(void)
{
    write_msr(IA32_FIXED_CTR0, -(uint64_t)s.period & b->model.counter_mask);
}

static void switch_pebs(bool on)
{
    if (s.arch)
        write_msr(IA32_PEBS_INDEX,
                  (ds_bench_read(b, IA32_PEBS_INDEX) & ~IA32_PEBS_INDEX_EN) | (on ? IA32_PEBS_INDEX_EN : 0));
    else
        write_msr(IA32_PEBS_ENABLE, on ? s.pebs : 0);
}

static void empty(void)
{
    if (s.arch)
        write_msr(IA32_PEBS_INDEX, s.index);
    else
        *ds_bench_area(b, 0x28) = ds_bench_buffer();
    s.sampled |= s.waiting;
    s.waiting = 0;
}

static void handle_status(void)
{
    for (uint64_t status; (status = STATUS(b));) {
        write_msr(IA32_PERF_GLOBAL_OVF_CTRL, status);
        if (status & BUFFERS)
            empty();
        if (status & PLAIN & s.counters) {
            s.sampled |= PLAIN;
            start_plain();
        }
    }
}

static void handle(const char *writes)
{
    for (between(); *writes; writes++)
        switch (*writes) {
        case 'L':
            ds_model_lvtpc_write(&b->model, 0x400);
            between();
            break;
        case 'g':
        case 'G':
            write_msr(IA32_PERF_GLOBAL_CTRL, *writes == 'G' ? s.counters : 0);
            break;
        case 'p':
        case 'P':
            switch_pebs(*writes == 'P');
            break;
        default:
            handle_status();
        }
}

/* As NMIs: one that comes while another is handled is handled next. */
static void take(const char *writes)
{
    while (s.pmi) {
        s.pmi = false;
        handle(writes);
    }
}

/* Records that come late are of any event: among very long periods they alone fill the buffer, which is then silent. */
static struct ds_model_policy random_policy(bool lost)
{
    struct ds_model_policy policy = {
        .masked_pmi_lost = lost,
        .fit = (uint8_t)random_below(3),
        .drop_keeps_overflow = coin(),
        .bystander_swapped = coin(),
        .pdist_minimum = random_one_in(4),
        .reserved_ignored = coin(),
        .arch_threshold_gt = coin(),
        .arch_full_disables = coin(),
        .arch_overflow = (uint8_t)random_below(3),
        .arch_sets_ovf_buf = coin(),
        .arch_fragments = (uint8_t)random_below(3),
        .arch_record_each = coin(),
    };
    policy.residual = policy.pdist_minimum ? 0 : (uint8_t)random_below(4);
    return policy;
}

/* A plain counter is alone only where no PMI is lost: else it is sampled at another's next. */
static void set_up(const struct ds_model_preset *preset, bool lost)
{
    const struct ds_model_policy policy = random_policy(lost);
    const uint64_t threshold = coin() ? 16 : 16 * (1 + random_below(60));
    memset(&s, 0, sizeof s);
    s.calm = true;
    s.arch = preset->format == DS_FORMAT_ARCH;
    s.period = 1 + random_below(3);
    s.index = IA32_PEBS_INDEX_EN | ia32_pebs_index(0, (uint32_t)threshold);
    ds_bench_init(b, preset, &policy, threshold + 4000, threshold);
    b->model.host.raise_pmi = raise_pmi;
    b->model.host.recorded = recorded;
    if (s.arch)
        ds_bench_arch(b, 1, threshold);
    const unsigned which = 1 + random_below(7);
    s.pebs = (which & 1 || lost ? 1 : 0) | (which & 2 && preset->pebs_counters & 2 ? 2 : 0);
    s.counters = s.pebs | (which & 4 || !s.pebs ? PLAIN : 0);
    for (unsigned i = 0; i < 2; i++)
        if (s.pebs & DS_BIT(i))
            ds_bench_pebs_counter(b, i, i ? INSTRUCTIONS : BRANCHES, -(uint64_t)s.period,
                                  -(uint64_t)s.period & b->model.counter_mask);
    if (s.counters & PLAIN) {
        start_plain();
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x9); /* at CPL 0, with PMI */
    }
    ds_model_lvtpc_write(&b->model, 0x400);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, s.counters);
    s.calm = false;
}

static void judge(const char *preset, const char *order, bool lost, unsigned program)
{
    unsigned n;
    s.sampled = 0;
    for (n = 0; n < ENOUGH && s.sampled != s.counters; n++) {
        retire();
        s.calm = true;
        take(order);
        /* nothing that nobody has been told of */
        if (!lost && STATUS(b) & (BUFFERS | PLAIN))
            fail_msg("%s, %s, program %u: GLOBAL_STATUS stays %llx", preset, order, program,
                     (unsigned long long)STATUS(b));
    }
    if (s.sampled != s.counters)
        fail_msg("%s, %s, masked_pmi=%s, program %u: of counters %llx only %llx are sampled any more", preset, order,
                 lost ? "lost" : "latched", program, (unsigned long long)s.counters, (unsigned long long)s.sampled);
}

static void sampling_comes_back(void **state)
{
    const struct ds_model_preset *preset = *state;
    enum { ORDERS = sizeof orders / sizeof orders[0] };
    for (unsigned program = 0; program < 600; program++) {
        random_seed(program + 1);
        const char *writes = orders[program % ORDERS].writes;
        const bool lost = program / ORDERS % 2;
        set_up(preset, lost);
        for (unsigned n = random_below(30); n; n--) {
            between();
            take(writes);
        }
        judge(preset->name, writes, lost, program);
    }
}

int main(void)
{
    static struct ds_model_preset efficient[PRESETS];
    static char names[PRESETS][48];
    struct CMUnitTest tests[2 * PRESETS];
    size_t n = 0;
    for (size_t i = 0; i < PRESETS; i++) {
        const struct ds_model_preset *p = preset_at(i);
        tests[n++] = (struct CMUnitTest){p->name, sampling_comes_back, NULL, NULL, (void *)(uintptr_t)p};
        if (!ds_model_efficient(p, &efficient[i]))
            continue;
        snprintf(names[i], sizeof names[i], "%s, efficient core", p->name);
        tests[n++] = (struct CMUnitTest){names[i], sampling_comes_back, NULL, NULL, &efficient[i]};
    }
    return _cmocka_run_group_tests("orders of a PMI handler's writes", tests, n, NULL, NULL);
}
