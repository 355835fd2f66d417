; SPDX-License-Identifier: MIT
; Loads and stores with a breakpoint on their data: QEMU leaves the block in whose middle they are, does them in a block
; of their own, and raises #DB behind them.
        %include "guest.inc"
        %include "count.inc"

THERE   equ DATA + 0x100        ; no breakpoint
READ_WRITE_4 equ 0xF0001        ; in DR7: breakpoint 0

test:   begin_counts
        count "undefined", try ud2
        mov eax, DATA
        mov dr0, rax
        mov eax, READ_WRITE_4
        mov dr7, rax
        mov r12d, DATA
        count "load", try mov ebx, [r12]
        say "vector", [vector]
        count "store", try mov [r12], ebx
        count "both", try add [r12], ebx
        count "push", try push qword [r12]
        mov esi, DATA
        mov edi, THERE
        count "move_from", try movsd
        mov esi, THERE          ; which has been read by then
        mov edi, DATA
        count "move_to", try movsd
        mov esi, THERE
        mov edi, DATA
        count "moves", try rep movsd
        ret
        image_end
