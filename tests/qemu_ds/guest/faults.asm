; SPDX-License-Identifier: MIT
; Instructions that fault in the middle of a block do not retire, and those before them do. HISTORY=1: while branches
; are remembered, so that they go through the model; LOADS=1: while loads are counted, so that all do.
        %include "guest.inc"

%macro begin 0
%if HISTORY
        wrmsr_64 0x1D9, 1
%endif
%if LOADS
        wrmsr_64 IA32_PMC0, 0
        wrmsr_64 IA32_PERFEVTSEL0, 0x4381D0
%endif
        wrmsr_64 IA32_FIXED_CTR0, 0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32 | LOADS
%endmacro
%macro end 1
        mov ecx, 0x40000000
        rdpmc
        mov r15, rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        say %1, r15
%endmacro

test:   begin
        nop
        end "empty"             ; with the MOV of `end` 2

        mov rbp, 0x8000000000   ; beyond the tables
        begin
        try mov rax, [rbp]      ; 3 before it
        end "page_fault"
        say "page_fault_vector", [vector]
        say "page_fault_where", [where]

        begin
        mov esi, 0x7000000F
        mov edi, 0x10000002
        add edi, esi            ; 80000011H: OF, SF, AF, PF
        try mov rax, [rbp]      ; 6 before it
        end "flags"
        say "flags_rflags", [rflags]

        xor esi, esi
        begin
        try div esi
        end "divide"
        say "divide_vector", [vector]

        begin
        try ud2
        end "undefined"

        begin
        try int 0x81
        end "int"

        begin
        try int3
        end "int3"

        mov ecx, 0x12345
        begin
        mov ecx, 100
        try rdpmc
        end "rdpmc"
        say "rdpmc_vector", [vector]

        begin
        mov ecx, 0x3F1
        mov eax, -1
        mov edx, -1
        try wrmsr
        end "wrmsr"
        say "wrmsr_vector", [vector]

        mov rax, db_handler     ; single-stepping: two instructions of its handler a step
        mov [IDT + 16], ax
        shr rax, 16
        mov [IDT + 22], ax
        mov ecx, 5
        mov esi, DATA
        mov edi, DATA + 0x1000
        mov rbx, 3
        push rcx
        begin
        pop rcx                 ; 1
        pushfq                  ; 2
        or qword [rsp], 0x100   ; 3, TF
        popfq                   ; 4
        nop                     ; 5
        rep movsb               ; 6
        nop                     ; 7
        try mov rax, [rbp]      ; 10 before it
        end "single_step"       ; with 25 of its handler and the MOV 36
        say "single_steps", [steps]
        say "single_step_vector", [vector]

        wrmsr_64 IA32_PMC0, 0   ; 6 branches in the handler, the last an IRET
        wrmsr_64 IA32_PMC0 + 1, 0
        wrmsr_64 IA32_PERFEVTSEL0, 0x4300C4 ; BR_INST_RETIRED.ALL_BRANCHES
        wrmsr_64 IA32_PERFEVTSEL0 + 1, 0x4340C4 ; .FAR_BRANCH
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 3
        try int 0x81
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        rdmsr_64 IA32_PMC0
        say "int_branches", rax
        rdmsr_64 IA32_PMC0 + 1
        say "int_far_branches", rax
        ret

db_handler:
        inc qword [steps]
        iretq
steps:  dq 0

        image_end
