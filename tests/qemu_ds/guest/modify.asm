; SPDX-License-Identifier: MIT
; Code that stores into the block it is in: instructions and taken branches. HISTORY=1: while branches are remembered,
; so that they go through the model.
        %include "guest.inc"

%macro begin 0
        wrmsr_64 IA32_PMC0, 0
        wrmsr_64 IA32_PERFEVTSEL0, 0x4320C4 ; BR_INST_RETIRED.NEAR_TAKEN
        wrmsr_64 IA32_FIXED_CTR0, 0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
%if HISTORY
        wrmsr_64 0x1D9, 1
%endif
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32 | 1
%endmacro
%macro end 2
        mov ecx, 0x40000000
        rdpmc
        mov r15, rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        say %1, r15
        rdmsr_64 IA32_PMC0
        say %2, rax
%endmacro

test:   lea rbx, [.after]
        begin
        mov byte [.imm + 2], 7  ; 1
.imm:   mov sil, 0              ; 2
        mov byte [.imm2 + 2], 8 ; 3
        nop                     ; 4
.imm2:  mov dil, 0              ; 5
        jmp rbx                 ; 6, which a block that was left in its middle has not come to
        nop
.after: end "stores", "stores_taken" ; 7
        movzx esi, sil
        movzx edi, dil
        say "value", rsi
        say "second_value", rdi
        ret
        image_end
