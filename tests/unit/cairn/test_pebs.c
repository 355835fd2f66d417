/* SPDX-License-Identifier: MIT */
/* The one table of record fields against the structures of ds/layout.h, and against the sizes records have. */
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/log/pebs_fields.h"

/* The field at `at`; each word of the record holds its own offset. */
static struct cairn_pebs_field field_at(uint8_t format, const uint64_t *record, uint32_t size, uint32_t at)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f = {0};
    cairn_pebs_walk(&walk, format, (const uint8_t *)record, size);
    while (cairn_pebs_next(&walk, &f))
        if (f.at == at)
            return f;
    fail_msg("format %u: nothing at 0x%x", format, at);
    return f;
}

#define NAMED(format, record, size, at, text)                                                                          \
    assert_string_equal(field_at(format, record, size, (uint32_t)(at)).name, text)

static void fixed_layouts(void **state)
{
    (void)state;
    uint64_t r[25], value;
    for (unsigned i = 0; i < 25; i++)
        r[i] = 8 * i;
    for (uint8_t format = 0; format <= 3; format++) {
        struct cairn_pebs_walk walk;
        struct cairn_pebs_field f;
        uint32_t size = ds_pebs_fixed_size(format), words = 0;
        cairn_pebs_walk(&walk, format, (const uint8_t *)r, size);
        for (; cairn_pebs_next(&walk, &f); words++) {
            assert_int_equal(f.at, 8 * words);
            assert_int_equal(f.value, 8 * words);
            assert_true(f.name[0]);
        }
        assert_int_equal(words, size / 8);
        assert_int_equal(walk.at, size);
        NAMED(format, r, size, offsetof(struct ds_pebs_fmt0, rflags), "RFLAGS");
        NAMED(format, r, size, offsetof(struct ds_pebs_fmt0, rip), "RIP");
        NAMED(format, r, size, offsetof(struct ds_pebs_fmt0, rbx), "RBX");
        NAMED(format, r, size, offsetof(struct ds_pebs_fmt0, rcx), "RCX");
        NAMED(format, r, size, offsetof(struct ds_pebs_fmt0, rsp), "RSP");
        NAMED(format, r, size, offsetof(struct ds_pebs_fmt0, r8_r15[7]), "R15");
        if (format >= 1)
            NAMED(format, r, size, offsetof(struct ds_pebs_fmt1, status), format == 3 ? "counters" : "status");
        if (format >= 2)
            NAMED(format, r, size, offsetof(struct ds_pebs_fmt2, eventing_ip), "EventingIP");
        assert_int_equal(cairn_pebs_get(format, (const uint8_t *)r, size, CAIRN_PEBS_EVENTING_IP, &value), format >= 2);
        assert_int_equal(cairn_pebs_get(format, (const uint8_t *)r, size, CAIRN_PEBS_STATUS, &value),
                         format == 1 || format == 2);
        assert_int_equal(cairn_pebs_get(format, (const uint8_t *)r, size, CAIRN_PEBS_TSC, &value), format == 3);
        assert_false(cairn_pebs_get(format, (const uint8_t *)r, size, CAIRN_PEBS_HEAD, &value));
        assert_true(cairn_pebs_get(format, (const uint8_t *)r, size, CAIRN_PEBS_RIP, &value) && value == 8);
    }
}

static uint32_t make(uint64_t *r, uint64_t cfg)
{
    uint32_t size = ds_pebs_adaptive_size(cfg), at = size;
    for (uint32_t i = 0; i < size / 8; i++)
        r[i] = 8 * i;
    r[0] = ds_pebs_head((uint32_t)cfg, size);
    if (cfg & (MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS)) {
        uint32_t gp = 0, fixed = 0;
        if (cfg & MSR_PEBS_DATA_CFG_METRICS)
            at -= 16;
        if (cfg & MSR_PEBS_DATA_CFG_CNTR) {
            gp = msr_pebs_data_cfg_gp(cfg);
            fixed = msr_pebs_data_cfg_fixed(cfg);
            at -= 8 * (uint32_t)(__builtin_popcount(gp) + __builtin_popcount(fixed));
        }
        at -= 16;
        r[at / 8] = (uint64_t)fixed << 32 | gp;
        r[at / 8 + 1] = cfg & MSR_PEBS_DATA_CFG_METRICS ? DS_PEBS_CNTR_METRICS : 0;
    }
    return size;
}

/* Every combination of groups: the walk ends exactly where the record does. */
static void adaptive_sizes(void **state)
{
    (void)state;
    static uint64_t r[512];
    for (unsigned groups = 0; groups < 64; groups++)
        for (unsigned lbr = 0; lbr < 32; lbr += 7) {
            uint64_t cfg = groups | (uint64_t)lbr << 24 |
                           (groups & MSR_PEBS_DATA_CFG_CNTR ? msr_pebs_data_cfg_counters(0x85, 0x9) : 0);
            uint32_t size = make(r, cfg), words = 0;
            struct cairn_pebs_walk walk;
            struct cairn_pebs_field f;
            cairn_pebs_walk(&walk, 6, (const uint8_t *)r, size);
            while (cairn_pebs_next(&walk, &f))
                assert_int_equal(f.at, 8 * words++);
            assert_int_equal(walk.at, size);
        }
}

static void adaptive_names(void **state)
{
    (void)state;
    static uint64_t r[512];
    uint64_t value;
    uint32_t size = make(r, 0x3F | 1u << 24 | msr_pebs_data_cfg_counters(0x82, 0x4));
    const uint32_t mem = sizeof(struct ds_pebs_basic), gpr = mem + sizeof(struct ds_pebs_meminfo);
    const uint32_t xmm = gpr + sizeof(struct ds_pebs_gpr), lbr = xmm + sizeof(struct ds_pebs_xmm);
    const uint32_t cntr = lbr + 2 * sizeof(struct ds_pebs_lbr), values = cntr + sizeof(struct ds_pebs_cntr);
    NAMED(6, r, size, offsetof(struct ds_pebs_basic, head), "head");
    NAMED(6, r, size, offsetof(struct ds_pebs_basic, counters), "counters");
    NAMED(6, r, size, mem + offsetof(struct ds_pebs_meminfo, latency), "latency");
    NAMED(6, r, size, gpr + offsetof(struct ds_pebs_gpr, rcx), "RCX"); /* not where formats 0 to 3 have it */
    NAMED(6, r, size, gpr + offsetof(struct ds_pebs_gpr, rbx), "RBX");
    NAMED(6, r, size, gpr + offsetof(struct ds_pebs_gpr, rdi), "RDI");
    NAMED(6, r, size, xmm + 8, "XMM0.high");
    NAMED(6, r, size, xmm + 15 * 16, "XMM15.low");
    NAMED(6, r, size, lbr + 24 + 16, "1.info");
    NAMED(6, r, size, values, "PMC1");
    NAMED(6, r, size, values + 8, "PMC7");
    NAMED(6, r, size, values + 16, "FIXED_CTR2");
    NAMED(6, r, size, values + 24, "slots");
    NAMED(6, r, size, values + 32, "PERF_METRICS");
    assert_int_equal(values + 40, size);
    assert_true(cairn_pebs_get(6, (const uint8_t *)r, size, CAIRN_PEBS_RIP, &value) && value == gpr + 8);
    assert_true(cairn_pebs_get(6, (const uint8_t *)r, size, CAIRN_PEBS_DATA_ADDRESS, &value) && value == mem);
}

/* A head that names more than the record holds: what is there is shown, nothing behind it is read. */
static void cut_records(void **state)
{
    (void)state;
    uint64_t whole[512], value;
    uint32_t size = make(whole, 0x3F | 31u << 24 | msr_pebs_data_cfg_counters(0xFFFF, 0xFF));
    for (uint32_t left = 32; left < size; left += 8) {
        uint8_t *r = malloc(left); /* of that size, for the address sanitizer */
        struct cairn_pebs_walk walk;
        struct cairn_pebs_field f;
        memcpy(r, whole, left);
        cairn_pebs_walk(&walk, 6, r, left);
        while (cairn_pebs_next(&walk, &f))
            ;
        assert_int_equal(walk.at, left);
        assert_int_equal(cairn_pebs_get(6, r, left, CAIRN_PEBS_RIP, &value), left >= 32 + 32 + 16);
        free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_layouts),
        cmocka_unit_test(adaptive_sizes),
        cmocka_unit_test(adaptive_names),
        cmocka_unit_test(cut_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
