; SPDX-License-Identifier: MIT
; From STARTUP IPI to C. The code between arch_trampoline and arch_trampoline_end is copied to a page below 1 MiB, runs
; there in three modes, and accesses only its own page until paging is on. C fills the block at its end (struct
; passed_info in arch/smp.c). The processor only reads it, because the page is mapped read-only once paging is on.
; SDM vol. 3, "MP Initialization" and "Initializing IA-32e Mode".

%include "arch/asm_numbers.inc"

global arch_trampoline
global arch_trampoline_block
global arch_trampoline_end
global arch_trampoline_mode32
global arch_trampoline_mode64
global arch_ap_entry
extern arch_ap_main
extern arch_ap_place

CODE32   equ 0x08
DATA32   equ 0x10
CODE64   equ 0x18
CR0_PE   equ 1 << 0
CR0_PG   equ 1 << 31
CR0_WP   equ 1 << 16
CR0_ET   equ 1 << 4
IA32_EFER equ 0xC0000080

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
    o32 lgdt [AT(block.gdt_pointer)]
    mov     eax, CR0_PE | CR0_ET
    mov     cr0, eax
    o32 jmp far [AT(block.far32)]

bits 32
arch_trampoline_mode32:
    mov     eax, DATA32
    mov     ds, eax
    mov     ss, eax
    mov     eax, [ebx + AT(block.cr4)]
    mov     cr4, eax
    mov     eax, [ebx + AT(block.cr3)]
    mov     cr3, eax
    mov     ecx, IA32_EFER
    mov     eax, [ebx + AT(block.efer)]
    xor     edx, edx
    wrmsr
    mov     eax, CR0_PG | CR0_WP | CR0_PE | CR0_ET
    mov     cr0, eax
    jmp     far [ebx + AT(block.far64)]

bits 64
arch_trampoline_mode64:
    mov     rdx, [rbx + AT(block.kernel_cr3)]
    mov     rax, [rbx + AT(block.entry)]
    jmp     rax

    align   16
arch_trampoline_block:
block:
.gdt:           dq 0
                dq 0x00CF9B000000FFFF       ; 32-bit code, flat, accessed
                dq 0x00CF93000000FFFF       ; data, flat, accessed
                dq 0x00AF9B000000FFFF       ; 64-bit code, accessed
.kernel_cr3:    dq 0
.entry:         dq 0                        ; arch_ap_entry
.cr3:           dd 0                        ; tables that hold this page at its own address as well
.cr4:           dd 0
.efer:          dd 0
                dw 0
.gdt_pointer:   dw block.kernel_cr3 - block.gdt - 1
                dd 0                        ; address of .gdt in the copy
.far32:         dd 0                        ; address of arch_trampoline_mode32 in the copy
                dw CODE32, 0
.far64:         dd 0                        ; address of arch_trampoline_mode64 in the copy
                dw CODE64, 0
arch_trampoline_end:

; In the kernel image, which both sets of tables map: RDX = the kernel's own CR3. There is one place at a time, for one
; processor: who comes when it is withdrawn, or given to the next, stops here, with no stack and nothing touched.
section .text
arch_ap_entry:
    mov     cr3, rdx
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
    lock cmpxchg [rel arch_ap_place + ARCH_AP_APIC_ID], ecx
    jne     .late
    mov     rsp, [rel arch_ap_place + ARCH_AP_STACK_TOP]
    mov     rdi, [rel arch_ap_place + ARCH_AP_CPU]
    xor     ebp, ebp                        ; backtraces end here
    and     rsp, -16
    call    arch_ap_main                    ; does not return
    ud2
.late:
    cli
    hlt
    jmp     .late
