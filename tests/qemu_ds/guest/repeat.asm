; SPDX-License-Identifier: MIT
; A counter overflows with each of the instructions before REP CMPS, which leaves flags as they are: its count is 0.
        %include "guest.inc"

test:
%assign left 1
%rep 6
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_FIXED_CTR0, 0x1000000000000 - left
        mov esi, DATA
        mov edi, DATA
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        mov ebx, 0x7000000F     ; 1
        mov ebp, 0x10000002     ; 2
        add ebx, ebp            ; 3: 80000011H: OF, SF, AF, PF
        mov ecx, 0              ; 4
        repe cmpsb              ; 5
        pushfq                  ; 6
        pop rbx
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
%defstr name flags_ %+ left
        say name, rbx
%assign left left + 1
%endrep
        ret
        image_end
