; SPDX-License-Identifier: MIT
; CMASK, INV and EDGE: ten calls among 52 instructions.
        %include "guest.inc"

%macro counted 2                ; name, IA32_PERFEVTSEL0
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        wrmsr_64 IA32_PMC0, 0
        wrmsr_64 IA32_PERFEVTSEL0, %2
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1
        mov ecx, 10             ; 1
%%loop: call leaf               ; call, nop, ret
        dec ecx
        jnz %%loop              ; 51
        mov ecx, 0              ; 52
        rdpmc
        mov r15, rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        say %1, r15
%endmacro

test:   counted "calls", 0x004202C4
        counted "calls_cmask_1", 0x014202C4
        counted "no_calls", 0x01C202C4
        counted "calls_cmask_2", 0x024202C4
        counted "fewer_than_2", 0x02C202C4
        counted "edges", 0x004602C4
        counted "edges_of_none", 0x01C602C4
        counted "instructions", 0x004200C0
        counted "cycles", 0x10C200C0
        counted "no_instruction", 0x01C200C0
        counted "edge_of_instructions", 0x004600C0
        counted "user_cycles", 0x10C100C0
        counted "loads", 0x004281D0 ; of RET
        counted "no_loads", 0x01C281D0
        counted "load_edges", 0x004681D0
        counted "no_stores", 0x01C282D0
        counted "not_taken", 0x01C220C4 ; 29 are: calls, returns and all but the last JNZ
        ret

leaf:   nop
        ret

        image_end
