; SPDX-License-Identifier: MIT
; RFLAGS in records, and the guest's own: each instruction of `code` in turn is the one that a record is of. REP CMPS
; and SCAS, WRMSR and what comes right before them are where QEMU keeps flags in its own ways.
        %include "guest.inc"

IA32_DS_AREA     equ 0x600
IA32_PEBS_ENABLE equ 0x3F1
PEBS_DATA_CFG    equ 0x3F2
FIXED_CTR0       equ 1 << 32     ; in IA32_PERF_GLOBAL_CTRL and IA32_PEBS_ENABLE
GPRS             equ 2           ; in PEBS_DATA_CFG
PEBS_BASE        equ DATA + 0x20 ; in the DS management area
PEBS_INDEX       equ DATA + 0x28
PEBS_MAXIMUM     equ DATA + 0x30
PEBS_THRESHOLD   equ DATA + 0x38
RECORDS          equ DATA + 0x1000
RECORD_IP        equ RECORDS + 0x08
RECORD_RFLAGS    equ RECORDS + 0x20
ZEROS            equ DATA + 0x2000
POPPED           equ DATA + 0x3000
STEPS            equ 24          ; CALL and the instructions of `code`

test:   mov qword [PEBS_BASE], RECORDS
        mov qword [PEBS_MAXIMUM], RECORDS + 0x800
        mov qword [PEBS_THRESHOLD], RECORDS + 0x800
        wrmsr_64 IA32_DS_AREA, DATA
        wrmsr_64 PEBS_DATA_CFG, GPRS
        wrmsr_64 IA32_PEBS_ENABLE, FIXED_CTR0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 1 << 32 | 3 ; Adaptive_Record, OS, USR
%assign step 1
%rep STEPS
        mov qword [PEBS_INDEX], RECORDS
        wrmsr_64 IA32_FIXED_CTR0, 0x1000000000000 - step
        mov esi, ZEROS
        mov edi, ZEROS
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, FIXED_CTR0
        call code
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
%defstr name step
        say {"ip_", name}, [RECORD_IP]
        say {"rflags_", name}, [RECORD_RFLAGS]
        say {"popped_", name}, [POPPED]
%assign step step + 1
%endrep
; What INT n pushes, likewise.
%assign step 1
%rep 6
        mov qword [PEBS_INDEX], RECORDS
        wrmsr_64 IA32_FIXED_CTR0, 0x1000000000000 - step
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, FIXED_CTR0
        try int 0x81
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
%defstr name step
        say {"int_", name}, [rflags]
%assign step step + 1
%endrep
        say "code_add", code.add
        say "code_cmps", code.cmps
        say "code_cmp", code.cmp
        say "code_cpuid", code.cpuid
        say "code_scas", code.scas
        say "code_sub", code.sub
        say "code_rdmsr", code.rdmsr
        say "code_scas_rdmsr", code.scas_rdmsr
        say "code_dec", code.dec
        say "code_wrmsr", code.wrmsr
        say "code_pushf", code.pushf
        ret

code:   mov ecx, 0
        mov ebx, 0x7000000F
        mov ebp, 0x10000002
.add:   add ebx, ebp            ; 80000011H: OF, SF, AF, PF
.cmps:  repe cmpsb              ; of nothing: the same
        std
.cmp:   cmp ebx, ebx            ; ZF, PF
        mov eax, 0x40000000     ; QEMU's own: "TCGTCGTCGTCG"
.cpuid: cpuid
.scas:  repe scasb              ; AL, 01H, is not 0: none
        cld
        mov ecx, IA32_FIXED_CTR_CTRL
        mov ebx, 1
.sub:   sub ebx, 3              ; -2: CF, SF, AF
.rdmsr: rdmsr
.scas_rdmsr: repe scasb         ; 03H: PF
        mov ecx, IA32_FIXED_CTR0 + 1
        mov eax, 0
        mov edx, 0
.dec:   dec ebx                 ; -3: SF
.wrmsr: wrmsr
.pushf: pushfq
        pop qword [POPPED]
        ret
        image_end
