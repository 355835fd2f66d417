; SPDX-License-Identifier: MIT
; A PMI that is raised while LVTPC is masked: what comes when it is unmasked, and when the overflow has been
; acknowledged before; in xAPIC mode, and in x2APIC mode.
        %include "guest.inc"
IA32_APIC_BASE   equ 0x1B
X2APIC_LVT_PMI   equ 0x834
SVR              equ 0xFEE000F0
LVTPC            equ 0xFEE00340
IA32_PERF_GLOBAL_OVF_CTRL equ 0x390
PMI_INSTRUCTIONS equ 0x5300C0    ; EN, INT, OS, USR
MASKED_NMI       equ 0x10400
NMI              equ 0x400

%macro lvtpc 2                  ; lvtpc x2APIC mode, value
  %if %1
        wrmsr_64 X2APIC_LVT_PMI, %2
  %else
        mov dword [r9], %2
  %endif
%endmacro

; while_lvtpc NAME, x2APIC mode, value: LVTPC is written, and some instructions run, in which an NMI may come
%macro while_lvtpc 3
        mov qword [vector], 0x100
        mov qword [resume], %%after
        mov [resume_rsp], rsp
        lvtpc %2, %3
        mov ebx, 10000
%%next: dec ebx
        jnz %%next
%%after:
        say {%1}, [vector]
%endmacro

; overflow NAME, x2APIC mode: of a counter, while LVTPC is masked
%macro overflow 2
        wrmsr_64 IA32_PMC0, -1000
        wrmsr_64 IA32_PERFEVTSEL0, PMI_INSTRUCTIONS
        while_lvtpc {%1}, %2, MASKED_NMI
        wrmsr_64 IA32_PERFEVTSEL0, 0
%endmacro

; so many ticks of the TSC, of more than a second, and then an exception: where nothing counts, QEMU is told so then
%macro rest 0
        rdtsc
        shl rdx, 32
        lea r11, [rax + rdx]
        mov eax, 1
        shl rax, 32
        add r11, rax
%%wait: pause
        rdtsc
        shl rdx, 32
        or rax, rdx
        cmp rax, r11
        jb %%wait
        mov qword [resume], %%after
        mov [resume_rsp], rsp
        ud2
%%after:
%endmacro

%macro both 2
        overflow {%1, "_masked"}, %2
        while_lvtpc {%1, "_unmasked"}, %2, NMI
        wrmsr_64 IA32_PERF_GLOBAL_OVF_CTRL, 1
        overflow {%1, "_again"}, %2
        wrmsr_64 IA32_PERF_GLOBAL_OVF_CTRL, 1
        while_lvtpc {%1, "_acknowledged"}, %2, NMI
%endmacro

test:   mov r8d, SVR
        mov r9d, LVTPC
        or dword [r8], 0x100
        mov dword [r9], MASKED_NMI
        both "xapic", 0
        overflow "idle_masked", 0
        rest
        while_lvtpc "idle_unmasked", 0, NMI
        wrmsr_64 IA32_PERF_GLOBAL_OVF_CTRL, 1
        rdmsr_64 IA32_APIC_BASE
        or rax, 1 << 10         ; EXTD
        mov r12, rax
        wrmsr_64 IA32_APIC_BASE, r12
        both "x2apic", 1
        ret

        image_end
