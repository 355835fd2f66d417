; SPDX-License-Identifier: MIT
; What a memory system's events count, on paper: pointers are followed through lines in order, over and over; stores,
; an access of two lines, locked ones. START: of the counters; below 0 they overflow on the way.
        %include "guest.inc"

MSR_PEBS_LD_LAT equ 0x3F6
ON              equ 0x430000    ; EN, OS, USR
%ifndef START
START           equ 0
%endif
%ifndef THRESHOLD
THRESHOLD       equ 100
%endif

%macro select 4
        wrmsr_64 IA32_PERFEVTSEL0, ON + %1
        wrmsr_64 IA32_PERFEVTSEL0 + 1, ON + %2
        wrmsr_64 IA32_PERFEVTSEL0 + 2, ON + %3
        wrmsr_64 IA32_PERFEVTSEL0 + 3, ON + %4
%endmacro

%macro begin 0
%assign n 0
%rep 4
        wrmsr_64 IA32_PMC0 + n, START
  %assign n n + 1
%endrep
        wrmsr_64 IA32_FIXED_CTR0, START & 0xFFFFFFFFFFFF
        wrmsr_64 IA32_FIXED_CTR0 + 1, START & 0xFFFFFFFFFFFF
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 15 | 3 << 32
%endmacro

%macro say_counter 3            ; MSR, two parts of a name
%strcat name %2, "_", %3
        rdmsr_64 %1
        mov rbx, START
        sub rax, rbx
        shl rax, 16
        shr rax, 16
        say name, rax
%endmacro

%macro end 5                    ; the first part of names, and the others
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        say_counter IA32_PMC0, %1, %2
        say_counter IA32_PMC0 + 1, %1, %3
        say_counter IA32_PMC0 + 2, %1, %4
        say_counter IA32_PMC0 + 3, %1, %5
%strcat cycles %5, "_cycles"
%strcat instructions %5, "_instructions"
        say_counter IA32_FIXED_CTR0, %1, instructions
        say_counter IA32_FIXED_CTR0 + 1, %1, cycles
%endmacro

; chase: so many lines, one after the other, and back to the first.
%macro chase 2
        mov edi, %2
        call links
        mov edi, %2
        call follow
        select 0x01D1, 0x02D1, 0x04D1, 0x20D1
        mov edi, %2
        begin
        call follow
        end %1, "l1_hit", "l2_hit", "l3_hit", "l3_miss"
        select 0x08D1, 0x10D1, 0x4F2E, 0x412E
        mov edi, %2
        begin
        call follow
        end %1, "l1_miss", "l2_miss", "references", "misses"
        select 0x0E08, 0x11D0, 0x0151, 0x01CD
        mov edi, %2
        begin
        call follow
        end %1, "walks", "stlb_miss", "replacements", "latency"
%endmacro

test:   wrmsr_64 MSR_PEBS_LD_LAT, THRESHOLD
        wrmsr_64 IA32_FIXED_CTR_CTRL, 0x33
        chase "l1", 256
        chase "l2", 2048
        chase "l3", 16384
        chase "ram", 262144

        ; Lines that nothing has: two stores each, then a load of what is still on its way.
        select 0x40D1, 0x82D0, 0x4F2E, 0x12D0
        wrmsr_64 IA32_PERFEVTSEL0 + 3, ON + 0x0E49
        mov edi, DATA + 0x3000000
        mov ebx, edi
        begin
%rep 8
        mov [rdi], rax
        mov [rdi + 8], rax
        mov rax, [rdi + 16]
        add edi, 64
%endrep
        end "fill", "fill_buffer", "stores", "references", "store_walks"

        ; Two lines, in the L1 by now; and locked.
        select 0x41D0, 0x21D0, 0x81D0, 0x82D0
        mov edi, DATA + 0x3000000
        begin
        mov rax, [rdi + 60]
        mov [rdi + 60], rax
        lock inc dword [rdi]
        xchg [rdi], eax
        end "odd", "split", "locked", "loads", "stores"

        ; A string of 4 lines retires once; and what faults has been there nevertheless.
        select 0x01D1, 0x82D0, 0x4F2E, 0x412E
        mov edi, DATA + 0x3100000
        mov ecx, 32
        begin
        mov edi, DATA + 0x3100000
        mov ecx, 32
        rep stosq
        end "string", "l1_hit", "stores", "references", "misses"
        ret

; Line i of EDI leads to line i + 1.
links:  mov eax, DATA
        mov ecx, edi
.next:  lea edx, [rax + 64]
        mov [rax], rdx
        mov eax, edx
        dec ecx
        jnz .next
        mov dword [rax - 64], DATA
        ret

; Follows EDI of them: 5 + 3 * EDI instructions, CALL and its WRMSR included; loads: one more.
follow: mov esi, DATA
        mov ecx, edi
.next:  mov rsi, [rsi]
        dec ecx
        jnz .next
        ret

        image_end
