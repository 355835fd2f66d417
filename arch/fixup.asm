; SPDX-License-Identifier: MIT
; RDMSR and WRMSR that survive #GP, and copies from and to user pages that survive #PF. arch_trap looks up the faulting
; address in arch_fixups and resumes at the address beside it (arch_fixup_resume), with RSP and RFLAGS as at the fault.

global arch_rdmsr_safe
global arch_wrmsr_safe
global arch_copy_from_user
global arch_copy_to_user
global arch_fixups
global arch_fixups_end

extern arch_smap
default rel

EFAULT equ 14                               ; kernel/lib/errno.h
ARCH_USER_END equ 0x00007FFFFFFFF000        ; arch/arch.h

; SMAP keeps the kernel off user pages but between these two (SDM vol. 1, "Supervisor-Mode Access Prevention").
%macro open_user_pages 0
    cmp     byte [arch_smap], 0
    je      %%done
    stac
%%done:
%endmacro
%macro close_user_pages 0
    cmp     byte [arch_smap], 0
    je      %%done
    clac
%%done:
%endmacro

; %1: the user's address, RDX: size
%macro check_user_range 1
    mov     rax, %1
    add     rax, rdx
    jc      bad_range
    mov     rcx, ARCH_USER_END
    cmp     rax, rcx
    ja      bad_range
%endmacro

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

; int arch_copy_from_user(void *to, uint64_t from, size_t size)
arch_copy_from_user:
    check_user_range rsi
    mov     rcx, rdx
    open_user_pages
.access:
    rep movsb
    close_user_pages
    xor     eax, eax
    ret

; int arch_copy_to_user(uint64_t to, const void *from, size_t size)
arch_copy_to_user:
    check_user_range rdi
    mov     rcx, rdx
    open_user_pages
.access:
    rep movsb
    close_user_pages
    xor     eax, eax
    ret

copy_fault:
    close_user_pages
bad_range:
msr_fault:
    mov     eax, -EFAULT
    ret

section .rodata
    align   8
; {address of the instruction that may fault, where to go on}
arch_fixups:
    dq      arch_rdmsr_safe.access, msr_fault
    dq      arch_wrmsr_safe.access, msr_fault
    dq      arch_copy_from_user.access, copy_fault
    dq      arch_copy_to_user.access, copy_fault
arch_fixups_end:
