; SPDX-License-Identifier: MIT
; Waits that take a known number of instructions.

global arch_poll_for_interrupt
global arch_spin

section .text

; PAUSE gives QEMU's other CPUs their turn. It costs QEMU a microsecond, so it does not follow every few instructions.
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
