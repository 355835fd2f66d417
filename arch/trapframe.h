/* SPDX-License-Identifier: MIT */
/* What arch/trap.asm and arch/user/trap.asm leave on the stack for every exception and interrupt. Plain data, also
 * compiled on the host. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ARCH_RFLAGS_TF    (UINT64_C(1) << 8)
#define ARCH_RFLAGS_IF    (UINT64_C(1) << 9)
#define ARCH_RFLAGS_FIXED (UINT64_C(1) << 1) /* always 1 */
/* What SYSCALL clears: TF, IF, DF, IOPL, NT, RF, AC. No interrupt or step on the user's stack, nothing of the program's
 * that changes what the kernel's instructions do. */
#define ARCH_SYSCALL_RFLAGS_OFF UINT64_C(0x57700)

struct arch_trap_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
    uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
    uint64_t vector;
    uint64_t error;                    /* the processor's error code, else 0 */
    uint64_t rip, cs, rflags, rsp, ss; /* the processor's own part */
};
_Static_assert(offsetof(struct arch_trap_frame, vector) == 0x78, "trap frame: vector");
_Static_assert(offsetof(struct arch_trap_frame, rip) == 0x88, "trap frame: rip");
_Static_assert(sizeof(struct arch_trap_frame) == 0xB0, "trap frame");
