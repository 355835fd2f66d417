; SPDX-License-Identifier: MIT
; The loader's last step: control registers, page tables and stack change from the firmware's to the kernel's.
bits 64
default rel
global boot_enter

IA32_EFER      equ 0xC0000080
EFER_NXE       equ 11                   ; bit numbers
CR0_WP         equ 16
CR4_PGE        equ 7
CR4_PCIDE      equ 17
CR4_CET        equ 23

section .text

; _Noreturn void boot_enter(uint64_t cr3, uint64_t entry, uint64_t info, uint64_t stack_top)
; rdi: page tables; rsi: kernel entry; rdx: direct-map address of boot_info; rcx: direct-map address of the stack's end.
; Runs in the identity map, under the firmware's GDT and IDT; the kernel loads its own before it lets interrupts in.
boot_enter:
    cli
    cld
    mov r8, rcx
    mov r9, rdx
    ; 1. NXE first: with it clear, the XD bits of the new tables are reserved and fault.
    mov ecx, IA32_EFER
    rdmsr
    bts eax, EFER_NXE
    wrmsr
    ; 2. No global or tagged translation of the firmware survives, and no shadow stack.
    mov rax, cr4
    btr rax, CR4_PGE
    btr rax, CR4_PCIDE
    btr rax, CR4_CET
    mov cr4, rax
    ; 3. The new tables, then WP, so that read-only holds for the kernel too.
    mov cr3, rdi
    mov rax, cr0
    bts rax, CR0_WP
    mov cr0, rax
    ; 4. A stack that outlives the identity map. The zero is the return address at which a backtrace ends.
    mov rsp, r8
    xor ebp, ebp
    push rbp
    mov rdi, r9
    jmp rsi

section .note.GNU-stack noalloc noexec nowrite progbits
