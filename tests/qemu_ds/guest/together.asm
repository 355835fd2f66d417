; SPDX-License-Identifier: MIT
; Two processors turn the same event on at once, one that nothing has counted before, and each counts all of what it
; does: a first time, and again, when blocks count it already. Fixed counter 0 counts all the time.
        %include "guest.inc"
        %include "both.inc"

LOOPS       equ 50000

%macro say_both 2
%strcat first %1, "_", %2, "_0"
%strcat second %1, "_", %2, "_1"
%strcat all_first %1, "_", %2, "_all_0"
%strcat all_second %1, "_", %2, "_all_1"
        barrier
        test r9d, r9d
        jnz %%second
        say first, r15
        say all_first, rbp
%%second:
        barrier
        test r9d, r9d
        jz %%end
        say second, r15
        say all_second, rbp
%%end:  barrier
%endmacro

%macro event 2
        mov r14d, %2
        call count
        say_both %1, "first"
        call count
        say_both %1, "again"
%endmacro

test:   start_both
        wrmsr_64 IA32_PMC0, 0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 | 1 << 32
        event "branches", 0x4300C4
        event "ring_0", 0x4200C0
        event "ring_0_branches", 0x4200C4
        event "calls", 0x4302C4
        event "ring_0_calls", 0x4202C4
        event "returns", 0x4308C4
        event "ring_0_returns", 0x4208C4
        event "conditional", 0x4311C4
        event "ring_0_conditional", 0x4211C4
        event "loads", 0x4381D0
        event "ring_0_loads", 0x4281D0
        event "stores", 0x4382D0
        event "ring_0_stores", 0x4282D0
        test r9d, r9d
        jz .end
        cli
.halt:  hlt
        jmp .halt
.end:   ret

; Into R15 what the counter of the event R14 has counted, into RBP all instructions since before the WRMSR. The code is
; the same for all events: what is translated first at a barrier would keep the processors apart.
count:  barrier
        mov ecx, 0x40000000
        rdpmc
        mov rbp, rax
        mov ecx, IA32_PERFEVTSEL0
        xor edx, edx
        mov eax, r14d
        cmp eax, eax            ; ZF
        wrmsr
        jnz .flags
        call work
        xor ecx, ecx
        rdpmc
        mov r15, rax
        mov ecx, 0x40000000
        rdpmc
        sub rax, rbp
        mov rbp, rax
        wrmsr_64 IA32_PERFEVTSEL0, 0
        wrmsr_64 IA32_PMC0, 0
        ret
.flags: ud2

work:   mov ebx, LOOPS
.loop:  call .leaf
        push rbx
        pop rbx
        dec ebx
        jnz .loop
        ret
.leaf:  ret

        align 8
arrived: dd 0
        image_end
