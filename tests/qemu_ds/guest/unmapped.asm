; SPDX-License-Identifier: MIT
; Records for which no memory is mapped: PEBS without a DS area, BTS without a buffer.
        %include "guest.inc"
IA32_DEBUGCTL    equ 0x1D9
IA32_PEBS_ENABLE equ 0x3F1
IA32_DS_AREA     equ 0x600
NOWHERE          equ 0x8000000000

test:   wrmsr_64 IA32_DS_AREA, NOWHERE
        wrmsr_64 IA32_FIXED_CTR0, -16 & 0xFFFFFFFFFFFF
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PEBS_ENABLE, 1 << 32
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        mov ebx, 10000
.loop:  dec ebx
        jnz .loop
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0 ; 5 instructions, which count
        rdmsr_64 IA32_FIXED_CTR0
        say "counter", rax
        rdmsr_64 0x38E
        say "status", rax
        wrmsr_64 IA32_PEBS_ENABLE, 0

        mov rax, NOWHERE        ; BTS: base, index, maximum, threshold
        mov [DATA], rax
        mov [DATA + 8], rax
        add rax, 0x1000
        mov [DATA + 16], rax
        mov [DATA + 24], rax
        wrmsr_64 IA32_DS_AREA, DATA
        wrmsr_64 IA32_DEBUGCTL, 0xC0 ; TR, BTS
        jmp .one
.one:   jmp .two
.two:   call .three
.three: pop rax
        wrmsr_64 IA32_DEBUGCTL, 0
        mov rax, [DATA + 8]
        say "index", rax
        ret

        image_end
