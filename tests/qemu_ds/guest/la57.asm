; SPDX-License-Identifier: MIT
; Addresses of 57 bits: a DS area with its buffers there, and branch history.
%define LA57
        %include "guest.inc"
IA32_DEBUGCTL     equ 0x1D9
IA32_PEBS_ENABLE  equ 0x3F1
IA32_DS_AREA      equ 0x600
IA32_LBR_CTL      equ 0x14CE
IA32_LBR_0_FROM   equ 0x1500
IA32_LBR_0_TO     equ 0x1600
BUFFER            equ DATA + 0x1000

test:   mov rax, HIGH_57 + BUFFER ; PEBS: base, index, maximum, threshold
        mov [DATA + 0x20], rax
        mov [DATA + 0x28], rax
        add rax, 0x1000
        mov [DATA + 0x30], rax
        mov [DATA + 0x38], rax
        wrmsr_64 IA32_DS_AREA, HIGH_57 + DATA
        rdmsr_64 IA32_DS_AREA
        say "area", rax
        wrmsr_64 IA32_FIXED_CTR0, -16 & 0xFFFFFFFFFFFF
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PEBS_ENABLE, 1 << 32
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        mov ebx, 100
.loop:  dec ebx
        jnz .loop
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        wrmsr_64 IA32_PEBS_ENABLE, 0
        mov rax, [DATA + 0x28]
        say "index", rax
        mov rax, [BUFFER + 8]   ; of the basic group: the instruction
        sub rax, .loop
        say "instruction", rax

        wrmsr_64 IA32_LBR_CTL, 0x7F000F & ~8 ; every branch, without the call stack
        mov rax, HIGH_57
        add rax, .there
        jmp rax
.there: wrmsr_64 IA32_LBR_CTL, 0
        rdmsr_64 IA32_LBR_0_TO
        sub rax, .there
        say "to", rax
        wrmsr_64 IA32_LBR_0_FROM, 0xFF11000000000000 ; as others restore it
        rdmsr_64 IA32_LBR_0_FROM
        say "from", rax
        mov rax, .back
        jmp rax
.back:  ret

        image_end
