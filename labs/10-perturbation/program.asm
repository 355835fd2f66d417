; SPDX-License-Identifier: MIT
; Lab 10: the program of this machine, a loop of 4 instructions.

global lab_sum

section .text

; void lab_sum(uint64_t rounds)
lab_sum:
    imul    rax, rax, 17
    add     rax, rdi
    dec     rdi
    jnz     lab_sum
    ret
