; SPDX-License-Identifier: MIT
; Lab 9: the programs. lab_job is a tree of functions with frame pointers. R12 has the stack, too: the number of each
; function that is open, a byte each, the innermost lowest. That is the truth that the check compares with.

global lab_job
global lab_job_stack
global lab_job_symbols
global lab_loop
global lab_loop_nops

section .bss
lab_job_stack: resq 1 ; RSP at the first instruction

section .data
; struct lab_symbol of task.h
lab_job_symbols:

section .text

%assign function_number 0
%macro function 1
%assign function_number function_number + 1
align 16
job_%1:
[section .data]
    dq      job_%1
    dd      job_%1_end - job_%1, 0
    dq      %%name
[section .rodata]
%%name: db  %str(%1), 0
__?SECT?__
%endmacro

%macro open_frame 0
    push    rbp
    mov     rbp, rsp
    shl     r12, 8
    or      r12, function_number
%endmacro

%macro close_frame 1
    shr     r12, 8
    pop     rbp
    ret
job_%1_end:
%endmacro

; %1 times a loop of %2 instructions
%macro work 2
    mov     ecx, %1
%%again:
    times %2 - 2 imul rax, rax, 17
    dec     ecx
    jnz     %%again
%endmacro

; void lab_job(uint64_t rounds)
lab_job:
    function job
    mov     [rel lab_job_stack], rsp
    push    rbp
    mov     rbp, rsp
    push    r12
    push    r13
    mov     r12d, function_number
    mov     r13, rdi
.round:
    call    job_read
    call    job_parse
    call    job_render
    test    r13d, 15
    jnz     .next
    call    job_log
.next:
    dec     r13
    jnz     .round
    pop     r13
    pop     r12
    pop     rbp
    ret
job_job_end:

    function read
    open_frame
    work    30, 4
    close_frame read

    function parse
    open_frame
    work    20, 3
    call    job_hash
    work    9, 5
    call    job_hash
    close_frame parse

    function hash
    open_frame
    work    17, 4
    close_frame hash

    function render
    open_frame
    work    8, 5
    call    job_draw
    call    job_draw
    close_frame render

    function draw
    open_frame
    work    27, 3
    call    job_hash
    close_frame draw

    function log
    open_frame
    work    6, 3
    close_frame log

; void lab_loop(uint64_t argument): a loop of 3 + bits 15:0 instructions, bits 63:16 times
lab_loop:
    mov     rsi, rdi
    shr     rsi, 16
    movzx   edi, di
    lea     rax, [rel lab_loop_nops]
    sub     rax, rdi
    jmp     rax
    times 64 nop
lab_loop_nops:
    dec     rsi
    jz      .out
    jmp     rax
.out:
    ret
