; SPDX-License-Identifier: MIT
; RDMSR and WRMSR that survive #GP. arch_trap looks the faulting address up in arch_fixups and resumes at the other one
; (arch_fixup_resume) with RSP as it was at the fault.

global arch_rdmsr_safe
global arch_wrmsr_safe
global arch_fixups
global arch_fixups_end

EFAULT equ 14                               ; kernel/errno.h

section .text

; int arch_rdmsr_safe(uint32_t msr, uint64_t *value)
arch_rdmsr_safe:
    mov     ecx, edi
.access:
    rdmsr
    shl     rdx, 32
    or      rax, rdx
    mov     [rsi], rax
    xor     eax, eax
    ret

; int arch_wrmsr_safe(uint32_t msr, uint64_t value)
arch_wrmsr_safe:
    mov     ecx, edi
    mov     eax, esi
    mov     rdx, rsi
    shr     rdx, 32
.access:
    wrmsr
    xor     eax, eax
    ret

msr_fault:
    mov     eax, -EFAULT
    ret

section .rodata
    align   8
; {address of the instruction that may fault, where to go on}
arch_fixups:
    dq      arch_rdmsr_safe.access, msr_fault
    dq      arch_wrmsr_safe.access, msr_fault
arch_fixups_end:
