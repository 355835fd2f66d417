/* SPDX-License-Identifier: MIT */
/*
 * Programs in ring 3 under single-stepping. SYSCALL has no #DB of its own, as FMASK clears TF: the kernel's entry
 * reports it. A #DB that MOV SS delayed may come right at that entry, at CPL 0 with the program's stack: it ends the
 * stepping there. TF is removed from R11, and from the RFLAGS that the program gets back.
 */
#include "arch/arch.h"
#include "ds/soft/inside.h"

/* It may be the last one before a page that is not there. */
void ds_soft_decode_user(uint64_t ip, struct ds_insn *insn)
{
    uint8_t code[DS_INSN_MAX];
    size_t size = ARCH_PAGE_SIZE - ip % ARCH_PAGE_SIZE, rest = sizeof code - size;
    if (size >= sizeof code) {
        size = sizeof code;
        rest = 0;
    }
    if (arch_copy_from_user(code, ip, size) != 0)
        size = 0;
    else if (rest && arch_copy_from_user(code + size, ip + size, rest) == 0)
        size += rest;
    ds_insn_decode(code, size, insn);
}

void ds_soft_clear_user_tf(const struct ds_soft *soft)
{
    const uint64_t at = soft->step.frame->rsp + 1; /* in both sizes in that byte */
    uint8_t byte;
    if (arch_copy_from_user(&byte, at, 1) == 0) {
        byte &= (uint8_t) ~(ARCH_RFLAGS_TF >> 8);
        (void)arch_copy_to_user(at, &byte, 1); /* the page PUSHF has just written to */
    }
}

/* SYSCALL has cleared TF, and saved it in R11. */
static void enter(struct ds_soft *soft, struct arch_trap_frame *frame)
{
    arch_this_cpu()->step_on = 0;
    frame->r11 &= ~ARCH_RFLAGS_TF;
    soft->step.frame = frame;
    soft->cpl = 3;
}

void ds_soft_at_syscall(struct ds_soft *soft, struct arch_trap_frame *frame)
{
    enter(soft, frame);
    ds_soft_account(soft, frame, arch_this_cpu()->step_ip, frame->rip);
}

void ds_soft_system_call(void *context, struct arch_trap_frame *frame)
{
    struct ds_soft *soft = context;
    if (!arch_this_cpu()->step_on)
        return;
    enter(soft, frame);
    frame->rflags &= ~ARCH_SYSCALL_RFLAGS_OFF; /* as SYSCALL has left it; R11 holds the program's */
    ds_soft_account(soft, frame, arch_this_cpu()->step_ip, (uintptr_t)arch_syscall_entry);
    frame->rflags = frame->r11;
}
