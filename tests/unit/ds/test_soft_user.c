/* SPDX-License-Identifier: MIT */
/* The stepping backend on programs in ring 3: what is whose, system calls, their own TF, pages that are not there. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/ds/soft/soft_machine.h"
#include "tests/unit/support/cmocka.h"

static void rings(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0xEB, 0x00, 0x90};
    static const char *const filters[] = {COUNT_USER, COUNT_KERNEL, COUNT_BOTH};
    for (unsigned i = 0; i < 3; i++) {
        soft_begin("icelake", filters[i], 8);
        frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE};
        soft_step(code, code + 1, TF);
        soft_step(code + 1, code + 3, TF);
        assert_int_equal(soft_instructions(), i == 1 ? 0 : 2);
        assert_int_equal(soft_branches(), i == 1 ? 0 : 1);
        frame.cs = 8;
        soft_step(code, code + 1, TF);
        assert_int_equal(soft_instructions(), i == 0 ? 2 : i == 1 ? 1 : 3);
    }
}

static void syscall_retires(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x0F, 0x05, 0x8E, 0xD0, 0x0F, 0x05, 0x90};
    soft_begin("icelake", COUNT_USER, 8);
    soft_system_call(code, code);
    assert_int_equal(soft_instructions(), 1);
    assert_int_equal(soft_branches(), 1);
    soft_system_call(code + 2, code + 4); /* behind MOV SS, whose #DB did not come */
    assert_int_equal(soft_instructions(), 3);
    assert_int_equal(soft_branches(), 2);
    ds_soft_system_call(soft, &frame); /* of a thread that is not stepped */
    assert_int_equal(soft_instructions(), 3);
    ds_resume_user(ds, &frame);
    assert_int_equal(frame.rflags, TF | 0x202);
    assert_int_equal(cpu.step_on, 1);
    assert_int_equal(cpu.step_ip, frame.rip);
    ds_resume_user(NULL, &frame);
}

/* The #DB that MOV SS has held back comes after SYSCALL, at CPL 0 with the program's stack. */
static void debug_at_syscall_entry(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x0F, 0x05, 0x90};
    soft_begin("icelake", COUNT_USER, 8);
    frame = (struct arch_trap_frame){.cs = 8, .rcx = (uintptr_t)code + 4, .r11 = TF | 0x202};
    assert_true(soft_step(code, syscall_entry, 2));
    assert_int_equal(soft_instructions(), 2);
    assert_int_equal(soft_branches(), 1);
    assert_int_equal(frame.rflags, 2); /* the kernel's entry is not stepped */
    assert_int_equal(frame.r11, 0x202);
    assert_int_equal(cpu.step_on, 0);
    frame.cs = ARCH_USER_CODE;
    ds_soft_system_call(soft, &frame); /* counts nothing again */
    assert_int_equal(soft_instructions(), 2);
}

/* The record of a SYSCALL: RIP at the kernel's entry, RFLAGS as masked, in R11 the program's, without our TF. */
static void syscall_record(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x0F, 0x05, 0x90};
    const uint64_t own = 0x40246 | ARCH_RFLAGS_IF;    /* AC is masked as well */
    for (unsigned late = 0; late < 2; late++) {       /* by the entry's report; by a #DB right there */
        soft_begin("icelake", "instructions:2:u", 8); /* precise distribution: the second writes */
        cpu.step_on = 1;
        cpu.step_ip = (uintptr_t)code;
        frame = (struct arch_trap_frame){.rsp = 0x7000, .rcx = (uintptr_t)code + 4, .r11 = TF | own};
        if (late) {
            frame.cs = 8;
            frame.rip = (uintptr_t)syscall_entry;
            frame.rflags = own & ~ARCH_SYSCALL_RFLAGS_OFF;
            assert_true(ds_soft_step(soft, &frame));
        } else {
            frame.cs = ARCH_USER_CODE;
            frame.rip = frame.rcx;
            frame.rflags = frame.r11;
            ds_soft_system_call(soft, &frame);
            assert_int_equal(frame.rflags, own);
        }
        assert_int_equal(frame.r11, own);
        assert_int_equal(seen_count, 1);
        const struct ds_pebs_basic *basic = (const void *)(uintptr_t)seen[0].address;
        const struct ds_pebs_gpr *gpr = (const void *)(basic + 1);
        assert_int_equal(basic->eventing_ip, (uintptr_t)code + 2);
        assert_int_equal(gpr->rip, (uintptr_t)syscall_entry);
        assert_int_equal(gpr->rflags, 0x46);
        assert_int_equal(words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_RFLAGS], 0x46);
        assert_int_equal(words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_MSR], MSR_PEBS_DATA_CFG_GPR);
        assert_int_equal(gpr->rcx, (uintptr_t)code + 4);
        assert_int_equal(gpr->r8_r15[3], own);
        assert_int_equal(gpr->rsp, 0x7000);
    }
}

static void program_sets_tf(void **state) /* by POPF of either size, by IRET: its own #DB */
{
    (void)state;
    static const uint8_t rows[][2] = {{0x9D}, {0x66, 0x9D}, {0x48, 0x9D}, {0x48, 0xCF}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint8_t *next = rows[i] + 1 + (rows[i][1] != 0);
        soft_begin("icelake", COUNT_USER, 8);
        frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE};
        assert_false(soft_step(rows[i], next, 0x202 | TF));
        assert_int_equal(soft_instructions(), 1);
        assert_true(soft_step(rows[i], next, 0x202)); /* it loaded none */
        assert_int_equal(frame.rflags, 0x202 | TF);
        frame.cs = 8;
        assert_true(soft_step(rows[i], next, 0x202 | TF)); /* the kernel may */
    }
}

static void int1_is_no_step(void **state) /* a #DB of its own, whoever executes it */
{
    (void)state;
    static const uint8_t code[] = {0xF1, 0x90, 0x8E, 0xD0, 0xF1, 0x90};
    for (unsigned user = 0; user < 2; user++) {
        soft_begin("icelake", COUNT_BOTH, 8);
        frame = (struct arch_trap_frame){.cs = user ? ARCH_USER_CODE : 8};
        assert_false(soft_step(code, code + 1, TF));
        assert_int_equal(soft_instructions(), 0);
        assert_int_equal(soft_branches(), 0);
        assert_false(soft_step(code + 2, code + 5, TF)); /* behind MOV SS, which has retired */
        assert_int_equal(soft_instructions(), 1);
    }
}

/* The last instruction of a program's last page, and a stack that is not the program's. */
static void program_pages(void **state)
{
    (void)state;
    static uint8_t pages[3 * 4096];
    uint8_t *end = (uint8_t *)(((uintptr_t)pages + 2 * 4096) & ~UINT64_C(4095));
    memcpy(end - 3, (const uint8_t[]){0x48, 0x89, 0xE5}, 3);
    soft_begin("icelake", COUNT_USER, 8);
    hole = (uintptr_t)end;
    frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE, .rsp = (uintptr_t)end + 8};
    soft_step(end - 3, end, TF);
    assert_int_equal(soft_instructions(), 1);
    hole = UINT64_MAX;
    memcpy(end - 1, (const uint8_t[]){0x48, 0x89, 0xE5}, 3); /* one that lies in two pages */
    soft_step(end - 1, end + 2, TF);
    assert_int_equal(soft_instructions(), 2);
    soft_begin("icelake", COUNT_USER, 8); /* nothing is known of the bytes any more */
    hole = (uintptr_t)end;
    soft_step(end - 1, end + 2, TF); /* and the second page is not there: no instruction */
    assert_int_equal(soft_instructions(), 0);
    hole = (uintptr_t)end - 4096;
    soft_step(end - 3, end, TF); /* nor the first */
    assert_int_equal(soft_instructions(), 0);
    hole = (uintptr_t)end;
    end[8] = end[9] = 0xFF;
    static const uint8_t pushf[] = {0x9C, 0x90};
    soft_step(pushf, pushf + 1, TF);
    assert_int_equal(soft_instructions(), 1);
    assert_int_equal(end[9], 0xFF); /* what cannot be written is not written */
    hole = UINT64_MAX;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings),          cmocka_unit_test(syscall_retires), cmocka_unit_test(debug_at_syscall_entry),
        cmocka_unit_test(syscall_record), cmocka_unit_test(program_sets_tf), cmocka_unit_test(int1_is_no_step),
        cmocka_unit_test(program_pages),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(soft);
    free(ds);
    return failed;
}
