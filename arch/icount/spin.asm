; SPDX-License-Identifier: MIT
; Waits that take a known number of instructions.

global arch_poll_for_interrupt
global arch_spin

section .text

; The PAUSE gives other CPUs of QEMU their turn. That costs it a microsecond: not after each few instructions.
arch_poll_for_interrupt:
    sti
    mov     ecx, 512
.open:
    dec     ecx
    jnz     .open
    pause
    cli
    ret

; void arch_spin(uint64_t loops), at least one.
arch_spin:
    dec     rdi
    jnz     arch_spin
    ret
