; SPDX-License-Identifier: MIT
; A program whose XMM registers are known after each instruction: the iterations that are left are in RCX, in the lower
; half of XMM0 and in the upper half of XMM15. tests/linux/known.py says it with the labels.
bits 64
default rel
ITERATIONS equ 20000

section .text
global _start
_start:
    mov ecx, ITERATIONS
v0: movq xmm0, rcx
v1: movq xmm15, rcx
v2: pslldq xmm15, 8
v3: dec ecx
v4: jnz v0
    mov eax, 60             ; exit
    xor edi, edi
    syscall
