; SPDX-License-Identifier: MIT
; Lab 7: the program, a walk through rooms that depends on its argument. Each room counts its visits itself: that is the
; truth that the check compares with.

global lab_walk
global lab_walk_end
global lab_rooms
global lab_room_visits

ROOMS equ 12
STEPS equ 24 ; doors that are taken

section .bss
lab_room_visits: resq ROOMS

section .data
; struct lab_room of check.c: address, name
lab_rooms:

section .text

%assign room_number 0
%macro room 1
global  room_%1                                  ; for labs/judge.py
room_%1:
    inc     qword [rel lab_room_visits + 8 * room_number]
[section .data]
    dq      room_%1, %%name
[section .rodata]
%%name: db  %str(%1), 0
__?SECT?__
%assign room_number room_number + 1
%endmacro

; void lab_walk(uint64_t argument)
lab_walk:
    mov     rax, rdi
    mov     esi, STEPS
    room    entry
walk_step:
    room    hall
    mov     rdx, 6364136223846793005        ; the next pseudo-random number
    imul    rax, rdx
    mov     rdx, 1442695040888963407
    add     rax, rdx
    mov     rdx, rax
    shr     rdx, 61
    and     edx, 3
    lea     rcx, [rel doors]
    jmp     [rcx + 8 * rdx]                 ; one of four rooms
    room    kitchen
    bt      rax, 40
    jnc     walk_out                        ; half of the time
    room    pantry
    jmp     walk_out
    room    library
    mov     edx, 3
walk_shelf:
    room    shelf
    dec     edx
    jnz     walk_shelf
    jmp     walk_out
    room    stairs
    call    room_cellar
    bt      rax, 41
    jc      walk_out
    room    attic
    jmp     walk_out
    room    vault                           ; no door leads here
    jmp     walk_out
    room    garden
walk_out:
    dec     esi
    jnz     walk_step
    room    exit
    ret
    room    cellar
    ret
lab_walk_end:

section .rodata
align 8
doors: dq room_kitchen, room_library, room_stairs, room_garden
