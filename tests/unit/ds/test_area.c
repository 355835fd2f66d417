/* SPDX-License-Identifier: MIT */
/* How much of its area each kind of processor reads, so how much a drain hands over. */
#include <stdbool.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static uint64_t area[512] __attribute__((aligned(4096)));
static struct ds_drain drains[3]; /* start, any, panic */
static unsigned count;

static void before(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    (void)context, (void)cpu;
    assert_ptr_equal(drain->area, area);
    assert_true(count < sizeof drains / sizeof drains[0]);
    drains[count++] = *drain;
}

static void forms(void **state)
{
    (void)state;
    static const struct {
        uint32_t signature;
        unsigned format;
        uint32_t bytes, reset; /* where INST_RETIRED.ANY's counter has its value */
        uint64_t enable;
    } rows[] = {
        {0x000306C3, 2, 0x60, 0x40, DS_BIT(0)},  /* Haswell */
        {0x000506C9, 3, 0x60, 0x40, DS_BIT(0)},  /* Goldmont */
        {0x000706A8, 3, 0xA0, 0x80, DS_BIT(32)}, /* Goldmont Plus: fixed counters, too, before the baseline */
        {0x000706E5, 4, 0xA0, 0x80, DS_BIT(32)}, /* Ice Lake */
        {0x000C0652, 5, 0x1C0, 0x140, DS_BIT(32)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_fake fake;
        struct ds_caps caps;
        struct ds_config config = {.records = 8, .threshold = 6};
        const struct ds_hooks hooks = {.before_drain = before, .drained = drained};
        struct ds_refusal refusal;
        char error[160] = "";
        ds_fake_init(&fake, rows[i].format >= 4);
        fake.leaf[1][0] = rows[i].signature;
        uint64_t *capabilities = &ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value;
        *capabilities = (*capabilities & ~UINT64_C(0xF00)) | (uint64_t)rows[i].format << 8;
        assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        assert_int_equal(caps.area_bytes, rows[i].bytes);
        assert_int_equal(ds_parse_events("INST_RETIRED.ANY:1000", &config, error, sizeof error), 0);
        void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
        struct ds_cpu *ds = malloc(ds_cpu_bytes());
        assert_int_equal(ds_cpu_init(ds, 0, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error),
                         0);
        count = 0;
        assert_int_equal(ds_start(ds, &refusal), 0);
        assert_true(ds_fake_value(&fake, IA32_PEBS_ENABLE) == rows[i].enable);
        assert_true(area[rows[i].reset / 8] == (-UINT64_C(1000) & (DS_BIT(48) - 1)));
        ds_drain(ds, CAIRN_DS_THRESHOLD);
        ds_drain_panic(ds);
        assert_int_equal(count, 3);
        for (unsigned n = 0; n < count; n++) {
            assert_int_equal(drains[n].area_bytes, rows[i].bytes);
            assert_true(drains[n].area_bytes > rows[i].reset);
        }
        free(ds);
        free(buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
