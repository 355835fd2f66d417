; SPDX-License-Identifier: MIT
; Lab 11: the program of a processor. It takes turns with that of the other one: in each of its turns it makes a list of
; accesses to memory. RSI has the address of each access before and after the instruction.

global lab_turns
global lab_accesses
global lab_accesses_count

; struct lab_work of check_machine.c
TURN   equ 0
ME     equ 8
OTHER  equ 16
STEPS  equ 24
COUNT  equ 32
ROUNDS equ 40

LOAD  equ 1
STORE equ 2

section .rodata
align 8
lab_accesses: ; struct lab_instruction of check_machine.c

section .text

%macro access 1+ ; LOAD, STORE or both; the instruction
    access_ %1
%endmacro
%macro access_ 2+
%%at:
    %2
[section .rodata]
    dq      %%at, %1
__?SECT?__
%endmacro

; void lab_turns(uint64_t work)
lab_turns:
    mov     r8, [rdi + ME]
    mov     r9, [rdi + OTHER]
    mov     r10, [rdi + ROUNDS]
.wait:
    mov     rsi, [rdi + TURN]
    access  LOAD, mov rax, [rsi]
    cmp     rax, r8
    je      .turn
    mov     ecx, 32
.pause:
    pause
    dec     ecx
    jnz     .pause
    jmp     .wait
.turn:
    mov     r11, [rdi + STEPS]
    mov     rdx, [rdi + COUNT]
.step:
    mov     rsi, [r11]
    mov     ecx, [r11 + 8]
    add     r11, 16
    cmp     ecx, STORE
    je      .store
    ja      .add
    access  LOAD, mov rax, [rsi]
    jmp     .next
.store:
    access  STORE, mov [rsi], rax
    jmp     .next
.add:
    access  LOAD | STORE, add qword [rsi], 1
.next:
    dec     rdx
    jnz     .step
    mov     rsi, [rdi + TURN]
    access  STORE, mov [rsi], r9
    dec     r10
    jnz     .wait
    ret

section .rodata
lab_accesses_count: dd ($ - lab_accesses) / 16
