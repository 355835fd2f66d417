/* SPDX-License-Identifier: MIT */
/* The one table of record fields against the structures of ds/layout.h, and against the sizes records have; buffers of
 * records, and DS areas. */
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/pebs/pebs.h"

/* The field at `at`; each word of the record holds its own offset. */
static struct cairn_pebs_field field_at(unsigned format, const uint64_t *record, uint32_t size, uint32_t at)
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

/* A buffer of records: how many, and why it ends. `size` bytes of them, and no more, can be read. */
static int iterate(unsigned format, const void *bytes, size_t size, unsigned *records, size_t *at)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct cairn_pebs_buffer b;
    struct cairn_pebs_record r;
    int e;
    memcpy(copy, bytes, size);
    assert_int_equal(cairn_pebs_open(&b, format, copy, size), 0);
    for (*records = 0; (e = cairn_pebs_record(&b, &r)) == 1; ++*records) {
        assert_int_equal(r.format, format);
        assert_true(r.bytes == copy + r.at && r.at + r.size <= size);
        assert_int_equal(cairn_pebs_check(format, r.bytes, r.size), 0);
    }
    *at = b.at;
    free(copy);
    return e;
}

static void buffers(void **state)
{
    (void)state;
    static const unsigned formats[] = {0, 1, 2, 3, 4, 5, 6, CAIRN_PEBS_BTS};
    uint64_t r[3 * 64];
    unsigned records;
    size_t at;
    for (unsigned f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        const bool adaptive = formats[f] >= 4 && formats[f] <= 6;
        const uint32_t size = cairn_pebs_bytes(formats[f], MSR_PEBS_DATA_CFG_GPR);
        for (unsigned i = 0; i < 3; i++) {
            memset((uint8_t *)r + i * size, 0x11, size);
            if (adaptive)
                r[i * size / 8] = ds_pebs_head(MSR_PEBS_DATA_CFG_GPR, size);
        }
        for (uint32_t left = 0; left <= 3 * size; left++) {
            const int e = iterate(formats[f], r, left, &records, &at);
            assert_int_equal(e, left % size ? CAIRN_PEBS_E_CUT : 0);
            assert_int_equal(records, left / size);
            assert_int_equal(at, records * size);
        }
        if (!adaptive)
            continue;
        for (unsigned bad = 0; bad < 32; bad += bad < 16 ? 8 : 15) { /* 31: no multiple of 8 */
            r[size / 8] = ds_pebs_head(MSR_PEBS_DATA_CFG_GPR, bad);
            assert_int_equal(iterate(formats[f], r, 3 * size, &records, &at), CAIRN_PEBS_E_SIZE);
            assert_int_equal(at, size);
        }
    }
}

static void errors(void **state)
{
    (void)state;
    struct cairn_pebs_buffer b;
    struct cairn_pebs_record r;
    uint64_t words[2] = {0};
    uint32_t whole;
    for (unsigned format = 7; format < 0x200; format++) {
        if (format == CAIRN_PEBS_ARCH || format == CAIRN_PEBS_BTS)
            continue;
        assert_int_equal(cairn_pebs_open(&b, format, words, sizeof(words)), CAIRN_PEBS_E_FORMAT);
        assert_int_equal(cairn_pebs_record(&b, &r), 0);
        assert_int_equal(cairn_pebs_size(format, words, sizeof(words), &whole), 0);
        assert_int_equal(whole, 0);
        assert_int_equal(cairn_pebs_bytes(format, 0), 0);
        assert_int_equal(cairn_pebs_area_bytes(format), 0);
    }
    for (int e = 0; e >= CAIRN_PEBS_E_GROUPS - 1; e--)
        for (int other = 0; other > e; other--)
            assert_string_not_equal(cairn_pebs_strerror(e), cairn_pebs_strerror(other));
    assert_string_equal(cairn_pebs_group_name(CAIRN_PEBS_PADDING), "PADDING");
    assert_string_equal(cairn_pebs_group_name(CAIRN_PEBS_PADDING + 1), "");
    assert_int_equal(cairn_pebs_version(), CAIRN_PEBS_VERSION);
    /* a record that names more than it has, and one that has more than it names */
    static uint64_t record[512];
    const uint32_t size = make(record, MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_LBR | 3u << 24);
    assert_int_equal(cairn_pebs_check(4, record, size), 0);
    assert_int_equal(cairn_pebs_check(4, record, size - 8), CAIRN_PEBS_E_GROUPS);
    assert_int_equal(cairn_pebs_check(4, record, size + 8), CAIRN_PEBS_E_GROUPS);
    assert_int_equal(cairn_pebs_check(3, record, 0xC8), 0);
    assert_int_equal(cairn_pebs_check(3, record, 0xD0), CAIRN_PEBS_E_GROUPS);
}

static void groups_and_branches(void **state)
{
    (void)state;
    static uint64_t r[512];
    struct cairn_pebs_branch b;
    const uint32_t size = make(r, MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_LBR | MSR_PEBS_DATA_CFG_METRICS | 3u << 24);
    const uint32_t lbr = sizeof(struct ds_pebs_basic) + sizeof(struct ds_pebs_gpr);
    assert_int_equal(cairn_pebs_groups(6, r, size),
                     1u << CAIRN_PEBS_BASIC | 1u << CAIRN_PEBS_GPR | 1u << CAIRN_PEBS_LBR | 1u << CAIRN_PEBS_CNTR);
    assert_int_equal(cairn_pebs_groups(3, r, 0xC8), 0);
    for (unsigned n = 0; n < 4; n++) {
        assert_true(cairn_pebs_branch(6, r, size, n, &b));
        assert_true(b.from == lbr + 24 * n && b.to == b.from + 8 && b.info == b.from + 16);
    }
    assert_false(cairn_pebs_branch(6, r, size, 4, &b));
    assert_false(cairn_pebs_branch(6, r, size, UINT32_MAX, &b));
    assert_false(cairn_pebs_branch(6, r, lbr + 40, 1, &b)); /* cut off in it */
    assert_true(cairn_pebs_branch(6, r, lbr + 48, 1, &b));
    assert_false(cairn_pebs_branch(3, r, 0xC8, 0, &b));
    make(r, MSR_PEBS_DATA_CFG_GPR);
    assert_false(cairn_pebs_branch(6, r, size, 0, &b));
}

static void bts(void **state)
{
    (void)state;
    const struct ds_bts_record r = {.from = 1, .to = 2, .flags = DS_BTS_PREDICTED};
    uint64_t value;
    NAMED(CAIRN_PEBS_BTS, (const uint64_t *)&r, sizeof(r), 0, "from");
    NAMED(CAIRN_PEBS_BTS, (const uint64_t *)&r, sizeof(r), 8, "to");
    NAMED(CAIRN_PEBS_BTS, (const uint64_t *)&r, sizeof(r), 16, "flags");
    assert_true(cairn_pebs_get(CAIRN_PEBS_BTS, &r, sizeof(r), CAIRN_PEBS_BTS_TO, &value) && value == 2);
    assert_false(cairn_pebs_get(CAIRN_PEBS_BTS, &r, sizeof(r), CAIRN_PEBS_RIP, &value));
    assert_false(cairn_pebs_get(4, &r, sizeof(r), CAIRN_PEBS_BTS_TO, &value));
}

static void areas(void **state)
{
    (void)state;
    static const struct {
        unsigned format, gp, fixed;
    } forms[] = {{0, 4, 0}, {3, 4, 0}, {4, 8, 4}, {5, 32, 16}, {6, 32, 16}};
    uint64_t words[0x1C0 / 8];
    for (unsigned i = 0; i < sizeof(words) / 8; i++)
        words[i] = i;
    for (unsigned f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        const unsigned format = forms[f].format, gp = forms[f].gp, fixed = forms[f].fixed;
        const uint32_t size = cairn_pebs_area_bytes(format);
        struct cairn_pebs_area a;
        assert_int_equal(size, 0x40 + 8 * (gp + fixed));
        uint8_t *copy = malloc(size);
        memcpy(copy, words, size);
        assert_int_equal(cairn_pebs_area(format, copy, size, &a), 0);
        assert_int_equal(cairn_pebs_area(format, copy, size - 1, &a), CAIRN_PEBS_E_CUT);
        free(copy);
        assert_true(a.bts_base == 0 && a.bts_threshold == 3 && a.pebs_base == 4 && a.pebs_threshold == 7);
        for (unsigned n = 0; n < CAIRN_PEBS_COUNTERS_MOST; n++) {
            const bool has = n < 32 ? n < gp : n - 32 < fixed;
            assert_int_equal(a.counters >> n & 1, has);
            assert_int_equal(a.reset[n], !has ? 0 : n < 32 ? 8 + n : 8 + gp + n - 32);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_layouts),
        cmocka_unit_test(adaptive_sizes),
        cmocka_unit_test(adaptive_names),
        cmocka_unit_test(cut_records),
        cmocka_unit_test(buffers),
        cmocka_unit_test(errors),
        cmocka_unit_test(groups_and_branches),
        cmocka_unit_test(bts),
        cmocka_unit_test(areas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
