; SPDX-License-Identifier: MIT
; Lab 8: the program in ring 3. It makes 8 calls, with a number of its own in RBX and RDX that looks like an address of
; the kernel.

global lab_user_8

section .text

lab_user_8:
    mov     rbx, 0xFFFF8000DEADBEEF
    mov     rdx, rbx
    times 8 call nothing
    ret

nothing:
    ret
