; SPDX-License-Identifier: MIT
; INIT leaves the model's registers, a reset of the machine does not. The guest begins three times. TRIPLE_FAULT=1: that
; resets it, 0: somebody else does; otherwise it does so itself.
        %include "guest.inc"

IA32_DS_AREA   equ 0x600
IA32_DEBUGCTL  equ 0x1D9
RESET_CONTROL  equ 0xCF9
ICR            equ 0xFEE00300

test:   inc dword [round]
        cmp dword [round], 2
        je init_has_been
        ja reset_has_been

        wrmsr_64 IA32_DS_AREA, DATA
        wrmsr_64 IA32_DEBUGCTL, 1
        wrmsr_64 IA32_PMC0 + 1, 0x1234
        wrmsr_64 IA32_PERFEVTSEL0, 0x4300C0
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 | 1 << 32
        mov r8d, ICR
        mov dword [r8 + 0x10], 0
        mov dword [r8], 0x4500  ; INIT, to itself
.wait:  jmp .wait

%macro state 1
%strcat area %1, "_ds_area"
%strcat pmc %1, "_pmc_1"
%strcat sel %1, "_sel"
%strcat ctrl %1, "_ctrl"
%strcat global %1, "_global"
%strcat debugctl %1, "_debugctl"
%strcat counted %1, "_counted"
        rdmsr_64 IA32_PERF_GLOBAL_CTRL
        say global, rax
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 0
        rdmsr_64 IA32_DEBUGCTL
        say debugctl, rax
        rdmsr_64 IA32_DS_AREA
        say area, rax
        rdmsr_64 IA32_PMC0 + 1
        say pmc, rax
        rdmsr_64 IA32_PERFEVTSEL0
        say sel, rax
        rdmsr_64 IA32_FIXED_CTR_CTRL
        say ctrl, rax
        rdmsr_64 IA32_FIXED_CTR0
        say counted, rax
%endmacro

init_has_been:
        state "init"
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 | 1 << 32
%ifndef TRIPLE_FAULT
        mov dx, RESET_CONTROL
        mov al, 6
        out dx, al
%elif TRIPLE_FAULT
        lidt [no_idt]
        int3
%endif
.wait:  jmp .wait

reset_has_been:
        state "reset"
        wrmsr_64 IA32_FIXED_CTR_CTRL, 3 ; and it counts again
        wrmsr_64 IA32_PERF_GLOBAL_CTRL, 1 << 32
        nop
        nop
        mov ecx, 0x40000000
        rdpmc
        say "counts", rax
        ret

round:  dd 0
no_idt: dw 0
        dq 0
        image_end
