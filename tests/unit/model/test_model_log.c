/* SPDX-License-Identifier: MIT */
/* What the model says it does, step by step, for records of every format: against sequences worked out by hand. */
#include <stdbool.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define BUFFER      ds_bench_buffer()
#define ALL(b)      ((b)->model.counter_mask)
#define BELOW(b, n) (-(uint64_t)(n)&ALL(b))

static struct ds_bench bench, *b = &bench;

/* ---- what was said ---------------------------------------------------------------------------------------------- */

static struct ds_model_action said[64];
static unsigned said_count;

static void acted(void *context, const struct ds_model_action *action)
{
    assert_ptr_equal(context, b);
    assert_true(said_count < 64);
    said[said_count++] = *action;
}

static void begin(const char *preset, const struct ds_model_policy *policy, uint64_t maximum, uint64_t threshold)
{
    ds_bench_init(b, ds_model_preset(preset), policy, maximum, threshold);
    b->model.host.acted = acted;
    said_count = 0;
}

/* All that was said since the last call, and nothing else. */
static void expect(const struct ds_model_action *wanted, unsigned count)
{
    for (unsigned i = 0; i < count && i < said_count; i++) {
        const struct ds_model_action *w = &wanted[i], *s = &said[i];
        if (s->kind != w->kind || s->counter != w->counter || s->counters != w->counters || s->before != w->before ||
            s->after != w->after)
            fail_msg("action %u is {%u, %u, %#lx, %#lx, %#lx}, not {%u, %u, %#lx, %#lx, %#lx}", i, s->kind, s->counter,
                     s->counters, s->before, s->after, w->kind, w->counter, w->counters, w->before, w->after);
    }
    assert_int_equal(said_count, count);
    said_count = 0;
}
#define EXPECT(...)                                                                                                    \
    expect((const struct ds_model_action[]){__VA_ARGS__},                                                              \
           sizeof((const struct ds_model_action[]){__VA_ARGS__}) / sizeof(struct ds_model_action))
#define NOTHING() expect(NULL, 0)

#define OVERFLOWED(c)                                                                                                  \
    {                                                                                                                  \
        DS_MODEL_OVERFLOWED, c, 0, ALL(b), 0                                                                           \
    }
#define ARMED(c)                                                                                                       \
    {                                                                                                                  \
        DS_MODEL_ARMED, c, 0, 0, 0                                                                                     \
    }
#define STORED(set, at, size)                                                                                          \
    {                                                                                                                  \
        DS_MODEL_STORED, 0, set, at, (at) + (size)                                                                     \
    }
#define RELOADED(c, before, after)                                                                                     \
    {                                                                                                                  \
        DS_MODEL_RELOADED, c, 0, before, after                                                                         \
    }
#define COMPARED(index, threshold)                                                                                     \
    {                                                                                                                  \
        DS_MODEL_COMPARED, 0, 0, index, threshold                                                                      \
    }
#define RAISED                                                                                                         \
    {                                                                                                                  \
        DS_MODEL_PMI_RAISED, 0, 0, 0xEE, 0xEE | LVTPC_MASKED                                                           \
    }
#define LOST                                                                                                           \
    {                                                                                                                  \
        DS_MODEL_PMI_LOST, 0, 0, 0xEE | LVTPC_MASKED, 0xEE | LVTPC_MASKED                                              \
    }
#define LATCHED                                                                                                        \
    {                                                                                                                  \
        DS_MODEL_PMI_LATCHED, 0, 0, 0xEE | LVTPC_MASKED, 0xEE | LVTPC_MASKED                                           \
    }

/* ---- lives ------------------------------------------------------------------------------------------------------- */

static void
every_format(void **state) /* the overflow arms, the next event writes; the second record is the threshold's */
{
    (void)state;
    static const char *const presets[] = {"penryn",  "nehalem",   "haswell",  "skylake",
                                          "icelake", "arrowlake", "lunarlake"};
    for (unsigned format = 0; format <= 6; format++) {
        begin(presets[format], NULL, 4096, 0);
        assert_int_equal(b->model.preset->format, format);
        const uint8_t c = format ? 1 : 0; /* PMC0 of the latest has precise distribution; Penryn has PEBS on no other */
        const uint32_t size = format < 4 ? ds_pebs_fixed_size(format) : 32;
        const uint64_t second = BUFFER + size, threshold = BUFFER + 2 * size;
        *ds_bench_area(b, 0x38) = threshold;
        ds_bench_pebs_counter(b, c, INSTRUCTIONS, BELOW(b, 3), BELOW(b, 2));
        ds_bench_step(b, 2, 0);
        NOTHING();
        ds_bench_step(b, 1, 0);
        EXPECT(OVERFLOWED(c), ARMED(c));
        ds_bench_step(b, 1, 0);
        EXPECT(STORED(DS_BIT(c), BUFFER, size), RELOADED(c, 1, BELOW(b, 2)), COMPARED(second, threshold));
        ds_bench_step(b, 2, 0);
        EXPECT(OVERFLOWED(c), ARMED(c));
        ds_bench_step(b, 1, 0);
        EXPECT(STORED(DS_BIT(c), second, size), RELOADED(c, 1, BELOW(b, 2)), COMPARED(threshold, threshold), RAISED);
    }
}

static void precise_distribution(void **state) /* all of it in one instruction */
{
    (void)state;
    begin("icelake", NULL, 4096, 4096);
    *ds_bench_area(b, 0x80) = BELOW(b, 7);
    ds_bench_write(b, IA32_FIXED_CTR0, BELOW(b, 2));
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0));
    ds_bench_write(b, IA32_PEBS_ENABLE, DS_BIT(32));
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
    ds_bench_step(b, 1, 0);
    NOTHING();
    ds_bench_step(b, 1, 0);
    EXPECT(OVERFLOWED(32), ARMED(32), STORED(DS_BIT(32), BUFFER, 32), RELOADED(32, 0, BELOW(b, 7)),
           COMPARED(BUFFER + 32, BUFFER + 4096));
}

static void policy_of_precise_distribution(void **state) /* what the counter gets is not what the area has */
{
    (void)state;
    const struct ds_model_policy policy = {.pdist_minimum = true};
    begin("icelake", &policy, 4096, 4096);
    *ds_bench_area(b, 0x80) = BELOW(b, 7);
    ds_bench_write(b, IA32_FIXED_CTR0, BELOW(b, 1));
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0));
    ds_bench_write(b, IA32_PEBS_ENABLE, DS_BIT(32));
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
    ds_bench_step(b, 1, 0);
    EXPECT(OVERFLOWED(32), ARMED(32), STORED(DS_BIT(32), BUFFER, 32), RELOADED(32, 0, BELOW(b, 128)),
           COMPARED(BUFFER + 32, BUFFER + 4096));
}

static void two_counters_one_record(void **state)
{
    (void)state;
    begin("skylake", NULL, 4096, 4096);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, BELOW(b, 2), BELOW(b, 5));
    ds_bench_pebs_counter(b, 2, BRANCHES, BELOW(b, 1), BELOW(b, 9));
    ds_bench_step(b, 1, BRANCH);
    EXPECT(OVERFLOWED(2), ARMED(2));
    ds_bench_step(b, 1, 0);
    EXPECT(OVERFLOWED(0), ARMED(0));
    ds_bench_step(b, 1, BRANCH);
    EXPECT(STORED(5, BUFFER, 200), RELOADED(0, 1, BELOW(b, 5)), RELOADED(2, 1, BELOW(b, 9)),
           COMPARED(BUFFER + 200, BUFFER + 4096));
}

static void bystander(void **state) /* formats 0 to 2 reload an armed counter with another's record */
{
    (void)state;
    static const char *const presets[] = {"haswell", "skylake"};
    for (unsigned i = 0; i < 2; i++) {
        begin(presets[i], NULL, 4096, 4096);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, BELOW(b, 1), BELOW(b, 5));
        ds_bench_pebs_counter(b, 1, BRANCHES, BELOW(b, 1), BELOW(b, 9));
        ds_bench_step(b, 1, BRANCH);
        EXPECT(OVERFLOWED(0), ARMED(0), OVERFLOWED(1), ARMED(1));
        ds_bench_step(b, 1, 0); /* no branch */
        if (i == 0)
            EXPECT(STORED(1, BUFFER, 192), RELOADED(0, 1, BELOW(b, 5)), RELOADED(1, 0, BELOW(b, 9)),
                   COMPARED(BUFFER + 192, BUFFER + 4096));
        else
            EXPECT(STORED(1, BUFFER, 200), RELOADED(0, 1, BELOW(b, 5)), COMPARED(BUFFER + 200, BUFFER + 4096));
    }
}

static void dropped(void **state) /* nothing is compared; whether it is reloaded is a policy */
{
    (void)state;
    for (unsigned keeps = 0; keeps < 2; keeps++) {
        const struct ds_model_policy policy = {.drop_keeps_overflow = keeps};
        begin("skylake", &policy, 100, 100);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, BELOW(b, 1), BELOW(b, 5));
        ds_bench_step(b, 1, 0);
        EXPECT(OVERFLOWED(0), ARMED(0));
        ds_bench_step(b, 1, 0);
        if (keeps)
            EXPECT({DS_MODEL_DROPPED, 0, 1, BUFFER, BUFFER + 100});
        else
            EXPECT({DS_MODEL_DROPPED, 0, 1, BUFFER, BUFFER + 100}, RELOADED(0, 1, BELOW(b, 5)));
    }
}

static void
unmapped(void **state) /* a record that could not be written, an index that could not be moved: not stored */
{
    (void)state;
    for (unsigned missing = 1; missing <= 3; missing++) {
        begin("skylake", NULL, 4096, 4096);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, BELOW(b, 1), BELOW(b, 5));
        ds_bench_step(b, 1, 0);
        EXPECT(OVERFLOWED(0), ARMED(0));
        b->accesses = 0;
        b->missing = missing;
        assert_true(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0) < 0);
        NOTHING();
    }
}

static void interrupts(void **state)
{
    (void)state;
    for (unsigned latched = 0; latched < 2; latched++) {
        const struct ds_model_policy policy = {.masked_pmi_lost = !latched};
        begin("skylake", &policy, 4096, 200);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, BELOW(b, 1), BELOW(b, 1));
        ds_bench_step(b, 2, 0);
        EXPECT(OVERFLOWED(0), ARMED(0), STORED(1, BUFFER, 200), RELOADED(0, 1, BELOW(b, 1)),
               COMPARED(BUFFER + 200, BUFFER + 200), RAISED);
        ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, OVF_BUF);
        ds_bench_step(b, 2, 0); /* LVTPC is masked now */
        if (latched)
            EXPECT(OVERFLOWED(0), ARMED(0), STORED(1, BUFFER + 200, 200), RELOADED(0, 1, BELOW(b, 1)),
                   COMPARED(BUFFER + 400, BUFFER + 200), LATCHED);
        else
            EXPECT(OVERFLOWED(0), ARMED(0), STORED(1, BUFFER + 200, 200), RELOADED(0, 1, BELOW(b, 1)),
                   COMPARED(BUFFER + 400, BUFFER + 200), LOST);
        ds_model_lvtpc_write(&b->model, 0xEE);
        if (latched)
            EXPECT(RAISED);
        else
            NOTHING();
    }
}

static void plain_counter(void **state) /* overflows and interrupts, is never armed */
{
    (void)state;
    begin("skylake", NULL, 4096, 4096);
    ds_bench_write(b, IA32_A_PMC0 + 1, BELOW(b, 1));
    ds_bench_write(b, IA32_PERFEVTSEL0 + 1,
                   INSTRUCTIONS | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_INT);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 2);
    ds_bench_step(b, 1, 0);
    EXPECT(OVERFLOWED(1), RAISED);
}

static void nobody_asks(void **state) /* the same run, bit for bit */
{
    (void)state;
    static struct ds_bench asked;
    for (unsigned i = 0; i < 2; i++) {
        begin("skylake", NULL, 4096, 400);
        if (i == 0)
            b->model.host.acted = NULL;
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, BELOW(b, 3), BELOW(b, 3));
        ds_bench_step(b, 30, 0);
        assert_true(i ? said_count > 0 : said_count == 0);
        b->model.host.acted = NULL;
        if (i == 0)
            asked = *b;
    }
    assert_memory_equal(&asked, b, sizeof asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format),
        cmocka_unit_test(precise_distribution),
        cmocka_unit_test(policy_of_precise_distribution),
        cmocka_unit_test(two_counters_one_record),
        cmocka_unit_test(bystander),
        cmocka_unit_test(dropped),
        cmocka_unit_test(unmapped),
        cmocka_unit_test(interrupts),
        cmocka_unit_test(plain_counter),
        cmocka_unit_test(nobody_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
