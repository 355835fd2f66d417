; SPDX-License-Identifier: MIT
; Blocks of one instruction, and faults, at the page offset of an instruction of the block before, in another page.
; Instructions count, or, HISTORY=1, branches are stored.
        %include "guest.inc"

IA32_DS_AREA  equ 0x600
IA32_DEBUGCTL equ 0x1D9
EFER          equ 0xC0000080
BUFFER        equ DATA + 0x1000 ; its buffer
BTS_INDEX     equ DATA + 0x08   ; in the DS management area
RECORD        equ 24            ; bytes
CODE          equ 0x500000
NX_CODE       equ 0xC00000
NX_ENTRY      equ TABLES + 0x2000 + NX_CODE / 0x200000 * 8

; begin, end "name": between them instructions count, or branches are stored. RAX, RCX, RDX, R15 are lost.
%macro begin 0
%if HISTORY
        mov qword [BTS_INDEX], BUFFER
        wrmsr_64 IA32_DEBUGCTL, 0xC0 ; TR, BTS
%else
        wrmsr_64 IA32_FIXED_CTR0, 0
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
%endif
%endmacro
%macro end 1
%if HISTORY
        wrmsr_64 IA32_DEBUGCTL, 0
        mov rax, [BTS_INDEX]
        sub rax, BUFFER
        xor edx, edx
        mov ecx, RECORD
        div rcx
        mov r15, rax
%else
        mov ecx, 1 << 30
        rdpmc
        mov r15, rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
%endif
        say %1, r15
%endmacro

; code: copies what is at a label up to the next one's to CODE + %2
%macro code 2
        mov esi, %1
        mov edi, CODE + %2
        mov ecx, %1_end - %1
        rep movsb
%endmacro

test:   mov qword [DATA], BUFFER
        mov qword [DATA + 0x10], BUFFER + RECORD * 100
        mov qword [DATA + 0x18], BUFFER + RECORD * 200
        wrmsr_64 IA32_DS_AREA, DATA
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        rdmsr_64 EFER
        or eax, 1 << 11         ; NXE
        wrmsr
        mov dword [NX_ENTRY + 4], 1 << 31
        invlpg [NX_CODE]
        code nops, 0x100        ; four of them, and on to [RBX]
        code enables, 0x1102    ; STI, and on to [RSI]
        code enables, 0x1202
        code loads, 0x1301      ; MOV CR4, and on to [RSI]
        mov r14, cr4
        mov edi, CODE + 0x100

        mov ebx, CODE + 0x1202
        mov rsi, .other
        begin
        jmp rdi                 ; 1: and 5, 2, 1 of `end`
.other: end "other"

        mov ebx, CODE + 0x1102
        mov rsi, .same
        begin
        jmp rdi
.same:  end "same"

        code nops, 0x300
        mov edi, CODE + 0x300
        mov ebx, CODE + 0x1301
        mov rsi, .control
        begin
        mov rax, r14            ; 1
        jmp rdi                 ; 2: and 5, 2, 1 of `end`
.control:
        end "control"

        mov edi, CODE + 0x100
        mov ebx, NX_CODE + 0x900
        begin
        try jmp rdi
        end "fault_other"
        say "fault_other_where", [where]

        mov ebx, NX_CODE + 0x101
        begin
        try jmp rdi
        end "fault_same"
        say "fault_same_where", [where]
        ret

nops:   nop
        nop
        nop
        nop
        jmp rbx
nops_end:
enables:
        sti
        jmp rsi
enables_end:
loads:  mov cr4, rax
        jmp rsi
loads_end:
        image_end
