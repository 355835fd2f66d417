; SPDX-License-Identifier: MIT
; Lab 3: the program. 600 calls in a straight line: each has an address of its own, 5 bytes after the one before.

global lab_calls_3

section .text

lab_calls_3:
    times 600 call nothing
    ret

nothing:
    ret
