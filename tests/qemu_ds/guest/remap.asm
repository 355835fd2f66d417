; SPDX-License-Identifier: MIT
; DS memory that moves while BTS is on: where its page lies is asked anew after INVLPG and after a load of CR3. The
; first record lies on two pages.
        %include "guest.inc"

IA32_DEBUGCTL equ 0x1D9
IA32_DS_AREA  equ 0x600
BUFFER        equ 0x800000
OTHER         equ 0xA00000
PAGE_ENTRY    equ TABLES + 0x2000 + BUFFER / 0x200000 * 8
LARGE         equ 0x87
FIRST         equ 0xFF8         ; in the buffer's memory; a record has 18H bytes

test:   mov qword [DATA], BUFFER + FIRST
        mov qword [DATA + 8], BUFFER + FIRST
        mov qword [DATA + 0x10], BUFFER + 0x2000
        mov qword [DATA + 0x18], BUFFER + 0x3000
        wrmsr_64 IA32_DS_AREA, DATA
        wrmsr_64 IA32_DEBUGCTL, 0xC0 ; TR, BTS
first:  jmp second
second: mov dword [PAGE_ENTRY], OTHER + LARGE
        invlpg [BUFFER]
        jmp third
third:  mov dword [PAGE_ENTRY], BUFFER + LARGE
        mov rax, cr3
        mov cr3, rax
        jmp last
last:   wrmsr_64 IA32_DEBUGCTL, 0
        say "index", [DATA + 8]
        say "first_from", [BUFFER + FIRST]
        say "first_to", [BUFFER + FIRST + 8]
        say "second_to", [OTHER + FIRST + 0x18 + 8]
        say "third_to", [BUFFER + FIRST + 0x30 + 8]
        say "first_elsewhere", [OTHER + FIRST + 8]
        say "second_elsewhere", [BUFFER + FIRST + 0x18 + 8]
        say "third_elsewhere", [OTHER + FIRST + 0x30 + 8]
        say "first", first
        say "second", second
        say "third", third
        say "last", last
        ret

        image_end
