; SPDX-License-Identifier: MIT
; A processor that counts its loop gets INIT from another one, and is started again: its counter goes on.
        %include "guest.inc"
        %include "both.inc"

test:   start_both
        test r9d, r9d
        jnz other
.counts:
        cmp dword [spins], SPINS
        jb .counts
        mov r8d, ICR
        mov dword [r8 + 0x10], 1 << 24
        mov dword [r8], 0x4500  ; INIT
        mov ecx, 3000000
.delay: dec ecx
        jnz .delay
        mov ebx, [spins]
        say "spins", rbx
        mov dword [r8], 0x4600 | TRAMPOLINE >> 12
.again: cmp dword [rounds], 3
        jb .again
        say "counted", [counted]
        ret

other:  inc dword [rounds]
        cmp dword [rounds], 2
        je .second
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
.spin:  inc dword [spins]
        jmp .spin
.second:
        mov ecx, 1 << 30
        rdpmc
        mov [counted], rax
        inc dword [rounds]
.halt:  cli
        hlt
        jmp .halt

        align 8
counted: dq 0
arrived: dd 0
rounds: dd 0
spins:  dd 0
        image_end
