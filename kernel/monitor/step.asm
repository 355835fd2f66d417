; SPDX-License-Identifier: MIT
; One instruction in ring 3, and back: kernel/monitor/bench.c. The #DB that follows the instruction has a stack of its
; own and the kernel's GS base. So it can go on where kmonitor_step_enter was called without an IRET.

global kmonitor_step_enter
global kmonitor_step_back
extern arch_user_enter

section .text

; void kmonitor_step_enter(struct arch_trap_frame *frame, void **back)
; Goes on in ring 3 as the frame says, with TF set and interrupts off there. Returns at kmonitor_step_back(*back).
kmonitor_step_enter:
    push    rbx
    push    rbp
    push    r12
    push    r13
    push    r14
    push    r15
    mov     [rsi], rsp
    jmp     arch_user_enter

; _Noreturn void kmonitor_step_back(void *back)
kmonitor_step_back:
    mov     rsp, rdi
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret
