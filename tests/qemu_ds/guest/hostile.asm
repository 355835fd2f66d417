; SPDX-License-Identifier: MIT
; A guest that does what it can to make the plugin write where it must not: random values in the model's MSRs and in
; LVTPC, random DS areas, records that reach into pages that are absent, that are devices or that have moved, with code
; in both rings that changes the page tables meanwhile, now and then without INVLPG. STEPS of these; SEED says which.
;
; Records can reach only what this maps: the DS area and its buffers lie where nothing else is mapped, and their
; physical pages end before GUARD. What lies from there on never changes.
        %include "guest.inc"

AREA    equ 0x3A0000400000      ; 4 pages; no part of such an address, between zeros, is one of what matters here
BUFFERS equ AREA + 0x8000       ; 24 pages
AREA_P  equ DATA                ; physical: 4 pages
BUF_P   equ DATA + 0x10000      ; 64 pages
GUARD   equ DATA + 0x60000
GUARD_E equ 0x1400000
PDPT    equ 0x300000
PD      equ PDPT + 0x1000
PT      equ PDPT + 0x2000
SCRATCH equ 0x310000
APIC    equ 0xFEE00000
RSM_AT  equ 0x38000             ; where an SMI leads

test:   cmp qword [begun], 0    ; INIT and RESET come here again, with memory as it was
        jne .tables
        mov qword [begun], 1
        mov rdi, GUARD
.fill:  mov [rdi], rdi
        add rdi, 8
        cmp rdi, GUARD_E
        jb .fill
        mov word [RSM_AT], 0xAA0F
        xor ecx, ecx
.page:  lea rax, [rcx + AREA_P + 7] ; as they are until they move
        mov rdx, rcx
        shr rdx, 9
        mov [PT + rdx], rax
        add rcx, 0x1000
        cmp rcx, 0x20000
        jb .page
        mov rdi, AREA_P         ; no zeros: parts of them and of an address would be a small address
        mov rax, BUFFERS
        mov ecx, 0x4000 / 8
        rep stosq
.tables:
        mov rax, PDPT + 7
        mov [TABLES + (AREA >> 39 & 511) * 8], rax
        mov rax, PD + 7
        mov [PDPT + (AREA >> 30 & 511) * 8], rax
        mov rax, PT + 7
        mov [PD + (AREA >> 21 & 511) * 8], rax
        mov rax, cr3
        mov cr3, rax
        mov ebp, APIC
        mov dword [rbp + 0xF0], 0x1FF

next:   mov rsp, STACK - 0x100  ; whatever has come in between
        mov [resume_rsp], rsp
        mov qword [resume], next
        inc qword [count]
        cmp qword [count], STEPS
        jae finish
        call random
        and eax, 15
        jmp [choice + rax * 8]

        align 8
choice: dq write_msr, write_msr, write_msr, write_msr, write_msr, write_area, write_area, write_area
        dq move_page, good, good, burst, in_ring_3, in_ring_3, local_apic, local_apic

random: mov rax, [seed]
        mov rdx, rax
        shl rdx, 13
        xor rax, rdx
        mov rdx, rax
        shr rdx, 7
        xor rax, rdx
        mov rdx, rax
        shl rdx, 17
        xor rax, rdx
        mov [seed], rax
        ret

; RAX: a number below %1
%macro below 1
        call random
        shr rax, 20
        xor edx, edx
        mov r11d, %1
        div r11
        mov rax, rdx
%endmacro

; RAX: an address in a range of %2 bytes from %1 on, mostly a multiple of 8
%macro pointer 2
        below 16
        mov r10, -8
        test eax, eax
        jnz %%on
        mov r10, -1
%%on:   below %2
        and rax, r10
        mov r10, %1
        add rax, r10
%endmacro

write_msr:
        below (msrs_end - msrs) / 16
        shl eax, 4
        lea rbx, [msrs + rax]
        below [rbx + 4]
        mov esi, [rbx]
        add esi, eax            ; the MSR
        below 4
        cmp eax, 1
        jb .any
        je .near
        call random
        mov rdi, rax
        call random
        shr rax, 7
        and rax, rdi
        and rax, [rbx + 8]
        jmp .have
.any:   call random
        mov rdi, 1 << 45        ; not an address of what is mapped else
        or rax, rdi
        jmp .have
.near:  call random
        or rax, -64
        and rax, [rbx + 8]
.have:  cmp esi, 0x600
        jne .base
        mov rdi, rax
        below 8
        test eax, eax
        mov rax, rdi
        jz .any_area
        pointer AREA - 0x800, 0x5000
        jmp .write
.any_area:
        mov rdi, 1 << 45
        or rax, rdi
        jmp .write
.base:  cmp esi, 0x3F4          ; physical: 4096 to 32768 bytes there, or where no memory is
        jne .write
        below 48
        shl rax, 12
        lea rdi, [rax + BUF_P]
        below 4
        or rdi, rax
        below 8
        cmp eax, 2
        mov rax, rdi
        ja .write
        mov rdi, 0x3FFFF00000000
        or rax, rdi
.write: mov rdx, rax
        shr rdx, 32
        mov ecx, esi
        try wrmsr
        jmp next

write_area:
        pointer 0, 0x3FF8
        mov rbx, rax
        below 4
        test eax, eax
        jz .count
        pointer BUFFERS - 0x800, 0x1A000
        jmp .store
.count: call random
        or rax, -256
.store: mov [AREA_P + rbx], rax
        jmp next

; RAX: the entry of page RBX of AREA; memory is as likely as all else. Not devices for the area itself: what they
; return could be an address of this guest's own code.
entry:  below 2
        test eax, eax
        jz .other
        cmp ebx, 8
        jae .buffer
        below 4
        shl eax, 12
        add rax, AREA_P + 7
        ret
.buffer:
        below 64
        shl eax, 12
        add rax, BUF_P + 7
        ret
.other: mov r11d, (devices - elsewhere) / 8
        cmp ebx, 8
        jb .of
        mov r11d, (devices_end - elsewhere) / 8
.of:    below r11d
        mov rax, [elsewhere + rax * 8]
        ret

; RBX: any page of AREA or BUFFERS
%macro any_page 0
        below 28
        mov ebx, eax
        cmp eax, 4
        jb %%have
        add ebx, 4
%%have:
%endmacro

move_page:
        any_page
        call entry
        mov [PT + rbx * 8], rax
        below 2
        test eax, eax
        jz next
        shl rbx, 12
        mov rdi, AREA
        invlpg [rbx + rdi]
        jmp next

; What a driver would have set up: PEBS and BTS.
good:   mov rdi, BUFFERS
        mov rsi, AREA_P
        mov [rsi], rdi          ; BTS
        mov [rsi + 8], rdi
        lea rax, [rdi + 24 * 100]
        mov [rsi + 16], rax
        mov [rsi + 24], rax
        add rdi, 0x5F80         ; PEBS
        mov [rsi + 32], rdi
        mov [rsi + 40], rdi
        lea rax, [rdi + 0x4000]
        mov [rsi + 48], rax
        lea rax, [rdi + 0x200]
        mov [rsi + 56], rax
        mov ecx, 12
.reset: mov qword [rsi + 56 + rcx * 8], -20
        loop .reset
        mov qword [PT], AREA_P + 7
        mov rax, AREA
        invlpg [rax]
        mov ecx, 0x600
        mov rdx, rax
        shr rdx, 32
        try wrmsr
        mov rbx, settings
.each:  mov ecx, [rbx]
        mov eax, [rbx + 4]
        mov edx, [rbx + 8]
        try wrmsr
        add rbx, 12
        cmp rbx, settings_end
        jb .each
        below 2
        mov ecx, 0x1D9
        mov edx, 0
        imul eax, 0xC0          ; BTS, or none
        try wrmsr
        jmp next

burst:  call work
        jmp next

in_ring_3:
        user .user, next
.user:  call work
        any_page
        call entry
        mov [PT + rbx * 8], rax
        call work
        int 0x80

work:   below 60
        lea ecx, [rax + 1]
.again: push rcx
        mov rax, [SCRATCH]
        add [SCRATCH + 8], rax
        call .one
        mov esi, SCRATCH
        mov edi, SCRATCH + 0x100
        mov ecx, 5
        rep movsb
        pop rcx
        loop .again
        ret
.one:   jmp .two
.two:   ret

; LVTPC: any vector, any delivery mode, seldom masked; and interrupts that were held back.
local_apic:
        mov ebp, APIC
        mov dword [rbp + 0xF0], 0x1FF
        call random
        and eax, 0x7FF
        mov [rbp + 0x340], eax
        mov dword [rbp + 0xB0], 0
        sti
        nop
        call work
        cli
        jmp next

finish: wrmsr_64 0x38F, 0
        wrmsr_64 0x1D9, 0
        xor ebx, ebx
        mov rdi, GUARD
.look:  xor eax, eax
        cmp [rdi], rdi
        setne al
        add rbx, rax
        add rdi, 8
        cmp rdi, GUARD_E
        jb .look
        say "changed", rbx
        say "count", [count]
        mov al, 0
        out 0xF4, al
        hlt

        align 8
begun:  dq 0
count:  dq 0
seed:   dq SEED * 0x9E3779B97F4A7C15 + 1

; 0: the page is absent. Where no memory is; local APIC, I/O APIC, the firmware's ROM, the VGA window. Not the HPET:
; random bytes in it stop QEMU.
elsewhere:
        dq 0, 0, 0, 0, 0x10000007, 0xFFFFFFFFF007
devices:
        dq APIC + 7, 0xFEC00007, 0xFFFFF007, 0xA0007
devices_end:

%macro row 3                    ; the first, how many, bits that are often legal
        dd %1, %2
        dq %3
%endmacro
msrs:   row 0xC1, 8, -1
        row 0x186, 8, 0x4FFFFFFFF
        row 0x309, 4, 0xFFFFFFFFFFFF
        row 0x38D, 1, 0x1111BBBB
        row 0x38E, 3, 0xF000000F000000FF
        row 0x38F, 1, 0xF000000FF
        row 0x391, 1, 0xE0000007000000FF
        row 0x3F1, 2, 0xF000000FF
        row 0x3F2, 1, 0xFF00003F
        row 0x3F4, 1, -1
        row 0x3F5, 1, 0x1FFF00001FFF0
        row 0x3F5, 1, 0x1FFF00001FFF0
        row 0x3F6, 2, 0xFFFFFF
        row 0x4C1, 8, 0xFFFFFFFFFFFF
        row 0x1C8, 2, 0x3FF
        row 0x1D9, 1, 0x1FC3
        row 0x1A0, 1, 0x1800
        row 0x600, 1, -1
        row 0x600, 1, -1
        row 0x329, 1, -1
        row 0x40, 4, -1
        row 0x680, 64, -1
        row 0xDC0, 32, -1
        row 0x14CE, 2, 0x7F003F
        row 0x1200, 32, -1
        row 0x1900, 64, 0xFFFFFFFFFFFF
        row 0x1980, 16, 0xFFFFFFFFFFFF
msrs_end:

settings:                       ; MSR, its low and high half
        dd 0x186, 0x4300C0, 0, 0xC1, -3, 0xFFFF, 0x309, -5, 0xFFFF, 0x38D, 3, 0, 0x3F1, 1, 0, 0x3F1, 1, 1
        dd 0x3F4, BUF_P + 2, 0, 0x3F5, 0, 1, 0x1903, -20, 1 << 31, 0x1983, -20, 1 << 31, 0x38F, 1, 1
settings_end:

        image_end
