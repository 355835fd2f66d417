; SPDX-License-Identifier: MIT
; Processor 1 is in the middle of REP string instructions when what processor 0 turns on makes QEMU translate all blocks
; anew.
        %include "guest.inc"
        %include "both.inc"

REPEATS equ 3000
BYTES   equ 0x20000
TARGET  equ 0x800000

; With HALTED the others halt, and wake up each time.
test:
%ifndef HALTED
        start_both
        barrier
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        barrier
        test r9d, r9d
        jz .events

        wrmsr_64 IA32_FIXED_CTR0, 0
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        mov ebx, REPEATS          ; 1
.times: mov edi, TARGET
        mov ecx, BYTES
        rep stosb
        dec ebx
        jnz .times              ; 5 each
        mov ecx, 1 << 30        ; 1
        rdpmc
        mov [counted], rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        barrier
        cli
.halt:  hlt
        jmp .halt
%endif

.events:
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1
        mov esi, events
.next:  mov eax, [rsi]
        xor edx, edx
        mov ecx, IA32_PERFEVTSEL0
        wrmsr
        mov ecx, 3000000
.wait:  dec ecx
        jnz .wait
        add esi, 4
        cmp esi, events_end
        jb .next
%ifndef HALTED
        barrier
%endif
        say "counted", [counted]
        ret

        align 8
arrived: dd 0, 0
counted: dq 0
events: dd 0x4300C4, 0x4200C0, 0x4200C4, 0x4302C4, 0x4202C4, 0x4308C4, 0x4208C4, 0x4311C4, 0x4211C4, 0x4381D0, 0x4281D0
        dd 0x4382D0, 0x4282D0
events_end:
        image_end
