; SPDX-License-Identifier: MIT
; kpanic() saves the registers as they were at its call, before C uses them, and calls kpanic_at.
;
; The stack when C is called, RSP a multiple of 16:
;
;   +108  return address into kpanic's caller
;   +100  RFLAGS
;   +0E0  va_list: what follows `format` (System V ABI, AMD64 supplement, "Variable Argument Lists")
;   +0B0  its register save area: RDI RSI RDX RCX R8 R9, upwards
;   +000  struct arch_trap_frame, as if an exception had hit the caller at the return address

global kpanic
extern kpanic_at
%include "arch/asm_numbers.inc"

FRAME_RIP    equ 0x88
SAVE_AREA    equ 0xB0
VA_LIST      equ 0xE0
RFLAGS       equ 0x100
RETURN       equ 0x108
CALLER_RSP   equ 0x110

section .text

; _Noreturn void kpanic(const char *format, ...)
kpanic:
    pushfq
    cli
    cld
    sub     rsp, RFLAGS
    mov     [rsp + 0x00], r15
    mov     [rsp + 0x08], r14
    mov     [rsp + 0x10], r13
    mov     [rsp + 0x18], r12
    mov     [rsp + 0x20], r11
    mov     [rsp + 0x28], r10
    mov     [rsp + 0x30], r9
    mov     [rsp + 0x38], r8
    mov     [rsp + 0x40], rbp
    mov     [rsp + 0x48], rdi
    mov     [rsp + 0x50], rsi
    mov     [rsp + 0x58], rdx
    mov     [rsp + 0x60], rcx
    mov     [rsp + 0x68], rbx
    mov     [rsp + 0x70], rax
    mov     qword [rsp + 0x78], ARCH_NO_VECTOR
    mov     qword [rsp + 0x80], 0           ; no error code
    mov     rax, [rsp + RETURN]
    mov     [rsp + FRAME_RIP], rax
    mov     eax, cs
    mov     [rsp + 0x90], rax
    mov     rax, [rsp + RFLAGS]
    mov     [rsp + 0x98], rax
    lea     r10, [rsp + CALLER_RSP]
    mov     [rsp + 0xA0], r10
    mov     eax, ss
    mov     [rsp + 0xA8], rax

    mov     [rsp + SAVE_AREA + 0x00], rdi
    mov     [rsp + SAVE_AREA + 0x08], rsi
    mov     [rsp + SAVE_AREA + 0x10], rdx
    mov     [rsp + SAVE_AREA + 0x18], rcx
    mov     [rsp + SAVE_AREA + 0x20], r8
    mov     [rsp + SAVE_AREA + 0x28], r9
    mov     dword [rsp + VA_LIST + 0x00], 8 ; gp_offset: RDI is taken
    mov     dword [rsp + VA_LIST + 0x04], 48 ; fp_offset: no vector registers
    mov     [rsp + VA_LIST + 0x08], r10     ; overflow_arg_area
    lea     rax, [rsp + SAVE_AREA]
    mov     [rsp + VA_LIST + 0x10], rax     ; reg_save_area

    mov     rsi, rdi
    mov     rdi, rsp
    lea     rdx, [rsp + VA_LIST]
    call    kpanic_at                       ; does not return
    ud2
