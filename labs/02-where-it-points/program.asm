; SPDX-License-Identifier: MIT
; Lab 2: the program, and the instructions that it executes. It has what makes addresses hard to read: a
; loop, a branch that is taken every other time, a function with two callers, and a section with interrupts off.

global lab_program_2
global lab_path_2_rounds
global lab_path_2_end

ROUNDS equ 4 ; at most

section .text

; RDI: how many rounds
lab_program_2:
    mov     ecx, edi
.round:
    lea     rax, [rax + rdi]
    test    cl, 1
.odd:
    jz      .even
.skipped:
    add     rax, 7
    xor     rax, rcx
.even:
    imul    rax, rax, 13
.call:
    call    leaf
.called:
    sub     rax, rdi
.call2:
    call    leaf
.called2:
    cli
.off:
    nop
.off2:
    lea     rdx, [rax + 1]
    add     rdx, rax
.off4:
    xor     edx, edx
.off5:
    nop
.sti:
    sti
.shadow:
    nop
.on:
    nop
.on2:
    dec     ecx
.again:
    jnz     .round
.end:
    ret

leaf:
    lea     rax, [rax + rax * 2]
.end:
    ret

section .rodata

; the last rounds are the same, however many there are
%assign round ROUNDS
%rep ROUNDS
rounds_%[round]:
    dq      lab_program_2.round, lab_program_2.round + 4, lab_program_2.odd
    %if round & 1
    dq      lab_program_2.skipped, lab_program_2.skipped + 4
    %endif
    dq      lab_program_2.even, lab_program_2.call, leaf, leaf.end
    dq      lab_program_2.called, lab_program_2.call2, leaf, leaf.end
    dq      lab_program_2.called2, lab_program_2.off, lab_program_2.off2, lab_program_2.off2 + 4, lab_program_2.off4
    dq      lab_program_2.off5, lab_program_2.sti, lab_program_2.shadow, lab_program_2.on, lab_program_2.on2
    dq      lab_program_2.again
    %assign round round - 1
%endrep
    dq      lab_program_2.end
lab_path_2_end:

lab_path_2_rounds:
    dq      0
%assign round 1
%rep ROUNDS
    dq      rounds_%[round]
    %assign round round + 1
%endrep
