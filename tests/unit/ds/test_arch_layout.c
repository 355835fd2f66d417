/* SPDX-License-Identifier: MIT */
/* Accessors of ds/pebs23_layout.h: sizes of records and of their groups, fragments, the fields of registers. */
#include <stdbool.h>

#include "ds/pebs23_layout.h"
#include "tests/unit/support/cmocka.h"

static void sizes(void **state)
{
    (void)state;
    const uint64_t gpr = IA32_PMC_CFG_C_GPR, xmm = IA32_PMC_CFG_C_XMM, lbr_all = IA32_PMC_CFG_C_LBR;
    const uint64_t everything = IA32_PMC_CFG_C_GROUPS & ~IA32_PMC_CFG_C_EGPR;
    static const uint64_t lbr_8 = UINT64_C(1) << 40, lbr_16 = UINT64_C(2) << 40;
    const struct {
        uint64_t cfg_c;
        uint32_t words, depth, bytes;
    } rows[] = {
        {0, 0, 32, 64},
        {gpr, 0, 32, 224},
        {gpr | IA32_PMC_CFG_C_AUX, 0, 32, 288},
        {gpr | xmm, 0, 32, 496},
        {gpr | xmm | IA32_PMC_CFG_C_YMMH, 0, 32, 752},
        {IA32_PMC_CFG_C_EGPR, 0, 32, 208},
        {IA32_PMC_CFG_C_OPMASK, 0, 32, 144},
        {IA32_PMC_CFG_C_ZMMH | IA32_PMC_CFG_C_H16ZMM, 0, 32, 1616},
        {lbr_8, 0, 32, 304},
        {lbr_16, 0, 32, 496},
        {lbr_all, 0, 32, 880},
        {lbr_all, 0, 8, 304},
        {IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED, 4, 32, 112},
        {IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED, 3, 32, 112}, /* padded */
        {IA32_PMC_CFG_C_CNTR_METRICS, 2, 32, 96},
        {everything, 16, 32, 3376},
        {everything | IA32_PMC_CFG_C_EGPR, 16, 32, DS_ARCH_RECORD_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ds_arch_record_bytes(rows[i].cfg_c, rows[i].words, rows[i].depth) != rows[i].bytes)
            fail_msg("row %zu: %u", i, ds_arch_record_bytes(rows[i].cfg_c, rows[i].words, rows[i].depth));
    assert_int_equal(ds_arch_xer_bytes(IA32_PMC_CFG_C_XER), 16 + 256 + 256 + 128 + 64 + 512 + 1024);
}

/* A record and all that continues it; 0 where it is cut off or a size in it cannot be. */
static void fragments(void **state)
{
    (void)state;
    const uint64_t basic = DS_ARCH_HEADER_BASIC, cont = DS_ARCH_HEADER_CONT;
    const struct {
        uint64_t first;
        uint32_t at; /* of another header */
        uint64_t second;
        uint32_t left, size;
    } rows[] = {
        {basic | 64, 0, 0, 64, 64},
        {basic | 64, 0, 0, 63, 0},
        {basic | 64, 0, 0, 0, 0},
        {basic | 64, 0, 0, 15, 0},
        {basic | 64, 64, basic | 64, 256, 64},
        {basic | 104, 0, 0, 112, 112}, /* its size does not count its padding */
        {basic | 104, 0, 0, 104, 0},
        {basic | cont | 64, 64, IA32_PMC_CFG_C_GPR | 176, 240, 240},
        {basic | cont | 64, 64, IA32_PMC_CFG_C_GPR | 176, 239, 0},
        {basic | cont | 64, 64, IA32_PMC_CFG_C_GPR | 176, 64, 0},
        {basic | cont | 64, 64, 0, 240, 0}, /* nothing there */
        {16, 16, basic | 64, 80, 80},       /* a null header */
        {16, 0, 0, 16, 0},
        {basic, 0, 0, 64, 0},
        {basic | 8, 0, 0, 64, 0},
        {basic | 68, 0, 0, 256, 0},
        {UINT64_MAX, 0, 0, 256, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t words[32] = {0};
        words[rows[i].at / 8] = rows[i].second;
        words[0] = rows[i].first;
        if (ds_record_size_at(DS_FORMAT_ARCH, words, rows[i].left) != rows[i].size)
            fail_msg("row %zu: %u", i, ds_record_size_at(DS_FORMAT_ARCH, words, rows[i].left));
    }
    const uint64_t other[25] = {0};
    assert_int_equal(ds_record_size_at(3, other, sizeof other), 200); /* another format */
}

static void registers(void **state)
{
    (void)state;
    static const uint32_t bytes[] = {4096, 8192, 16384, 32768, 65536};
    for (unsigned size = 0; size < 5; size++)
        assert_int_equal(ia32_pebs_base_bytes(0x12340000 | size), bytes[size]);
    assert_int_equal(ia32_pebs_base_bytes(0xF), 128 << 20);
    const uint64_t index = UINT64_C(0x0000F0018000EFC0);
    assert_int_equal(ia32_pebs_index_wr(index), 0xEFC0);
    assert_int_equal(ia32_pebs_index_thresh(index), 0xF000);
    assert_true(ia32_pebs_index(0xEFC0, 0xF000) == (index & ~(IA32_PEBS_INDEX_FULL | IA32_PEBS_INDEX_EN)));
    assert_true(IA32_PEBS_INDEX_VALID == UINT64_C(0x07FFFFF187FFFFF0));
    assert_true(cpuid_23h_4_groups(0x60E60378) == UINT64_C(0x60E6037800000000));
    assert_int_equal(ia32_pmc_cfg_c_lbr(UINT64_C(0xA0000300FFFFD8F0)), DS_ARCH_LBR_ALL);
    assert_int_equal(ds_arch_lbr_entries(UINT64_C(0x200) << 32, 32), 16);
    assert_int_equal(ds_arch_lbr_entries(UINT64_C(0x300) << 32, 8), 8);
    assert_int_equal(ds_arch_lbr_entries(0, 32), 0);
    assert_true(ds_arch_header_null(16) && !ds_arch_header_null(0) && !ds_arch_header_null(DS_ARCH_HEADER_BASIC | 64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(fragments),
        cmocka_unit_test(registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
