; SPDX-License-Identifier: MIT
; From STARTUP IPI to C. The code between arch_trampoline and arch_trampoline_end is copied to a page below 1 MiB, runs
; there in three modes, and accesses only its own page until it leaves it. C fills in CR3 and CR4, the code itself where
; the page is. Paging maps it read-only. SDM vol. 3, "MP Initialization" and "Initializing IA-32e Mode".

%include "arch/asm_numbers.inc"

global arch_trampoline
global arch_trampoline_end
global arch_trampoline_cr3
global arch_trampoline_cr4

extern arch_ap_main
extern arch_ap_expected
extern arch_ap_stack_top
extern arch_ap_cpu
extern arch_page_tables

CODE32    equ 0x08
DATA32    equ 0x10
CODE64    equ 0x18
CR0_PE    equ 1 << 0
CR0_PG    equ 1 << 31
CR0_WP    equ 1 << 16
CR0_ET    equ 1 << 4
IA32_EFER equ 0xC0000080
EFER_LME  equ 1 << 8
EFER_NXE  equ 1 << 11                       ; the loader refuses processors without

%define AT(label) (label - arch_trampoline)

section .rodata
    align   16
bits 16
arch_trampoline:
    cli
    cld
    mov     ax, cs                          ; page number << 8
    mov     ds, ax
    movzx   ebx, ax
    shl     ebx, 4                          ; EBX: address of this page, in all modes
    lea     eax, [ebx + AT(gdt)]
    mov     [AT(gdt_pointer.base)], eax
    lea     eax, [ebx + AT(mode32)]
    mov     [AT(far32)], eax
    lea     eax, [ebx + AT(mode64)]
    mov     [AT(far64)], eax
    o32 lgdt [AT(gdt_pointer)]
    mov     eax, CR0_PE | CR0_ET
    mov     cr0, eax
    o32 jmp far [AT(far32)]

bits 32
mode32:
    mov     eax, DATA32
    mov     ds, eax
    mov     ss, eax
    mov     eax, [ebx + AT(arch_trampoline_cr4)]
    mov     cr4, eax
    mov     eax, [ebx + AT(arch_trampoline_cr3)]
    mov     cr3, eax
    mov     ecx, IA32_EFER
    mov     eax, EFER_LME | EFER_NXE
    xor     edx, edx
    wrmsr
    mov     eax, CR0_PG | CR0_WP | CR0_PE | CR0_ET
    mov     cr0, eax
    jmp     far [ebx + AT(far64)]

bits 64
mode64:
    mov     rax, arch_ap_entry
    jmp     rax

    align   8
gdt:                dq 0
                    dq 0x00CF9B000000FFFF   ; 32-bit code, flat, accessed
                    dq 0x00CF93000000FFFF   ; data, flat, accessed
                    dq 0x00AF9B000000FFFF   ; 64-bit code, accessed
gdt_pointer:        dw gdt_pointer - gdt - 1
.base:              dd 0                    ; address of gdt in the copy
far32:              dd 0                    ; of mode32
                    dw CODE32
far64:              dd 0                    ; of mode64
                    dw CODE64
    align   4
arch_trampoline_cr3: dd 0                   ; tables that hold this page at its own address as well
arch_trampoline_cr4: dd 0
arch_trampoline_end:

; In the kernel image, which both sets of tables map. There is one place at a time, for one processor: who comes when it
; is withdrawn, or given to the next, stops here, with no stack and nothing touched.
section .text
arch_ap_entry:
    mov     rax, [rel arch_page_tables]     ; its root
    mov     cr3, rax
    xor     eax, eax
    cpuid                                   ; its APIC ID, as arch_apic_id finds it
    cmp     eax, 0x0B
    jb      .old
    mov     eax, 0x0B
    xor     ecx, ecx
    cpuid
    test    bx, bx
    jnz     .claim
.old:
    mov     eax, 1
    cpuid
    shr     ebx, 24
    mov     edx, ebx
.claim:
    mov     eax, edx
    mov     ecx, ARCH_AP_NOBODY
    lock cmpxchg [rel arch_ap_expected], ecx
    jne     .late
    mov     rsp, [rel arch_ap_stack_top]
    mov     rdi, [rel arch_ap_cpu]
    xor     ebp, ebp                        ; backtraces end here
    and     rsp, -16
    call    arch_ap_main                    ; does not return
    ud2
.late:
    cli
    hlt
    jmp     .late
