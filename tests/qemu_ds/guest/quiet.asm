; SPDX-License-Identifier: MIT
; Nothing counts, and what runs between two WRMSRs is known: each writes what came before it, 0 at first.
        %include "guest.inc"

IA32_DS_AREA equ 0x600
BEYOND       equ 0x8000000000   ; the tables

test:   wrmsr_64 IA32_DS_AREA, 0
        mov ecx, 10000
.loop:  dec ecx
        jnz .loop
        wrmsr_64 IA32_DS_AREA, 1 + 2 * 10000 + 5
        mov rbp, BEYOND
        try mov rax, [rbp]      ; does not retire; 25 of its handler
        wrmsr_64 IA32_DS_AREA, 4 + 25 + 5
        xor esi, esi
        try div esi             ; 22 of its handler
        wrmsr_64 IA32_DS_AREA, 4 + 22 + 5

        wrmsr_64 IA32_PERFEVTSEL0, 0x4100C0 ; instructions, but not in ring 0
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1
        mov ecx, 10000
.user:  dec ecx
        jnz .user
        wrmsr_64 IA32_DS_AREA, 1 + 2 * 10000 + 5
        ret

        image_end
