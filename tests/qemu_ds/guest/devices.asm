; SPDX-License-Identifier: MIT
; Reads and writes of a device, the local APIC: QEMU leaves the block in whose middle they are, does them in a block of
; their own, and goes on behind. HISTORY=1: while branches are remembered, so that they go through the model.
        %include "guest.inc"

ID      equ 0xFEE00020
EOI     equ 0xFEE000B0

%macro count 2+                 ; name, the access
%strcat instructions %1, "_instructions"
%strcat taken %1, "_taken"
%strcat loads %1, "_loads"
%strcat stores %1, "_stores"
%assign n 0
%rep 4
        wrmsr_64 IA32_PMC0 + n, 0
  %assign n n + 1
%endrep
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 15
        times 5 nop             ; 5
        %2                      ; 1
        times 4 nop             ; 4
        jmp %%over              ; 1
        nop
%%over: nop                     ; 1
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0 ; 5
        rdmsr_64 IA32_PMC0
        say instructions, rax
        rdmsr_64 IA32_PMC0 + 1
        say taken, rax
        rdmsr_64 IA32_PMC0 + 2
        say loads, rax
        rdmsr_64 IA32_PMC0 + 3
        say stores, rax
%endmacro

test:   mov r12d, ID
        mov r13d, EOI
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        wrmsr_64 IA32_PERFEVTSEL0, 0x4300C0 ; INST_RETIRED.ANY
        wrmsr_64 IA32_PERFEVTSEL0 + 1, 0x4320C4 ; BR_INST_RETIRED.NEAR_TAKEN
        wrmsr_64 IA32_PERFEVTSEL0 + 2, 0x4381D0 ; MEM_INST_RETIRED.ALL_LOADS
        wrmsr_64 IA32_PERFEVTSEL0 + 3, 0x4382D0 ; MEM_INST_RETIRED.ALL_STORES
%if HISTORY
        wrmsr_64 0x1D9, 1
%endif
        count "nothing", nop
        count "read", mov eax, [r12]
        count "write", mov dword [r13], 0
        count "both", xor dword [r13], 1
        mov edi, EOI
        mov eax, 0
        mov ecx, 3
        count "string", rep stosd
        ret
        image_end
