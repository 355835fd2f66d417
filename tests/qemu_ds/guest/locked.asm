; SPDX-License-Identifier: MIT
; With several processors QEMU begins LOCK of what is not aligned anew, alone, with all others standing still: where it
; is the last of its block, for its page ends there, in its middle, or the only one.
        %include "guest.inc"

CODE     equ 0x500000
PAGE_END equ CODE + 0x1000

%macro count 2                  ; name, where to begin
        mov rsi, %%back
        mov edi, %2
        wrmsr_64 IA32_FIXED_CTR0, 0
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        jmp rdi                 ; 1
%%back: mov ecx, 1 << 30        ; 2, the last
        rdpmc
        mov r15, rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        say %1, r15
%endmacro

%macro code 1                   ; to where LOCK is to end
        mov esi, nops
        mov edi, %1 - (lock_end - nops)
        mov ecx, nops_end - nops
        rep movsb
%endmacro

test:   wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        code PAGE_END
        code PAGE_END - 0x100
        mov ebx, DATA
        count "aligned", PAGE_END - (lock_end - nops)
        mov ebx, DATA + 1
        count "last", PAGE_END - (lock_end - nops)
        count "middle", PAGE_END - 0x100 - (lock_end - nops)
        count "alone", PAGE_END - (lock_end - nops.lock)
        say "value", [DATA + 1]
        ret

nops:   times 13 nop
.lock:  lock inc dword [rbx]
lock_end:
        jmp rsi
nops_end:
        image_end
