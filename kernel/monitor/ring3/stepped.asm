; SPDX-License-Identifier: MIT
; The program that the monitor's command `step` runs: an endless loop with a load, a store, a call and branches. The
; table behind it has each instruction's address and text: struct kmonitor_instruction of kernel/monitor/bench.c.

global user_stepped:function (user_stepped.end - user_stepped)
global kmonitor_instructions
global kmonitor_instructions_end

default rel

TEXT_SIZE equ 24

section .text
align 16
user_stepped:
.set:
    mov     ecx, 2
.load:
    mov     rax, [rsp - 64]
.add:
    add     rax, rcx
.store:
    mov     [rsp - 64], rax
.call:
    call    .double
.dec:
    dec     ecx
.branch:
    jnz     .load
.choose:
    cmovz   rdx, rax
.push:
    push    rdx
.pop:
    pop     rbx
.again:
    jmp     .set
.double:
    add     rax, rax
.return:
    ret
.end:

%macro instruction 2
    dq      user_stepped %+ %1
    %%text:
    db      %2
    times TEXT_SIZE - ($ - %%text) db 0
%endmacro

section .rodata
align 8
kmonitor_instructions:
    instruction .set, "mov ecx, 2"
    instruction .load, "mov rax, [rsp - 64]"
    instruction .add, "add rax, rcx"
    instruction .store, "mov [rsp - 64], rax"
    instruction .call, "call double"
    instruction .dec, "dec ecx"
    instruction .branch, "jnz load"
    instruction .choose, "cmovz rdx, rax"
    instruction .push, "push rdx"
    instruction .pop, "pop rbx"
    instruction .again, "jmp set"
    instruction .double, "double: add rax, rax"
    instruction .return, "ret"
kmonitor_instructions_end:
