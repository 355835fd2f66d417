; SPDX-License-Identifier: MIT
; Lab 1: the program. 24 calls in a straight line: each has an address of its own, 5 bytes after the one before.

global lab_calls

section .text

lab_calls:
    times 24 call nothing
    ret

nothing:
    ret
