; SPDX-License-Identifier: MIT
; Linux' first program: ends QEMU through its isa-debug-exit port.

DEBUG_EXIT equ 0xF4
SYS_ioperm equ 173

global _start
_start:
    mov eax, SYS_ioperm
    mov edi, DEBUG_EXIT
    mov esi, 4
    mov edx, 1
    syscall
    mov eax, 0x10
    out DEBUG_EXIT, eax
    ud2                             ; Linux: "Attempted to kill init!", and panic=-1
