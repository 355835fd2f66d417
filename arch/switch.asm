; SPDX-License-Identifier: MIT
; The context switch. A thread that does not run is saved as one pointer, to this frame on its stack:
;
;   +30  return address   of arch_context_switch's caller; context_start in a new thread
;   +28  RBP
;   +20  RBX              a new thread: its entry
;   +18  R12              a new thread: entry's argument
;   +10  R13
;   +08  R14
;   +00  R15              <- the saved stack pointer
;
; The frame does not contain RFLAGS: interrupts are off and TF is clear on both sides of the switch.

global arch_context_switch
global arch_context_new

section .text

; void arch_context_switch(void **save, void *load)
arch_context_switch:
    push    rbp
    push    rbx
    push    r12
    push    r13
    push    r14
    push    r15
    mov     [rdi], rsp
    mov     rsp, rsi
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rbx
    pop     rbp
    ret

; void *arch_context_new(void *stack_top, void (*entry)(void *), void *arg)
; The frame of 0x38 bytes lies 8 bytes below the (aligned) top: context_start runs with RSP = top - 8.
arch_context_new:
    mov     rax, rdi
    and     rax, -16
    sub     rax, 0x40
    lea     rcx, [rel context_start]
    xor     r8d, r8d
    mov     [rax + 0x38], r8
    mov     [rax + 0x30], rcx
    mov     [rax + 0x28], r8                ; RBP 0: backtraces end here
    mov     [rax + 0x20], rsi
    mov     [rax + 0x18], rdx
    mov     [rax + 0x10], r8
    mov     [rax + 0x08], r8
    mov     [rax + 0x00], r8
    ret

context_start:
    and     rsp, -16                        ; as the ABI wants it at a call
    mov     rdi, r12
    call    rbx                             ; does not return
    ud2
