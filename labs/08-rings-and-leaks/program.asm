; SPDX-License-Identifier: MIT
; Lab 8: the program in ring 0. 30 calls.

global lab_kernel_8

section .text

lab_kernel_8:
    times 30 call nothing
    ret

nothing:
    ret
