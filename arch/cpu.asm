; SPDX-License-Identifier: MIT
; Short instruction sequences that the compiler must not split.

global arch_wait_for_interrupt
global arch_load_segments
%include "arch/asm_numbers.inc"

section .text

; STI takes effect after the instruction that follows it: an interrupt that is already pending wakes the HLT.
arch_wait_for_interrupt:
    sti
    hlt
    cli
    ret

; void arch_load_segments(void)
; After LGDT: the kernel's code and data selectors, 0 in FS and GS (which zeroes the GS base: load that afterwards).
arch_load_segments:
    mov     eax, ARCH_DATA_SELECTOR
    mov     ds, eax
    mov     es, eax
    mov     ss, eax
    xor     eax, eax
    mov     fs, eax
    mov     gs, eax
    pop     rax
    push    ARCH_CODE_SELECTOR
    push    rax
    retfq
