; SPDX-License-Identifier: MIT
; A local APIC that software has disabled (SVR) sends no PMI; in xAPIC mode, and in x2APIC mode.
        %include "guest.inc"
IA32_APIC_BASE   equ 0x1B
X2APIC_SIVR      equ 0x80F
X2APIC_LVT_PMI   equ 0x834
SVR              equ 0xFEE000F0
LVTPC            equ 0xFEE00340
IA32_PERF_GLOBAL_OVF_CTRL equ 0x390
PMI_INSTRUCTIONS equ 0x5300C0    ; EN, INT, OS, USR

; overflow NAME: a counter overflows, with an NMI as its PMI
%macro overflow 1
        wrmsr_64 IA32_PMC0, -1000
        wrmsr_64 IA32_PERFEVTSEL0, PMI_INSTRUCTIONS
        mov qword [vector], 0x100
        mov qword [resume], %%after
        mov [resume_rsp], rsp
        mov ebx, 10000
%%next: dec ebx
        jnz %%next
%%after:
        wrmsr_64 IA32_PERFEVTSEL0, 0
        wrmsr_64 IA32_PERF_GLOBAL_OVF_CTRL, 1 ; or it would come when the APIC is enabled
        say %1, [vector]
%endmacro

test:   mov r8d, SVR
        mov r9d, LVTPC
        and dword [r8], ~0x100
        mov dword [r9], 0x400
        overflow "disabled"
        or dword [r8], 0x100
        mov dword [r9], 0x400
        overflow "enabled"
        and dword [r8], ~0x100
        mov dword [r9], 0x400

        rdmsr_64 IA32_APIC_BASE
        or rax, 1 << 10         ; EXTD
        mov r12, rax
        wrmsr_64 IA32_APIC_BASE, r12
        overflow "still_disabled"
        wrmsr_64 X2APIC_SIVR, 0x1FF
        wrmsr_64 X2APIC_LVT_PMI, 0x400
        overflow "x2apic_enabled"
        wrmsr_64 X2APIC_SIVR, 0xFF
        wrmsr_64 X2APIC_LVT_PMI, 0x400
        overflow "x2apic_disabled"
        ret

        image_end
