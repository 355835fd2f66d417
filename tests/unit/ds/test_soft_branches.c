/* SPDX-License-Identifier: MIT */
/* What stepping tells the model of branches: their classes, its branch history, BTS. */
#include <stdlib.h>

#include "tests/unit/ds/soft/soft_machine.h"
#include "tests/unit/support/cmocka.h"

static void branch_classes(void **state)
{
    (void)state;
    enum { COND = 1, CALL = 2, RET = 4, TAKEN = 8, FAR = 16 };
    enum { ZF = 0x40 };
    static const struct {
        const char *name;
        uint8_t code[4];
        int to; /* from its address */
        uint64_t rflags, rcx;
        unsigned events;
        bool taken, faults;
    } rows[] = {
        {"je +16, taken", {0x74, 0x10}, 18, ZF, 0, COND | TAKEN, true, false},
        {"je +16, not taken", {0x74, 0x10}, 2, 0, 0, COND, false, false},
        {"je +0, taken", {0x74, 0}, 2, ZF, 0, COND | TAKEN, true, false},
        {"je +0, not taken", {0x74, 0}, 2, 0, 0, COND, false, false},
        {"loop +0, taken", {0xE2, 0}, 2, 0, 5, COND | TAKEN, true, false},
        {"loop +0, not taken", {0xE2, 0}, 2, 0, 0, COND, false, false},
        {"jmp +0", {0xEB, 0}, 2, 0, 0, TAKEN, true, false},
        {"jmp rax", {0xFF, 0xE0}, 77, 0, 0, TAKEN, true, false},
        {"call rax, to the next", {0xFF, 0xD0}, 2, 0, 0, CALL | TAKEN, true, false},
        {"ret", {0xC3}, -40, 0, 0, RET | TAKEN, true, false},
        {"retfq", {0x48, 0xCB}, -40, 0, 0, FAR, true, false},
        {"iretq", {0x48, 0xCF}, 300, 0, 0, FAR, true, false},
        {"syscall", {0x0F, 0x05}, 300, 0, 0, FAR, true, false},
        {"nop", {0x90}, 1, 0, 0, 0, false, false},
        {"je +16, elsewhere: a fault", {0x74, 0x10}, 40, ZF, 0, 0, false, true},
        {"jmp +0, elsewhere: a fault", {0xEB, 0}, 40, 0, 0, 0, false, true},
    };
    static const uint8_t umasks[] = {0x11, 0x02, 0x08, 0x20, 0x40}; /* of Ice Lake, in the order of the bits above */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        soft_begin("icelake", "instructions:1000000000:plain,branches:1000000000:plain", 8);
        soft_write_msr(IA32_PERF_GLOBAL_CTRL, DS_BIT(32) | 0x3F);
        for (unsigned c = 0; c < 5; c++) {
            soft_write_msr(IA32_PERFEVTSEL0 + 1 + c,
                           ia32_perfevtsel(0xC4, umasks[c]) | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
            soft_write_msr(IA32_A_PMC0 + 1 + c, 0);
        }
        frame = (struct arch_trap_frame){.cs = 8, .rcx = rows[i].rcx};
        soft_step(rows[i].code, rows[i].code + rows[i].to, TF | rows[i].rflags);
        unsigned events = 0;
        for (unsigned c = 0; c < 5; c++)
            events |= (unsigned)soft_read_msr(IA32_A_PMC0 + 1 + c) << c;
        bool branch = rows[i].code[0] != 0x90 && !rows[i].faults;
        if (events != rows[i].events || soft_branches() != branch || soft_instructions() != !rows[i].faults)
            fail_msg("%s: events %x", rows[i].name, events);
    }
}

/* Branch history in the record: what was taken, from where to where, an instruction to its own successor included. */
static void branch_history(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x74, 0x00, 0x75, 0x00, 0xC3, 0x90, 0x90};
    const uint64_t at = (uintptr_t)code;
    soft_begin("icelake", "instructions:1000000000", 8);
    soft_write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    soft_write_msr(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_LBR | UINT64_C(3) << 24);
    soft_write_msr(IA32_FIXED_CTR0, DS_BIT(48) - 6); /* precise distribution: the record comes with the 6th */
    soft_write_msr(IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
    soft_write_msr(IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
    frame = (struct arch_trap_frame){.cs = 8};
    soft_step(code, code + 1, TF | 0x40);
    soft_step(code + 1, code + 3, TF | 0x40); /* JE +0: taken */
    soft_step(code + 3, code + 5, TF | 0x40); /* JNE +0: not taken */
    soft_step(code + 5, code, TF);            /* RET */
    soft_step(code, code + 1, TF);
    soft_step(code + 1, code + 3, TF); /* JE +0: not taken */
    assert_int_equal(seen_count, 1);
    const struct ds_pebs_basic *basic = (const void *)(uintptr_t)seen[0].address;
    const struct ds_pebs_lbr *lbr = (const void *)(basic + 1);
    assert_int_equal(basic->eventing_ip, at + 1);
    assert_int_equal(lbr[0].from, at + 5);
    assert_int_equal(lbr[0].to, at);
    assert_int_equal(lbr[1].from, at + 1);
    assert_int_equal(lbr[1].to, at + 3);
    assert_int_equal(lbr[2].from, 0);
}

/* The truth of each branch that BTS was to store, and how many they were, stored or not. */
static void branches_to_store(void **state)
{
    (void)state;
    static const uint8_t jump[] = {0xEB, 0x02, 0x90, 0x90, 0x90}, not_taken[] = {0x74, 0x02, 0x90, 0x90, 0x90};
    static const uint8_t mov_ss[] = {0x8E, 0xD0, 0x90, 0x90};
    static struct ds_bts branch_trace;
    static struct ds_bts_record buffer[171] __attribute__((aligned(4096)));
    struct ds_refusal refusal;
    for (unsigned mode = DS_BTS_CIRCULAR; mode <= DS_BTS_INTERRUPT; mode++) {
        soft_begin("icelake", COUNT_BOTH, 8);
        frame = (struct arch_trap_frame){.cs = 8, .rsp = 0x7000};
        soft_step(jump, jump + 4, TF); /* BTS is off */
        assert_int_equal(branches_seen, 0);
        assert_int_equal(ds_bts_init(&branch_trace, ds, mode, DS_BTS_ALL, 3, buffer), 0);
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        for (unsigned i = 0; i < 5; i++) {
            soft_step(jump, jump + 4, TF);
            soft_step(jump + 4, jump + 5, TF);
            soft_step(not_taken, not_taken + 2, TF);
            soft_step(mov_ss, mov_ss + 3, TF);
        }
        assert_int_equal(branches_seen, 5);
        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(branch_seen[i].kind, CAIRN_TRUTH_BRANCH);
            assert_int_equal(branch_seen[i].cpu, 3);
            assert_int_equal(branch_seen[i].stored, mode == DS_BTS_CIRCULAR || i < 3);
            assert_int_equal(branch_seen[i].tid, 4711);
            assert_int_equal(branch_seen[i].from, (uintptr_t)jump);
            assert_int_equal(branch_seen[i].to, (uintptr_t)jump + 4);
            assert_int_equal(branch_seen[i].epoch, 0);
            assert_true(i == 0 || branch_seen[i].tsc > branch_seen[i - 1].tsc);
        }
        assert_int_equal(ipis, mode == DS_BTS_INTERRUPT);
        ds_pause(ds);
        ds_bts_drain(ds, CAIRN_DS_SWITCH, 1);
        assert_int_equal(bts_last.records, 3);
        assert_int_equal(bts_last.lost, 2);
        soft_step(jump, jump + 4, TF);
        assert_int_equal(branch_seen[5].epoch, 1);
        ds_stop(ds);
        assert_int_equal(bts_last.records, 1);
        assert_int_equal(bts_last.lost, 0);
        soft_step(jump, jump + 4, TF);
        assert_int_equal(branches_seen, 6);
        assert_int_equal(ds_bts_init(&branch_trace, ds, mode, DS_BTS_ALL, 3, buffer),
                         0); /* a second time: its loss is its own */
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        soft_step(jump, jump + 4, TF);
        ds_stop(ds);
        assert_int_equal(bts_last.records, 1);
        assert_int_equal(bts_last.lost, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branch_classes),
        cmocka_unit_test(branch_history),
        cmocka_unit_test(branches_to_store),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(soft);
    free(ds);
    return failed;
}
