; SPDX-License-Identifier: MIT
; Where the loader enters the kernel (ELF e_entry): RDI = struct boot_info *, interrupts off, on the loader's stack.

global arch_entry
global __stack_chk_guard
extern arch_boot_stack
extern kernel_main
%include "arch/asm_numbers.inc"

default rel

section .text
arch_entry:
    cli
    cld
    lea     rsp, [arch_boot_stack + ARCH_STACK_GUARD + ARCH_STACK_SIZE]
    xor     ebp, ebp                        ; backtraces end here
    ; The canary: unpredictable enough against a stray write, and its lowest byte is 0 so that no string copy carries
    ; it. Set here because no C function that uses it may be running when it changes.
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     rcx, 0x9E3779B97F4A7C15
    imul    rax, rcx
    shl     rax, 8
    mov     [__stack_chk_guard], rax
    call    kernel_main                     ; does not return
    ud2

section .bss align=8
__stack_chk_guard:
    resq    1
