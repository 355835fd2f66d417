; SPDX-License-Identifier: MIT
; A guest with nothing in it but what is timed: from multiboot's 32-bit mode to long mode, the lowest 4 GiB mapped 1:1,
; interrupts off, also for the other processors; and the two loops. What each executes in an iteration stands beside it:
; guest.c checks that.

extern load_end, bss_end, guest_main, guest_other

MAGIC   equ 0x1BADB002
FLAGS   equ 1 << 16                 ; the addresses are here, not in an ELF header
CR0_PG  equ 1 << 31
CR0_PE  equ 1
CR4_ON  equ 1 << 5 | 1 << 9         ; PAE, OSFXSR
IA32_EFER equ 0xC0000080
EFER_LME equ 1 << 8
TRAMPOLINE equ 0x8000               ; guest.c's SIPI names it
OTHERS  equ 7                       ; processors, at most

section .start progbits alloc exec nowrite align=16
global _start ; what a linker expects; QEMU takes the address in the header
_start:
header:
    dd MAGIC, FLAGS, -(MAGIC + FLAGS)
    dd header, header, load_end, bss_end, start

bits 32
start:
    mov esp, stack_end
    mov esi, trampoline
    mov edi, TRAMPOLINE
    mov ecx, trampoline_end - trampoline
    rep movsb
    call long_mode_on
    lgdt [gdtr]
    jmp 8:long_mode

; To long mode, where paging begins.
long_mode_on:
    mov eax, pml4
    mov cr3, eax
    mov eax, cr4
    or eax, CR4_ON
    mov cr4, eax
    mov ecx, IA32_EFER
    rdmsr
    or eax, EFER_LME
    wrmsr
    mov eax, cr0
    or eax, CR0_PG | CR0_PE
    mov cr0, eax
    ret

; Another processor begins here, in real mode.
bits 16
trampoline:
    cli
    o32 lgdt [cs:.gdtr - trampoline]
    mov eax, CR0_PE
    mov cr0, eax
    jmp dword 24:other
.gdtr:
    dw gdtr - gdt - 1
    dd gdt
trampoline_end:
bits 32
other:
    mov eax, 16
    mov ds, eax
    mov ss, eax
    mov ebx, 1
    lock xadd [others], ebx         ; its number, from 0
    mov esp, ebx
    shl esp, 12
    add esp, other_stacks + 4096
    call long_mode_on
    jmp 8:other_long

bits 64
other_long:
    lea edi, [rbx + 1]
    call guest_other
.halt:
    cli
    hlt
    jmp .halt

long_mode:
    mov eax, 16
    mov ss, eax
    mov edi, ebx                    ; multiboot information
    call guest_main
    cli
    hlt

section .data
gdt:
    dq 0, 0x00AF9B000000FFFF, 0x00CF93000000FFFF, 0x00CF9B000000FFFF
gdtr:
    dw $ - gdt - 1
    dd gdt
align 4096
pml4:
    dq pdpt + 3
    times 511 dq 0
pdpt:
    dq 0x83, 0x40000083, 0x80000083, 0xC0000083 ; 1 GiB each
    times 508 dq 0

section .bss align=4096
    resb 16384
stack_end:
other_stacks:
    resb OTHERS * 4096
others:
    resb 4096

section .text
; A CPU-bound loop: 25 instructions, 1 load and 2 taken branches, 3 blocks of 8 or 9 instructions; the stores are half a
; one, and 1 branch and a half is conditional. RDI: iterations, an even number; RSI: 4096 bytes of data.
global bench_blocks
bench_blocks:
    mov rcx, 0x9E3779B97F4A7C15
    xor eax, eax
align 16
.top:
    mov rdx, rcx
    shl rdx, 13
    xor rcx, rdx
    mov rdx, rcx
    shr rdx, 7
    xor rcx, rdx
    add rax, rcx
    test edi, 1
    jz .even
    mov edx, ecx
    and edx, 0xFF8
    mov r8, [rsi + rdx]
    add r8, rax
    rol r8, 5
    mov [rsi + rdx], r8
    xor rax, r8
    jmp .join
align 16
.even:
    mov edx, ecx
    shr edx, 20
    and edx, 0xFF8
    add rax, [rsi + rdx]
    imul rax, rax, 0x9E37
    sub rcx, rax
    lea r8, [rax + rcx]
    xor rax, r8
.join:
    mov rdx, rcx
    shl rdx, 17
    xor rcx, rdx
    mov r9, rax
    shr r9, 3
    add rax, r9
    dec rdi
    jnz .top
    ret

; Calls and memory: 31 instructions, 10 loads and 7 stores (with those of PUSH, POP, CALL and RET), 5 taken branches.
; RDI: iterations; RSI: 4096 bytes of data.
global bench_calls
bench_calls:
    push rbx
    push rbp
    lea r10, [handlers]
align 16
.top:
    mov eax, edi
    and eax, 3
    call [r10 + rax * 8]
    add r11, rax
    dec rdi
    jnz .top
    pop rbp
    pop rbx
    ret

%macro handler 1
handler_%1:
    push rbx
    push rbp
    mov rbp, rsp
    mov rbx, [rsi + %1 * 64]
    add rbx, rax
    mov [rsi + %1 * 64 + 8], rbx
    lea rax, [rbx + %1]
    call leaf
    xor rax, rbx
    mov [rsi + %1 * 64], rax
    add rax, [rsi + %1 * 64 + 16]
    pop rbp
    pop rbx
    ret
%endmacro
align 16
    handler 0
align 16
    handler 1
align 16
    handler 2
align 16
    handler 3
align 16
leaf:
    push rdx
    mov rdx, [rsi + 1024]
    lea rdx, [rdx + rax * 2]
    ror rdx, 3
    xor rdx, rbx
    add rdx, [rsi + 1032]
    mov [rsi + 1024], rdx
    mov rax, rdx
    shr rax, 1
    pop rdx
    ret

section .data
align 8
handlers:
    dq handler_0, handler_1, handler_2, handler_3
