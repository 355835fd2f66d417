; SPDX-License-Identifier: MIT
; Exceptions and interrupts: 256 stubs, the calls of C, and the return. arch/trap.inc has a picture of the stack. All is
; in ring 0: a kernel that has programs is linked with the stubs of arch/user/trap.asm instead of these.
;
; NMIs: after an NMI the processor blocks further NMIs until the next IRET. Nothing below kernel_nmi executes an IRET:
; the handler runs with interrupts off and TF clear, and a #GP of arch_rdmsr_safe is resumed without IRET
; (arch_fixup_resume). So the one NMI stack (IST) is never entered twice.

global arch_stubs:function weak
global arch_fixup_resume
extern arch_trap
extern arch_debug_function
extern kernel_fault
%include "arch/trap.inc"

default rel

section .text align=16

; #DB: single-stepping comes here millions of times a second (ds/soft/soft.c), so it does not go through arch_trap.
debug_stub:
    push    0
    push    1
    push_registers
    call    [arch_debug_function]
    test    al, al
    jnz     leave
    mov     rdi, rsp
    call    kernel_fault                    ; does not return
    ud2

anywhere_stub:                              ; NMI, #DF, #MC
c_stub:
    push_registers
    call    arch_trap
leave:
    return_to_frame

    stubs

; _Noreturn void arch_fixup_resume(const struct arch_trap_frame *frame, uint64_t resume)
; Leaves a fault for the fix-up address `resume` inside the interrupted function, on that function's stack and without
; IRET, which would end the blocking of NMIs. Restores what that function must preserve for its caller; the rest is
; scratch to it.
arch_fixup_resume:
    mov     r15, [rdi + 0x00]
    mov     r14, [rdi + 0x08]
    mov     r13, [rdi + 0x10]
    mov     r12, [rdi + 0x18]
    mov     rbp, [rdi + FRAME_RBP]
    mov     rbx, [rdi + FRAME_RBX]
    mov     rax, [rdi + FRAME_RFLAGS]
    mov     rsp, [rdi + FRAME_RSP]
    push    rax
    popfq
    jmp     rsi
