; SPDX-License-Identifier: MIT
; kpanic() saves the registers as they were at its call, before C uses them, and calls kpanic_at.
;
; The stack when C is called, RSP a multiple of 16:
;
;   +108  return address into kpanic's caller
;   +100  RFLAGS
;   +0D0  register save area of the va_list: RDI RSI RDX RCX R8 R9, upwards
;   +0B0  va_list: what follows `format` (System V ABI, AMD64 supplement, "Variable Argument Lists")
;   +000  struct arch_trap_frame, as if an exception had hit the caller at the return address

global kpanic
extern kpanic_at
%include "arch/trap.inc"

VA_LIST   equ FRAME_SIZE
SAVE_AREA equ FRAME_SIZE + 0x20
RFLAGS    equ FRAME_SIZE + 0x50
RETURN    equ FRAME_SIZE + 0x58
CALLER    equ FRAME_SIZE + 0x60             ; the caller's RSP
%define BELOW(at) (at - FRAME_SIZE)         ; `at` from what lies above the frame

section .text

; _Noreturn void kpanic(const char *format, ...)
kpanic:
    pushfq
    cli
    push    r9
    push    r8
    push    rcx
    push    rdx
    push    rsi
    push    rdi
    sub     rsp, SAVE_AREA - VA_LIST
    push    ARCH_DATA_SELECTOR              ; the frame: SS,
    push    rsp
    add     qword [rsp], BELOW(CALLER) + 8  ; RSP,
    push    qword [rsp + BELOW(RFLAGS) + 16]
    push    ARCH_CODE_SELECTOR
    push    qword [rsp + BELOW(RETURN) + 32]
    push    0                               ; no error code
    push    ARCH_NO_VECTOR
    push_registers

    mov     dword [rsp + VA_LIST + 0x00], 8 ; gp_offset: RDI is taken
    mov     dword [rsp + VA_LIST + 0x04], 48 ; fp_offset: no vector registers
    lea     rax, [rsp + CALLER]
    mov     [rsp + VA_LIST + 0x08], rax     ; overflow_arg_area
    lea     rax, [rsp + SAVE_AREA]
    mov     [rsp + VA_LIST + 0x10], rax     ; reg_save_area
    mov     rsi, [rsp + SAVE_AREA]          ; format
    lea     rdx, [rsp + VA_LIST]
    call    kpanic_at                       ; does not return
    ud2
