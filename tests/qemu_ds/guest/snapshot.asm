; SPDX-License-Identifier: MIT
; Counts and samples a loop whose numbers are the same each time, and says them; then it stands, so that the machine can
; be taken back to somewhere on the way. HISTORY=1: branches are remembered, so that they go through the model.
        %include "guest.inc"
%ifndef HISTORY
HISTORY equ 0
%endif
%ifndef LOOPS
LOOPS   equ 40000
%endif
%ifndef LONG
SHORT   equ 100
LONG    equ 0x100000
%endif

IA32_DEBUGCTL    equ 0x1D9
IA32_DS_AREA     equ 0x600
IA32_PEBS_ENABLE equ 0x3F1
PEBS_DATA_CFG    equ 0x3F2
MSR_LBR_0_FROM   equ 0x680
FIXED_CTR0       equ 1 << 32     ; in IA32_PERF_GLOBAL_CTRL and IA32_PEBS_ENABLE
GPRS             equ 2           ; in PEBS_DATA_CFG
PERIOD           equ 1009
RECORD           equ 32 + 18 * 8
TSC              equ 0x18        ; in a record
PEBS_BASE        equ DATA + 0x20 ; in the DS management area
PEBS_INDEX       equ DATA + 0x28
PEBS_MAXIMUM     equ DATA + 0x30
PEBS_THRESHOLD   equ DATA + 0x38
PEBS_RESET       equ DATA + 0x80 ; of fixed counter 0
RECORDS          equ DATA + 0x1000
SOURCE           equ DATA + 0x100000
TARGET           equ SOURCE + LONG

test:   xor ebx, ebx
        xor r13d, r13d
        xor r14d, r14d
        mov r15d, LOOPS
        mov qword [SOURCE], 0   ; a reset leaves memory as it is, and `leaf` makes flags of it, which records have
        mov qword [PEBS_BASE], RECORDS
        mov qword [PEBS_INDEX], RECORDS
        mov qword [PEBS_MAXIMUM], RECORDS + 1000 * RECORD
        mov qword [PEBS_THRESHOLD], RECORDS + 1000 * RECORD
        mov rax, 0x1000000000000 - PERIOD
        mov [PEBS_RESET], rax
        wrmsr_64 IA32_DS_AREA, DATA
        wrmsr_64 PEBS_DATA_CFG, GPRS
        wrmsr_64 IA32_PEBS_ENABLE, FIXED_CTR0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 1 << 32 | 3 ; Adaptive_Record, OS, USR
        wrmsr_64 IA32_PERFEVTSEL0, 0x4300C4       ; branches
        wrmsr_64 IA32_PERFEVTSEL0 + 1, 0x4381D0   ; loads
        wrmsr_64 IA32_PERFEVTSEL0 + 2, 0x4382D0   ; stores
        wrmsr_64 IA32_PERFEVTSEL0 + 3, 0x4100C4   ; branches, but not in ring 0
        wrmsr_64 IA32_FIXED_CTR0, 0x1000000000000 - PERIOD
        say "repeats", test.repeats
        say "begins", 1
        wrmsr_64 IA32_DEBUGCTL, HISTORY
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, FIXED_CTR0 | 15
.loop:  mov esi, SOURCE
        mov edi, TARGET
        mov ecx, SHORT
        mov edx, LONG           ; at times it takes as long as all else
        test r15b, r15b
        cmovz ecx, edx
.repeats:
        rep movsb
        mov ecx, 100
.inner: add rbx, rcx
        call leaf
        test cl, 3
        jz .even
        push rbx
        pop rdx
.even:  dec ecx
        jnz .inner
        mov rax, [PEBS_INDEX]
        sub rax, RECORDS + 100 * RECORD
        js .few
        call drain
.few:   dec r15d
        jnz .loop
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        wrmsr_64 IA32_DEBUGCTL, 0
        call drain
        say "records", r14
        say "sum", r13
        rdmsr_64 IA32_FIXED_CTR0
        say "instructions", rax
        rdmsr_64 IA32_PMC0
        say "branches", rax
        rdmsr_64 IA32_PMC0 + 1
        say "loads", rax
        rdmsr_64 IA32_PMC0 + 2
        say "stores", rax
        rdmsr_64 IA32_PMC0 + 3
        say "others", rax
        rdmsr_64 MSR_LBR_0_FROM
        say "from", rax
        say "end", 1
.stand: cli
        hlt
        jmp .stand

leaf:   xor [SOURCE], rbx
        ret

; Adds to R14 how many records there are, to R13 a sum of all of their words but the TSC.
drain:  mov esi, RECORDS
.record:
        cmp rsi, [PEBS_INDEX]
        jae .all
        mov qword [rsi + TSC], 0
        mov ecx, RECORD / 8
.word:  rol r13, 7
        add r13, [rsi]
        add rsi, 8
        dec ecx
        jnz .word
        inc r14
        jmp .record
.all:   mov qword [PEBS_INDEX], RECORDS
        ret
        image_end
