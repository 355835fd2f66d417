; SPDX-License-Identifier: MIT
; False sharing: two processors take turns to add to a word of their own, of the same line, and then of a line each.
; Counted is what their loads find: lines that the other one has changed. What keeps them apart is not counted.
        %include "guest.inc"
        %include "both.inc"

TURNS       equ 100
XSNP_HITM   equ 0x4304D2        ; MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM

; turns: R13 is the processor's word.
%macro turns 1
%strcat first %1, "_hitm_0"
%strcat second %1, "_hitm_1"
        wrmsr_64 IA32_PMC0, 0
        mov r14d, TURNS
%%turn: xor r15d, r15d
%%next: barrier
        cmp r15d, r9d
        jne %%wait
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1
        times 3 inc qword [r13]
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
%%wait: barrier
        inc r15d
        cmp r15d, CPUS
        jb %%next
        dec r14d
        jnz %%turn
        rdmsr_64 IA32_PMC0
        mov rbx, rax
        barrier
        test r9d, r9d
        jnz %%other
        say first, rbx
%%other:
        barrier
        test r9d, r9d
        jz %%end
        say second, rbx
%%end:  barrier
%endmacro

test:   start_both
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        wrmsr_64 IA32_PERFEVTSEL0, XSNP_HITM
        mov r13d, r9d
        lea r13, [r13 * 8 + DATA]
        turns "together"
        mov r13d, r9d
        shl r13, 6
        add r13, DATA + 0x1000
        turns "apart"
        test r9d, r9d
        jz .end
        cli
.halt:  hlt
        jmp .halt
.end:   say "turns", TURNS
        ret

        align 64
arrived: dd 0
        align 64
        image_end
