; SPDX-License-Identifier: MIT
; RDMSR and WRMSR that survive #GP. arch_trap looks up the faulting address in arch_fixups (arch/kernel.ld) and resumes
; at the address beside it (arch_fixup_resume), with RSP and RFLAGS as at the fault.

global arch_rdmsr_safe
global arch_wrmsr_safe

EFAULT equ 14                               ; kernel/lib/errno.h

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

; {address of the instruction that may fault, where to go on}
section fixups align=8
    dq      arch_rdmsr_safe.access, msr_fault
    dq      arch_wrmsr_safe.access, msr_fault
