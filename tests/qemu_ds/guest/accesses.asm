; SPDX-License-Identifier: MIT
; Loads and stores: an instruction is one of either, however much memory it touches, and none if it faults.
        %include "guest.inc"

ALL_LOADS  equ 0x81D0
ALL_STORES equ 0x82D0
ON         equ 0x430000          ; EN, OS, USR
BAD        equ 0xC00000
PAGE_ENTRY equ TABLES + 0x2000 + BAD / 0x200000 * 8
%ifndef START
START      equ 0                 ; of the counters; below 0: they overflow on the way
%endif

; count: from here to `counted "name"` loads and stores count. RAX, RCX and RDX are lost at both.
%macro count 0
        wrmsr_64 IA32_PMC0, START
        wrmsr_64 IA32_PMC0 + 1, START
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 3
%endmacro
%macro counted 1
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        rdmsr_64 IA32_PMC0
        sub rax, START
        shl rax, 16
        shr rax, 16
        mov rbx, rax
        rdmsr_64 IA32_PMC0 + 1
        sub rax, START
        shl rax, 16
        shr rax, 16
        say {%1, "_loads"}, rbx
        say {%1, "_stores"}, rax
%endmacro

test:   wrmsr_64 IA32_PERFEVTSEL0, ON + ALL_LOADS
        wrmsr_64 IA32_PERFEVTSEL0 + 1, ON + ALL_STORES
        mov qword [PAGE_ENTRY], 0
        invlpg [BAD]

        count
        counted "none"

        count
        mov rbx, [DATA]
        mov rbx, [DATA + 0xFFC] ; on two pages
        counted "load"

        count
        mov [DATA], rbx
        mov [DATA + 0xFFC], rbx
        mov byte [DATA], 1
        counted "store"

        count
        push qword [DATA]
        pop qword [DATA + 8]
        counted "push_pop"

        count
        add [DATA], rbx
        lock xadd [DATA], rbx
        lock cmpxchg16b [DATA]
        counted "both"

        count
        call .return
        counted "call"

        mov esi, DATA
        mov edi, DATA + 0x100
        count
        movsb
        mov ecx, 1000
        rep movsb
        xor ecx, ecx
        rep movsb
        counted "string"

        mov edi, DATA
        count
        mov ecx, 200000         ; more than QEMU does at a time
        rep stosb
        counted "long_string"

        count
        movups xmm0, [DATA + 1]
        movups [DATA + 0xFF8], xmm0
        fxsave [DATA + 0x100]
        fxrstor [DATA + 0x100]
        counted "vector"

        count
        prefetcht0 [DATA]
        prefetcht1 [DATA]
        prefetcht2 [DATA]
        prefetchnta [DATA]
        prefetchw [DATA]
        prefetchw [BAD]         ; not there
        db 0x0F, 0x0D, 0x00     ; reserved: no operation
        db 0x0F, 0x18, 0x20
        nop dword [DATA]
        mov rbx, [DATA]
        counted "prefetch"

        mov ebx, 100
        count
.loop:  mov rsi, [DATA]
        mov [DATA + 8], rsi
        add rsi, [DATA]
        dec ebx
        jnz .loop
        counted "loop"

        mov esi, BAD            ; the handler's own are the same for all that follow
        mov edi, DATA
        count
        try movsb
        counted "bad_load"

        mov esi, DATA
        mov edi, BAD
        count
        try movsb
        counted "bad_store"

        mov esi, DATA
        mov edi, BAD - 10
        count
        mov ecx, 20
        try rep movsb
        counted "bad_string"
        ret
.return:
        ret

        image_end
