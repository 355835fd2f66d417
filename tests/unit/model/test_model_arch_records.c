/* SPDX-License-Identifier: MIT */
/* Records of architectural PEBS, byte by byte: each group, padding, fragments, counters and metrics. */
#include <stdbool.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define GP_CFG_C(i) (0x1903u + 4 * (i))
#define FX_CFG_C(i) (0x1983u + 4 * (i))
#define EN          DS_BIT(63)
#define AUX         DS_BIT(62)
#define GPR         DS_BIT(61)
#define XMM         DS_BIT(49)
#define LBR(n)      ((uint64_t)(n) << 40)
#define METRICS     DS_BIT(38)
#define FIXED       DS_BIT(37)
#define GP          DS_BIT(36)
#define ALLOW       DS_BIT(35)

static struct ds_bench bench, *b = &bench;

static uint64_t word(uint32_t offset)
{
    return *ds_bench_physical(b, offset);
}

static void assert_word(uint32_t offset, uint64_t expected)
{
    if (word(offset) != expected)
        fail_msg("offset %u: %llx, not %llx", offset, (unsigned long long)word(offset), (unsigned long long)expected);
}

static void assert_zeros(uint32_t offset, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 8)
        assert_word(offset + i, 0);
}

/* A buffer of 64 KiB; PMC0 is about to record an instruction with these groups. What lies there is not 0. */
static void init(const struct ds_model_policy *policy, uint64_t cfg_c)
{
    ds_bench_init(b, ds_model_preset("pantherlake"), policy, 0, 0);
    ds_bench_arch(b, 4, 0x10000);
    memset(b->physical, 0xEE, sizeof b->physical);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    ds_bench_write(b, GP_CFG_C(0), cfg_c);
}

/* ---- headers ----------------------------------------------------------------------------------------------------- */

static void headers(void **state)
{
    (void)state;
    static const struct {
        uint64_t cfg_c;
        uint32_t bytes;
        uint64_t header;
        uint8_t depth, gp, fixed; /* branch history; counters that may be shown */
    } rows[] = {
        {EN, 64, 0x8000000040000040, 32, 0, 0},
        {EN | GPR, 224, 0xA0000000400000E0, 32, 0, 0},
        {EN | AUX, 128, 0xC000000040000080, 32, 0, 0},
        {EN | AUX | GPR, 288, 0xE000000040000120, 32, 0, 0},
        {EN | GPR | XMM, 496, 0xA0020000400001F0, 32, 0, 0},
        {EN | LBR(1), 304, 0x8000010040000130, 32, 0, 0},
        {EN | LBR(2), 496, 0x80000200400001F0, 32, 0, 0},
        {EN | LBR(3), 880, 0x8000030040000370, 32, 0, 0},
        {EN | LBR(3), 304, 0x8000030040000130, 8, 0, 0},
        {EN | LBR(3), 496, 0x80000300400001F0, 16, 0, 0},
        {EN | LBR(2), 496, 0x80000200400001F0, 8, 0, 0}, /* what is beyond the depth is 0 */
        {EN | GP | FIXED, 112, 0x8000003040000070, 32, 2, 2},
        {EN | GP | FIXED, 112, 0x8000003040000070, 32, 2, 1}, /* 104, padded */
        {EN | GP | FIXED, 80, 0x8000003040000050, 32, 0, 0},
        {EN | GP, 160, 0x80000010400000A0, 32, 10, 4},
        {EN | FIXED, 112, 0x8000002040000070, 32, 10, 4},
        {EN | METRICS, 96, 0x8000004040000060, 32, 2, 2},
        /* all that the model has: 16 + 48 + 64 + 160 + 272 + 816 + 16 + 14 * 8 + 16 */
        {EN | AUX | GPR | XMM | LBR(3) | GP | FIXED | METRICS, 1520, 0xE0020370400005F0, 32, 10, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        init(NULL, rows[i].cfg_c);
        ds_bench_write(b, IA32_LBR_DEPTH, rows[i].depth);
        for (unsigned c = 0; c < 10; c++)
            ds_bench_write(b, GP_CFG_C(c), (c == 0 ? rows[i].cfg_c : 0) | (c < rows[i].gp ? ALLOW : 0));
        for (unsigned c = 0; c < 4; c++)
            ds_bench_write(b, FX_CFG_C(c), c < rows[i].fixed ? ALLOW : 0);
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->stored, 1);
        assert_word(0, rows[i].header);
        assert_word(8, 0);
        assert_int_equal(ds_bench_index(b), rows[i].bytes);
        assert_int_equal(ds_arch_record_bytes(rows[i].cfg_c,
                                              (rows[i].cfg_c & GP ? rows[i].gp : 0u) +
                                                  (rows[i].cfg_c & FIXED ? rows[i].fixed : 0u) +
                                                  (rows[i].cfg_c & METRICS ? 2 : 0),
                                              rows[i].depth),
                         rows[i].bytes);
        assert_int_equal(ds_record_size_at(DS_FORMAT_ARCH, b->physical, rows[i].bytes), rows[i].bytes);
        assert_int_equal(ds_record_size_at(DS_FORMAT_ARCH, b->physical, rows[i].bytes - 1), 0);
        assert_word(rows[i].bytes, UINT64_C(0xEEEEEEEEEEEEEEEE)); /* nothing behind it is written */
    }
    init(NULL, EN);
    b->registers.compatibility = true;
    ds_bench_step(b, 1, 0);
    assert_word(0, UINT64_C(0x8000000000000040));
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void basic_and_gpr(void **state)
{
    (void)state;
    init(NULL, EN | GPR);
    const struct ds_model_registers *r = &b->registers;
    ds_bench_step(b, 1, 0);
    static const uint8_t first[16] = {0xE0, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0xA0};
    assert_memory_equal(b->physical, first, 16);
    const uint64_t expected[] = {
        r->eventing_ip,
        1,
        r->tsc,
        DS_ARCH_RETIRE_VALID | 1,
        0,
        0, /* each instruction takes a cycle */
        r->rflags,
        r->rip,
        r->rax,
        r->rcx,
        r->rdx,
        r->rbx,
        r->rsp,
        r->rbp,
        r->rsi,
        r->rdi,
    };
    for (uint32_t i = 0; i < sizeof expected / 8; i++)
        assert_word(16 + 8 * i, expected[i]);
    for (uint32_t i = 0; i < 8; i++)
        assert_word(144 + 8 * i, r->r8_r15[i]);
    assert_zeros(208, 16); /* SSP: no shadow stack */
}

static void aux(void **state)
{
    (void)state;
    static const struct {
        uint64_t event, address;
    } rows[] = {{0x81D0, 0x5000}, {0x82D0, 0x6000}, {0x00C0, 0}};
    for (size_t i = 0; i < 3; i++) {
        const struct ds_model_retired retired = {
            .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_LOAD) | DS_BIT(DS_MODEL_STORE),
            .load_address = 0x5000,
            .store_address = 0x6000,
        };
        init(NULL, EN | AUX);
        ds_bench_write(b, IA32_PERFEVTSEL0, rows[i].event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
        assert_int_equal(ds_model_retire(&b->model, &retired), 0);
        assert_word(64, rows[i].address);
        assert_zeros(72, 56); /* data source, latencies, TSX: not known */
    }
}

static void xmm(void **state)
{
    (void)state;
    for (int unknown = 0; unknown < 2; unknown++) {
        init(NULL, EN | XMM);
        if (unknown)
            b->model.host.xmm = NULL;
        ds_bench_step(b, 1, 0);
        assert_word(0, UINT64_C(0x8002000040000150));
        assert_word(64, unknown ? 0 : 2); /* XSTATE component 1: its values are there */
        assert_word(72, 0);
        for (uint32_t i = 0; i < 32; i++)
            assert_word(80 + 8 * i, unknown ? 0 : b->xmm.xmm[i / 2][i % 2]);
    }
}

static void lbr(void **state)
{
    (void)state;
    init(NULL, EN | LBR(1));
    const uint64_t control = IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS | IA32_LBR_CTL_BRANCHES;
    ds_bench_write(b, IA32_LBR_CTL, control);
    ds_bench_write(b, IA32_A_PMC0, MINUS(7));
    for (unsigned i = 1; i <= 6; i++)
        ds_bench_branch(b, i, 0);
    ds_bench_step(b, 1, 0);
    assert_word(64, 0);
    assert_word(72, control);
    assert_word(80, 32);
    assert_zeros(88, 24); /* LER */
    for (uint32_t i = 0; i < 6; i++) {
        assert_word(112 + 24 * i, 0x1006 - i); /* the newest first */
        assert_word(120 + 24 * i, 0x2006 - i);
    }
    assert_zeros(112 + 24 * 6, 48);
}

/* Counters that may be shown, as they stand at the record: the one that causes it is not reloaded yet. */
static void counters(void **state)
{
    (void)state;
    init(NULL, EN | GP | FIXED | ALLOW | 0xFFFFFFF0);
    ds_bench_write(b, GP_CFG_C(3), ALLOW);
    ds_bench_write(b, GP_CFG_C(9), ALLOW);
    ds_bench_write(b, GP_CFG_C(4), GP | FIXED); /* its own groups do not show it */
    ds_bench_write(b, FX_CFG_C(1), ALLOW);
    ds_bench_write(b, IA32_A_PMC0 + 3, 0x333);
    ds_bench_write(b, IA32_A_PMC0 + 9, 0x999);
    ds_bench_write(b, IA32_FIXED_CTR0 + 1, 0x111);
    ds_bench_step(b, 1, 0);
    assert_word(0, UINT64_C(0x8000003040000070));
    assert_word(64, UINT64_C(0x0000000200000209));
    assert_word(72, 0);
    assert_word(80, 0); /* PMC0 has wrapped */
    assert_word(88, 0x333);
    assert_word(96, 0x999);
    assert_word(104, 0x111);
    assert_int_equal(PMC(b, 0), MINUS(16));
    /* One fewer: padding, of zeros, within the record's size or by the policy not. */
    for (int apart = 0; apart < 2; apart++) {
        init(&(struct ds_model_policy){.arch_padding_apart = apart}, EN | GP | FIXED | ALLOW | 0xFFFFFFFF);
        ds_bench_write(b, FX_CFG_C(1), ALLOW);
        ds_bench_write(b, FX_CFG_C(2), ALLOW);
        ds_bench_step(b, 2, 0);
        for (uint32_t at = 0; at < 224; at += 112) {
            assert_word(at, apart ? UINT64_C(0x8000003040000068) : UINT64_C(0x8000003040000070));
            assert_word(at + 64, UINT64_C(0x0000000600000001));
            assert_word(at + 104, 0);
        }
        assert_int_equal(ds_bench_index(b), 224);
        assert_int_equal(ds_record_size_at(DS_FORMAT_ARCH, b->physical, 224), 112);
    }
}

static void metrics(void **state)
{
    (void)state;
    for (int clear = 0; clear < 2; clear++) {
        init(NULL, EN | METRICS | FIXED | ALLOW);
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, clear ? DS_BIT(14) : 0);
        ds_bench_write(b, IA32_FIXED_CTR0 + 3, 0x5107);
        ds_bench_write(b, MSR_PERF_METRICS, 0x0102030405060708);
        ds_bench_step(b, 1, 0);
        assert_word(0, UINT64_C(0x8000006040000060));
        assert_word(64, 0);
        assert_word(72, 3);
        assert_word(80, 0x5107);
        assert_word(88, 0x0102030405060708);
        assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + 3), clear ? 0 : 0x5107);
        assert_true(ds_bench_read(b, MSR_PERF_METRICS) == (clear ? 0 : 0x0102030405060708));
        /* a record that is dropped takes nothing */
        ds_bench_write(b, MSR_PERF_METRICS, 7);
        ds_bench_write(b, IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN | IA32_PEBS_INDEX_FULL);
        ds_bench_write(b, IA32_A_PMC0, MINUS(1));
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->dropped, 1);
        assert_int_equal(ds_bench_read(b, MSR_PERF_METRICS), 7);
    }
    /* the efficient core has none */
    ds_bench_init(b, ds_model_preset("clearwaterforest"), NULL, 0, 0);
    assert_int_equal(ds_model_wrmsr(&b->model, GP_CFG_C(0), EN | METRICS), -EFAULT);
}

/* Each counter's own groups; one record for two has those of both, and the longer history. */
static void groups_of_each(void **state)
{
    (void)state;
    init(NULL, EN | AUX | LBR(2) | 0xFFFFFFFF);
    ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(3), 0);
    ds_bench_write(b, GP_CFG_C(1), EN | GPR | LBR(1));
    ds_bench_pebs_counter(b, 2, INSTRUCTIONS, MINUS(4), 0);
    ds_bench_write(b, GP_CFG_C(2), EN | XMM);
    ds_bench_step(b, 5, 0);
    static const struct {
        uint64_t counters, header;
    } rows[] = {
        {1, 0xC000020040000230}, {1, 0xC000020040000230}, {3, 0xE0000200400002D0},
        {1, 0xC000020040000230}, {5, 0xC002020040000340},
    };
    uint32_t at = 0;
    for (size_t i = 0; i < 5; i++) {
        assert_word(at, rows[i].header);
        assert_word(at + 24, rows[i].counters);
        at += ds_arch_header_size(word(at));
    }
    assert_int_equal(ds_bench_index(b), at);
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

static void fragments(void **state)
{
    (void)state;
    for (uint8_t policy = DS_MODEL_ARCH_CONT; policy <= DS_MODEL_ARCH_NULL; policy++) {
        const uint32_t first = policy == DS_MODEL_ARCH_NULL ? 16 : 0;
        init(&(struct ds_model_policy){.arch_fragments = policy}, EN | GPR);
        ds_bench_step(b, 1, 0);
        assert_word(0, first ? 16 : UINT64_C(0x80000000C0000040));
        assert_word(first, UINT64_C(0x80000000C0000040)); /* basic, and it goes on */
        assert_word(first + 16, b->registers.eventing_ip);
        assert_word(first + 64, UINT64_C(0x20000000400000B0)); /* GPR, the last */
        assert_word(first + 64 + 16, b->registers.rflags);
        assert_int_equal(ds_bench_index(b), first + 240);
        assert_int_equal(ds_record_size_at(DS_FORMAT_ARCH, b->physical, first + 240), first + 240);
        assert_int_equal(b->stored, 1);

        init(&(struct ds_model_policy){.arch_fragments = policy}, EN);
        ds_bench_step(b, 1, 0);
        assert_word(first, UINT64_C(0x8000000040000040));
        assert_int_equal(ds_bench_index(b), first + 64);

        init(&(struct ds_model_policy){.arch_fragments = policy, .arch_padding_apart = true},
             EN | AUX | GPR | XMM | LBR(1) | GP | ALLOW);
        ds_bench_step(b, 1, 0);
        static const uint64_t header[] = {0x80000000C0000040, 0x40000000C0000050, 0x20000000C00000B0,
                                          0x00020000C0000120, 0x00000100C0000100, 0x0000001040000028};
        uint32_t at = first;
        for (size_t i = 0; i < 6; i++) {
            assert_word(at, header[i]);
            assert_word(at + 8, 0);
            at += (ds_arch_header_size(header[i]) + 15) / 16 * 16;
        }
        assert_word(at - 8, 0); /* padding of the last */
        assert_int_equal(ds_bench_index(b), at);
    }
    /* it is dropped whole */
    init(&(struct ds_model_policy){.arch_fragments = DS_MODEL_ARCH_CONT}, EN | GPR);
    ds_bench_write(b, IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN | (0x10000 - 224));
    ds_bench_step(b, 1, 0);
    assert_int_equal(b->dropped, 1);
    assert_word(0x10000 - 224, UINT64_C(0xEEEEEEEEEEEEEEEE));
}

/* Over the end of a page, at an offset that only bytes would show. */
static void over_pages(void **state)
{
    (void)state;
    init(NULL, EN | GPR | XMM);
    ds_bench_write(b, IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN | 0xFF0);
    ds_bench_step(b, 1, 0);
    assert_word(0xFF0, UINT64_C(0xA0020000400001F0));
    assert_word(0x1000, b->registers.eventing_ip);
    assert_word(0xFF0 + 488, b->xmm.xmm[15][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),   cmocka_unit_test(basic_and_gpr),
        cmocka_unit_test(aux),       cmocka_unit_test(xmm),
        cmocka_unit_test(lbr),       cmocka_unit_test(counters),
        cmocka_unit_test(metrics),   cmocka_unit_test(groups_of_each),
        cmocka_unit_test(fragments), cmocka_unit_test(over_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
