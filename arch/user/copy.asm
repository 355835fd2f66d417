; SPDX-License-Identifier: MIT
; Copies from and to user pages that survive #PF, as arch/fixup.asm says.

global arch_copy_from_user
global arch_copy_to_user

extern arch_smap
default rel

EFAULT equ 14                               ; kernel/lib/errno.h
ARCH_USER_END equ 0x00007FFFFFFFF000        ; arch/memory_layout.h

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
    mov     eax, -EFAULT
    ret

section fixups align=8
    dq      arch_copy_from_user.access, copy_fault
    dq      arch_copy_to_user.access, copy_fault
