; SPDX-License-Identifier: MIT
; Reads and writes of a device, the local APIC: QEMU leaves the block in whose middle they are, does them in a block of
; their own, and goes on behind.
        %include "guest.inc"
        %include "count.inc"

ID      equ 0xFEE00020
EOI     equ 0xFEE000B0
BAD     equ 0xC00000             ; no page
ENTRY   equ TABLES + 0x2000 + BAD / 0x200000 * 8
IA32_DS_AREA     equ 0x600
IA32_PEBS_ENABLE equ 0x3F1
PEBS_BASE        equ DATA + 0x120 ; in the DS management area
PEBS_INDEX       equ DATA + 0x128
PEBS_MAXIMUM     equ DATA + 0x130
PEBS_THRESHOLD   equ DATA + 0x138
RECORDS          equ DATA + 0x1000
RECORD_IP        equ RECORDS + 0x08

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

%macro three 1
        mov ecx, 3
        rep %1
%endmacro

%macro push_there 0
        mov rsp, r14
        push qword [DATA]
        mov rsp, rbx
%endmacro

test:   mov r12d, ID
        mov r13d, EOI
        begin_counts
        count "nothing", nop
        count "read", mov eax, [r12]
        count "write", mov dword [r13], 0
        count "both", xor dword [r13], 1
        mov edi, EOI
        count "string", three stosd

        mov esi, DATA           ; from memory to a device
        mov edi, EOI
        count "move", movsd
        mov esi, DATA
        mov edi, EOI
        count "move_byte", movsb
        mov esi, DATA
        mov edi, EOI
        count "moves", three movsd
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
        record "moves_record", three movsd
        ret
        image_end
