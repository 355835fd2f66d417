; SPDX-License-Identifier: MIT
; Reference cycles: fixed counter 2 and 3CH/01H, read and stopped between readings of the TSC.
        %include "guest.inc"

OVERFLOWED_FIXED_2 equ 1 << 34
AHEAD              equ 100000   ; ticks

%macro tsc 1                    ; into a register but RAX, RCX and RDX
        rdtsc
        shl rdx, 32
        or rax, rdx
        mov %1, rax
%endmacro
%macro spin 0                   ; for SPIN instructions
        mov ecx, SPIN / 2
%%on:   dec ecx
        jnz %%on
%endmacro
SPIN    equ 2000000

test:   wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 0x303 ; instructions, reference cycles, in all rings
        wrmsr_64 IA32_PERFEVTSEL0, 0x42013C ; ring 0
        wrmsr_64 IA32_PERFEVTSEL0 + 1, 0x41013C ; others, where none runs
        wrmsr_64 IA32_PERFEVTSEL0 + 2, 0x4301B1 ; UOPS_EXECUTED.THREAD, which nothing here knows
        tsc r8
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 5 << 32 | 7
        tsc r9
        spin
        tsc r10
        rdmsr_64 IA32_FIXED_CTR0 + 2 ; while it counts
        mov rbx, rax
        tsc r11
        spin
        tsc r12
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        tsc r13
        spin                    ; nothing counts
        say "before_most", r11
        say "start_least", r8
        say "start_most", r9
        say "read_least", r10
        say "stop_least", r12
        say "stop_most", r13
        say "read", rbx
        rdmsr_64 IA32_FIXED_CTR0 + 2
        say "fixed", rax
        rdmsr_64 IA32_PMC0
        say "ring_0", rax
        rdmsr_64 IA32_PMC0 + 1
        say "others", rax
        rdmsr_64 IA32_FIXED_CTR0
        say "instructions", rax

        wrmsr_64 IA32_FIXED_CTR0 + 2, (1 << 48) - AHEAD
        tsc r8
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 4 << 32
        mov r14, OVERFLOWED_FIXED_2
.wait:  rdmsr_64 0x38E          ; IA32_PERF_GLOBAL_STATUS
        test rax, r14
        jz .wait
        tsc r9
        sub r9, r8
        say "overflow", r9
        ret

        image_end
