; SPDX-License-Identifier: MIT
; Reads and writes of a device, the local APIC: QEMU leaves the block in whose middle they are, does them in a block of
; their own, and goes on behind. HISTORY=1: while branches are remembered, so that they go through the model. START:
; what counters start at; below 0 they overflow on the way, which the model must see for itself.
        %include "guest.inc"

ID      equ 0xFEE00020
EOI     equ 0xFEE000B0
BAD     equ 0xC00000             ; no page
ENTRY   equ TABLES + 0x2000 + BAD / 0x200000 * 8
%ifndef HISTORY
HISTORY equ 0
%endif
%ifndef START
START   equ 0
%endif

IA32_DS_AREA     equ 0x600
IA32_PEBS_ENABLE equ 0x3F1
PEBS_BASE        equ DATA + 0x120 ; in the DS management area
PEBS_INDEX       equ DATA + 0x128
PEBS_MAXIMUM     equ DATA + 0x130
PEBS_THRESHOLD   equ DATA + 0x138
RECORDS          equ DATA + 0x1000
RECORD_IP        equ RECORDS + 0x08

%macro say_counter 2            ; name, number
        rdmsr_64 IA32_PMC0 + %2
        sub rax, START
        shl rax, 16
        shr rax, 16
        say %1, rax
%endmacro

%macro count 2+                 ; name, the access
%strcat instructions %1, "_instructions"
%strcat taken %1, "_taken"
%strcat loads %1, "_loads"
%strcat stores %1, "_stores"
%assign n 0
%rep 4
        wrmsr_64 IA32_PMC0 + n, START
  %assign n n + 1
%endrep
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 15
        times 5 nop             ; 5
        %2                      ; 1
        times 4 nop             ; 4
        jmp %%over              ; 1
        nop
%%over: nop                     ; 1
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0 ; 5
        say_counter instructions, 0
        say_counter taken, 1
        say_counter loads, 2
        say_counter stores, 3
%endmacro

; record: of two loads behind the access, which is the first, the last is the one that is recorded.
%macro record 2+                ; name, the access
%strcat ip %1, "_ip"
%strcat last %1, "_last"
        mov qword [RECORD_IP], 0
        mov qword [PEBS_INDEX], RECORDS
        wrmsr_64 IA32_PMC0 + 2, -2
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 4
        %2
        mov ebx, [DATA]
%%last: mov ebx, [DATA]
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        say ip, [RECORD_IP]
        say last, %%last
%endmacro

%macro push_there 0
        mov rsp, r14
        push qword [DATA]
        mov rsp, rbx
%endmacro

test:   mov r12d, ID
        mov r13d, EOI
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        wrmsr_64 IA32_PERFEVTSEL0, 0x4300C0 ; INST_RETIRED.ANY
        wrmsr_64 IA32_PERFEVTSEL0 + 1, 0x4320C4 ; BR_INST_RETIRED.NEAR_TAKEN
        wrmsr_64 IA32_PERFEVTSEL0 + 2, 0x4381D0 ; MEM_INST_RETIRED.ALL_LOADS
        wrmsr_64 IA32_PERFEVTSEL0 + 3, 0x4382D0 ; MEM_INST_RETIRED.ALL_STORES
%if HISTORY
        wrmsr_64 0x1D9, 1
%endif
        count "nothing", nop
        count "read", mov eax, [r12]
        count "write", mov dword [r13], 0
        count "both", xor dword [r13], 1
        mov edi, EOI
        mov eax, 0
        mov ecx, 3
        count "string", rep stosd

        mov esi, DATA           ; from memory to a device
        mov edi, EOI
        count "move", movsd
        mov esi, DATA
        mov edi, EOI
        count "move_byte", movsb
        mov esi, DATA
        mov edi, EOI
        mov ecx, 3
        count "moves", rep movsd
        push 0
        count "pop", pop qword [r13]
        mov rbx, rsp
        lea r14, [r13 + 8]
        count "push", push_there
        mov esi, ID             ; from both, the device last
        mov edi, DATA
        count "compare", cmpsd
        mov esi, ID
        mov edi, DATA
        count "move_from", movsd

        mov qword [ENTRY], 0    ; what has read a device faults, and does not retire
        invlpg [BAD]
        mov esi, DATA
        mov edi, BAD
        count "fault", try movsd
        mov esi, ID
        mov edi, BAD
        count "device_fault", try movsd

        mov qword [PEBS_BASE], RECORDS
        mov qword [PEBS_MAXIMUM], RECORDS + 0x800
        mov qword [PEBS_THRESHOLD], RECORDS + 0x800
        wrmsr_64 IA32_DS_AREA, DATA + 0x100
        wrmsr_64 IA32_PEBS_ENABLE, 4
        record "memory_record", mov ebx, [DATA]
        mov esi, DATA
        mov edi, EOI
        record "move_record", movsd
        mov esi, DATA
        mov edi, EOI
        record "moves_record", rep movsd
        ret
        image_end
