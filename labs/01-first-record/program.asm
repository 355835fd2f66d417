; SPDX-License-Identifier: MIT
; Lab 1: the program. 24 calls in a straight line: each has an address of its own, 5 bytes after the one before.

global lab_calls
global lab_first_call

section .text

; RDI: how many of the first calls are left out
lab_calls:
    lea     rax, [rel lab_first_call]
    lea     rdi, [rdi + 4 * rdi]
    add     rax, rdi
    jmp     rax
lab_first_call:
    times 24 call nothing
    ret

nothing:
    ret
