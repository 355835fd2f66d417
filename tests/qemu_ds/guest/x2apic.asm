; SPDX-License-Identifier: MIT
; PMIs in x2APIC mode, where LVTPC is an MSR: an interrupt, and an NMI; writes that raise #GP and change nothing.
        %include "guest.inc"

IA32_APIC_BASE   equ 0x1B
X2APIC_EOI       equ 0x80B
X2APIC_LVT_PMI   equ 0x834
MASKED           equ 0x10000
PMI_INSTRUCTIONS equ 0x5300C0    ; EN, INT, OS, USR

test:   mov r8d, 0xFEE000F0     ; SVR: the APIC is on
        or dword [r8], 0x100
        mov r8d, 0xFEE00340
        mov dword [r8], MASKED + 0x41
        rdmsr_64 IA32_APIC_BASE
        mov r12, rax
        or rax, 1 << 10         ; EXTD
        and rax, ~(1 << 11)     ; without EN: no mode
        mov rdx, rax
        shr rdx, 32
        try wrmsr
        say "no_mode_vector", [vector]
        wrmsr_64 IA32_PMC0, -1000
        wrmsr_64 IA32_PERFEVTSEL0, PMI_INSTRUCTIONS
        mov dword [r8], 0x40    ; still xAPIC mode: LVTPC is here
        sti
        try jmp $
        cli
        wrmsr_64 IA32_PERFEVTSEL0, 0
        say "xapic_vector", [vector]
        mov r9d, 0xFEE000B0     ; EOI
        mov dword [r9], 0

        mov dword [r8], MASKED + 0x41
        or r12, 1 << 10
        wrmsr_64 IA32_APIC_BASE, r12
        rdmsr_64 X2APIC_LVT_PMI
        say "lvtpc", rax
        wrmsr_64 X2APIC_LVT_PMI, 0x42
%assign bit 11
%rep 53
  %if bit != 12 && bit != 16
        mov eax, (1 << bit) & 0xFFFFFFFF
        mov edx, (1 << bit) >> 32
        mov ecx, X2APIC_LVT_PMI
        try wrmsr
        cmp qword [vector], 13
        jne .good_%+bit
        inc dword [faults]
.good_%+bit:
  %endif
  %assign bit bit + 1
%endrep
        mov eax, [faults]
        say "faults", rax
        rdmsr_64 X2APIC_LVT_PMI
        say "lvtpc_kept", rax
        wrmsr_64 X2APIC_LVT_PMI, 0x1042 ; delivery status is read-only
        rdmsr_64 X2APIC_LVT_PMI
        say "lvtpc_status", rax

        wrmsr_64 IA32_PMC0, -1000
        wrmsr_64 IA32_PERFEVTSEL0, PMI_INSTRUCTIONS
        sti
        try jmp $
        cli
        wrmsr_64 IA32_PERFEVTSEL0, 0
        say "vector", [vector]
        rdmsr_64 X2APIC_LVT_PMI
        say "lvtpc_after", rax
        wrmsr_64 X2APIC_EOI, 0

        wrmsr_64 X2APIC_LVT_PMI, 0x400
        wrmsr_64 IA32_PMC0, -1000
        wrmsr_64 IA32_PERFEVTSEL0, PMI_INSTRUCTIONS
        try jmp $
        wrmsr_64 IA32_PERFEVTSEL0, 0
        say "nmi_vector", [vector]
        rdmsr_64 X2APIC_LVT_PMI
        say "nmi_lvtpc_after", rax
        ret

faults: dd 0

        image_end
