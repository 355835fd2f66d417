/* SPDX-License-Identifier: MIT */
/* The stepping backend: its traps one by one, with frames made by hand. */
#include <stdlib.h>

#include "kernel/lib/errno.h"
#include "tests/unit/ds/soft/soft_machine.h"
#include "tests/unit/support/cmocka.h"

static void pause_ends_stepping(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    soft_begin("icelake", COUNT_BOTH, 8);
    ds_pause(ds);
    assert_int_equal(cpu.step_on, 0);
    frame = (struct arch_trap_frame){.rip = (uintptr_t)code, .rflags = TF | 2, .cs = 8};
    assert_true(ds_soft_step(soft, &frame));
    assert_int_equal(frame.rflags, 2);
    assert_int_equal(soft_instructions(), 0);
    assert_false(ds_soft_step(soft, &frame)); /* a #DB that is none of ours */
    ds_pause(NULL);
    ds_resume(NULL);
    ds_resume_frame(NULL, &frame);
}

static void one_instruction(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x48, 0x89, 0xE5, 0x90};
    soft_begin("icelake", COUNT_BOTH, 8);
    assert_true(soft_step(code, code + 3, TF | 2));
    assert_int_equal(soft_instructions(), 1);
    assert_int_equal(soft_branches(), 0);
    assert_int_equal(frame.rflags, TF | 2);
    assert_int_equal(cpu.step_ip, (uintptr_t)code + 3);
}

static void branch_taken_or_not(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x74, 0x10, 0xEB, 0xFE};
    soft_begin("icelake", COUNT_BOTH, 8);
    soft_step(code, code + 2, TF);
    soft_step(code, code + 18, TF);
    soft_step(code + 2, code + 2, TF); /* jumps to itself: retires all the same */
    assert_int_equal(soft_instructions(), 3);
    assert_int_equal(soft_branches(), 3);
}

static void rep_retires_once(void **state)
{
    (void)state;
    static const uint8_t code[] = {0xF3, 0xAA, 0x90};
    soft_begin("icelake", COUNT_BOTH, 8);
    for (int i = 0; i < 5; i++) {
        assert_true(soft_step(code, code, TF));
        assert_int_equal(soft_instructions(), 0);
        assert_int_equal(cpu.step_ip, (uintptr_t)code);
    }
    soft_step(code, code + 2, TF);
    assert_int_equal(soft_instructions(), 1);
}

static void load_ss_holds_back(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x74, 0x10, 0x90};
    static const uint8_t rep[] = {0x8E, 0xD0, 0xF3, 0xAA};
    soft_begin("icelake", COUNT_BOTH, 8);
    soft_step(code, code + 4, TF); /* MOV SS and JE: one #DB */
    assert_int_equal(soft_instructions(), 2);
    assert_int_equal(soft_branches(), 1);
    soft_step(code, code + 2, TF); /* not held back */
    assert_int_equal(soft_instructions(), 3);
    soft_step(rep, rep + 2, TF); /* MOV SS and one iteration */
    assert_int_equal(soft_instructions(), 4);
    soft_step(rep + 2, rep + 4, TF);
    assert_int_equal(soft_instructions(), 5);
}

static void sti_may_hold_back(void **state)
{
    (void)state;
    static const uint8_t code[] = {0xFB, 0xC3, 0x90};
    soft_begin("icelake", COUNT_BOTH, 8);
    soft_step(code, code + 1, TF); /* as processors do it */
    assert_int_equal(soft_instructions(), 1);
    soft_step(code, code + 2, TF); /* as QEMU's TCG does: STI and RET, which happens to return there */
    assert_int_equal(soft_instructions(), 3);
    assert_int_equal(soft_branches(), 1);
}

static void load_ss_addresses(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x48, 0x89, 0xE5, 0x90, 0x90};
    soft_begin("skylake", "instructions:1", 8);
    soft_step(code, code + 5, TF); /* the first arms, the second writes */
    assert_int_equal(seen_count, 1);
    assert_int_equal(seen[0].event_ip, (uintptr_t)code + 2);
    assert_int_equal(seen[0].next_ip, (uintptr_t)code + 5);
    soft_step(code + 5, code + 6, TF);
    soft_step(code, code + 5, TF); /* now the first writes: its own address, and its successor's */
    assert_int_equal(seen_count, 2);
    assert_int_equal(seen[1].event_ip, (uintptr_t)code);
    assert_int_equal(seen[1].next_ip, (uintptr_t)code + 2);
}

static void pushf_does_not_leak(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x9C, 0x66, 0x9C, 0x90};
    uint64_t stack[2] = {TF | 0x246, UINT64_MAX};
    soft_begin("icelake", COUNT_BOTH, 8);
    frame = (struct arch_trap_frame){.cs = 8, .rsp = (uintptr_t)stack};
    soft_step(code, code + 1, TF);
    assert_int_equal(stack[0], 0x246);
    assert_int_equal(stack[1], UINT64_MAX);
    stack[0] = UINT64_C(0xAAAAAAAAAAAA0000) | TF;
    soft_step(code + 1, code + 3, TF);
    assert_int_equal(stack[0], UINT64_C(0xAAAAAAAAAAAA0000));
    assert_int_equal(soft_instructions(), 2);
}

static void popf_and_iret_go_on(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x9D, 0x48, 0xCF};
    soft_begin("icelake", COUNT_BOTH, 8);
    assert_true(soft_step(code, code + 1, 2)); /* the image had no TF */
    assert_int_equal(frame.rflags, TF | 2);
    assert_true(soft_step(code + 1, code, 2));
    assert_int_equal(frame.rflags, TF | 2);
    assert_int_equal(soft_instructions(), 2);
    assert_int_equal(soft_branches(), 1);
}

static void fault_does_not_retire(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x0F, 0x32, 0x90, 0x90}; /* RDMSR, whose #GP handler went on at +3 */
    soft_begin("icelake", COUNT_BOTH, 8);
    assert_true(soft_step(code, code + 3, TF));
    assert_int_equal(soft_instructions(), 0);
    assert_int_equal(cpu.step_ip, (uintptr_t)code + 3);
    assert_int_equal(frame.rflags, TF);
}

static void interrupt_between(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90, 0x90};
    soft_begin("icelake", COUNT_BOTH, 8);
    soft_step(code, code + 1, TF);
    ds_pause(ds); /* interrupt entry: no #DB follows in the handler */
    struct arch_trap_frame interrupted = {.rip = (uintptr_t)code + 1, .rflags = TF | ARCH_RFLAGS_IF, .cs = 8};
    cpu.step_ip = 0xDEAD; /* another thread ran meanwhile */
    ds_resume_frame(ds, &interrupted);
    assert_int_equal(cpu.step_on, 1);
    assert_int_equal(cpu.step_ip, (uintptr_t)code + 1);
    frame.rip = (uintptr_t)code + 2;
    ds_soft_step(soft, &frame);
    assert_int_equal(soft_instructions(), 2);
    interrupted.rflags = ARCH_RFLAGS_IF; /* a thread that was not being stepped */
    ds_resume_frame(ds, &interrupted);
    assert_int_equal(cpu.step_on, 0);
}

/* An interrupt where the #DB of MOV SS is still due, or a fault of the instruction behind it. */
static void interrupted_in_a_shadow(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x8E, 0xD0, 0x8B, 0x03, 0x90}; /* mov ss, eax twice; mov eax, [rbx] */
    for (unsigned retired = 0; retired <= 2; retired++) {
        soft_begin("icelake", COUNT_BOTH, 8);
        frame = (struct arch_trap_frame){.cs = 8, .rsp = 0x7000, .rflags = TF | 2};
        frame.rip = (uintptr_t)code + 2 * retired;
        cpu.step_ip = (uintptr_t)code;
        cpu.step_on = 0;
        ds_soft_interrupted(soft, &frame); /* paused: of no interest */
        assert_int_equal(soft_instructions(), 0);
        cpu.step_on = 1;
        ds_soft_interrupted(soft, &frame);
        assert_int_equal(soft_instructions(), retired);
        assert_int_equal(frame.rflags, TF | 2);
        ds_resume_frame(ds, &frame); /* at the end of the interrupt */
        soft_step((const uint8_t *)(uintptr_t)cpu.step_ip, code + 6, TF);
        assert_int_equal(soft_instructions(), 3);
        ds_stop(ds);
    }
    /* the load faults, and a handler goes on elsewhere: no shadow, nothing retired */
    soft_begin("icelake", COUNT_BOTH, 8);
    frame = (struct arch_trap_frame){.cs = 8, .rsp = 0x7000, .rflags = TF | 2, .rip = (uintptr_t)code + 6};
    cpu.step_ip = (uintptr_t)code + 4;
    cpu.step_on = 1;
    ds_soft_interrupted(soft, &frame);
    assert_int_equal(soft_instructions(), 0);
    ds_stop(ds);
}

/* What the model does not have, and what it refuses, is #GP to the driver. */
static void refused_registers(void **state)
{
    (void)state;
    soft_begin("skylake", COUNT_BOTH, 8);
    const struct ds_machine *m = ds_soft_machine(soft);
    uint64_t v;
    assert_int_equal(m->rdmsr(m->context, 0x10, &v), -EFAULT);
    assert_int_equal(m->wrmsr(m->context, 0x10, 0), -EFAULT);
    assert_int_equal(m->rdmsr(m->context, MSR_PEBS_DATA_CFG, &v), -EFAULT);
    assert_int_equal(m->wrmsr(m->context, IA32_PEBS_ENABLE, UINT64_MAX), -EFAULT);
}

static void unknown_preset(void **state)
{
    (void)state;
    struct ds_soft *s = malloc(ds_soft_bytes());
    assert_int_equal(ds_soft_init(s, "i486", NULL), -EINVAL);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pause_ends_stepping), cmocka_unit_test(one_instruction),
        cmocka_unit_test(branch_taken_or_not), cmocka_unit_test(rep_retires_once),
        cmocka_unit_test(load_ss_holds_back),  cmocka_unit_test(sti_may_hold_back),
        cmocka_unit_test(load_ss_addresses),   cmocka_unit_test(pushf_does_not_leak),
        cmocka_unit_test(popf_and_iret_go_on), cmocka_unit_test(fault_does_not_retire),
        cmocka_unit_test(interrupt_between),   cmocka_unit_test(interrupted_in_a_shadow),
        cmocka_unit_test(refused_registers),   cmocka_unit_test(unknown_preset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(soft);
    free(ds);
    return failed;
}
