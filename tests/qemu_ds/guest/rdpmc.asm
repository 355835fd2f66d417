; SPDX-License-Identifier: MIT
; RDPMC: what it returns, what it leaves alone, and when it faults.
        %include "guest.inc"

test:   mov ecx, 0              ; nothing counts yet
        try rdpmc
        say "idle_vector", [vector]
        wrmsr_64 IA32_PMC0 + 1, 0x12345678
        wrmsr_64 IA32_FIXED_CTR0 + 2, 0x9ABCDEF01234
        mov rax, -1
        mov rdx, -1
        mov ecx, 1
        rdpmc
        say "gp_low", rax
        say "gp_high", rdx
        mov ecx, 0x40000002
        rdpmc
        say "fixed_low", rax
        say "fixed_high", rdx

        ; lazy flags: each RDPMC comes after an instruction that sets them
        mov eax, 5
        mov ecx, 0x40000002
        cmp eax, 6              ; CF, SF, AF, PF
        rdpmc
        pushfq
        pop rbx
        say "flags_less", rbx
        mov eax, 0x7FFFFFFF
        mov ecx, 0x40000002
        add eax, 1              ; OF, SF, AF, PF
        rdpmc
        pushfq
        pop rbx
        say "flags_overflow", rbx

        ; what is no counter
        mov ecx, 8              ; of 8
        try rdpmc
        say "gp_8_vector", [vector]
        say "gp_8_error", [error]
        mov rax, [where]
        movzx eax, word [rax]
        say "gp_8_where", rax
        mov ecx, 0x40000004     ; of 4
        try rdpmc
        say "fixed_4_vector", [vector]
        mov ecx, 0x20000001
        try rdpmc
        say "metrics_1_vector", [vector]
        mov ecx, 0x20000000
        try rdpmc
        say "metrics_vector", [vector]
        mov ecx, 0x80000000
        try rdpmc
        say "fast_vector", [vector]

        ; CPL 3
        xor esi, esi
        user at_3, .refused
.refused:
        say "refused_vector", [vector]
        say "refused_through", rsi
        mov rax, cr4
        or eax, 0x100           ; PCE
        mov cr4, rax
        xor esi, esi
        user at_3, .allowed
.allowed:
        say "allowed_vector", [vector]
        say "allowed_through", rsi
        say "allowed_value", rbx

        ; while counting: instructions between two, one of them the first RDPMC
        call between
        say "between", rax
        call between_one_block
        say "between_one_block", rax
        call repeated
        say "repeated", rax

        ; an immediate that looks like one of them is none
        mov ecx, 0x40000004
        mov eax, 0x330F0000     ; RDPMC
        say "immediate_rdpmc", rax
        mov eax, 0x320F0000     ; RDMSR
        nop
        say "immediate_rdmsr", rax
        mov eax, 0xA20F0000     ; CPUID
        nop
        say "immediate_cpuid", rax
        ret

at_3:   mov ecx, 0x40000002
        rdpmc
        mov ebx, eax
        mov esi, 1
        int 0x80

start:  wrmsr_64 IA32_FIXED_CTR0, 0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        mov ecx, 0x40000000
        ret
stop:   push rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        pop rax
        ret

between:                        ; branches, so several blocks
        call start
        rdpmc
        mov ebx, eax            ; 2, after RDPMC itself
        mov edx, 10             ; 3
.loop:  dec edx                 ; 10 times, 13
        jnz .loop               ; 23
        nop                     ; 24
        rdpmc
        sub eax, ebx
        call stop
        ret
between_one_block:
        call start
        rdpmc
        mov ebx, eax            ; 2
        xor edx, edx            ; 3
        add edx, 1              ; 4
        nop                     ; 5
        nop                     ; 6
        rdpmc
        sub eax, ebx
        call stop
        ret
repeated:                       ; 1000 times 4 instructions
        call start
        rdpmc
        mov ebx, eax            ; 2, with the RDPMC before it
        mov esi, 1000           ; 3
.loop:  rdpmc
        dec esi
        cmp esi, 0
        jnz .loop               ; 4003
        rdpmc
        sub eax, ebx
        call stop
        ret

        image_end
