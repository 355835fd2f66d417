; SPDX-License-Identifier: MIT
; A PMI freezes branch history, in versions 2 and 3 by clearing IA32_DEBUGCTL.LBR: what is off is not looked at.
        %include "guest.inc"

IA32_DEBUGCTL     equ 0x1D9
LBR               equ 1 << 0
FREEZE_LBRS       equ 1 << 11   ; Freeze_LBRs_On_PMI
APIC_SVR          equ 0xFEE000F0
APIC_LVTPC        equ 0xFEE00340

test:   mov ebx, APIC_SVR
        or dword [rbx], 0x100
        mov ebx, APIC_LVTPC
        mov dword [rbx], 0x40
        wrmsr_64 IA32_DEBUGCTL, FREEZE_LBRS | LBR
        wrmsr_64 IA32_FIXED_CTR0, 0x1000000000000 - 0x100
        wrmsr_64 IA32_FIXED_CTR_CTRL, 0xB ; PMI, OS, USR
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        sti
        try jmp $
        cli
        mov ecx, 1000000
.loop:  dec ecx
        jnz .loop
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        rdmsr_64 IA32_DEBUGCTL
        say "debugctl", rax
        say "vector", [vector]
        ret
        image_end
